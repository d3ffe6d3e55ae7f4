package lang

import "github.com/alecthomas/participle/v2/lexer"

// This file defines the productions of expressions, one a precedence level, loosest first.

// gExpr is any expression: a *gPiped of the whole grammar, or what climbing made of it.
type gExpr interface{ tokens() []lexer.Token }

// gAlone is a text that is one expression.
type gAlone struct {
	at
	X gExpr `parser:"@@"`
}

// gPiped is `orders |> where(.amount > 10) |> head(10)`.
type gPiped struct {
	at
	X     *gOr     `parser:"@@"`
	Pipes []*gPipe `parser:"{ @@ }"`
}

// gPipe is `|> head(10)`.
type gPipe struct {
	at
	X *gPost `parser:"'|>' @@"`
}

// gOr is `changed == 0 or rounds == cap`.
type gOr struct {
	at
	X    *gAnd      `parser:"@@"`
	Tail []*gOrTail `parser:"{ @@ }"`
}

// gOrTail is `or b`.
type gOrTail struct {
	at
	X *gAnd `parser:"'or' @@"`
}

// gAnd is `a < b and b < c`.
type gAnd struct {
	at
	X    *gNot       `parser:"@@"`
	Tail []*gAndTail `parser:"{ @@ }"`
}

// gAndTail is `and b`.
type gAndTail struct {
	at
	X *gNot `parser:"'and' @@"`
}

// gNot is `not a == b`, which is not (a == b).
type gNot struct {
	at
	Not bool  `parser:"[ @'not' ]"`
	X   *gCmp `parser:"@@"`
}

// gCmp is `a <= b`; comparisons do not chain.
type gCmp struct {
	at
	X    *gAdd     `parser:"@@"`
	Tail *gCmpTail `parser:"[ @@ ]"`
}

// gCmpTail is `<= b`.
type gCmpTail struct {
	at
	Op string `parser:"@( '==' | '!=' | '<=' | '>=' | '<' | '>' )"`
	X  *gAdd  `parser:"@@"`
}

// gAdd is `a + b - c`.
type gAdd struct {
	at
	X    *gMul       `parser:"@@"`
	Tail []*gAddTail `parser:"{ @@ }"`
}

// gAddTail is `- c`.
type gAddTail struct {
	at
	Op string `parser:"@( '+' | '-' )"`
	X  *gMul  `parser:"@@"`
}

// gMul is `2 * x // 3`.
type gMul struct {
	at
	X    *gMM        `parser:"@@"`
	Tail []*gMulTail `parser:"{ @@ }"`
}

// gMulTail is `// 3`.
type gMulTail struct {
	at
	Op string `parser:"@( '*' | '//' | '/' | '%' )"`
	X  *gMM   `parser:"@@"`
}

// gMM is `A @ B`: it binds tighter than *, so `2 * A @ x` is 2 * (A @ x).
type gMM struct {
	at
	X    *gUn       `parser:"@@"`
	Tail []*gMMTail `parser:"{ @@ }"`
}

// gMMTail is `@ B`.
type gMMTail struct {
	at
	X *gUn `parser:"'@' @@"`
}

// gUn is `-x ^ 2`, which is -(x ^ 2), or `+x`, which is x.
type gUn struct {
	at
	Sign string `parser:"[ @( '-' | '+' ) ]"`
	X    *gPow  `parser:"@@"`
}

// gPow is `x ^ -2`, right associative.
type gPow struct {
	at
	X    *gPost    `parser:"@@"`
	Tail *gPowTail `parser:"[ @@ ]"`
}

// gPowTail is `^ -2`.
type gPowTail struct {
	at
	X *gUn `parser:"'^' @@"`
}

// gPost is `f(x)[0, :].amount`.
type gPost struct {
	at
	X      *gPrim     `parser:"@@"`
	Suffix []*gSuffix `parser:"{ @@ }"`
}

// gSuffix is `(a, b = 1)`, `[0, :]` or `.amount`.
type gSuffix struct {
	at
	Call  *gArgs  `parser:"@@"`
	Index *gIndex `parser:"| @@"`
	Field *gIdent `parser:"| '.' @@"`
}

// gArgs is `(A, tile = nb)`.
type gArgs struct {
	at
	Args []*gArg `parser:"'(' [ @@ { ',' @@ } [ ',' ] ] ')'"`
}

// gArg is `tile = nb`, or `nb` by position.
type gArg struct {
	at
	Name  *gIdent `parser:"[ @@ '=' ]"`
	Value gExpr   `parser:"@@"`
}

// gIndex is `[2..5, 0]`.
type gIndex struct {
	at
	Subs []*gSub `parser:"'[' @@ { ',' @@ } ']'"`
}

// gSub is `:`, `i`, `2..5`, `2..=5`, `5..2 by -1`, `2..` or `2.. by 2`. After the dots `by` is not
// a name.
type gSub struct {
	at
	All  bool   `parser:"@':'"`
	Lo   gExpr  `parser:"| @@"`
	Dots string `parser:"[ @( '..' | '..=' )"`
	Step gExpr  `parser:"[ 'by' @@"`
	Hi   gExpr  `parser:"| @@"`
	By   gExpr  `parser:"[ 'by' @@ ] ] ]"`
}

// gPrim is an operand: `L`, `1e-3`, `.amount`, `[1, 2]`, `(a, b)`, `(ok = a, bad = b)`, ..
type gPrim struct {
	at
	Name   *gIdent  `parser:"@@"`
	Lit    string   `parser:"| @( Int | Float | String | Duration | 'true' | 'false' | 'inf' | 'nan' )"`
	Tuple  []*gArg  `parser:"| '(' @@ { ',' @@ } ')'"`
	Column *gIdent  `parser:"| '.' @@"`
	If     *gIf     `parser:"| @@"`
	Lambda *gLambda `parser:"| @@"`
	Comp   *gComp   `parser:"| @@"`
	Parfor *gParfor `parser:"| @@"`
	List   *gList   `parser:"| @@"`
	Record *gRecord `parser:"| @@"`
}

// gIf is `if i == j { a } else { b }`.
type gIf struct {
	at
	Cond   gExpr   `parser:"'if' @@"`
	Then   *gBlock `parser:"@@"`
	ElseIf *gIf    `parser:"[ 'else' ( @@"`
	Else   *gBlock `parser:"| @@ ) ]"`
}

// gLambda is `fn(w, g) => w - lr * g`.
type gLambda struct {
	at
	Params []*gPar `parser:"'fn' '(' [ @@ { ',' @@ } [ ',' ] ] ')'"`
	Expr   gExpr   `parser:"( '=>' @@ (?! '==' | '!=' | '<=' | '>=' | '<' | '>' )"` // where a comparison ends, comparisons would chain
	Body   *gBlock `parser:"| @@ )"`
}

// gComp is `for k in 0..j => L[i,k] @ t(L[j,k])`.
type gComp struct {
	at
	Ranges []*gRange `parser:"'for' @@ { ',' @@ }"`
	Expr   gExpr     `parser:"'=>' @@ (?! '==' | '!=' | '<=' | '>=' | '<' | '>' )"`
}

// gParfor is `parfor i in 0..n with (grain = 4) { norm(X[i, :]) }`.
type gParfor struct {
	at
	Ranges []*gRange `parser:"'parfor' @@ { ',' @@ }"`
	With   *gWith    `parser:"[ @@ ]"`
	Body   *gBlock   `parser:"@@"`
}

// gList is `["bsp", "ssp"]`.
type gList struct {
	at
	Open  string  `parser:"@'['"`
	Elems []gExpr `parser:"[ @@ { ',' @@ } [ ',' ] ] ']'"`
}

// gRecord is `{id: 1, city: "Aachen"}`.
type gRecord struct {
	at
	Open   string        `parser:"@'{'"`
	Fields []*gFieldInit `parser:"[ @@ { ',' @@ } [ ',' ] ] '}'"`
}

// gFieldInit is `id: 1`.
type gFieldInit struct {
	at
	Name  *gIdent `parser:"@@ ':'"`
	Value gExpr   `parser:"@@"`
}
