package lower

import (
	"slices"

	"flow/ir"
	"flow/ir/types"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates `if`: one branch if the condition is known before the run, else a node with
// both as regions.

// branch elaborates an `if` as a value or a statement.
func (l *lowerer) branch(e *ast.If, wantValue bool) val {
	for {
		c := l.whole(e.Cond)
		switch {
		case c.kind == edge && l.typeOf(c) == types.ScalarOf(types.Bool):
			return l.choose(e, c.id, wantValue)
		case c.kind != konst || c.s.Elem != types.Bool:
			l.fail(l.helpBool(source.Errorf("E202", e.Cond.Span(), "the condition is %s, not a bool", l.what(c)), c))
		case c.s.I != 0:
			return l.block(e.Then, wantValue)
		}
		if e.ElseIf == nil {
			break
		}
		e = e.ElseIf
	}
	if e.Else == nil {
		return val{}
	}
	return l.block(e.Else, wantValue)
}

// helpBool adds help to d, the diagnostic of a condition v that is no bool.
func (l *lowerer) helpBool(d source.Diagnostic, v val) source.Diagnostic {
	switch t := l.typeOf(v); {
	case v.kind != konst && v.kind != edge:
		return d.WithHelp("a bool is what a comparison gives, `true` or `false`")
	case t.IsMatrix() && t.Elem == types.Bool:
		return d.WithHelp("any(..) and all(..) make one bool of a matrix; ifelse(c, a, b) selects element by element")
	case t.IsScalar() && t.Elem.IsNumeric():
		return d.WithHelp("numbers are no truth values: write `%s != 0`", l.text(d.Span))
	}
	return d.WithHelp("a bool is what a comparison gives: `%s == ..`", l.text(d.Span))
}

// choose makes the node of an `if` whose condition only the run knows.
func (l *lowerer) choose(e *ast.If, cond ir.ID, wantValue bool) val {
	then, other := l.newRegion(), l.newRegion()
	var a, b val
	l.within(then, func() { a = l.matrixIfList(l.blockWhole(e.Then, wantValue), e.Then.Span()) })
	at := e.Span()
	l.within(other, func() {
		switch {
		case e.ElseIf != nil:
			at = e.ElseIf.Span()
			b = l.branch(e.ElseIf, wantValue)
		case e.Else != nil:
			at = e.Else.Span()
			b = l.blockWhole(e.Else, wantValue)
		}
		b = l.matrixIfList(b, at)
	})
	u := &union{l: l, then: then, other: other, e: e, at: at}
	var v val
	if wantValue {
		v = u.meet(a, b)
	} else if len(then.effect) == 0 && len(other.effect) == 0 && then.assert == ir.None && other.assert == ir.None {
		return val{} // it was checked, and does nothing
	}
	parts := l.close(l.table.Must("select"), nil, e.Span(), []ir.ID{cond}, u.typ, [][]ir.ID{u.a, u.b}, then, other)
	return u.fill(v, parts)
}

// matrixIfList returns v with matrices in place of lists: the run chooses between values, and a list is
// known before it.
func (l *lowerer) matrixIfList(v val, at source.Span) val {
	if v.kind == tuple {
		return v.each(func(_ int, x val) val { return l.matrixIfList(x, at) })
	}
	return l.matrixOf(v, types.NoElem, at)
}

// blockWhole is block with the value in canonical form inside the region.
func (l *lowerer) blockWhole(b *ast.Block, wantValue bool) val {
	from, before := ir.ID(l.g.Len()), l.sends
	v := l.block(b, wantValue)
	if v.kind == edge {
		v.id = l.in.Contract(l.g, from, v.id, l.sends == before)
	}
	return v
}

// union is the values of two branches, part by part.
type union struct {
	l           *lowerer
	then, other *region
	e           *ast.If
	at          source.Span // of the second branch
	typ         []types.Type
	a, b        []ir.ID
}

// meet pairs the values of two branches. The result has their common shape, with the number of a
// part for each edge.
func (u *union) meet(a, b val) val {
	l := u.l
	if a.kind == tuple && b.kind == tuple && len(a.elems) == len(b.elems) && slices.Equal(a.names, b.names) {
		return a.each(func(i int, x val) val { return u.meet(x, b.elems[i]) })
	}
	for _, v := range []val{a, b} {
		if v.kind != konst && v.kind != edge && v.kind != tuple {
			l.fail(source.Errorf("E200", u.e.Span(), "the branches of an `if` on a value of the run give matrices, scalars or tuples of them, this is %s", l.what(v)).
				WithHelp("untile(C) makes a matrix of a channel array"))
		}
	}
	ta, tb := u.typeOf(u.then, a), u.typeOf(u.other, b)
	if a.kind == konst && a.untyped && tb.IsScalar() && becomes(a.s.Elem, tb.Elem) {
		a, ta = konstVal(a.s.Convert(tb.Elem)), tb
	}
	if b.kind == konst && b.untyped && ta.IsScalar() && becomes(b.s.Elem, ta.Elem) {
		b, tb = konstVal(b.s.Convert(ta.Elem)), ta
	}
	if a.kind == tuple || b.kind == tuple || !ta.Equal(tb) {
		first := u.e.Then.Span()
		d := source.Errorf("E221", u.at, "one branch of the `if` gives %s, the other %s", u.name(a, ta), u.name(b, tb)).WithNote(first, "%s", u.name(a, ta))
		d.Label = u.name(b, tb)
		d.Help = "both branches have one type and one shape; fmt(\"{}\", x) makes a text of a number"
		if alike := tb; a.kind != tuple && b.kind != tuple && ta.Elem.IsNumeric() && tb.Elem.IsNumeric() {
			alike.Elem = ta.Elem
			if ta.Equal(alike) { // only the elements differ
				d.Help = "nothing converts by itself here: write " + max(ta.Elem, tb.Elem).String() + "(..)"
			}
		}
		l.fail(d)
	}
	l.within(u.then, func() { u.a = append(u.a, l.toEdge(a, u.e.Then.Span())) })
	l.within(u.other, func() { u.b = append(u.b, l.toEdge(b, u.at)) })
	u.typ = append(u.typ, ta)
	return val{kind: edge, id: ir.ID(len(u.typ) - 1)}
}

func (u *union) typeOf(r *region, v val) (t types.Type) {
	u.l.within(r, func() { t = u.l.typeOf(v) })
	return t
}

func (u *union) name(v val, t types.Type) string {
	if v.kind == tuple {
		return u.l.what(v)
	}
	return t.String()
}

// fill replaces meet's numbers by the parts of the node.
func (u *union) fill(v val, parts []ir.ID) val {
	switch v.kind {
	case edge:
		return u.l.edgeVal(parts[v.id])
	case tuple:
		return v.each(func(_ int, x val) val { return u.fill(x, parts) })
	}
	return v
}
