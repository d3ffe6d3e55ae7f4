package lang

import (
	"math"
	"strconv"

	"flow/lang/ast"
)

// This file defines the printer: a tree to tokens with canonical spaces. Print and Format use it.
// Format prints the tree of a text, which gives the text's tokens in the same order, and keeps line
// ends and comments.

// kind is the kind of a printed token.
type kind uint8

const (
	plain kind = iota
	sep        // between two statements: ";" or a line end
	openBlock
	closeBlock
)

// item is a printed token. space: a space before it unless it starts a line. brk: line ends before
// it.
type item struct {
	text    string
	kind    kind
	space   bool
	brk     int
	comment bool
	iterate bool // until or times of an iterate, aligned with it
}

type printer struct {
	out   []item
	space bool
}

// Print returns the canonical text of a node: a file or block in lines, anything else in one line
// if blocks of one statement allow it. Parsing the text gives the node back; a tree that no text
// has gets parentheses where needed. Nodes hold no comments; Format keeps them.
func Print(n ast.Node) string {
	p := &printer{}
	switch n := n.(type) {
	case *ast.File:
		p.stmts(n.Stmts, true)
	case *ast.Block:
		p.block(n)
	case ast.Stmt:
		p.stmt(n)
	case ast.Expr:
		p.expr(n, 0)
	case ast.Type:
		p.typ(n)
	}
	text := string(indent(p.out))
	if _, file := n.(*ast.File); !file && text != "" {
		text = text[:len(text)-1]
	}
	return text
}

// w writes a token.
func (p *printer) w(texts ...string) {
	for _, t := range texts {
		p.out = append(p.out, item{text: t, space: p.space})
		p.space = false
	}
}

// s requests a space before the next token.
func (p *printer) s() { p.space = true }

// sw writes a token with a space before and after.
func (p *printer) sw(t string) {
	p.s()
	p.w(t)
	p.s()
}

// brackets writes n comma-separated things in brackets, without spaces if tight.
func (p *printer) brackets(open string, n int, each func(int), close string, tight bool) {
	p.w(open)
	for i := range n {
		if i > 0 {
			p.w(",")
			p.space = !tight
		}
		each(i)
	}
	p.w(close)
}

func (p *printer) stmts(list []ast.Stmt, lines bool) {
	for i, st := range list {
		if i > 0 {
			brk := 0
			if lines {
				brk = 1
			}
			p.out = append(p.out, item{text: ";", kind: sep})
			p.mark(brk, func() { p.stmt(st) })
			continue
		}
		p.stmt(st)
	}
}

// mark sets the number of line ends before the first token that f prints.
func (p *printer) mark(brk int, f func()) {
	at := len(p.out)
	p.s()
	f()
	if at < len(p.out) {
		p.out[at].brk = brk
	}
}

// block writes a block, in lines if it has several statements or one that contains such a block.
func (p *printer) block(b *ast.Block) {
	at := len(p.out)
	p.out = append(p.out, item{text: "{", kind: openBlock, space: p.space})
	p.s()
	lines := len(b.Stmts) > 1
	p.stmts(b.Stmts, lines)
	for _, t := range p.out[at+1:] {
		lines = lines || t.brk > 0
	}
	p.out = append(p.out, item{text: "}", kind: closeBlock, space: len(b.Stmts) > 0})
	p.space = false
	if lines {
		p.out[at+1].brk, p.out[len(p.out)-1].brk = 1, 1
	}
}

func (p *printer) ident(id ast.Ident) { p.w(id.Name) }

// typed writes `: T`.
func (p *printer) typed(t ast.Type) {
	if t != nil {
		p.w(":")
		p.s()
		p.typ(t)
	}
}

// clause writes ` word e` unless e is nil.
func (p *printer) clause(word string, e ast.Expr) {
	if e != nil {
		p.sw(word)
		p.expr(e, 0)
	}
}

func (p *printer) str(word string, s *ast.String) {
	if s != nil {
		if word != "" {
			p.sw(word)
		}
		p.s()
		p.expr(s, 0)
	}
}

func (p *printer) names(ids []ast.Ident) {
	for i, id := range ids {
		if i > 0 {
			p.w(",")
			p.s()
		}
		p.ident(id)
	}
}

func (p *printer) body(b *ast.Block) {
	p.s()
	p.block(b)
}

func (p *printer) pars(ps []ast.Par) {
	p.brackets("(", len(ps), func(i int) {
		p.ident(ps[i].Name)
		p.typed(ps[i].Type)
		p.clause("=", ps[i].Default)
	}, ")", false)
}

func (p *printer) ranges(rs []ast.Range) {
	for i, r := range rs {
		if i > 0 {
			p.w(",")
			p.s()
		}
		p.oneRange(r)
	}
}

func (p *printer) oneRange(r ast.Range) {
	if r.Name != nil {
		p.ident(*r.Name)
		p.sw("in")
	}
	p.bound(r.Lo)
	if r.Hi != nil {
		p.w(dots(r.Inclusive))
		p.bound(r.Hi)
		p.clause("by", r.By)
	}
}

func dots(inclusive bool) string {
	if inclusive {
		return "..="
	}
	return ".."
}

func (p *printer) with(w *ast.With) {
	if w != nil {
		p.sw("with")
		p.args(w.Args)
	}
}

func (p *printer) args(as []ast.Arg) {
	p.brackets("(", len(as), func(i int) {
		if as[i].Name != nil {
			p.ident(*as[i].Name)
			p.sw("=")
		}
		p.expr(as[i].Value, 0)
	}, ")", false)
}

func (p *printer) stmt(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.On:
		p.on(st)
	case *ast.Next:
		p.w("next")
		p.s()
		p.ident(st.Name)
		p.clause("=", st.Expr)
	case *ast.For:
		p.w("for")
		p.s()
		p.ranges(st.Ranges)
		p.body(st.Body)
	case *ast.Iterate:
		p.iterate(st)
	case *ast.Emit:
		p.w("emit")
		p.s()
		if st.All {
			p.w("all")
			p.s()
		}
		p.expr(st.Expr, 0)
		p.clause("to", st.To)
		p.str("as", st.As)
	case *ast.Assert:
		p.w("assert")
		p.s()
		p.expr(st.Expr, 0)
		if st.Message != nil {
			p.w(",")
			p.s()
			p.expr(st.Message, 0)
		}
	case *ast.Bind:
		p.names(st.Names)
		p.typed(st.Type)
		p.clause("=", st.Expr)
	case *ast.Send:
		p.expr(st.Target, 0)
		p.clause("<-", st.Expr)
	case *ast.ExprStmt:
		p.expr(st.Expr, 0)
	default:
		p.declaration(st)
	}
}

// declaration prints a statement that begins with a word and declares a name.
func (p *printer) declaration(st ast.Stmt) {
	switch st := st.(type) {
	case *ast.Import:
		p.w("import")
		p.str("", st.Path)
		if st.As != nil {
			p.sw("as")
			p.ident(*st.As)
		}
	case *ast.Param:
		p.w("param")
		p.s()
		p.ident(st.Name)
		p.typed(st.Type)
		p.clause("=", st.Default)
		p.clause("in", st.In)
		p.str("", st.Doc)
	case *ast.TypeDef:
		p.w("type")
		p.s()
		p.ident(st.Name)
		p.sw("=")
		p.typ(st.Type)
	case *ast.FnDecl:
		p.w("fn")
		p.s()
		p.ident(st.Name)
		p.pars(st.Params)
		p.result(st.Result)
		p.clause("=", st.Expr)
		if st.Body != nil {
			p.body(st.Body)
		}
	case *ast.Stage:
		p.w("stage")
		p.s()
		p.ident(st.Name)
		p.pars(st.Params)
		p.result(st.Result)
		p.body(st.Body)
	case *ast.State:
		p.w("state")
		p.s()
		p.ident(st.Name)
		p.typed(st.Type)
		p.clause("=", st.Init)
	case *ast.Chan:
		p.w("chan")
		p.s()
		p.ident(st.Name)
		if len(st.Ranges) > 0 {
			p.w("[")
			p.ranges(st.Ranges)
			p.w("]")
		}
		p.typed(st.Type)
		p.clause("=", st.Expr)
		p.with(st.With)
	}
}

func (p *printer) result(t ast.Type) {
	if t != nil {
		p.sw("->")
		p.typ(t)
	}
}

func (p *printer) on(st *ast.On) {
	p.w("on")
	p.s()
	switch {
	case st.End:
		p.w("end")
	case len(st.Names) == 1 && !st.Paren:
		p.ident(st.Names[0])
	default:
		p.w("(")
		p.names(st.Names)
		p.w(")")
	}
	if !st.End {
		p.clause("in", st.In)
	}
	p.body(st.Body)
}

func (p *printer) iterate(st *ast.Iterate) {
	p.w("iterate")
	p.s()
	for i, c := range st.Carry {
		if i > 0 {
			p.w(",")
			p.s()
		}
		p.ident(c.Name)
		p.typed(c.Type)
		p.clause("=", c.Init)
	}
	at := len(p.out)
	p.clause("until", st.Until)
	p.clause("times", st.Times)
	p.out[at].iterate = true
	p.with(st.With)
	p.body(st.Body)
}

// number returns the shortest text that reads back as the same float literal.
func number(f float64) string {
	switch {
	case math.IsInf(f, 0):
		return "inf"
	case math.IsNaN(f):
		return "nan"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	for _, c := range s {
		if c == '.' || c == 'e' {
			return s
		}
	}
	return s + ".0"
}
