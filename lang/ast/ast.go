// Package ast defines the syntax tree of a .flow program: one struct a construct, each with its
// span in the text. Package lang builds it; lang's formatter and the compiler read it. It knows no
// operator: a call of `potrf` and a call of a user's function look the same.
//
// The participle productions, one a precedence level, are in package lang. They are too deep to
// compile from.
package ast

import "flow/lang/source"

// Node is any part of a program.
type Node interface{ Span() source.Span }

// Src is a node's span. Every struct of this package embeds it.
type Src struct{ At source.Span }

// Span is the text that the node came from.
func (s Src) Span() source.Span { return s.At }

// Ident is a name at a place.
type Ident struct {
	Src
	Name string
}

// File is one parsed file.
type File struct {
	Src
	Name     string // as given to the parser
	Stmts    []Stmt
	Comments []Comment // in order, for the formatter
}

// Comment is `# text` up to the end of its line.
type Comment struct {
	Src
	Text string // with the leading #
}

// Stmt is a statement.
type Stmt interface {
	Node
	stmt()
}

// Expr is an expression.
type Expr interface {
	Node
	expr()
}

// Type is a written type.
type Type interface {
	Node
	typ()
}

// Block is `{ stmts }`. A block's value is its last statement when that is an ExprStmt.
type Block struct {
	Src
	Stmts []Stmt
}

type (
	// Import is `import "lib/x.flow" as x`; As is nil when absent.
	Import struct {
		Src
		Path *String
		As   *Ident
	}
	// Param is `param n: i64 = 4096 in [..] "doc"`.
	Param struct {
		Src
		Name    Ident
		Type    Type // nil: taken from the default
		Default Expr // nil: required
		In      Expr // nil: any value
		Doc     *String
	}
	// TypeDef is `type Order = {oid: i64}`.
	TypeDef struct {
		Src
		Name Ident
		Type Type
	}
	// FnDecl is `fn name(p: T = d) -> U = expr` or with a block. Exactly one of Expr and Body
	// is set.
	FnDecl struct {
		Src
		Name   Ident
		Params []Par
		Result Type // nil: inferred
		Expr   Expr
		Body   *Block
	}
	// Stage is a user's stream operator.
	Stage struct {
		Src
		Name   Ident
		Params []Par
		Result Type
		Body   *Block
	}
	// State is `state m: T = init` inside a stage.
	State struct {
		Src
		Name Ident
		Type Type
		Init Expr
	}
	// On is `on x in xs {}`, `on (x, y) in zip(a, b) {}` or `on end {}` (End).
	On struct {
		Src
		End   bool
		Paren bool // (x, y), or a single name in parentheses
		Names []Ident
		In    Expr
		Body  *Block
	}
	// Next is `next c = e`.
	Next struct {
		Src
		Name Ident
		Expr Expr
	}
	// Chan is `chan L[i in 0..n, ..]: T = e with (..)`. Ranges is empty for the plain form;
	// with named ranges it is the equation form.
	Chan struct {
		Src
		Name   Ident
		Ranges []Range
		Type   Type
		Expr   Expr // nil: unconnected
		With   *With
	}
	// For is `for i in a..b, j in c..=d by s { }`.
	For struct {
		Src
		Ranges []Range
		Body   *Block
	}
	// Iterate is a loop. Exactly one of Until and Times is set. Its carried names are bound
	// after it.
	Iterate struct {
		Src
		Carry []Carry
		Until Expr
		Times Expr
		With  *With
		Body  *Block
	}
	// Emit is `emit e to sink as "label"`, or `emit all e` (All).
	Emit struct {
		Src
		All  bool
		Expr Expr
		To   Expr // nil: stdout, or inside a stage its output
		As   *String
	}
	// Assert is `assert e, message`.
	Assert struct {
		Src
		Expr    Expr
		Message Expr // nil: none
	}
	// Bind is `a, b: T = e`.
	Bind struct {
		Src
		Names []Ident
		Type  Type
		Expr  Expr
	}
	// Send is `target <- e`.
	Send struct {
		Src
		Target Expr
		Expr   Expr
	}
	// ExprStmt is an expression as a statement: a block's value, or a REPL entry to print.
	ExprStmt struct {
		Src
		Expr Expr
	}
	// Bad replaces a statement that did not parse. Its diagnostic has been reported.
	Bad struct{ Src }
)

// Par is a parameter of fn, stage or lambda.
type Par struct {
	Src
	Name    Ident
	Type    Type // nil: generic
	Default Expr // nil: required
}

// Range is `i in lo..hi by step`, `i in xs` (Hi nil, over a list or grid), or a bare extent `nt`
// (no name, Hi nil).
type Range struct {
	Src
	Name      *Ident
	Lo        Expr
	Hi        Expr
	Inclusive bool
	By        Expr
}

// Carry is one carried name of an iterate.
type Carry struct {
	Src
	Name Ident
	Type Type
	Init Expr
}

// With is `with (k = v, ..)`.
type With struct {
	Src
	Args []Arg
}

// Arg is an argument of a call or a part of a tuple. Name is nil without a name.
type Arg struct {
	Src
	Name  *Ident
	Value Expr
}

type (
	// Name is a use of a name.
	Name struct {
		Src
		Name string
	}
	// Int is an integer literal.
	Int struct {
		Src
		Value int64
		Text  string // as written, for the formatter
	}
	// Float is a floating literal, inf and nan included.
	Float struct {
		Src
		Value float64
		Text  string
	}
	// Bool is true or false.
	Bool struct {
		Src
		Value bool
	}
	// String is a string literal, unquoted.
	String struct {
		Src
		Value string
		Text  string // as written
	}
	// Duration is `10s`.
	Duration struct {
		Src
		Nanos int64
		Text  string
	}
	// Unary is `-x`, `+x` or `not x`.
	Unary struct {
		Src
		Op string
		X  Expr
	}
	// Binary is an infix operator: + - * / // % @ ^ == != <= >= < > and or |>. OpAt is the
	// operator's span.
	Binary struct {
		Src
		Op   string
		OpAt source.Span
		X, Y Expr
	}
	// Call is `f(args)`.
	Call struct {
		Src
		Fun  Expr
		Args []Arg
	}
	// Index is `x[subs]`.
	Index struct {
		Src
		X    Expr
		Subs []Sub
	}
	// Field is `x.name`.
	Field struct {
		Src
		X    Expr
		Name Ident
	}
	// Column is the shorthand `.name` for a field of the current row.
	Column struct {
		Src
		Name Ident
	}
	// If is `if c { } else { }`; exactly one of Else and ElseIf is set, or neither.
	If struct {
		Src
		Cond   Expr
		Then   *Block
		Else   *Block
		ElseIf *If
	}
	// Lambda is `fn(x) => e` or with a block.
	Lambda struct {
		Src
		Params []Par
		Expr   Expr
		Body   *Block
	}
	// Comp is `for k in a..b => e`, the argument of a folding call such as sum.
	Comp struct {
		Src
		Ranges []Range
		Expr   Expr
	}
	// Parfor is a parallel loop: one node with an index space.
	Parfor struct {
		Src
		Ranges []Range
		With   *With
		Body   *Block
	}
	// List is `[a, b]`.
	List struct {
		Src
		Elems []Expr
	}
	// Record is `{a: x}`.
	Record struct {
		Src
		Fields []FieldInit
	}
	// Tuple is `(a, b)`, or `(ok = a, bad = b)` with names.
	Tuple struct {
		Src
		Parts []Arg
	}
	// Paren is `(e)`. The formatter prints it as written.
	Paren struct {
		Src
		X Expr
	}
)

// FieldInit is `name: value` in a record.
type FieldInit struct {
	Src
	Name  Ident
	Value Expr
}

// Sub is one subscript: `:` (All), a single index (Lo), or a range Lo..Hi by By whose Hi may be
// absent (`2..`).
type Sub struct {
	Src
	All       bool
	Lo        Expr
	IsRange   bool
	Hi        Expr
	Inclusive bool
	By        Expr // of a range; nil: 1
}

type (
	// NamedType is `f64`, `f64[n,m]` or a defined name.
	NamedType struct {
		Src
		Module *Ident // of `lib.Order`; nil without one
		Name   Ident
		Dims   []Expr // a dimension `_` is the Name "_"
	}
	// ChanType is `chan T`.
	ChanType struct {
		Src
		Elem Type
	}
	// GridType is `grid[p,q] of T`.
	GridType struct {
		Src
		Dims []Expr
		Elem Type
	}
	// SparseType is `sparse T`.
	SparseType struct {
		Src
		Elem Type
	}
	// RecordType is `{id: i64}`; Frame when written `frame {..}`.
	RecordType struct {
		Src
		Frame  bool
		Fields []FieldType
	}
	// TupleType is `(T, U)` or with names.
	TupleType struct {
		Src
		Fields []FieldType
	}
	// FnType is `fn(T) -> U`.
	FnType struct {
		Src
		Params []Type
		Result Type
	}
)

// FieldType is `name: T`; Name is nil in an unnamed tuple.
type FieldType struct {
	Src
	Name *Ident
	Type Type
}

func (*Import) stmt()   {}
func (*Param) stmt()    {}
func (*TypeDef) stmt()  {}
func (*FnDecl) stmt()   {}
func (*Stage) stmt()    {}
func (*State) stmt()    {}
func (*On) stmt()       {}
func (*Next) stmt()     {}
func (*Chan) stmt()     {}
func (*For) stmt()      {}
func (*Iterate) stmt()  {}
func (*Emit) stmt()     {}
func (*Assert) stmt()   {}
func (*Bind) stmt()     {}
func (*Send) stmt()     {}
func (*ExprStmt) stmt() {}
func (*Bad) stmt()      {}

func (*Name) expr()     {}
func (*Int) expr()      {}
func (*Float) expr()    {}
func (*Bool) expr()     {}
func (*String) expr()   {}
func (*Duration) expr() {}
func (*Unary) expr()    {}
func (*Binary) expr()   {}
func (*Call) expr()     {}
func (*Index) expr()    {}
func (*Field) expr()    {}
func (*Column) expr()   {}
func (*If) expr()       {}
func (*Lambda) expr()   {}
func (*Comp) expr()     {}
func (*Parfor) expr()   {}
func (*List) expr()     {}
func (*Record) expr()   {}
func (*Tuple) expr()    {}
func (*Paren) expr()    {}

func (*NamedType) typ()  {}
func (*ChanType) typ()   {}
func (*GridType) typ()   {}
func (*SparseType) typ() {}
func (*RecordType) typ() {}
func (*TupleType) typ()  {}
func (*FnType) typ()     {}
