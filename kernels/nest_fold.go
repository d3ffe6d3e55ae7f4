package kernels

// This file writes the reductions of a pipeline into the loop of its chain.

import (
	"strings"
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// stores is what the attribute fold says of a result that is the chain's elements themselves.
const stores = "store"

// foldSteps is how many steps on an element a reduction counts for: see launch.Steps.
const foldSteps = 4

// foldLists keeps what the attribute fold means, by its text.
var foldLists sync.Map

// foldsNamed is the reductions of an attribute; nil stands for what is stored. ok is false where it
// names none.
func foldsNamed(names string) (folds []*reduce.Fold, ok bool) {
	if l, ok := foldLists.Load(names); ok {
		return l.([]*reduce.Fold), true
	}
	axes := map[reduce.Axis]bool{}
	for k, name := range strings.Fields(names) {
		f := reduce.Named(name)
		if f == nil && (name != stores || k > 0) {
			return nil, false
		}
		if f != nil {
			axes[f.Axis] = true
		}
		folds = append(folds, f)
	}
	if len(axes) == 0 || axes[reduce.OverRows] && axes[reduce.OverCols] {
		return nil, false
	}
	foldLists.Store(names, folds)
	return folds, true
}

// foldPart is a reduced result of the loop.
type foldPart struct {
	fold int // which reduction it belongs to
	sum  int // which of its exact sums it is; -1: none
	classOf
}

// classOf is a reduction class and the type of its contributions.
type classOf struct {
	class loop.Class
	of    types.Elem
}

// classesOf lists the reduced results that a reduction of elements of e is made of; none where no
// loop has them.
func classesOf(f *reduce.Fold, e types.Elem) []classOf {
	if f.Arg {
		return nil
	}
	float := e
	if !e.IsFloat() {
		float = types.F64
	}
	switch c := f.Whole.Class; {
	case e == types.Bool && (c == loop.Sum || c == loop.Mean || c == loop.Norm):
		return []classOf{{loop.Count, e}}
	case e == types.Bool && (c == loop.Var || c == loop.Stddev): // a truth is its own square
		return []classOf{{loop.Count, e}, {loop.Count, e}}
	case c == loop.Sum:
		return []classOf{{c, e}}
	case c == loop.Mean && e != types.I64: // whose numbers f64 does not hold
		return []classOf{{loop.Sum, float}}
	case c == loop.Norm:
		return []classOf{{c, float}}
	case (c == loop.Var || c == loop.Stddev) && e.IsFloat():
		return []classOf{{loop.Sum, e}, {loop.Norm, e}}
	case c == loop.Least || c == loop.Greatest:
		return []classOf{{c, e}}
	case c == loop.Count || c == loop.Any || c == loop.All:
		return []classOf{{c, types.Bool}}
	}
	return nil
}

// foldParts lists the reduced results of the loop of a pipeline of elements of e, and whether it
// stores the elements. There are none where a reduction has no loop.
func foldParts(names string, e types.Elem) (parts []foldPart, stored bool) {
	folds, _ := foldsNamed(names)
	n := 0
	for _, f := range folds {
		if f == nil {
			stored = true
			continue
		}
		list := classesOf(f, e)
		if len(list) == 0 {
			return nil, false
		}
		exactly := f.Sums(e) > 0
		for k, c := range list {
			if !exactly {
				k = -1
			}
			parts = append(parts, foldPart{n, k, c})
		}
		n++
	}
	return parts, stored
}

// contribute writes the reductions of a value.
func contribute(b *loop.Builder, parts []foldPart, v loop.Val) {
	zero, one := loop.Num(0), loop.Num(1)
	for _, p := range parts {
		x := p.term(b, v)
		r := b.Reduced(p.class, p.class.Gives(p.of), one, one)
		b.Reduce(loop.Mem{Kind: loop.ResultMem, N: r}, zero, zero, x)
	}
}

// term is a value as the class takes it.
func (c classOf) term(b *loop.Builder, v loop.Val) loop.Val {
	switch e := b.Type(v); {
	case c.of == e:
		return v
	case c.of == types.Bool:
		return b.Op(loop.Ne, v, define.Numeral(b, e, 0))
	}
	return define.ConvertBody(b, c.of, v)
}
