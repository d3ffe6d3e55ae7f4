package launch

// This file proves that accesses stay inside their matrices: it evaluates subscripts in intervals.

import (
	"flow/ir/loop"
	"flow/ir/value"
)

// Inside proves that all accesses are inside.
func (r *Run) Inside() bool {
	r.hull.facts, r.hull.varies = r.loop.facts, r.Varies
	return r.hull.inside(r.loop.whole, r.in, r.out)
}

// proofOf appends what a proof that accesses are inside depends on: sizes, and integers that do not
// vary.
func proofOf(list []int64, in []value.Value, out []*value.Dense, varies uint64) []int64 {
	list = append(list, int64(varies))
	for k, v := range in {
		if x, is := v.(value.Scalar); is && varies>>k&1 == 1 {
			continue
		} else if is {
			list = append(list, x.I)
		} else {
			t := v.Type()
			list = append(list, int64(t.Rows), int64(t.Cols))
		}
	}
	for _, d := range out {
		list = append(list, int64(d.Rows), int64(d.Cols))
	}
	return list
}

// wide is beyond every size of a matrix, and far below what overflows.
const wide = 1 << 45

var anything = span{-wide, wide}

func (s span) empty() bool { return s.hi < s.lo }

// inside reports that every affine access of a nest stays inside its matrix, whatever the body
// computes. Its memory is used again.
func (h *hull) inside(n *loop.Nest, in []value.Value, out []*value.Dense) bool {
	h.nest, h.in, h.out = n, in, out
	if h.index == nil {
		h.index, h.visit = map[int]span{}, h.access
	}
	clear(h.index)
	h.inner = h.inner[:0]
	for _, x := range n.Space {
		if r := h.rng(x.Range); r.empty() {
			return true
		} else {
			h.index[x.Name] = r
		}
	}
	return h.block(&n.Body)
}

// rng is the values of an index.
func (h *hull) rng(r loop.Range) span {
	if r.Kind == loop.Forever {
		return span{0, wide}
	}
	from, to := h.lin(r.From), h.lin(r.To)
	if r.By > 0 {
		return span{from.lo, to.hi - 1}
	}
	return span{to.lo + 1, from.hi}
}

// tight is the values of a form with inner indices at the ends of their ranges, as forms: the slice
// from i on of n elements ends at n, whatever i is, although its begin and its length both vary.
func (h *hull) tight(l loop.Lin) span {
	lo, hi := l, l
	for k := len(h.inner) - 1; k >= 0; k-- {
		if x := h.inner[k]; x.Range.From.Affine() && x.Range.To.Affine() {
			lo, hi = lo.End(x, false), hi.End(x, true)
		}
	}
	all, a, b := h.lin(l), h.lin(lo), h.lin(hi)
	return span{max(all.lo, a.lo), min(all.hi, b.hi)}
}

func (h *hull) lin(l loop.Lin) span {
	s := span{l.Const, l.Const}
	for _, t := range l.Terms {
		x := h.sym(t.Sym)
		if t.Coef < 0 {
			x.lo, x.hi = x.hi, x.lo
		}
		lo, ok1 := scaled(x.lo, t.Coef)
		hi, ok2 := scaled(x.hi, t.Coef)
		if !ok1 || !ok2 {
			return anything
		}
		if s = (span{s.lo + lo, s.hi + hi}); s.lo < -wide || s.hi > wide {
			return anything
		}
	}
	return s
}

// scaled is x * c, if that is within the wide numbers.
func scaled(x, c int64) (int64, bool) {
	if x < -wide || x > wide || c < -wide || c > wide {
		return 0, false
	}
	if x != 0 && (c > wide/abs(x) || c < -wide/abs(x)) {
		return 0, false
	}
	return x * c, true
}

func abs(x int64) int64 { return max(x, -x) }

func (h *hull) sym(s loop.Sym) span {
	exactly := func(x int64) span { return span{x, x} }
	switch s.Kind {
	case loop.IndexSym:
		if r, ok := h.index[s.N]; ok {
			return r
		}
	case loop.ParamSym:
		if h.varies>>s.N&1 == 1 {
			return anything
		}
		if x := h.in[s.N].(value.Scalar).I; abs(x) <= wide && x > -wide {
			return exactly(x)
		}
	case loop.RowsSym:
		return exactly(int64(h.in[s.N].Type().Rows))
	case loop.ColsSym:
		return exactly(int64(h.in[s.N].Type().Cols))
	}
	return anything
}

func (h *hull) block(b *loop.Block) bool {
	if b == nil {
		return true
	}
	for i := range b.Stmts {
		if !h.stmt(&b.Stmts[i]) {
			return false
		}
	}
	return true
}

func (h *hull) stmt(s *loop.Stmt) bool {
	switch s.Code {
	case loop.Load, loop.Store, loop.Reduce:
		return len(s.At) < 2 || h.visit(s)
	case loop.For:
		x := s.Loop.Index
		r := h.rng(x.Range)
		if r.empty() {
			return true
		}
		h.index[x.Name] = r
		defer delete(h.index, x.Name)
		if x.Range.Kind == loop.Steps && x.Range.By == 1 {
			h.inner = append(h.inner, x)
			defer func() { h.inner = h.inner[:len(h.inner)-1] }()
		}
		return h.block(&s.Loop.Body)
	}
	known := h.facts[s]
	if known == nil {
		return h.block(s.Then) && h.block(s.Else)
	}
	for k, b := range [...]*loop.Block{s.Then, s.Else} {
		mark := len(h.saved)
		fine := !h.assume(known[k]) || h.block(b)
		for len(h.saved) > mark {
			last := h.saved[len(h.saved)-1]
			h.index[last.name] = last.span
			h.saved = h.saved[:len(h.saved)-1]
		}
		if !fine {
			return false
		}
	}
	return true
}

// branchesOf finds what the conditions of a nest say.
func branchesOf(n *loop.Nest) branches {
	var out branches
	var f *loop.Facts
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		if s.Code != loop.If {
			return
		}
		if f == nil {
			f, out = loop.FactsOf(n), branches{}
		}
		if x := [2][]loop.Lin{f.Where(s.Args[0], true), f.Where(s.Args[0], false)}; len(x[0])+len(x[1]) > 0 {
			out[s] = &x
		}
	})
	return out
}

// assume narrows indices to the values at which none of the forms is negative. It reports whether
// there may be such values.
func (h *hull) assume(forms []loop.Lin) bool {
	for _, f := range forms {
		if !h.exact(f) {
			continue
		}
		all := h.lin(f)
		if all == anything {
			continue
		}
		if all.hi < 0 {
			return false
		}
		for _, t := range f.Terms {
			x, ok := h.index[t.Sym.N]
			if t.Sym.Kind != loop.IndexSym || !ok {
				continue
			}
			// t is at least -rest, where rest is the greatest of the other terms.
			now := x
			if t.Coef > 0 {
				rest := all.hi - t.Coef*x.hi
				now.lo = max(x.lo, -loop.FloorDiv(rest, t.Coef))
			} else {
				rest := all.hi - t.Coef*x.lo
				now.hi = min(x.hi, loop.FloorDiv(rest, -t.Coef))
			}
			if now.empty() {
				return false
			}
			if now != x {
				h.saved = append(h.saved, narrowed{t.Sym.N, x})
				h.index[t.Sym.N] = now
				all = h.lin(f)
			}
		}
	}
	return true
}

// exact reports a form of indices and of operands that are far from overflow.
func (h *hull) exact(f loop.Lin) bool {
	return f.Affine() && !f.Any(func(s loop.Sym) bool {
		if s.Kind != loop.ParamSym {
			return false
		}
		x := h.in[s.N].(value.Scalar).I
		return x <= -wide || x >= wide || h.varies>>s.N&1 == 1
	})
}

// access checks the affine subscripts of one access; the others are the body's to check.
func (h *hull) access(s *loop.Stmt) bool {
	var rows, cols int64
	switch s.Mem.Kind {
	case loop.ParamMem, loop.ResultMem:
		t := h.typeOf(s.Mem)
		rows, cols = int64(t.Rows), int64(t.Cols)
	case loop.LocalMem:
		l := h.nest.Locals[s.Mem.N]
		r, c := h.lin(l.Rows), h.lin(l.Cols)
		rows, cols = r.lo, c.lo
	default:
		return true
	}
	for k, limit := range []int64{rows, cols} {
		if l := s.At[k]; l.Affine() {
			if r := h.tight(l); r.lo < 0 || r.hi >= limit {
				return false
			}
		}
	}
	return true
}
