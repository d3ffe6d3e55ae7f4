package lang

import (
	"math"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
)

// This file converts productions of expressions to the tree of package ast. Precedence levels
// become Binary and Unary nodes.

func (c converter) exprs(gs []gExpr) []ast.Expr {
	var out []ast.Expr
	for _, g := range gs {
		out = append(out, c.expr(g))
	}
	return out
}

func (c converter) expr(g gExpr) ast.Expr {
	switch g := g.(type) {
	case *gPiped:
		x := c.or(g.X)
		for _, p := range g.Pipes {
			x = c.binary(x, p.Tokens[0], "|>", c.post(p.X))
		}
		return x
	case *gClimbed:
		return c.climbed(g)
	}
	return nil
}

// climbed converts what a climber made.
func (c converter) climbed(g *gClimbed) ast.Expr {
	switch {
	case g.op == "":
		return c.post(g.post)
	case g.y == nil:
		return &ast.Unary{Src: c.src(g.at), Op: g.op, X: c.climbed(g.x)}
	}
	return c.binary(c.climbed(g.x), g.sign, g.op, c.climbed(g.y))
}

// binary joins x and y by an operator.
func (c converter) binary(x ast.Expr, sign lexer.Token, op string, y ast.Expr) ast.Expr {
	return &ast.Binary{Src: ast.Src{At: x.Span().Join(y.Span())}, Op: op, OpAt: c.token(sign), X: x, Y: y}
}

func (c converter) or(g *gOr) ast.Expr {
	x := c.and(g.X)
	for _, t := range g.Tail {
		x = c.binary(x, t.Tokens[0], "or", c.and(t.X))
	}
	return x
}

func (c converter) and(g *gAnd) ast.Expr {
	x := c.not(g.X)
	for _, t := range g.Tail {
		x = c.binary(x, t.Tokens[0], "and", c.not(t.X))
	}
	return x
}

func (c converter) not(g *gNot) ast.Expr {
	x := c.add(g.X.X)
	if t := g.X.Tail; t != nil {
		x = c.binary(x, t.Tokens[0], t.Op, c.add(t.X))
	}
	if g.Not {
		x = &ast.Unary{Src: c.src(g.at), Op: "not", X: x}
	}
	return x
}

func (c converter) add(g *gAdd) ast.Expr {
	x := c.mul(g.X)
	for _, t := range g.Tail {
		x = c.binary(x, t.Tokens[0], t.Op, c.mul(t.X))
	}
	return x
}

func (c converter) mul(g *gMul) ast.Expr {
	x := c.matmul(g.X)
	for _, t := range g.Tail {
		x = c.binary(x, t.Tokens[0], t.Op, c.matmul(t.X))
	}
	return x
}

func (c converter) matmul(g *gMM) ast.Expr {
	x := c.unary(g.X)
	for _, t := range g.Tail {
		x = c.binary(x, t.Tokens[0], "@", c.unary(t.X))
	}
	return x
}

func (c converter) unary(g *gUn) ast.Expr {
	x := c.post(g.X.X)
	if t := g.X.Tail; t != nil {
		x = c.binary(x, t.Tokens[0], "^", c.unary(t.X))
	}
	if g.Sign != "" {
		x = &ast.Unary{Src: c.src(g.at), Op: g.Sign, X: x}
	}
	return x
}

func (c converter) post(g *gPost) ast.Expr {
	x := c.prim(g.X)
	for _, s := range g.Suffix {
		src := ast.Src{At: x.Span().Join(c.src(s.at).At)}
		switch {
		case s.Call != nil:
			x = &ast.Call{Src: src, Fun: x, Args: c.args(s.Call.Args)}
		case s.Index != nil:
			ix := &ast.Index{Src: src, X: x}
			for _, b := range s.Index.Subs {
				by := b.By
				if b.Step != nil {
					by = b.Step
				}
				ix.Subs = append(ix.Subs, ast.Sub{Src: c.src(b.at), All: b.All, Lo: c.expr(b.Lo), IsRange: b.Dots != "", Hi: c.expr(b.Hi), Inclusive: b.Dots == "..=", By: c.expr(by)})
			}
			x = ix
		default:
			x = &ast.Field{Src: src, X: x, Name: c.ident(s.Field)}
		}
	}
	return x
}

func (c converter) prim(g *gPrim) ast.Expr {
	src := c.src(g.at)
	switch {
	case g.Name != nil:
		return &ast.Name{Src: src, Name: g.Name.Name}
	case g.Lit != "":
		return c.literal(g)
	case g.Column != nil:
		return &ast.Column{Src: src, Name: c.ident(g.Column)}
	case g.If != nil:
		return c.ifExpr(g.If)
	case g.Lambda != nil:
		return &ast.Lambda{Src: src, Params: c.pars(g.Lambda.Params), Expr: c.expr(g.Lambda.Expr), Body: c.block(g.Lambda.Body)}
	case g.Comp != nil:
		return &ast.Comp{Src: src, Ranges: c.ranges(g.Comp.Ranges), Expr: c.expr(g.Comp.Expr)}
	case g.Parfor != nil:
		return &ast.Parfor{Src: src, Ranges: c.ranges(g.Parfor.Ranges), With: c.with(g.Parfor.With), Body: c.block(g.Parfor.Body)}
	case g.List != nil:
		return &ast.List{Src: src, Elems: c.exprs(g.List.Elems)}
	case g.Record != nil:
		r := &ast.Record{Src: src}
		for _, f := range g.Record.Fields {
			r.Fields = append(r.Fields, ast.FieldInit{Src: c.src(f.at), Name: c.ident(f.Name), Value: c.expr(f.Value)})
		}
		return r
	case len(g.Tuple) == 1 && g.Tuple[0].Name == nil:
		return &ast.Paren{Src: src, X: c.expr(g.Tuple[0].Value)}
	}
	return &ast.Tuple{Src: src, Parts: c.args(g.Tuple)}
}

// literal converts a literal. It cannot fail: the scanner has reported numbers out of range, and
// their values are not used.
func (c converter) literal(g *gPrim) ast.Expr {
	src, tok := c.src(g.at), g.Tokens[0]
	digits := strings.ReplaceAll(tok.Value, "_", "")
	switch tok.Type {
	case tokInt:
		n, _ := strconv.ParseInt(digits, 10, 64)
		return &ast.Int{Src: src, Value: n, Text: tok.Value}
	case tokFloat:
		f, _ := strconv.ParseFloat(digits, 64)
		return &ast.Float{Src: src, Value: f, Text: tok.Value}
	case tokString:
		return &ast.String{Src: src, Value: unquote(tok.Value), Text: tok.Value}
	case tokDuration:
		return &ast.Duration{Src: src, Nanos: nanos(digits), Text: tok.Value}
	}
	switch tok.Value {
	case "inf":
		return &ast.Float{Src: src, Value: math.Inf(1), Text: tok.Value}
	case "nan":
		return &ast.Float{Src: src, Value: math.NaN(), Text: tok.Value}
	}
	return &ast.Bool{Src: src, Value: tok.Value == "true"}
}

// nanos returns a duration literal in nanoseconds. Whole numbers stay exact.
func nanos(s string) int64 {
	i := strings.LastIndexAny(s, "0123456789") + 1
	unit := unitNanos(s[i:])
	if n, err := strconv.ParseInt(s[:i], 10, 64); err == nil {
		return n * unit
	}
	f, _ := strconv.ParseFloat(s[:i], 64)
	return int64(math.Round(f * float64(unit)))
}

func (c converter) ifExpr(g *gIf) *ast.If {
	if g == nil {
		return nil
	}
	return &ast.If{Src: c.src(g.at), Cond: c.expr(g.Cond), Then: c.block(g.Then), Else: c.block(g.Else), ElseIf: c.ifExpr(g.ElseIf)}
}
