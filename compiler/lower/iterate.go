package lower

import (
	"flow/compiler/check"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/lang/ast"
	"flow/lang/source"
)

// This file elaborates `iterate`: one node with a region for the body and one for the condition.
// Carried names are values of the run, whatever they start as, so that a program does not depend on
// how its loop is run.

// carried is an iterate being elaborated.
type carried struct {
	s       *ast.Iterate
	init    []val
	typ     []types.Type
	literal []bool // the type is the `next`'s to choose
}

func (l *lowerer) iterate(s *ast.Iterate) {
	c := &carried{s: s}
	l.nexts(s)
	for _, k := range s.Carry {
		c.add(l, k)
	}
	most, hints := l.iterateHints(s.With)
	times, counted := int64(0), false
	var count val
	if s.Times != nil {
		count = l.whole(s.Times)
		switch {
		case count.isInt():
			times, counted = count.s.I, true
		case count.kind != edge || l.typeOf(count) != types.ScalarOf(types.I64):
			l.fail(source.Errorf("E200", s.Times.Span(), "the number of rounds is an integer, this is %s", l.what(count)).WithHelp("%s", l.toInteger(s.Times.Span())))
		}
	}
	warnings := len(l.diags)
	body, next := l.settled(c)
	var results []ir.ID
	switch {
	case counted && times <= int64(most):
		results = l.unrolledRounds(c, times, warnings)
	case counted:
		attrs := op.MakeAttrs(append(hints, op.Attr{Name: "carry", Val: op.Int(len(c.init))}, op.Attr{Name: "times", Val: op.Int(int(times))})...)
		results = l.close(l.table.Must("iterate"), attrs, s.Span(), c.edges(l), c.typ, [][]ir.ID{next}, body)
	default:
		results = l.untilNode(c, body, next, count, hints)
	}
	for i, k := range s.Carry {
		l.declare(k.Name, l.edgeVal(results[i]))
	}
}

// carriedOf returns v as a value that rounds carry: a matrix or a scalar.
func (l *lowerer) carriedOf(v val, at source.Span) val {
	if v = l.matrixOf(v, types.NoElem, at); v.kind != konst && v.kind != edge {
		l.failf("E200", at, "a carried value is a matrix or scalar, this is %s", l.what(v))
	}
	return v
}

// add elaborates the initial value of a carried name.
func (c *carried) add(l *lowerer, k ast.Carry) {
	v := l.carriedOf(l.whole(k.Init), k.Init.Span())
	if k.Type != nil {
		v = l.ascribe(v, k.Type, k.Init.Span())
	}
	c.init = append(c.init, v)
	c.typ = append(c.typ, l.typeOf(v))
	c.literal = append(c.literal, v.kind == konst && v.untyped)
}

// edges returns the initial values as edges of their types.
func (c *carried) edges(l *lowerer) []ir.ID {
	out := make([]ir.ID, len(c.init))
	for i, v := range c.init {
		if v.kind == konst {
			v.s = v.s.Convert(c.typ[i].Elem)
		}
		out[i] = l.toEdge(v, c.s.Carry[i].Init.Span())
	}
	return out
}

// nexts checks that each carried name has exactly one `next`, and none under a condition.
func (l *lowerer) nexts(s *ast.Iterate) {
	given := make([]source.Span, len(s.Carry))
	for _, st := range s.Body.Stmts {
		nx, ok := st.(*ast.Next)
		if b, is := st.(*ast.Bind); is {
			for _, n := range b.Names {
				if i := carriedAt(s, n.Name); i >= 0 && !given[i].IsValid() {
					l.fail(check.ForgottenNext(n))
				}
			}
		}
		if !ok {
			l.nestedNext(st)
			continue
		}
		i := carriedAt(s, nx.Name.Name)
		if i < 0 {
			l.fail(source.Errorf("E414", nx.Name.At, "%s is not carried by this iterate", nx.Name.Name).WithHelp("it carries `%s`", s.Carry[0].Name.Name).WithNote(s.Carry[0].Name.At, "what it carries begins here"))
		}
		if given[i].IsValid() {
			l.fail(source.Errorf("E413", nx.Span(), "%s has two `next`", nx.Name.Name).WithHelp("a round has one value of each name: bind what comes between to a name of its own").WithNote(given[i], "the first"))
		}
		given[i] = nx.Span()
	}
	for i, k := range s.Carry {
		if !given[i].IsValid() {
			d := source.Errorf("E412", k.Name.At, "%s has no `next`", k.Name.Name).
				WithHelp("its value in the next round is given in the body by next %s = ..; one that stays the same is bound above the loop", k.Name.Name)
			if n := len(s.Body.Stmts); n > 0 && len(s.Carry) == 1 {
				if e, ok := s.Body.Stmts[n-1].(*ast.ExprStmt); ok {
					d.Span = e.Span()
					d = d.WithHelp("write `next %s = %s`", k.Name.Name, l.text(e.Span()))
				}
			}
			l.fail(d)
		}
	}
}

func carriedAt(s *ast.Iterate, name string) int {
	for i, k := range s.Carry {
		if k.Name.Name == name {
			return i
		}
	}
	return -1
}

// nestedNext reports a `next` in an inner block of the body that is no loop of its own.
func (l *lowerer) nestedNext(st ast.Stmt) {
	ast.Walk(st, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Iterate, *ast.Lambda:
			return false
		case *ast.Next:
			l.fail(source.Errorf("E413", n.Span(), "the `next` of %s stands under a condition or in a loop", n.Name.Name).
				WithHelp("give it always, and choose the value: next %s = if .. { .. } else { .. }", n.Name.Name))
		}
		return true
	})
}

// settled elaborates the body as a region. Literal initial values take the type of their `next`,
// which may depend on theirs: the body is elaborated again until they agree.
func (l *lowerer) settled(c *carried) (*region, []ir.ID) {
	warnings := len(l.diags)
	for {
		l.diags = l.diags[:warnings]
		r, args := c.region(l)
		changed := false
		next := make([]ir.ID, len(c.typ))
		l.within(r, func() {
			vals := l.round(c, args)
			for i := range vals {
				var again bool
				next[i], again = l.keeps(c, i, vals[i])
				changed = changed || again
			}
		})
		if !changed {
			return r, next
		}
	}
}

// region returns a region with the carried values as arguments.
func (c *carried) region(l *lowerer) (r *region, args []ir.ID) {
	r = l.newRegion()
	for _, t := range c.typ {
		args = append(args, l.carry(r, t))
	}
	return r, args
}

// bind binds the carried names to values of a round.
func (c *carried) bind(l *lowerer, at []ir.ID) {
	for i, k := range c.s.Carry {
		l.scope.bind(k.Name.Name, l.edgeVal(at[i]), k.Name.At)
	}
}

// round elaborates the body once on carried values and returns their next ones.
func (l *lowerer) round(c *carried, args []ir.ID) []val {
	outer := l.scope
	l.scope = &scope{parent: outer}
	c.bind(l, args)
	l.scope = &scope{parent: l.scope}
	vals := make([]val, len(args))
	for _, st := range c.s.Body.Stmts {
		if nx, ok := st.(*ast.Next); ok {
			vals[carriedAt(c.s, nx.Name.Name)] = l.whole(nx.Expr)
			continue
		}
		l.stmt(st)
	}
	l.scope = outer
	return vals
}

// keeps returns the next value of carried name i as an edge of its type. again: a literal start
// took another type.
func (l *lowerer) keeps(c *carried, i int, v val) (id ir.ID, again bool) {
	k := c.s.Carry[i]
	var nx *ast.Next
	for _, st := range c.s.Body.Stmts {
		if n, ok := st.(*ast.Next); ok && n.Name.Name == k.Name.Name {
			nx = n
		}
	}
	at := nx.Expr.Span()
	v = l.carriedOf(v, at)
	want := c.typ[i]
	if v.kind == konst && v.untyped && want.IsScalar() && becomes(v.s.Elem, want.Elem) {
		v = konstVal(v.s.Convert(want.Elem))
	}
	have := l.typeOf(v)
	if have.Equal(want) || have.IsMatrix() && want.IsMatrix() && have.Elem == want.Elem && have.Repr == want.Repr && fits(have, want) {
		return l.toEdge(v, at), false
	}
	if c.literal[i] && have.IsScalar() && becomes(want.Elem, have.Elem) {
		c.typ[i] = have
		return ir.None, true
	}
	d := source.Errorf("E415", at, "carried `%s` starts as %v but `next %s` is %v", k.Name.Name, want, k.Name.Name, have).WithNote(k.Init.Span(), "%v", want)
	d.Label = have.String()
	if have.IsScalar() && want.IsScalar() && have.Elem.IsNumeric() && want.Elem.IsNumeric() {
		d = d.WithHelp("convert one of them: %v(..)", want)
	} else if want == (types.Type{Kind: have.Kind, Repr: have.Repr, Elem: have.Elem, Rows: have.Cols, Cols: have.Rows}) {
		d = d.WithHelp("t(..) of it is %v", want)
	} else if have.IsMatrix() && want.IsMatrix() && have.Repr != want.Repr {
		convert := "sparse"
		if want.IsDense() {
			convert = "dense"
		}
		d = d.WithHelp("nothing becomes sparse or dense by itself: %s(..)", convert)
	} else if have.IsMatrix() {
		d = d.WithHelp("a carried value keeps its shape: it starts as large as it will be, or a parfor collects what the rounds give")
	}
	l.fail(d)
	return ir.None, false
}

// fits reports sizes that may be equal in the run.
func fits(a, b types.Type) bool {
	return (a.Rows == b.Rows || a.Rows == types.Unknown || b.Rows == types.Unknown) &&
		(a.Cols == b.Cols || a.Cols == types.Unknown || b.Cols == types.Unknown)
}

// becomes reports whether a literal of one type may be one of another.
func becomes(a, b types.Elem) bool {
	return a == b || a == types.I64 && b.IsFloat() || a.IsFloat() && b.IsFloat()
}

// unrolledRounds elaborates the body for each round. It has been elaborated as a region before, so
// which programs are valid does not depend on the number of rounds.
func (l *lowerer) unrolledRounds(c *carried, times int64, warnings int) []ir.ID {
	at := c.edges(l)
	seen := len(l.diags)
	for range times {
		if l.ctx.Err() != nil {
			panic(bail{})
		}
		vals := l.round(c, at)
		next := make([]ir.ID, len(at))
		for i := range vals {
			next[i], _ = l.keeps(c, i, vals[i])
		}
		at = next
	}
	l.diags = l.diags[:max(seen, warnings)] // the region's elaboration has warned
	return at
}

// untilNode makes the node of a loop that stops when its condition holds, or after a count that the
// run knows: then a hidden carried value counts the rounds.
func (l *lowerer) untilNode(c *carried, body *region, next []ir.ID, count val, hints []op.Attr) []ir.ID {
	init, ts := c.edges(l), append([]types.Type(nil), c.typ...)
	cond, args := c.region(l)
	var stop ir.ID
	if c.s.Until != nil {
		l.within(cond, func() {
			c.bind(l, args)
			v := l.whole(c.s.Until)
			if l.typeOf(v) != types.ScalarOf(types.Bool) {
				l.fail(l.helpBool(source.Errorf("E202", c.s.Until.Span(), "`until` takes a bool, this is %s", l.what(v)), v))
			}
			stop = l.toEdge(v, c.s.Until.Span())
			if l.assert != ir.None || len(l.effect) > 0 {
				l.failf("E114", c.s.Until.Span(), "the condition of a loop cannot assert")
			}
		})
	} else {
		at := c.s.Times.Span()
		i64 := types.ScalarOf(types.I64)
		init, ts = append(init, l.konst(value.I64(0), at)), append(ts, i64)
		round, done := l.carry(body, i64), l.carry(cond, i64)
		l.within(body, func() {
			next = append(next, l.add(l.table.Infix("+"), nil, at, nil, round, l.konst(value.I64(1), at)))
		})
		l.within(cond, func() {
			stop = l.add(l.table.Infix(">="), nil, at, nil, done, l.here(count).id)
		})
	}
	attrs := op.MakeAttrs(append(hints, op.Attr{Name: "carry", Val: op.Int(len(ts))})...)
	return l.close(l.table.Must("iterate"), attrs, c.s.Span(), init, ts, [][]ir.ID{next, {stop}}, body, cond)
}
