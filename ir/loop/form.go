package loop

// This file defines the form: a nest, its index space, its memory and its statements.

import "flow/ir/types"

// Nest is a loop: operands, an index space, a body that is evaluated at every point, and results.
// It is immutable once verified and safe for concurrent use.
type Nest struct {
	Params  []Param  // operands, %0, %1, ..
	Space   []Index  // outermost first; empty: one point
	Locals  []Local  // w0, w1, ..
	Tables  []Table  // t0, t1, ..
	Body    Block    // evaluated at every point
	Results []Result // out0, out1, ..
	// Types holds the element type of every value v0, v1, ..
	Types []types.Elem
	// Names holds the name of every index, those of the space first.
	Names []string
}

// Val is the number of a value in single-assignment form.
type Val int32

// NoVal is no value.
const NoVal Val = -1

// ParamKind is the storage form of an operand.
type ParamKind uint8

// The kinds of operands.
const (
	ScalarParam ParamKind = iota // one element
	DenseParam                   // a row-major matrix with a row stride
)

// Param is an operand.
type Param struct {
	Kind ParamKind
	Elem types.Elem
}

// Local is a matrix of the body. It starts with zeros at every point.
type Local struct {
	Elem       types.Elem
	Rows, Cols Lin // of operand sizes and scalar operands alone
}

// Table is constant memory for functions, which `look` reads.
type Table struct {
	Elem  types.Elem
	Words []uint64 // as Word has them
}

// Result is a matrix that the nest computes.
type Result struct {
	Elem types.Elem
	// of operand sizes and scalar operands
	Rows, Cols Lin
	// Class reduces several contributions to one element. NoClass: every element is stored
	// once.
	Class Class
	// Over is the operand whose memory the result may share, or -1. Every load of that operand
	// must then be at the place of the store.
	Over int
}

// SymKind is the kind of a symbol in a linear form.
type SymKind uint8

// The kinds of symbols.
const (
	IndexSym SymKind = iota // an index
	ParamSym                // a scalar operand of i64
	RowsSym                 // the number of rows of an operand
	ColsSym                 // the number of columns of an operand
	ValSym                  // a value of i64: a gather
)

// Sym is a symbol of a linear form.
type Sym struct {
	Kind SymKind
	N    int
}

// Term is Coef * Sym; Coef is not 0.
type Term struct {
	Coef int64
	Sym  Sym
}

// Lin is a linear form: Const plus its terms, each symbol once, in ascending order of kind and
// number.
type Lin struct {
	Const int64
	Terms []Term
}

// RangeKind is the kind of an index's range.
type RangeKind uint8

// The kinds of ranges.
const (
	Steps   RangeKind = iota // From, From+By, .. before To
	Forever                  // 0, 1, .. until a break
)

// Range is the range of an index.
type Range struct {
	Kind     RangeKind
	From, To Lin
	By       int64 // not 0
}

// Index is an index of the space. Name numbers Nest.Names.
type Index struct {
	Name  int
	Range Range
}

// MemKind is the kind of memory that a statement accesses.
type MemKind uint8

// The kinds of memory.
const (
	NoMem MemKind = iota
	ParamMem
	ResultMem
	LocalMem
	TableMem
)

// Mem names memory.
type Mem struct {
	Kind MemKind
	N    int
}

// Block is a list of statements and the values that it yields to its statement.
type Block struct {
	Stmts []Stmt
	Yield []Val
}

// Stmt is one statement. Code determines which fields it uses.
type Stmt struct {
	Code Code
	// Dst is the first result. N results have consecutive numbers.
	Dst  Val
	N    int
	Args []Val
	Imm  uint64
	Mem  Mem
	At   []Lin
	Func *Function
	Loop *Loop
	Then *Block
	Else *Block
	Origin
}

// Origin is the source of a statement: a range of the program text, and the call of a function that
// led to it, as numbers of the graph that holds the nest. Zero: unknown.
type Origin struct{ From, To, Call int32 }

// Function is a function of scalars, such as exp. It numbers its own values, parameters first.
type Function struct {
	Name string
	// Doc begins with the name and describes the function.
	Doc    string
	Params []types.Elem
	Tables []Table
	Body   Block // Yield: the results
	Types  []types.Elem
	Names  []string // of the indices of its inner loops
	// Go is the function itself, of one of f64 that has no statements: only the evaluator and the
	// interpreter call it.
	Go func(x []float64) float64
}

// Loop is the inner loop of a For.
type Loop struct {
	Index Index
	Init  []Val // the carried values before the first round
	Carry Val   // the first of the carried values inside
	Body  Block // Yield: the next carried values
	// After is 1 + the name of the index of the For before this one, which made the first of the rounds
	// (see Repeat): the first index is where that one ended. 0: it is Index.Range.From.
	After int
	// Sums are reductions whose states, one after the other, are the carried values. A round does
	// nothing with them but add its contributions. nil: they are other values.
	Sums []*Terms
}

// Terms is a reduction as values that a loop may carry (terms.go).
type Terms struct {
	class  Class
	elem   types.Elem // of the first value of a contribution
	levels int        // of exact sums
	// bounded sums also carry the magnitudes of the errors that their last word took: see
	// Bounded. They are the last value of the state.
	bounded bool
	// watched: bits that the last word lost are noticed.
	watched bool
	// some: the state has a contribution.
	some bool
}
