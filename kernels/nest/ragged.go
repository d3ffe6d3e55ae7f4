package nest

// This file writes matrices of a body whose size only the run knows: slices such as x[0..i, :] and
// what is computed of them. Their sizes are linear forms, and loops run over these. Where two sizes
// have to agree and nobody can tell, a check says so; the points where it fails are computed an
// operator at a time, which knows what is meant.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// ragged is a matrix of this size.
func (x *Builder) ragged(t types.Type, rows, cols loop.Lin, at op.Element) Ref {
	if t.Known() {
		return x.matrix(t, at)
	}
	if x.extent != nil || x.phase != nil {
		panic(noSize)
	}
	r := x.memoised(t, at)
	r.rows, r.cols = rows, cols
	return r
}

// window is where a slice lo..hi of an axis of length n begins, and how long it is. through
// includes hi. A bound that is negative wherever its form is linear, as -k, counts from the end; of
// other linear ones, negative values are left to the check. The loop that reads the slice stays
// inside it: the begin is a value of the run where the launch could not prove that.
func (x *Builder) window(lo, hi loop.Val, through bool, n loop.Lin) (from, size loop.Lin) {
	zero, length := x.Const(types.I64, 0), x.Value(n)
	fine := x.Const(types.Bool, 1)
	demand := func(c loop.Val) { fine = x.Op(loop.And, fine, c) }
	bound := func(v loop.Val) loop.Lin {
		l, linear := x.Lins[v]
		switch {
		case linear && falling(l):
			demand(x.Op(loop.Lt, v, zero))
			return l.Plus(n)
		case linear:
			return l
		}
		return loop.Of(loop.ValSym, int(x.Op(loop.Select, x.Op(loop.Lt, v, zero), x.Op(loop.Add, v, length), v)))
	}
	from, to := bound(lo), bound(hi)
	first, last := x.Value(from), x.Value(to)
	demand(x.Op(loop.Le, zero, first))
	if through {
		demand(x.Op(loop.Le, zero, last)) // -1 is the last one, not the end of an empty slice
		demand(x.Op(loop.Lt, last, length))
		demand(x.Op(loop.Le, x.Op(loop.Sub, first, x.Const(types.I64, 1)), last))
		to = to.Plus(loop.Num(1))
	} else {
		demand(x.Op(loop.Le, last, length))
		demand(x.Op(loop.Le, first, last))
	}
	x.Check(0, fine, lo, hi)
	size = to.Plus(from.Times(-1))
	if to.Known() && n.Known() && to.Const > n.Const { // the check fails: no element has a known place
		size = loop.Of(loop.ValSym, int(x.Value(size)))
		from = loop.Of(loop.ValSym, int(first))
	} else if !x.Affine || !from.Affine() || !size.Affine() {
		from = loop.Of(loop.ValSym, int(first))
	}
	return from, size
}

// steps returns the first index of a range whose bounds the run tells, and the number n of its indices.
// A check fails for a linear range that goes the other way, and for a range longer than a matrix.
func (x *Builder) steps(lo, hi loop.Val, by int64, through bool) (from, n loop.Lin) {
	form := func(v loop.Val) loop.Lin {
		if l, linear := x.Lins[v]; linear {
			return l
		}
		return loop.Of(loop.ValSym, int(v))
	}
	first, end := form(lo), form(hi)
	from = first
	if by < 0 {
		first, end, by = end, first, -by
	}
	if by < 0 || by > types.MaxSide {
		panic(NoBody{"a step of that size"})
	}
	last := x.Value(end)
	if through {
		end = end.Plus(loop.Num(1))
	}
	n = end.Plus(first.Times(-1))
	size, zero := x.Value(n), x.Const(types.I64, 0)
	ascends, fine := x.Op(loop.Le, x.Value(first), x.Value(end)), x.Op(loop.Le, last, x.Value(end))
	if by == 1 && n.Affine() {
		fine = x.Op(loop.And, fine, ascends)
	} else {
		size = x.Op(loop.Select, ascends, size, zero)
		n = loop.Of(loop.ValSym, int(x.Op(loop.IDiv, x.Op(loop.Add, size, x.Const(types.I64, uint64(by-1))), x.Const(types.I64, uint64(by)))))
	}
	inside := x.Op(loop.And, x.Op(loop.Le, zero, size), x.Op(loop.Lt, size, x.Const(types.I64, types.MaxSide)))
	x.Check(0, x.Op(loop.And, fine, inside), lo, hi)
	return from, n
}

// falling reports a form that is negative for all positive indices.
func falling(l loop.Lin) bool {
	for _, t := range l.Terms {
		if t.Coef > 0 {
			return false
		}
	}
	return len(l.Terms) > 0 && l.Const <= 0 || l.Known() && l.Const < 0
}

// agree demands two equal lengths.
func (x *Builder) agree(n, m loop.Lin) {
	if !n.Equal(m) {
		x.Check(0, x.Op(loop.Eq, x.Value(n), x.Value(m)))
	}
}

// together is the size of what is computed of matrices element by element, each stretched where it
// has one row or column.
func (x *Builder) together(t types.Type, in []Ref) (rows, cols loop.Lin) {
	axis := func(known int, size func(r *Ref) (loop.Lin, int)) loop.Lin {
		all := make([]loop.Lin, 0, len(in))
		for k := range in {
			if in[k].At == nil {
				continue
			}
			if n, fixed := size(&in[k]); fixed != 1 {
				all = append(all, n)
			}
		}
		best := loop.Num(int64(known))
		if known < 0 {
			best = all[0]
			for _, n := range all[1:] {
				if n.Known() || n.Affine() && !best.Affine() {
					best = n
				}
			}
		}
		for _, n := range all {
			x.agree(n, best)
		}
		return best
	}
	rows = axis(t.Rows, func(r *Ref) (loop.Lin, int) { return r.rows, r.Type.Rows })
	cols = axis(t.Cols, func(r *Ref) (loop.Lin, int) { return r.cols, r.Type.Cols })
	return rows, cols
}
