package lower

import (
	"cmp"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates vector subscripts: positions, x[[2, 0], :], and masks, x[x > 0, :]. With one
// on each axis the result has the elements where a chosen row meets a chosen column.

// vector reports a value that names several rows or columns. t is its type, no matrix for a list.
func (v val) vector(l *lowerer) (t types.Type, several bool) {
	if v.kind == list {
		return t, true
	}
	t = l.typeOf(v)
	return t, t.IsMatrix()
}

// positions returns the column of positions that v, subscript s of axis k of x, names. n is the
// length of the axis.
func (l *lowerer) positions(s ast.Sub, v val, t types.Type, n, k int, x val) ir.ID {
	at := s.Lo.Span()
	what := [...]string{"row", "column"}[k]
	if v.kind == list {
		if len(v.elems) == 0 {
			l.fail(source.Errorf("E203", at, "a list of nothing has no element type").WithHelp("no %ss at all are x[0..0, :]", what))
		}
		for _, p := range v.elems {
			if i := p.s.I; p.isInt() && n != types.Unknown && (i < -int64(n) || i >= int64(n)) {
				l.fail(source.Errorf("E212", at, "%s %d of a matrix with %d %ss", what, i, n, what).
					WithHelp("%ss are numbered from 0, and from the end from -1: 0 to %d, or -1 to %d", what, n-1, -n))
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

// places returns the positions where a mask is true.
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

// selection returns x[rows, cols] where at least one is a vector or a range with a step. The other is cut
// first, to copy no more than needed. Steps come before vectors: a step of -1 is a reverse, the others are
// one stride.
func (l *lowerer) selection(e *ast.Index, x val, row, col subscript) val {
	rows, cols, steps := row.picked, col.picked, [...]int{row.step, col.step}
	if !row.all || !col.all {
		subs := e.Subs
		if len(subs) == 1 {
			subs = append(append([]ast.Sub(nil), subs...), ast.Sub{Src: e.Subs[0].Src, Lo: &ast.Int{Value: 0}})
		}
		one := row.one || col.one
		row.one, col.one = false, false // a row or column of one, not an element
		if !(row.all && one && l.typeOf(x).Cols == 1 && len(e.Subs) == 1) {
			x = l.part(e, x, subs, row, col)
		}
	}
	out := x.id
	for k := range steps {
		if steps[k] == -1 && l.typeOf(x).IsDense() {
			by := op.MakeAttrs(op.Attr{Name: "by", Val: op.Str([...]string{"rows", "cols"}[k])})
			out = l.add(l.table.Must("reverse"), by, e.Span(), []source.Span{e.X.Span()}, out)
			steps[k] = 1
		}
		steps[k] = cmp.Or(steps[k], 1) // 0: no step
	}
	if steps != [...]int{1, 1} {
		by := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(steps[0])}, op.Attr{Name: "cols", Val: op.Int(steps[1])})
		out = l.add(l.table.Must("stride"), by, e.Span(), []source.Span{e.X.Span()}, out)
	}
	for k, at := range []ir.ID{rows, cols} {
		if at != ir.None {
			spans := []source.Span{e.X.Span(), e.Subs[min(k, len(e.Subs)-1)].Span()}
			out = l.add(l.table.Must([...]string{"pick.rows", "pick.cols"}[k]), nil, e.Span(), spans, out, at)
		}
	}
	return l.edgeVal(out)
}

// steppedSub returns the range lo..hi by a step of axis k of x: the enclosing interval, of which
// selection takes every step-th index. Descending, lo..hi by -1 is in hi+1..=lo.
func (l *lowerer) steppedSub(s ast.Sub, x val, k int, lo, hi val) subscript {
	t := l.typeOf(x)
	n, what, count := t.Rows, "row", "nrow"
	if k == 1 {
		n, what, count = t.Cols, "column", "ncol"
	}
	step := l.intArg(s.By, "the step")
	switch {
	case step == 0:
		l.failf("E417", s.By.Span(), "the step is 0")
	case step == 1:
		return l.interval(s, lo, hi, n, what)
	case step < 0:
		from := lo
		switch {
		case s.Hi == nil:
			lo = intVal(0)
		case s.Inclusive:
			lo = hi
		default:
			lo = l.after(hi, n, count, x, s.Span())
		}
		hi, s.Inclusive = from, true
		if a, b := l.fromStart(lo, n), l.fromStart(hi, n); lo.kind == konst && hi.kind == konst && n != types.Unknown && (a < 0 || b >= n || a > b+1) {
			l.fail(source.Errorf("E212", s.Span(), "%ss %s of a matrix with %d", what, l.in.Files.Text(s.Span()), n).
				WithHelp("a negative step goes down from the first index, which is in the range: n-1..=0 by -1 are all of n, the last one first"))
		}
	}
	out := l.interval(s, lo, hi, n, what)
	if out.step = step; out.open && step < 0 {
		out.through = 3
	}
	return out
}

// fromStart returns a constant index of an axis of n, counted from its start.
func (l *lowerer) fromStart(v val, n int) int {
	if v.kind == konst && v.s.I < 0 {
		return int(v.s.I) + n
	}
	return int(v.s.I)
}

// after returns the index that follows v. A negative v counts from the end of the axis, and so does the
// index after it. It would be wrong to add the length here: an index before the first row would count from
// the end a second time.
func (l *lowerer) after(v val, n int, count string, x val, at source.Span) val {
	if v.kind == konst && v.s.I != -1 {
		return intVal(int(v.s.I) + 1)
	}
	size, spans := l.size(n, count, x, at), []source.Span{at, at}
	if v.kind == konst {
		return size
	}
	last := l.apply(l.table.Infix("=="), nil, at, []val{v, intVal(-1)}, spans)
	wrap := l.apply(l.table.Infix("*"), nil, at, []val{size, last}, spans)
	v = l.apply(l.table.Infix("+"), nil, at, []val{v, wrap}, spans)
	return l.apply(l.table.Infix("+"), nil, at, []val{v, intVal(1)}, spans)
}
