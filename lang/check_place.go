package lang

import (
	"flow/lang/ast"
	"flow/lang/source"
)

// This file checks where statements may be used. The grammar, with one token of lookahead, cannot.
// The checks need no names and no types.

// place is the kind of block that holds a statement.
type place struct {
	top     bool // the file itself, not a block
	fn      bool // inside a function or lambda
	stage   bool // directly in a stage's body
	on      bool // inside an `on` of a stage
	iterate bool // inside an iterate
	parfor  bool // inside a parfor
}

// checkPlaces reports statements in blocks where they have no meaning, and sends to anything but an
// element of a named array.
func checkPlaces(f *ast.File) source.Diagnostics {
	c := &placer{}
	c.stmts(f.Stmts, place{top: true})
	return c.diags
}

type placer struct{ diags source.Diagnostics }

func (c *placer) wrong(n ast.Node, what, where string) {
	c.diags = append(c.diags, source.Errorf("E114", head(n), "`%s` is not allowed here", what).WithHelp("`%s` stands %s", what, where))
}

// head is the span of a statement's first word. The whole of a long body would be no useful caret.
func head(n ast.Node) source.Span {
	s := n.Span()
	word := 0
	switch n.(type) {
	case *ast.Import, *ast.Assert:
		word = 6
	case *ast.Param, *ast.Stage, *ast.State:
		word = 5
	case *ast.TypeDef, *ast.Next, *ast.Emit, *ast.Chan:
		word = 4
	case *ast.FnDecl, *ast.On:
		word = 2
	}
	if word > 0 {
		s.To = s.From + source.Pos(word)
	}
	return s
}

func (c *placer) stmts(list []ast.Stmt, p place) {
	for i, st := range list {
		c.stmt(st, p)
		if e, ok := st.(*ast.ExprStmt); ok && i > 0 {
			c.lonePlus(e)
		}
	}
}

// lonePlus reports a statement that starts with `+`. It was meant to continue the line above and
// would have no effect.
func (c *placer) lonePlus(st *ast.ExprStmt) {
	at := st.Span().From
	ast.Walk(st.Expr, func(n ast.Node) bool {
		if u, ok := n.(*ast.Unary); ok && u.Op == "+" && u.Span().From == at {
			sign := u.Span()
			sign.To = sign.From + 1
			c.diags = append(c.diags, source.Errorf("E102", sign, "an operand is missing before `+`: the line above has ended").
				WithHelp("end that line with the `+`, or put what belongs together into parentheses"))
			return false
		}
		return n.Span().From == at
	})
}

// tuple reports a tuple that mixes named and unnamed parts, and a single named part.
func (c *placer) tuple(t *ast.Tuple) {
	named := 0
	for _, a := range t.Parts {
		if a.Name != nil {
			named++
		}
	}
	switch {
	case named == 1 && len(t.Parts) == 1:
		a := t.Parts[0]
		c.diags = append(c.diags, source.Errorf("E103", a.Span(), "`=` in parentheses names a part of a tuple, which has two or more").
			WithHelp("to compare write `==`; a binding is a statement of its own"))
	case named > 0 && named < len(t.Parts):
		for _, a := range t.Parts {
			if a.Name == nil {
				c.diags = append(c.diags, source.Errorf("E135", a.Span(), "this part of the tuple has no name, others have").
					WithHelp("name all parts, (a = .., b = ..), or none"))
				return
			}
		}
	}
	for i, a := range t.Parts {
		for _, b := range t.Parts[:i] {
			if a.Name != nil && b.Name != nil && a.Name.Name == b.Name.Name {
				c.diags = append(c.diags, source.Errorf("E135", a.Name.At, "two parts of the tuple are called `%s`", a.Name.Name).WithNote(b.Name.At, "the first"))
				return
			}
		}
	}
}

func (c *placer) block(b *ast.Block, p place) {
	if b != nil {
		p.top, p.stage = false, false
		c.stmts(b.Stmts, p)
	}
}

func (c *placer) stmt(st ast.Stmt, p place) {
	top := func(what string) {
		if !p.top {
			c.wrong(st, what, "at the top level of a file")
		}
	}
	switch st := st.(type) {
	case *ast.Import:
		top("import")
	case *ast.Param:
		top("param")
	case *ast.TypeDef:
		top("type")
	case *ast.FnDecl:
		if !p.top {
			c.wrong(st, "fn", "at the top level of a file; values of this block are given to it as arguments")
		}
		c.block(st.Body, place{fn: true})
		c.in(st.Expr, place{fn: true})
	case *ast.Stage:
		top("stage")
		c.stmts(st.Body.Stmts, place{stage: true})
	case *ast.State:
		if !p.stage {
			c.wrong(st, "state", "in the body of a stage")
		}
		c.in(st.Init, p)
	case *ast.On:
		if !p.stage {
			c.wrong(st, "on", "in the body of a stage")
		}
		c.in(st.In, p)
		c.block(st.Body, place{on: true})
	case *ast.Next:
		if !p.iterate && !p.on {
			c.wrong(st, "next", "in the body of an iterate, or in an `on` of a stage")
		}
		c.in(st.Expr, p)
	case *ast.Emit:
		switch {
		case p.fn:
			c.diags = append(c.diags, source.Errorf("E114", head(st), "`emit` is not allowed in a function").WithHelp("functions are pure: return the value and emit it at the top level"))
		case p.iterate && !p.on || p.parfor:
			c.diags = append(c.diags, source.Errorf("E114", head(st), "`emit` is not allowed in a loop that runs as one node").WithHelp("carry the value out of the loop and emit it after"))
		}
		c.in(st.Expr, p)
	case *ast.Chan:
		c.in(st.Expr, p)
	case *ast.For:
		c.block(st.Body, p)
	case *ast.Iterate:
		for _, k := range st.Carry {
			c.in(k.Init, p)
		}
		q := p
		q.iterate = true
		c.block(st.Body, q)
	case *ast.Bind:
		c.in(st.Expr, p)
	case *ast.Assert:
		c.in(st.Expr, p)
	case *ast.Send:
		ix, ok := st.Target.(*ast.Index)
		if ok {
			_, ok = ix.X.(*ast.Name)
		}
		if n, name := st.Target.(*ast.Name); !ok && name {
			d := source.Errorf("E111", st.Span(), "cannot send to this")
			d.Span.To = st.Expr.Span().From
			c.diags = append(c.diags, d.WithHelp("write `%s = `: a name is bound with =; `<-` sends to an element of a channel array", n.Name))
		} else if !ok {
			c.diags = append(c.diags, source.Errorf("E111", st.Target.Span(), "cannot send to this").
				WithHelp("the left of `<-` is an element of a channel array: `L[i,j] <- value`; for \"less than minus\" write `< -`"))
		}
		c.in(st.Expr, p)
	case *ast.ExprStmt:
		c.in(st.Expr, p)
	}
}

// in checks the blocks inside an expression.
func (c *placer) in(e ast.Expr, p place) {
	ast.Walk(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.If:
			for i := n; i != nil; i = i.ElseIf {
				c.in(i.Cond, p)
				c.block(i.Then, p)
				c.block(i.Else, p)
			}
			return false
		case *ast.Tuple:
			c.tuple(n)
		case *ast.Lambda:
			c.block(n.Body, place{fn: true})
			c.in(n.Expr, place{fn: true})
			return false
		case *ast.Parfor:
			q := p
			q.parfor = true
			c.block(n.Body, q)
			return false
		}
		return true
	})
}
