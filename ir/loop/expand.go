package loop

// This file writes reductions inside a point as loops that carry a state, for targets that know
// loops alone.

// Uncertain is the site of checks that say of a state whether it holds the exact result. Where one
// fails, the point has not failed: it is to be evaluated by the definition.
const Uncertain = 1 << 30

// ExpandFolds is n with each Fold written as a For where a state of a few values can be carried.
// What stays a Fold is Var, Stddev, Panels and Product of floats.
func ExpandFolds(n *Nest) *Nest {
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		if s.Code != Fold {
			return false
		}
		st := StateOf(s.Loop.Class, n.Types[s.Loop.Body.Yield[0]], FastLevels)
		if st == nil || st.end == nil {
			return false
		}
		x := s.Loop.Index
		x.Range = r.rng(x.Range)
		var begin []Val
		for k, e := range st.Types {
			begin = append(begin, r.Const(e, st.Empty[k]))
		}
		words := r.For(x, begin, func(words []Val) []Val {
			r.block(&s.Loop.Body)
			r.where = s.Origin
			return st.add(r.Builder, words, r.values(s.Loop.Body.Yield))
		})
		r.where = s.Origin
		r.set(s, []Val{st.end(r.Builder, words)})
		return true
	})
}
