package kernels

// This file writes the reductions of a pipeline into the loop of its chain. The points of a loop
// that reduces columns are columns, and its inner loop iterates over rows.

import (
	"strings"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// stores is what the attribute fold says of a result that is the chain's elements themselves.
const stores = "store"

// foldSteps is how many operations on an element a reduction counts for: see launch.Steps.
const foldSteps = 4

// foldLists keeps what the attribute fold means, by its text.
var foldLists define.Made[string, []*reduce.Fold]

// foldsNamed is the reductions of an attribute; nil stands for what is stored. ok is false where it
// names none.
func foldsNamed(names string) (folds []*reduce.Fold, ok bool) {
	folds = foldLists.Of(names, func() (list []*reduce.Fold) {
		axes := map[reduce.Axis]bool{}
		for k, name := range strings.Fields(names) {
			f := reduce.Named(name)
			if f == nil && (name != stores || k > 0) {
				return nil
			}
			if f != nil {
				axes[f.Axis] = true
			}
			list = append(list, f)
		}
		if len(axes) == 0 || axes[reduce.OverRows] && axes[reduce.OverCols] {
			return nil
		}
		return list
	})
	return folds, folds != nil
}

// foldPart is a reduced result of a loop: of all elements, or of each column.
type foldPart struct {
	fold  int // which reduction it belongs to
	sum   int // which of its exact sums it is; -1: none
	class loop.Class
	of    types.Elem // its contributions
	half  half
}

// half is which half of an integer is summed. The sums of both halves of up to 2^31 integers are
// integers, too.
type half uint8

const (
	wholly half = iota
	upper
	lower
)

// halfBits is the length of the lower half.
const halfBits = 32

// foldParts lists the reduced results of the loop of a pipeline with elements of type e. stored
// reports whether the loop stores the elements. The list is empty if a reduction has no loop.
// columns says that the loop reduces columns.
func foldParts(names string, e types.Elem, columns bool) (parts []foldPart, stored bool) {
	folds, _ := foldsNamed(names)
	n := 0
	for _, f := range folds {
		if f == nil {
			stored = true
			continue
		}
		list := partsOf(f, e, columns)
		if len(list) == 0 {
			return nil, false
		}
		for k, p := range list {
			if p.fold, p.sum = n, k; p.half != wholly {
				p.sum = 0
			} else if f.Arg() || f.Sums(e) == 0 && len(list) == 1 {
				p.sum = -1
			}
			parts = append(parts, p)
		}
		n++
	}
	return parts, stored
}

// partsOf lists the reduced results that a reduction of elements of e is made of; none where no loop
// has them.
func partsOf(f *reduce.Fold, e types.Elem, columns bool) []foldPart {
	one := func(c loop.Class, of types.Elem) []foldPart { return []foldPart{{class: c, of: of}} }
	two := func(a, b loop.Class, of types.Elem) []foldPart { return append(one(a, of), one(b, of)...) }
	float := e
	if !e.IsFloat() {
		float = types.F64
	}
	c := f.Whole.Class
	spread := c == loop.Var || c == loop.Stddev
	switch {
	case f.Arg() && (f.Axis == reduce.OverRows || columns && f.Axis == reduce.OverAll): // the state of a column has no place in the matrix
		return nil
	case f.Arg():
		if e == types.Bool {
			e = types.I64
		}
		return one(f.Whole.Class, e)
	case e == types.Bool && (c == loop.Sum || c == loop.Mean || c == loop.Norm):
		return one(loop.Count, e)
	case e == types.Bool && spread: // a truth is its own square
		return two(loop.Count, loop.Count, e)
	case c == loop.Mean && e == types.I64 && columns: // whose numbers f64 does not hold
		list := two(loop.Sum, loop.Sum, e)
		list[0].half, list[1].half = upper, lower
		return list
	case c == loop.Mean && e == types.I64:
		return nil
	case c == loop.Mean:
		return one(loop.Sum, float)
	case c == loop.Norm:
		return one(c, float)
	case spread && (e.IsFloat() || columns && f.Axis == reduce.OverCols):
		return two(loop.Sum, loop.Norm, float)
	case c == loop.Sum || c == loop.Least || c == loop.Greatest:
		return one(c, e)
	case c == loop.Count || c == loop.Any || c == loop.All:
		return one(c, types.Bool)
	}
	return nil
}

// contribute writes contributions of v to column j of results with cols columns. at writes the place of
// v in what is reduced: its row in a column, or its number in a matrix. Only least and greatest places
// read it.
func contribute(b *loop.Builder, parts []foldPart, v loop.Val, cols, j loop.Lin, at func() loop.Val) {
	for _, p := range parts {
		x := []loop.Val{p.term(b, v)}
		if p.class == loop.ArgLeast || p.class == loop.ArgGreatest {
			x = append(x, at())
		}
		r := b.Reduced(p.class, p.class.Gives(p.of), loop.Num(1), cols)
		b.Reduce(loop.Mem{Kind: loop.ResultMem, N: r}, loop.Num(0), j, x...)
	}
}

// wide returns the type of the first word of the state of a place.
func (p foldPart) wide() types.Elem { return loop.StateOf(p.class, p.of, loop.FastLevels).Types[0] }

// term is a value as the class takes it.
func (p foldPart) term(b *loop.Builder, v loop.Val) loop.Val {
	switch e := b.Type(v); {
	case p.half == upper:
		return b.Op(loop.Sar, v, b.Const(types.I64, halfBits))
	case p.half == lower:
		return b.Op(loop.And, v, b.Const(types.I64, 1<<halfBits-1))
	case p.of == e:
		return v
	case p.of == types.Bool:
		return b.Op(loop.Ne, v, define.Numeral(b, e, 0))
	}
	return define.ConvertBody(b, p.of, v)
}

// writeColumns writes the loop for a matrix of so many rows and columns. Its last operands are the
// first row and the row behind the last.
func writeColumns(b *loop.Builder, p *op.Program, s nestShape, rows, cols loop.Lin) {
	from := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	to := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	parts, stored := foldParts(s.fold, p.Elem(), true)
	var out loop.Mem
	if stored {
		out = loop.Mem{Kind: loop.ResultMem, N: b.Result(dense.Storage(p.Elem()), rows, cols)}
	}
	drawn, row := wordsIn(b, p), b.Name("i")
	rowsOf := loop.Index{Name: row, Range: loop.Range{Kind: loop.Steps, From: from, To: to, By: 1}}
	b.For(rowsOf, nil, func([]loop.Val) []loop.Val {
		i := loop.Of(loop.IndexSym, row)
		v := elementOf(b, p, s, drawn, i, j)
		if stored {
			b.Store(out, i, j, v)
		}
		contribute(b, parts, v, cols, j, func() loop.Val { return b.Number(i) })
		return nil
	})
}
