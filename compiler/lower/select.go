package lower

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates subscripts that are vectors: positions, x[[2, 0], :], and masks, x[x > 0, :]. With one on each axis
// the result is the elements in which a chosen row meets a chosen column.

// vector reports a value that names several rows or columns; t is its type, that of no matrix for a list.
func (v val) vector(l *lowerer) (t types.Type, several bool) {
	if v.kind == list {
		return t, true
	}
	t = l.typeOf(v)
	return t, t.IsMatrix()
}

// positions is the column of positions that v, subscript s of axis k of x, names. n is the length of the axis.
func (l *lowerer) positions(s ast.Sub, v val, t types.Type, n, k int, x val) ir.ID {
	at := s.Lo.Span()
	what := [...]string{"row", "column"}[k]
	if v.kind == list {
		if len(v.elems) == 0 {
			l.fail(source.Errorf("E203", at, "a list of nothing has no element type").WithHelp("no %ss at all are x[0..0, :]", what))
		}
		for _, p := range v.elems {
			if i := p.s.I; p.isInt() && n != types.Unknown && (i < -int64(n) || i >= int64(n)) {
				l.failf("E212", at, "%s %d of a matrix with %d %ss", what, i, n, what)
			}
		}
		v = l.matrixOf(v, types.NoElem, at)
		t = l.typeOf(v)
	}
	if t.Elem == types.Bool {
		return l.places(s, v, t, n, k, x)
	}
	if t.IsDense() && t.Rows == 1 && t.Cols != 1 {
		v = l.apply(l.table.Must("t"), nil, at, []val{v}, []source.Span{at})
	}
	return v.id
}

// places is the positions at which a mask is true.
func (l *lowerer) places(s ast.Sub, mask val, t types.Type, n, k int, x val) ir.ID {
	at := s.Lo.Span()
	what := [...]string{"row", "column"}[k]
	if have := max(t.Rows, t.Cols); t.Known() && n != types.Unknown && min(t.Rows, t.Cols) == 1 && have != n {
		l.fail(source.Errorf("E211", at, "a mask of %d truth values for %d %ss", have, n, what).WithHelp("a mask has one truth value for each %s", what))
	}
	size := l.size(n, [...]string{"nrow", "ncol"}[k], x, at)
	attrs := op.MakeAttrs(op.Attr{Name: "axis", Val: op.Int(k)})
	return l.add(l.table.Must("places"), attrs, at, []source.Span{at}, mask.id, l.toEdge(size, at))
}

// selection is x[rows, cols] where one at least is a vector: the other is cut first, so that no more is copied than needed.
func (l *lowerer) selection(e *ast.Index, x val, row, col subscript) val {
	rows, cols := row.picked, col.picked
	if !row.all || !col.all {
		subs := e.Subs
		if len(subs) == 1 {
			subs = append(append([]ast.Sub(nil), subs...), ast.Sub{Src: e.Subs[0].Src, Lo: &ast.Int{Value: 0}})
		}
		one := row.one || col.one
		row.one, col.one = false, false // a row or column of one, not an element
		if !(one && l.typeOf(x).Cols == 1 && len(e.Subs) == 1) {
			x = l.part(e, x, subs, row, col)
		}
	}
	out := x.id
	for k, at := range []ir.ID{rows, cols} {
		if at != ir.None {
			spans := []source.Span{e.X.Span(), e.Subs[min(k, len(e.Subs)-1)].Span()}
			out = l.add(l.table.Must([...]string{"pick.rows", "pick.cols"}[k]), nil, e.Span(), spans, out, at)
		}
	}
	return l.edgeVal(out)
}
