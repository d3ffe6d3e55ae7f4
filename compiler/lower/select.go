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

// positions returns the column of positions that v, a subscript of type t, names.
func (l *lowerer) positions(s ast.Sub, v val, t types.Type, a axis) ir.ID {
	at, n, what := s.Lo.Span(), a.n, a.what
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
		return l.places(s, v, t, a)
	}
	if t.IsDense() && t.Rows == 1 && t.Cols != 1 {
		v = l.apply(l.table.Must("t"), nil, at, []val{v}, []source.Span{at})
	}
	return v.id
}

// places returns the positions where a mask is true.
func (l *lowerer) places(s ast.Sub, mask val, t types.Type, a axis) ir.ID {
	at, n, what := s.Lo.Span(), a.n, a.what
	if have := max(t.Rows, t.Cols); t.Known() && n != types.Unknown && min(t.Rows, t.Cols) == 1 && have != n {
		l.fail(source.Errorf("E211", at, "a mask of %d truth values for %d %ss", have, n, what).WithHelp("a mask has one truth value for each %s", what))
	}
	size := l.length(a, at)
	attrs := op.MakeAttrs(op.Attr{Name: "axis", Val: op.Int(a.k)})
	return l.add(l.table.Must("places"), attrs, at, []source.Span{at}, mask.id, l.toEdge(size, at))
}

// selection returns x[rows, cols] where at least one is a vector or a range with a step. The other is
// cut first, to copy no more than needed. Steps come before vectors: a step of -1 is a reverse, the
// others are one stride.
func (l *lowerer) selection(e *ast.Index, x val, row, col subscript) val {
	steps := [...]int{row.step, col.step}
	if !row.all || !col.all {
		row.one, col.one = false, false // a row or column of one, not an element
		x = l.part(e, x, row, col)
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
	for k, s := range []subscript{row, col} {
		if s.picked != ir.None {
			out = l.add(l.table.Must([...]string{"pick.rows", "pick.cols"}[k]), nil, e.Span(), []source.Span{e.X.Span(), s.at}, out, s.picked)
		}
	}
	return l.edgeVal(out)
}

// steppedSub returns the range lo..hi by a step as the enclosing interval, from which selection takes
// every step-th index. Descending, lo..hi by -1 is in hi+1..=lo.
func (l *lowerer) steppedSub(s ast.Sub, lo, hi val, a axis) subscript {
	step := l.step(s.By)
	if step == 1 {
		return l.interval(s, lo, hi, a)
	}
	if step < 0 {
		from := lo
		switch {
		case s.Hi == nil:
			lo = intVal(0)
		case s.Inclusive:
			lo = hi
		default:
			lo = l.after(hi, a, s.Span())
		}
		hi, s.Inclusive = from, true
		if n, p, q := a.n, a.fromStart(lo), a.fromStart(hi); lo.kind == konst && hi.kind == konst && n != types.Unknown && (p < 0 || q >= n || p > q+1) {
			l.fail(source.Errorf("E212", s.Span(), "%ss %s of a matrix with %d", a.what, l.in.Files.Text(s.Span()), n).
				WithHelp("a negative step goes down from the first index, which is in the range: n-1..=0 by -1 are all of n, the last one first"))
		}
	}
	out := l.interval(s, lo, hi, a)
	if out.step = step; out.open && step < 0 {
		out.through = 3
	}
	return out
}

// fromStart returns a constant index counted from the start of the axis.
func (a axis) fromStart(v val) int {
	if v.kind == konst && v.s.I < 0 {
		return int(v.s.I) + a.n
	}
	return int(v.s.I)
}

// after returns the index that follows v. A negative v counts from the end of the axis, and so does the
// index after it. It would be wrong to add the length here: an index before the first row would count
// from the end a second time.
func (l *lowerer) after(v val, a axis, at source.Span) val {
	if v.kind == konst && v.s.I != -1 {
		return intVal(int(v.s.I) + 1)
	}
	size, spans := l.length(a, at), []source.Span{at, at}
	if v.kind == konst {
		return size
	}
	last := l.apply(l.table.Infix("=="), nil, at, []val{v, intVal(-1)}, spans)
	wrap := l.apply(l.table.Infix("*"), nil, at, []val{size, last}, spans)
	v = l.apply(l.table.Infix("+"), nil, at, []val{v, wrap}, spans)
	return l.apply(l.table.Infix("+"), nil, at, []val{v, intVal(1)}, spans)
}
