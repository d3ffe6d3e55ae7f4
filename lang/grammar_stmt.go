package lang

import "github.com/alecthomas/participle/v2/lexer"

// This file defines the productions of statements. Tokens is the text of a production (participle
// fills it in), and the tags are the grammar, which Grammar prints. With one token of lookahead the
// first word identifies every statement but Bind and Send, and the second token Bind.

// at holds the tokens of a production.
type at struct{ Tokens []lexer.Token }

func (a at) tokens() []lexer.Token { return a.Tokens }

// gStmt is any statement. Send is last, because an expression may start with anything.
type gStmt interface{ tokens() []lexer.Token }

// gFile is a whole file. Its ";" come from layout.
type gFile struct {
	at
	Stmts []gStmt `parser:"[ @@ { ';' @@ } [ ';' ] ]"`
}

// gBlock is `{ m = 0.9 * ema; next ema = m }`.
type gBlock struct {
	at
	Stmts []gStmt `parser:"'{' [ @@ { ';' @@ } [ ';' ] ] '}'"`
}

// gImport is `import "lib/x.flow" as x`.
type gImport struct {
	at
	Path *gString `parser:"'import' @@"`
	As   *gIdent  `parser:"[ 'as' @@ ]"`
}

// gParam is `param mode: str = "bsp" in ["bsp", "asp"] "consistency"`.
type gParam struct {
	at
	Name    *gIdent  `parser:"'param' @@"`
	Type    *gType   `parser:"[ ':' @@ ]"`
	Default gExpr    `parser:"[ '=' @@ ]"`
	In      gExpr    `parser:"[ 'in' @@ ]"`
	Doc     *gString `parser:"[ @@ ]"`
}

// gTypeDef is `type User = {id: i64, city: str}`.
type gTypeDef struct {
	at
	Name *gIdent `parser:"'type' @@"`
	Type *gType  `parser:"'=' @@"`
}

// gFnDecl is `fn r2(y: f64[n], p: f64[n]) -> f64 = 1 - sum((y - p) ^ 2)`.
type gFnDecl struct {
	at
	Name   *gIdent `parser:"'fn' @@"`
	Params []*gPar `parser:"'(' [ @@ { ',' @@ } [ ',' ] ] ')'"`
	Result *gType  `parser:"[ '->' @@ ]"`
	Expr   gExpr   `parser:"( '=' @@"`
	Body   *gBlock `parser:"| @@ )"`
}

// gPar is `reg: f64 = 1e-7`.
type gPar struct {
	at
	Name    *gIdent `parser:"@@"`
	Type    *gType  `parser:"[ ':' @@ ]"`
	Default gExpr   `parser:"[ '=' @@ ]"`
}

// gStage is `stage alarm(xs: chan Hit, limit: f64) -> chan str { .. }`.
type gStage struct {
	at
	Name   *gIdent `parser:"'stage' @@"`
	Params []*gPar `parser:"'(' [ @@ { ',' @@ } [ ',' ] ] ')'"`
	Result *gType  `parser:"'->' @@"`
	Body   *gBlock `parser:"@@"`
}

// gState is `state ema: f64 = 0.0`.
type gState struct {
	at
	Name *gIdent `parser:"'state' @@"`
	Type *gType  `parser:"[ ':' @@ ]"`
	Init gExpr   `parser:"'=' @@"`
}

// gOn is `on h in hits { .. }`, `on (x, y) in zip(a, b) { .. }` or `on end { .. }`.
type gOn struct {
	at
	End   bool      `parser:"'on' ( @'end'"`
	Names []*gIdent `parser:"| ( @@"`
	Paren bool      `parser:"| @'('"`
	More  []*gIdent `parser:"@@ { ',' @@ } ')' )"`
	In    gExpr     `parser:"'in' @@ )"`
	Body  *gBlock   `parser:"@@"`
}

// gNext is `next c = u`.
type gNext struct {
	at
	Name *gIdent `parser:"'next' @@"`
	Expr gExpr   `parser:"'=' @@"`
}

// gChan is `chan L[i in 0..nt, j in 0..=i]: f64[b,b] = e with (place = cyclic2d)`.
type gChan struct {
	at
	Name   *gIdent   `parser:"'chan' @@"`
	Ranges []*gRange `parser:"[ '[' @@ { ',' @@ } ']' ]"`
	Type   *gType    `parser:"[ ':' @@ ]"`
	Expr   gExpr     `parser:"[ '=' @@ ]"`
	With   *gWith    `parser:"[ @@ ]"`
}

// gFor is `for i in k+1..nt, j in k+1..=i by 2 { .. }`.
type gFor struct {
	at
	Ranges []*gRange `parser:"'for' @@ { ',' @@ }"`
	Body   *gBlock   `parser:"@@"`
}

// gRange is `j in k+1..=i by 2`, `x in xs`, or an extent `nt`.
type gRange struct {
	at
	Name *gIdent `parser:"[ @@ 'in' ]"`
	Lo   gExpr   `parser:"@@"`
	Dots string  `parser:"[ @( '..' | '..=' )"`
	Hi   gExpr   `parser:"@@"`
	By   gExpr   `parser:"[ 'by' @@ ] ]"`
}

// gIterate is `iterate c = init, r = 0 until r == cap { next c = f(c); next r = r + 1 }`.
type gIterate struct {
	at
	Carry []*gCarry `parser:"'iterate' @@ { ',' @@ }"`
	Until gExpr     `parser:"( 'until' @@"`
	Times gExpr     `parser:"| 'times' @@ )"`
	With  *gWith    `parser:"[ @@ ]"`
	Body  *gBlock   `parser:"@@"`
}

// gCarry is `c: f64[n,1] = init`.
type gCarry struct {
	at
	Name *gIdent `parser:"@@"`
	Type *gType  `parser:"[ ':' @@ ]"`
	Init gExpr   `parser:"'=' @@"`
}

// gEmit is `emit w to "beta.csv" as "weights"`, or `emit all w`. all is a name before a token that
// cannot begin an expression, and before a bracket or sign: `emit all(x)` is a reduction.
type gEmit struct {
	at
	All  bool     `parser:"'emit' [ @'all' (?= Ident | Int | Float | String | 'if' | 'parfor') ]"`
	Expr gExpr    `parser:"@@"`
	To   gExpr    `parser:"[ 'to' @@ ]"`
	As   *gString `parser:"[ 'as' @@ ]"`
}

// gAssert is `assert identical(a, b), "must agree"`.
type gAssert struct {
	at
	Expr    gExpr `parser:"'assert' @@"`
	Message gExpr `parser:"[ ',' @@ ]"`
}

// gWith is `with (schedule = "fac2", grain = 4)`.
type gWith struct {
	at
	Args []*gArg `parser:"'with' '(' @@ { ',' @@ } [ ',' ] ')'"`
}

// gBind is `a, b: f64 = f(x)`.
type gBind struct {
	at
	Names []*gIdent `parser:"@@ { ',' @@ }"`
	Type  *gType    `parser:"[ ':' @@ ]"`
	Expr  gExpr     `parser:"'=' @@"`
}

// gSend is `L[i,j] <- e`, or an expression, which is a block's value.
type gSend struct {
	at
	Target gExpr `parser:"@@"`
	Expr   gExpr `parser:"[ '<-' @@ ]"`
}

// gBad replaces a statement that recovery removed. No text produces it.
type gBad struct {
	at
	Text string `parser:"@Bad"`
}

// gIdent is `residual`.
type gIdent struct {
	at
	Name string `parser:"@Ident"`
}

// gString is `"tile edge"`, with its quotes.
type gString struct {
	at
	Text string `parser:"@String"`
}
