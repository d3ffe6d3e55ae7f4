package lower

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// This file converts lists where a matrix is wanted: [1, 2, 3] is a column, [[1, 2], [3, 4]] a
// matrix of two rows. Elsewhere a list stays a plan-time list, for loops and elements.

// isRows reports a list of lists.
func (v val) isRows() bool { return v.kind == list && len(v.elems) > 0 && v.elems[0].kind == list }

// matrixOf makes a matrix of a list and returns other values as they are. Number literals in a list
// take the type meet, unless it is NoElem or other elements have types.
func (l *lowerer) matrixOf(v val, meet types.Elem, at source.Span) val {
	if v.kind != list {
		return v
	}
	rows := v.elems
	if !v.isRows() {
		rows = make([]val, len(v.elems))
		for i, x := range v.elems {
			rows[i] = seqVal(list, []val{x})
		}
	}
	if len(rows) == 0 || len(rows[0].elems) == 0 {
		l.fail(source.Errorf("E203", at, "a list of nothing has no element type").WithHelp("an empty matrix is zeros(0, 1)"))
	}
	var in []val
	for i, r := range rows {
		if r.kind != list {
			l.failf("E200", at, "element %d of this list of rows is %s", i, l.what(r))
		}
		if len(r.elems) != len(rows[0].elems) {
			l.fail(source.Errorf("E211", at, "rows of a list are equally long: row 0 has %d, row %d has %d", len(rows[0].elems), i, len(r.elems)).
				WithHelp("what is missing is 0 or nan"))
		}
		for _, x := range r.elems {
			in = append(in, l.listElement(x, at))
		}
	}
	if m := l.meet(in); m != types.NoElem {
		meet = m
	}
	spans := make([]source.Span, len(in))
	for i := range in {
		in[i], spans[i] = l.adapt(in[i], meet), at
	}
	size := op.MakeAttrs(op.Attr{Name: "size", Val: op.Ints(len(rows), len(rows[0].elems))})
	return l.apply(l.table.Must("list"), size, at, in, spans)
}

// matrices returns the arguments of an operator with lists converted to matrices.
func (l *lowerer) matrices(d *op.Def, in []val, spans []source.Span) []val {
	out, meet := slices.Clone(in), l.meet(in)
	for i, v := range in {
		out[i] = l.matrixOf(v, meets(d, i, meet), spans[i])
	}
	return out
}

// listElement returns x if it can be an element of a matrix.
func (l *lowerer) listElement(x val, at source.Span) val {
	if x.kind == konst || x.kind == edge {
		if t := l.typeOf(x); t.IsScalar() && t.Elem.Size() > 0 {
			return x
		}
	}
	d := source.Errorf("E200", at, "a list that stands for a matrix has numbers or bools in it, this has %s", l.what(x))
	if x.kind == edge {
		d = d.WithHelp("rbind and cbind put matrices together")
	} else {
		d = d.WithHelp("a list of others stays a list: a `for` goes over its elements, and list[i] is one of them")
	}
	l.fail(d)
	return val{}
}

// toEdge makes v a value of the run. Constants become const nodes.
func (l *lowerer) toEdge(v val, at source.Span) ir.ID {
	switch v.kind {
	case edge:
		return v.id
	case konst:
		return l.konst(v.s, at)
	case list:
		return l.matrixOf(v, types.NoElem, at).id
	case function:
		l.fail(source.Errorf("E119", at, "%s is no value", l.what(v)).WithHelp("its value is that of a call: %s(..)", l.text(at)))
	}
	l.failf("E200", at, "a matrix or scalar is wanted, this is %s", l.what(v))
	return ir.None
}
