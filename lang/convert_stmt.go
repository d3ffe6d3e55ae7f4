package lang

import (
	"github.com/alecthomas/participle/v2/lexer"

	"flow/lang/ast"
	"flow/lang/source"
)

// This file converts productions of statements to the tree of package ast.

// converter converts offsets to positions.
type converter struct{ file *source.File }

func (c converter) token(t lexer.Token) source.Span { return c.file.Span(t.Pos.Offset, end(t)) }

// src returns the span of a production. No production is empty or ends in a ";" of layout.
func (c converter) src(a at) ast.Src {
	if len(a.Tokens) == 0 {
		return ast.Src{}
	}
	from, to := a.Tokens[0].Pos.Offset, end(a.Tokens[len(a.Tokens)-1])
	// A token that replaces a mistake may be longer than the text.
	return ast.Src{At: c.file.Span(from, max(from, min(to, len(c.file.Text))))}
}

func (c converter) ident(g *gIdent) ast.Ident { return ast.Ident{Src: c.src(g.at), Name: g.Name} }

func (c converter) identOrNil(g *gIdent) *ast.Ident {
	if g == nil {
		return nil
	}
	id := c.ident(g)
	return &id
}

func (c converter) idents(gs []*gIdent) []ast.Ident {
	out := make([]ast.Ident, len(gs))
	for i, g := range gs {
		out[i] = c.ident(g)
	}
	return out
}

func (c converter) str(g *gString) *ast.String {
	if g == nil {
		return nil
	}
	return &ast.String{Src: c.src(g.at), Value: unquote(g.Text), Text: g.Text}
}

func (c converter) block(g *gBlock) *ast.Block {
	if g == nil {
		return nil
	}
	return &ast.Block{Src: c.src(g.at), Stmts: c.stmts(g.Stmts)}
}

func (c converter) stmts(gs []gStmt) []ast.Stmt {
	out := make([]ast.Stmt, len(gs))
	for i, g := range gs {
		out[i] = c.stmt(g)
	}
	return out
}

func (c converter) stmt(g gStmt) ast.Stmt {
	switch g := g.(type) {
	case *gImport:
		return &ast.Import{Src: c.src(g.at), Path: c.str(g.Path), As: c.identOrNil(g.As)}
	case *gParam:
		return &ast.Param{Src: c.src(g.at), Name: c.ident(g.Name), Type: c.typ(g.Type), Default: c.expr(g.Default), In: c.expr(g.In), Doc: c.str(g.Doc)}
	case *gTypeDef:
		return &ast.TypeDef{Src: c.src(g.at), Name: c.ident(g.Name), Type: c.typ(g.Type)}
	case *gFnDecl:
		return &ast.FnDecl{Src: c.src(g.at), Name: c.ident(g.Name), Params: c.pars(g.Params), Result: c.typ(g.Result), Expr: c.expr(g.Expr), Body: c.block(g.Body)}
	case *gStage:
		return &ast.Stage{Src: c.src(g.at), Name: c.ident(g.Name), Params: c.pars(g.Params), Result: c.typ(g.Result), Body: c.block(g.Body)}
	case *gState:
		return &ast.State{Src: c.src(g.at), Name: c.ident(g.Name), Type: c.typ(g.Type), Init: c.expr(g.Init)}
	case *gOn:
		return &ast.On{Src: c.src(g.at), End: g.End, Paren: g.Paren, Names: c.idents(append(g.Names, g.More...)), In: c.expr(g.In), Body: c.block(g.Body)}
	case *gNext:
		return &ast.Next{Src: c.src(g.at), Name: c.ident(g.Name), Expr: c.expr(g.Expr)}
	case *gChan:
		return &ast.Chan{Src: c.src(g.at), Name: c.ident(g.Name), Ranges: c.ranges(g.Ranges), Type: c.typ(g.Type), Expr: c.expr(g.Expr), With: c.with(g.With)}
	case *gFor:
		return &ast.For{Src: c.src(g.at), Ranges: c.ranges(g.Ranges), Body: c.block(g.Body)}
	case *gIterate:
		it := &ast.Iterate{Src: c.src(g.at), Until: c.expr(g.Until), Times: c.expr(g.Times), With: c.with(g.With), Body: c.block(g.Body)}
		for _, k := range g.Carry {
			it.Carry = append(it.Carry, ast.Carry{Src: c.src(k.at), Name: c.ident(k.Name), Type: c.typ(k.Type), Init: c.expr(k.Init)})
		}
		return it
	case *gEmit:
		return &ast.Emit{Src: c.src(g.at), All: g.All, Expr: c.expr(g.Expr), To: c.expr(g.To), As: c.str(g.As)}
	case *gAssert:
		return &ast.Assert{Src: c.src(g.at), Expr: c.expr(g.Expr), Message: c.expr(g.Message)}
	case *gBind:
		return &ast.Bind{Src: c.src(g.at), Names: c.idents(g.Names), Type: c.typ(g.Type), Expr: c.expr(g.Expr)}
	case *gSend:
		if g.Expr != nil {
			return &ast.Send{Src: c.src(g.at), Target: c.expr(g.Target), Expr: c.expr(g.Expr)}
		}
		return &ast.ExprStmt{Src: c.src(g.at), Expr: c.expr(g.Target)}
	}
	// Only gBad is left, which recovery inserted.
	return &ast.Bad{Src: c.src(at{g.tokens()})}
}

func (c converter) pars(gs []*gPar) []ast.Par {
	var out []ast.Par
	for _, g := range gs {
		out = append(out, ast.Par{Src: c.src(g.at), Name: c.ident(g.Name), Type: c.typ(g.Type), Default: c.expr(g.Default)})
	}
	return out
}

func (c converter) ranges(gs []*gRange) []ast.Range {
	var out []ast.Range
	for _, g := range gs {
		out = append(out, ast.Range{Src: c.src(g.at), Name: c.identOrNil(g.Name), Lo: c.expr(g.Lo), Hi: c.expr(g.Hi), Inclusive: g.Dots == "..=", By: c.expr(g.By)})
	}
	return out
}

func (c converter) with(g *gWith) *ast.With {
	if g == nil {
		return nil
	}
	return &ast.With{Src: c.src(g.at), Args: c.args(g.Args)}
}

func (c converter) args(gs []*gArg) []ast.Arg {
	var out []ast.Arg
	for _, g := range gs {
		out = append(out, ast.Arg{Src: c.src(g.at), Name: c.identOrNil(g.Name), Value: c.expr(g.Value)})
	}
	return out
}

// typ returns a nil interface for a nil production, as do the functions below.
func (c converter) typ(g *gType) ast.Type {
	if g == nil {
		return nil
	}
	src := c.src(g.at)
	switch {
	case g.Chan != nil:
		return &ast.ChanType{Src: src, Elem: c.typ(g.Chan)}
	case g.Grid != nil:
		return &ast.GridType{Src: src, Dims: c.exprs(g.Grid.Dims), Elem: c.typ(g.Grid.Elem)}
	case g.Sparse != nil:
		return &ast.SparseType{Src: src, Elem: c.typ(g.Sparse)}
	case g.Frame != nil:
		return &ast.RecordType{Src: src, Frame: true, Fields: c.fields(g.Frame.Fields)}
	case g.Rec != nil:
		return &ast.RecordType{Src: src, Fields: c.fields(g.Rec.Fields)}
	case g.Fn != nil:
		f := &ast.FnType{Src: src, Result: c.typ(g.Fn.Result)}
		for _, p := range g.Fn.Params {
			f.Params = append(f.Params, c.typ(p))
		}
		return f
	case g.Named != nil:
		t := &ast.NamedType{Src: src, Name: c.ident(g.Named.Name), Dims: c.exprs(g.Named.Dims)}
		if g.Named.Of != nil {
			module := t.Name
			t.Module, t.Name = &module, c.ident(g.Named.Of)
		}
		return t
	}
	return &ast.TupleType{Src: src, Fields: c.fields(g.Tuple)}
}

func (c converter) fields(gs []*gFld) []ast.FieldType {
	var out []ast.FieldType
	for _, g := range gs {
		out = append(out, ast.FieldType{Src: c.src(g.at), Name: c.identOrNil(g.Name), Type: c.typ(g.Type)})
	}
	return out
}
