package loop

// This file rewrites reductions inside a point as loops that carry a state, for targets that
// support only loops.

// Uncertain is the site of checks that a state holds the exact result. Where one fails, the point
// has not failed: it must be evaluated by the definition.
const Uncertain = 1 << 30

// ExpandFolds returns n with each Fold rewritten as a For, if a few values can carry its state.
// Var, Stddev, Panels and Product of floats stay Folds.
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
