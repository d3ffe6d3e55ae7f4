package reduce

// This file lists the reductions for those that reduce what they make, without storing it.

import (
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
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
	if parts := f.Whole.exactParts(e); !f.Arg && (len(parts) < 2 || e != types.I64) {
		return len(parts)
	}
	return 0
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
