package lower

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
)

// This file elaborates `parfor i in 0..n, j in 0..i { e }`, whose second range depends on its first
// index: a parfor over the list of pairs, in order of i and then j. Its value is a column, or the
// rows of e below each other.

// dependent reports whether the second range of a parfor reads its first index.
func dependent(e *ast.Parfor) (found bool) {
	if len(e.Ranges) != 2 {
		return false
	}
	for _, x := range []ast.Expr{e.Ranges[1].Lo, e.Ranges[1].Hi, e.Ranges[1].By} {
		ast.Walk(x, func(n ast.Node) bool {
			if n, ok := n.(*ast.Name); ok && n.Name == e.Ranges[0].Name.Name {
				found = true
			}
			return !found
		})
	}
	return found
}

// overPairs elaborates such a parfor.
func (l *lowerer) overPairs(e *ast.Parfor, hints []op.Attr) val {
	first, second, at := e.Ranges[0], e.Ranges[1], e.Span()
	outer, step := l.extent(first), l.step(second.By)
	bounds, total := l.boundsOf(first, second, outer, step)
	attrs := op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(step)}, op.Attr{Name: "through", Val: op.Bool(second.Inclusive)}, op.Attr{Name: "rows", Val: op.Int(total)})
	list := l.edgeVal(l.add(l.table.Must("pairs"), attrs, second.Span(), nil, bounds))

	r, y := l.points(func(r *region) ir.ID {
		k := l.carry(r, types.ScalarOf(types.I64))
		here := l.here(list)
		for c, x := range e.Ranges {
			l.declare(*x.Name, l.edgeVal(l.add(l.table.Must("element"), nil, x.Span(), nil, here.id, k, l.konst(value.I64(int64(c)), x.Span()))))
		}
		return l.body(e)
	})
	names := []string{"pair"}
	if _, captured := trimmed(r, y); len(captured) > 0 && captured[0] == list.id {
		names, hints = []string{first.Name.Name, second.Name.Name}, append(hints, op.Attr{Name: "pairs", Val: op.Bool(true)})
	}
	x := extent{lo: intVal(0), step: 1, count: total}
	t := l.collected(e, []extent{x}, r.g.Type(y))
	if total == types.Unknown {
		x.lo = l.edgeVal(l.konst(value.I64(0), at))
		x.hi = l.length(l.axis(list, 0), at)
	}
	return l.edgeVal(l.loopNode(e, names, []extent{x}, hints, r, y, t))
}

// boundsOf returns the matrix of i and the bounds of j for each i, and the number of pairs:
// types.Unknown unless the bounds are numbers, or multiples of i plus a number.
func (l *lowerer) boundsOf(first, second ast.Range, outer extent, step int) (id ir.ID, total int) {
	head := &ast.Parfor{Src: second.Src, Ranges: []ast.Range{first}}
	var bounds [2]linear
	var index ir.ID
	r, y := l.points(func(r *region) ir.ID {
		index = l.carry(r, types.ScalarOf(types.I64))
		i := l.edgeVal(index)
		l.declare(*first.Name, i)
		row := []val{i}
		for k, b := range []ast.Expr{second.Lo, second.Hi} {
			v := l.integer(b, "E215", "a loop bound")
			bounds[k] = l.linear(v)
			row = append(row, v)
		}
		return l.matrixOf(seqVal(list, []val{seqVal(list, row)}), types.NoElem, second.Span()).id
	})
	total = types.Unknown
	if lo := outer.lo; outer.count != types.Unknown && outer.count <= mostCounted && bounds[0].linearIn(index) && bounds[1].linearIn(index) {
		total = 0
		for k := range outer.count {
			i := lo.s.I + int64(k)*int64(outer.step)
			n := steps(bounds[0].at(i), bounds[1].at(i), int64(step), second.Inclusive)
			if n > types.MaxSide || uint64(total)+n > types.MaxSide {
				l.failf("E216", second.Span(), "the ranges have too many pairs: a parfor has fewer than 2^60 values")
			}
			total += int(n)
		}
	}
	return l.loopNode(head, []string{first.Name.Name}, []extent{outer}, nil, r, y, types.DenseOf(types.I64, outer.count, 3)), total
}

// linearIn reports whether f is a number plus multiples of one edge.
func (f linear) linearIn(edge ir.ID) bool {
	return !slices.ContainsFunc(f.terms, func(t term) bool { return t.edge != edge })
}

// at returns the value of f if its edge has the value i.
func (f linear) at(i int64) int64 {
	for _, t := range f.terms {
		f.number += t.times * i
	}
	return f.number
}

// mostCounted is the most values of the first index that are counted before the run.
const mostCounted = 1 << 22
