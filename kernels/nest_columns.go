package kernels

// This file writes the loop that reduces columns. Its points are columns, and its inner loop goes
// over rows. What it has reduced of a column are the words of states (loop.State), which it takes
// from memory at its beginning and puts there at its end.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// columnPart is a reduced result of each column.
type columnPart struct {
	foldPart
	half  half
	plane int // the first word of its state, among those of all parts
	state *loop.State
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

// columnParts lists the reduced results of a pipeline of elements of e that reduces columns, how
// many words a column has, and whether the pipeline stores the elements. There are none where a
// reduction has no loop.
func columnParts(names string, e types.Elem, near bool) (parts []columnPart, planes int, stored bool) {
	folds, _ := foldsNamed(names)
	levels := loop.FastLevels
	if near {
		levels = loop.NearLevels
	}
	n := 0
	for _, f := range folds {
		if f == nil {
			stored = true
			continue
		}
		list := columnClasses(f, e)
		if len(list) == 0 {
			return nil, 0, false
		}
		for k, p := range list {
			p.fold, p.plane, p.state = n, planes, loop.StateOf(p.class, p.of, levels)
			switch {
			case p.half != wholly:
				p.sum = 0
			case f.Arg || f.Sums(e) == 0 && len(list) == 1:
				p.sum = -1
			default:
				p.sum = k
			}
			planes += len(p.state.Types)
			parts = append(parts, p)
		}
		n++
	}
	return parts, planes, stored
}

// columnClasses lists the reduced results that a reduction of elements of e is made of.
func columnClasses(f *reduce.Fold, e types.Elem) (list []columnPart) {
	add := func(c loop.Class, of types.Elem, h half) {
		list = append(list, columnPart{foldPart: foldPart{classOf: classOf{c, of}}, half: h})
	}
	class := f.Whole.Class
	switch {
	case f.Arg && f.Least:
		add(loop.ArgLeast, e, wholly)
	case f.Arg:
		add(loop.ArgGreatest, e, wholly)
	case class == loop.Mean && e == types.I64:
		add(loop.Sum, e, upper)
		add(loop.Sum, e, lower)
	case f.Axis == reduce.OverCols && (class == loop.Var || class == loop.Stddev) && e == types.I64:
		add(loop.Sum, types.F64, wholly)
		add(loop.Norm, types.F64, wholly)
	default:
		for _, c := range classesOf(f, e) {
			add(c.class, c.of, wholly)
		}
	}
	return list
}

// writeColumns writes the loop for a matrix of so many rows and columns. Its operands behind these
// are the first row, the one behind the last, and the words of the states, a row each; its results
// are the elements, if they are stored, and the words.
func writeColumns(b *loop.Builder, p *op.Program, s nestShape, rows, cols loop.Lin) {
	from := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	to := loop.Of(loop.ParamSym, b.Param(loop.ScalarParam, types.I64))
	states := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.I64)}
	j := loop.Of(loop.IndexSym, b.Index("j", loop.Range{Kind: loop.Steps, To: cols, By: 1}))
	parts, planes, stored := columnParts(s.fold, p.Elem(), s.near)
	var out loop.Mem
	if stored {
		out = loop.Mem{Kind: loop.ResultMem, N: b.Result(dense.Storage(p.Elem()), rows, cols)}
	}
	next := loop.Mem{Kind: loop.ResultMem, N: b.Result(types.I64, loop.Num(int64(planes)), cols)}
	var words []loop.Val
	for _, x := range parts {
		for k, e := range x.state.Types {
			w := b.Load(states, loop.Num(int64(x.plane+k)), j)
			if e == types.F64 {
				w = b.Op(loop.F64Bits, w)
			}
			words = append(words, w)
		}
	}
	row := b.Name("i")
	rowsOf := loop.Index{Name: row, Range: loop.Range{Kind: loop.Steps, From: from, To: to, By: 1}}
	words = b.For(rowsOf, words, func(words []loop.Val) (after []loop.Val) {
		i := loop.Of(loop.IndexSym, row)
		v := elementOf(b, p, s, i, j)
		if stored {
			b.Store(out, i, j, v)
		}
		for _, x := range parts {
			n := len(x.state.Types)
			after = append(after, b.Apply(x.state.Add(), append(words[:n:n], x.terms(b, v, row)...)...)...)
			words = words[n:]
		}
		return after
	})
	for k, w := range words {
		if b.Type(w) == types.F64 {
			w = b.Op(loop.Bits, w)
		}
		b.Store(next, loop.Num(int64(k)), j, w)
	}
}

// terms is what a value of a row contributes.
func (p columnPart) terms(b *loop.Builder, v loop.Val, row int) []loop.Val {
	v = p.term(b, v)
	bits := func() loop.Val { return b.Const(types.I64, halfBits) }
	switch {
	case p.half == upper:
		v = b.Op(loop.Sar, v, bits())
	case p.half == lower:
		v = b.Op(loop.And, v, b.Const(types.I64, 1<<halfBits-1))
	case p.class == loop.ArgLeast || p.class == loop.ArgGreatest:
		return []loop.Val{v, b.IndexValue(row)}
	}
	return []loop.Val{v}
}
