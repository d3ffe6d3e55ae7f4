package lang

import (
	"strconv"

	"flow/lang/ast"
)

// This file prints expressions and types.

// Precedence levels of the grammar, loosest first.
const (
	levelPipe = iota + 1
	levelOr
	levelAnd
	levelNot
	levelCmp
	levelAdd
	levelMul
	levelMM
	levelUn
	levelPow
	levelPost
)

// levels returns the level of an operator and the lowest levels that its operands may have without
// parentheses. They are 0 if op is no operator between two operands.
func levels(op string) (own, left, right int) {
	switch op {
	case "|>":
		return levelPipe, levelPipe, levelPost
	case "or":
		return levelOr, levelOr, levelAnd
	case "and":
		return levelAnd, levelAnd, levelNot
	case "+", "-":
		return levelAdd, levelAdd, levelMul
	case "*", "/", "//", "%":
		return levelMul, levelMul, levelMM
	case "@":
		return levelMM, levelMM, levelUn
	case "^":
		return levelPow, levelPost, levelUn
	case "==", "!=", "<=", ">=", "<", ">":
		return levelCmp, levelAdd, levelAdd
	}
	return 0, 0, 0
}

func level(e ast.Expr) int {
	switch e := e.(type) {
	case *ast.Binary:
		own, _, _ := levels(e.Op)
		return own
	case *ast.Unary:
		if e.Op == "not" {
			return levelNot
		}
		return levelUn
	case *ast.Int:
		if e.Value < 0 {
			return levelUn
		}
	case *ast.Float:
		if e.Value < 0 {
			return levelUn
		}
	}
	return levelPost
}

// expr writes e, in parentheses if it binds looser than its context.
func (p *printer) expr(e ast.Expr, place int) {
	if level(e) < place {
		p.w("(")
		p.expr(e, 0)
		p.w(")")
		return
	}
	switch e := e.(type) {
	case *ast.Unary:
		p.w(e.Op)
		if e.Op == "not" {
			p.s()
			p.expr(e.X, levelCmp)
		} else {
			p.expr(e.X, levelPow)
		}
	case *ast.Binary:
		_, left, right := levels(e.Op)
		p.left(e.X, left)
		p.sw(e.Op)
		p.expr(e.Y, right)
	case *ast.Call:
		p.left(e.Fun, levelPost)
		p.args(e.Args)
	case *ast.Index:
		p.left(e.X, levelPost)
		p.subs(e.Subs)
	case *ast.Field:
		p.left(e.X, levelPost)
		p.w(".")
		p.ident(e.Name)
	default:
		p.prim(e)
	}
}

// left writes a left operand. A lambda or comprehension there would swallow the operator.
func (p *printer) left(e ast.Expr, place int) {
	open := false
	switch e := e.(type) {
	case *ast.Lambda:
		open = e.Expr != nil
	case *ast.Comp:
		open = true
	}
	if !open {
		p.expr(e, place)
		return
	}
	p.w("(")
	p.expr(e, 0)
	p.w(")")
}

func (p *printer) prim(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Name:
		p.w(e.Name)
	case *ast.Int:
		p.w(orElse(e.Text, func() string { return strconv.FormatInt(e.Value, 10) }))
	case *ast.Float:
		p.w(orElse(e.Text, func() string { return number(e.Value) }))
	case *ast.Bool:
		p.w(strconv.FormatBool(e.Value))
	case *ast.String:
		p.w(orElse(e.Text, func() string { return quote(e.Value) }))
	case *ast.Duration:
		p.w(orElse(e.Text, func() string { return strconv.FormatInt(e.Nanos, 10) + "ns" }))
	case *ast.Column:
		p.w(".")
		p.ident(e.Name)
	case *ast.If:
		p.ifExpr(e)
	case *ast.Lambda:
		p.w("fn")
		p.pars(e.Params)
		p.clause("=>", e.Expr)
		if e.Body != nil {
			p.body(e.Body)
		}
	case *ast.Comp:
		p.w("for")
		p.s()
		p.ranges(e.Ranges)
		p.clause("=>", e.Expr)
	case *ast.Parfor:
		p.w("parfor")
		p.s()
		p.ranges(e.Ranges)
		p.with(e.With)
		p.body(e.Body)
	case *ast.List:
		p.brackets("[", len(e.Elems), func(i int) { p.expr(e.Elems[i], 0) }, "]", false)
	case *ast.Record:
		p.brackets("{", len(e.Fields), func(i int) {
			p.ident(e.Fields[i].Name)
			p.w(":")
			p.s()
			p.expr(e.Fields[i].Value, 0)
		}, "}", false)
	case *ast.Tuple:
		p.args(e.Parts)
	case *ast.Paren:
		p.w("(")
		p.expr(e.X, 0)
		p.w(")")
	}
}

func orElse(text string, f func() string) string {
	if text != "" {
		return text
	}
	return f()
}

func (p *printer) ifExpr(e *ast.If) {
	p.w("if")
	p.s()
	p.expr(e.Cond, 0)
	p.body(e.Then)
	if e.ElseIf != nil {
		p.sw("else")
		p.ifExpr(e.ElseIf)
	} else if e.Else != nil {
		p.sw("else")
		p.block(e.Else)
	}
}

// subs writes subscripts: `[i,j]` tight if all are plain indices, else `[0..4, :]`.
func (p *printer) subs(subs []ast.Sub) {
	tight := true
	for _, s := range subs {
		tight = tight && !s.All && !s.IsRange && !isVector(s.Lo)
	}
	p.brackets("[", len(subs), func(i int) {
		s := subs[i]
		if s.All {
			p.w(":")
			return
		}
		p.bound(s.Lo)
		if s.IsRange {
			p.w(dots(s.Inclusive))
			if s.Hi != nil {
				p.bound(s.Hi)
			}
			p.clause("by", s.By)
		}
	}, "]", tight)
}

// isVector reports a subscript that selects several rows or columns by its form: a list or a mask.
func isVector(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.List:
		return true
	case *ast.Binary:
		own, _, _ := levels(e.Op)
		return own <= levelCmp
	case *ast.Unary:
		return e.Op == "not"
	}
	return false
}

// bound writes a bound of a range or subscript, without spaces if it is simple: `k+1`.
func (p *printer) bound(e ast.Expr) {
	from, gap := len(p.out), p.space
	p.expr(e, 0)
	if simple(e) {
		for i := from; i < len(p.out); i++ {
			p.out[i].space = false
		}
		p.out[from].space = gap
	}
}

// simple reports whether e is arithmetic on names and numbers only.
func simple(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Name, *ast.Int:
		return true
	case *ast.Field:
		return simple(e.X)
	case *ast.Binary:
		own, _, _ := levels(e.Op)
		return own >= levelAdd && simple(e.X) && simple(e.Y)
	}
	return false
}

func (p *printer) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.NamedType:
		if t.Module != nil {
			p.ident(*t.Module)
			p.w(".")
		}
		p.ident(t.Name)
		p.dims(t.Dims)
	case *ast.ChanType:
		p.w("chan")
		p.s()
		p.typ(t.Elem)
	case *ast.GridType:
		p.w("grid")
		p.dims(t.Dims)
		p.sw("of")
		p.typ(t.Elem)
	case *ast.SparseType:
		p.w("sparse")
		p.s()
		p.typ(t.Elem)
	case *ast.RecordType:
		if t.Frame {
			p.w("frame")
			p.s()
		}
		p.fields("{", t.Fields, "}")
	case *ast.TupleType:
		p.fields("(", t.Fields, ")")
	case *ast.FnType:
		p.w("fn")
		p.brackets("(", len(t.Params), func(i int) { p.typ(t.Params[i]) }, ")", false)
		p.result(t.Result)
	}
}

func (p *printer) dims(dims []ast.Expr) {
	if len(dims) > 0 {
		p.brackets("[", len(dims), func(i int) { p.bound(dims[i]) }, "]", true)
	}
}

func (p *printer) fields(open string, fs []ast.FieldType, close string) {
	p.brackets(open, len(fs), func(i int) {
		if fs[i].Name != nil {
			p.ident(*fs[i].Name)
			p.w(":")
			p.s()
		}
		p.typ(fs[i].Type)
	}, close, false)
}
