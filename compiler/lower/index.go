package lower

import (
	"flow/ir/op"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file defines x[..]: elements of channel arrays and lists, slices of matrices.

// index elaborates x[subs]: an element of a channel array, a scalar, or a slice.
func (l *lowerer) index(e *ast.Index) val {
	x := l.expr(e.X)
	switch x.kind {
	case poison:
		panic(bail{})
	case array:
		return l.edgeVal(l.read(x.grid, l.element(e, x.grid), e.Span()))
	case list:
		if len(e.Subs) != 1 || e.Subs[0].All || e.Subs[0].IsRange {
			l.failf("E218", e.Span(), "a list has one subscript")
		}
		i := l.intArg(e.Subs[0].Lo, "a subscript")
		if i < 0 || i >= len(x.elems) {
			l.failf("E212", e.Span(), "subscript %d of a list of %d", i, len(x.elems))
		}
		return x.elems[i]
	case edge:
	default:
		l.failf("E217", e.X.Span(), "%s cannot be indexed", l.what(x))
	}
	t := l.g.Type(x.id)
	if !t.IsMatrix() {
		l.failf("E217", e.X.Span(), "%s cannot be indexed", l.what(x))
	}
	subs := e.Subs
	if len(subs) == 1 && t.Cols == 1 {
		subs = append(append([]ast.Sub(nil), subs...), ast.Sub{Lo: &ast.Int{Value: 0}})
	}
	if len(subs) != 2 {
		l.failf("E218", e.Span(), "matrices take two subscripts")
	}
	r0, r1, oneRow := l.sub(subs[0], t.Rows, "row")
	c0, c1, oneCol := l.sub(subs[1], t.Cols, "column")
	spans := []source.Span{e.X.Span()}
	if oneRow && oneCol {
		return l.edgeVal(l.add(l.table.Must("item"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0)}), e.Span(), spans, x.id))
	}
	return l.edgeVal(l.add(l.table.Must("slice"), sliceAttrs(r0, c0, r1-r0, c1-c0), e.Span(), spans, x.id))
}

func sliceAttrs(r0, c0, rows, cols int) *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(r0, c0, rows, cols)})
}

// sub is one subscript as a half-open interval; a negative index counts from the end.
func (l *lowerer) sub(s ast.Sub, n int, what string) (lo, hi int, one bool) {
	if s.All {
		return 0, n, false
	}
	end := func(e ast.Expr) int {
		x := l.intArg(e, "a subscript")
		if x < 0 {
			x += n
		}
		return x
	}
	lo = end(s.Lo)
	switch {
	case !s.IsRange:
		hi, one = lo+1, true
	case s.Hi == nil:
		hi = n
	default:
		hi = end(s.Hi)
		if s.Inclusive {
			hi++
		}
	}
	if lo < 0 || hi > n || lo > hi {
		at := s.Span()
		if one {
			l.failf("E212", at, "%s %s of a matrix with %d %ss", what, l.expr(s.Lo).s, n, what)
		}
		l.failf("E212", at, "%ss %d to %d of a matrix with %d", what, lo, hi, n)
	}
	return lo, hi, one
}
