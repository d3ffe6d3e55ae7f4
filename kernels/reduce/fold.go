package reduce

// This file lists the reductions for those that reduce what they make, without storing it.

import (
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// Axis is what a reduction goes over.
type Axis uint8

const (
	OverAll  Axis = iota // one result
	OverRows             // a result per row
	OverCols             // a result per column
)

// Fold is a reduction as those see it that run one over what they make: of all elements, of rows or
// of columns.
type Fold struct {
	Def   *op.Def
	Axis  Axis
	Whole Whole // of argmin and argmax: none
	Part  bool  // the result is the accumulator
	Arg   bool
	Least bool // of Arg
}

// Sums returns the number of exact sums from which loops make the result for elements of e. The second sum
// of a variance is that of the squares.
func (f *Fold) Sums(e types.Elem) int {
	if n := f.Whole.sums(e); !f.Arg && (n < 2 || e != types.I64) {
		return n
	}
	return 0
}

// states returns the class of the states of the reduction of elements of e (package state), and the type of
// what they take.
func (f *Fold) states(e types.Elem) (loop.Class, types.Elem) {
	switch c := f.Whole.Class; {
	case f.Arg && f.Least:
		return loop.ArgLeast, e
	case f.Arg:
		return loop.ArgGreatest, e
	case c == loop.Sum && e == types.Bool:
		return loop.Count, e
	case c == loop.Count || c == loop.Any || c == loop.All:
		return c, types.Bool
	default:
		return c, e
	}
}

// pool keeps Accumulators for kernels of one call, which may be a chunk of a few rows.
var pool = sync.Pool{New: func() any { return &Accumulators{} }}

// Of returns the reduction of all elements of a, as a number of e.
func (f *Fold) Of(a *value.Dense, e types.Elem) value.Scalar {
	s := pool.Get().(*Accumulators)
	defer pool.Put(s)
	s.Open(f, a.Elem, 0, 1)
	s.Add(a, 0, 0, a.Cols)
	return s.Result(0, e, a.Rows*a.Cols)
}

// Into reduces the columns of a into the row out, or writes accumulators to it: see Accumulators.Finish.
func (f *Fold) Into(out, a *value.Dense) {
	s, lines := pool.Get().(*Accumulators), 1
	defer pool.Put(s)
	if f.Axis == OverCols {
		lines = a.Cols
	}
	if s.Open(f, a.Elem, 0, lines); a.Rows*a.Cols > 0 {
		s.Add(a, 0, 0, 0)
	}
	s.Finish(out, a.Rows)
}

// Extreme reports a least or greatest element.
func (f *Fold) Extreme() bool { return f.Whole.Class == loop.Least || f.Whole.Class == loop.Greatest }

// Folds lists the reductions by the names of their rows.
var Folds = sync.OnceValue(func() map[string]*Fold {
	defs := map[string]*op.Def{}
	for _, d := range define.Resolved(append(Rows(), Statistics()...)) {
		defs[d.Name] = d
	}
	out := map[string]*Fold{}
	add := func(name string, f Fold) {
		f.Def = defs[name]
		out[name] = &f
	}
	for _, w := range append(Wholes(), Variances()...) {
		add(w.Name, Fold{Whole: w})
		add("row"+w.Name, Fold{Axis: OverRows, Whole: w})
		add("col"+w.Name, Fold{Axis: OverCols, Whole: w})
		if w.shared == "" {
			add(w.Name+".part", Fold{Whole: w, Part: true})
			if w.hasColumnState() {
				add("col"+w.Name+".part", Fold{Axis: OverCols, Whole: w, Part: true})
			}
		}
	}
	for name, least := range map[string]bool{"argmin": true, "argmax": false} {
		add(name, Fold{Arg: true, Least: least})
		add("row"+name, Fold{Axis: OverRows, Arg: true, Least: least})
		add("col"+name, Fold{Axis: OverCols, Arg: true, Least: least})
	}
	return out
})

// Named returns the reduction of that row, nil if there is none.
func Named(name string) *Fold { return Folds()[name] }
