package op

import (
	"strings"

	"flow/ir/loop"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
)

// Def is one row of the operator table: everything that an operator is.
type Def struct {
	// Name is the operator's name in printed IR, unique in the table.
	Name string
	// Word is what a program calls it when that is not Name; rows may share a word (`max` of one
	// argument reduces, of two is elementwise) and are told apart by the number of arguments.
	Word string
	// Infix is the operator sign that means this row ("+", "@", "not", unary minus is "neg"); mostly "".
	Infix string
	// For is the name of the row of dense matrices whose calls with a sparse argument this row takes: the compiler
	// goes from `sum` of a sparse matrix to the row that says For: "sum". "" for all others.
	For string
	// Hidden rows come from the compiler alone (gemm, exchange); a program cannot name them.
	Hidden bool
	// Doc is the manual entry; its first sentence begins with the word.
	Doc string
	// Args are the parameters in order; values first, attributes after them.
	Args []Arg
	// Eg are programs that the tests run and `flowrun doc` prints.
	Eg []Example

	// Type is the type and shape rule: the result's type for these arguments, or a *Fault.
	Type func(s *Sig) (types.Type, error)
	// Ref is the definition: obvious, slow, sharing no code with Kernel. Its result is on the heap.
	Ref func(c *Call) (value.Value, error)
	// Elt is the definition of an elementwise operator on scalars of one element type; Ref follows from
	// it (Broadcast). nil for all others.
	Elt func(x []value.Scalar) value.Scalar
	// Body writes the operator into a loop, for one element: its operands, of the types in which it computes a result of type out, and
	// not those of which it has no value (Partial). It gives the bits of Elt, all nans being one. nil where a loop cannot compute it.
	Body func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val
	// Elements writes what the result's elements are into a loop, for rows that are not elementwise: what comes once for a call, such as checks of
	// subscripts, at once, and an element when it is asked for. nil, or a nil result, where a loop cannot compute it.
	Elements func(e *Elements) Element
	// Nests is the loops that a call with arguments of these types runs as once there is work enough, or what is in no loop: for people who
	// ask, and without the arguments' values. Both are nothing where no loop is wanted. nil where the row writes no loops.
	Nests func(c *Call, in []types.Type) (loops []*loop.Nest, why string)
	// Class, of a reduction with a Fold, is how a loop reduces.
	Class loop.Class
	// Loops are the vector loops of an elementwise operator; a missing one falls back on Elt.
	Loops Loops

	// Shape, when set, makes every call a plan-time constant: a function of the argument types alone
	// (nrow, auto_tile). Such a row has no kernel.
	Shape func(in []types.Type) (value.Value, error)

	// Partial says of which integers an elementwise row without the law Total has no value.
	Partial Partial

	// Laws are claims that the tests check on random data and the compiler relies on.
	Laws Laws
	// Shows reports, of an effect with these attributes, that it is seen while the run goes on, such as text on standard output. It
	// then comes after all before it in the program that may fail. nil: what the effect makes is seen when the run has succeeded.
	Shows func(a *Attrs) bool
	// Flow is the contract with its channels.
	Flow Flow
	// Shard says how the operator is cut into blocks.
	Shard Shard
	// Fold says that a pipeline may end with this reduction, and over what it goes.
	Fold Fold
	// Accum is 1 + the index of the input that the result starts as (gemm's c, trsm's b): the runtime
	// puts that input's contents into Out, in place when nobody else reads it. 0: Out is uninitialised.
	Accum int
	// Alias reports that Out may be the memory of any input of the same type that has no other reader.
	Alias bool
	// Lower lists the inputs of which only the lower triangle is read.
	Lower []int
	// Seeded is the name of the row that does the same with a seed of the run as its first input, for a row whose attribute seed is
	// a number of plan time. "" for none.
	Seeded string
	// Narrow is the name of the row that computes the lower triangle alone, for results of which
	// nothing else is read (gemm with b the same as a: syrk). "" for none.
	Narrow string
	// Rate is the kernel's rate class for cost: its measured seconds for Work are looked up by it;
	// "" means Name.
	Rate string
	// Stored estimates where a result is not zero; of a sparse result without it nothing is known. in has an estimate for each input, of
	// scalars an empty one.
	Stored func(s *Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate
	// Cost is the work for given shapes.
	Cost func(s *Sig, out types.Type) Work
	// Kernel fills c.Out (dense results), or sets it (scalars and all else). nil if the operator is
	// always rewritten away before a plan.
	Kernel func(c *Call) error
	// Look gives the result as a part of the memory of input 0, for engines that keep the input for as long as the result is read:
	// what Kernel would copy. Of a row without inputs it is memory that nobody changes or takes back. nil, without an error, where the part is not one rectangle of rows. nil if the row always copies.
	Look func(c *Call) (*value.Dense, error)
	// Window, of a constructor whose elements follow from their places alone, writes those of the whole from row r0 and column c0
	// on to out, which is not empty: what Kernel makes with the attribute `at`. Fused chains draw such elements as they go.
	Window func(a *Attrs, out *value.Dense, r0, c0 int)
	// Reads is the file that a node with such attributes reads; nil of rows that read none. Looked lists the files that the row's type rule
	// has looked at, in the order of their names.
	Reads  func(a *Attrs) string
	Looked func() []Looked
	// Root says that rank 0 alone has what the row reads: its tasks run there, and what they make is sent.
	Root bool
	// Role is what the row is in a graph, where its laws do not say so.
	Role Role
	// Control is the meaning of the rows that are no operators (iterate, select, part).
	Control Control
	// Loop runs the kernel's work in chunks on several workers; nil if one worker does it all.
	Loop *Loop
}

// Looked is a file that a type rule has looked at, and the type that it found; "" if the file could not be understood.
type Looked struct{ Path, Type string }

// Source is the word that a program uses.
func (d *Def) Source() string {
	if d.Word != "" {
		return d.Word
	}
	return d.Name
}

// Told is a message of the operator as a user reads it: with its name or sign before it, unless the message names that
// itself, programs do not know the name, or it is a statement that says what happened (assertion failed).
func (d *Def) Told(message string) string {
	name := d.Source()
	if d.Infix != "" {
		name = d.Infix
	}
	if d.Hidden || d.Name == "assert" || strings.HasPrefix(message, name+": ") || strings.Contains(message, "`"+name+"`") {
		return message
	}
	return name + ": " + message
}

// SeedArg is the name of the argument that Def.Seeded is about.
const SeedArg = "seed"

// Arg is one parameter of an operator.
type Arg struct {
	Name string
	// Attr arguments are plan-time constants that become attributes of the node; the others are edges.
	Attr bool
	// Rest takes all remaining positional arguments (cbind). Only the last value argument may be one.
	Rest bool
	// Default is what an absent argument is; nil with Optional false means required.
	Default  *Val
	Optional bool
	// Kind of an attribute.
	Kind ValKind
	Doc  string
}

// Example is a small program and what it prints.
type Example struct {
	Program string
	Output  string
}

// Work is the cost of one call: arithmetic operations and bytes moved at least.
type Work struct{ Flops, Bytes float64 }

// Laws are algebraic claims, each property-tested on random data.
type Laws uint16

// The laws. Compilers may use a law only through these bits.
const (
	Pure        Laws = 1 << iota // same inputs, same bits; no effect
	Elementwise                  // result (i,j) depends on element (i,j) of the inputs alone, broadcast rules apply
	Commutes                     // f(a,b) has the bits of f(b,a)
	Associates                   // f(a,f(b,c)) has the bits of f(f(a,b),c)
	Idempotent                   // f(x,x) has the bits of x
	Involution                   // f(f(x)) has the bits of x
	Effectful                    // emit, assert: kept, ordered by effect edges
	View                         // the result is a rearrangement of input elements
	Total                        // never fails in the run, whatever the data, on types that the type rule takes
)

// Has reports whether all laws in m are claimed.
func (l Laws) Has(m Laws) bool { return l&m == m }

// Partial is why an elementwise row has no value of some operands. It concerns results of i64 alone.
type Partial uint8

// The reasons.
const (
	Everywhere Partial = iota // it has a value of all operands
	NotByZero                 // its second operand is no divisor if it is 0
	InWords                   // its operand, a float, must lie in the range of i64
)

// Fails reports that the row has no value of some operands, of which the first is of type in, for a result of type out.
func (d *Def) Fails(in, out types.Elem) bool {
	return out == types.I64 && (d.Partial == NotByZero || d.Partial == InWords && in.IsFloat())
}

// TotalOn reports an elementwise row that has a value of all operands, of which the first is of type in, for a result of type out.
func (d *Def) TotalOn(in, out types.Elem) bool {
	return d.Laws.Has(Total) || d.Partial != Everywhere && !d.Fails(in, out)
}

// Rate is how many tokens an operator sends for those it receives.
type Rate uint8

// The rates of the language reference's stream table.
const (
	Once   Rate = iota // every input once, the output once
	OneOne             // a token out for a token in; the clock is kept
	Some               // 0..1 out for one in; a new clock
	Any                // any number; a new clock
	Whole              // one result when the input has closed: needs a bounded input
)

// Flow is an operator's contract with its channels.
type Flow struct {
	Rate      Rate
	Unordered bool // output order depends on arrival: taints with nondet
	State     bool // keeps state from token to token
	Source    bool // produces tokens without any input
}

// ShardKind is the way an operator is cut into blocks.
type ShardKind uint8

// The ways. A row that says ShardWhole runs on whole values on one worker.
const (
	ShardWhole     ShardKind = iota
	ShardGenerate            // a constructor: every block is computed from its place alone (attributes full, at)
	ShardAligned             // elementwise: block (i,j) from blocks (i,j), broadcast along missing axes
	ShardTranspose           // block (i,j) from block (j,i)
	ShardDiagonal            // of a square matrix: block i of the result from diagonal block (i,i)
	ShardTriangle            // of a square matrix: diagonal blocks by the operator, others kept or zero (attribute of the row: Shard.Upper)
	ShardContract            // a @ b: blocks (i,k) and (k,j), accumulated over ascending k
	ShardReduce              // blocks to partials (Partial), partials to one (Combine), then Finish
	ShardRows                // like ShardReduce, a result per row: partial results over a row of blocks
	ShardCols                // a result per column
	ShardMove                // slice, assemble: blocks are cut from and laid into blocks
	ShardSink                // emit: blocks are gathered in one place
)

// Fold is what a reduction that ends a pipeline goes over.
type Fold uint8

// The folds. The result of one does not depend on the order in which it sees the elements.
const (
	NoFold   Fold = iota // no reduction, or one that runs by itself
	FoldAll              // all elements
	FoldRows             // each row: n x 1
	FoldCols             // each column: 1 x m
)

// Shard says how an operator is cut.
type Shard struct {
	Kind ShardKind
	// Partial, Combine and Finish name the rows of a reduction: Partial: block -> accumulator,
	// Combine: accumulators -> accumulator (any number, any order, same bits), Finish: accumulator -> result.
	Partial, Combine, Finish string
	// Accum names the accumulating form of a contraction (gemm): acc + a@b.
	Accum string
	// Upper says which blocks a ShardTriangle keeps: those above the diagonal, else those below.
	Upper bool
}

// Loops are the vector loops of an elementwise operator over contiguous slices of
// equal length; dst may be the same slice as an input, never overlap it otherwise.
// The suffix is the number of inputs; Cmp loops of one input get it twice. Conversions need none.
type Loops struct {
	F64x1  func(dst, a []float64)
	F64x2  func(dst, a, b []float64)
	F32x1  func(dst, a []float32)
	F32x2  func(dst, a, b []float32)
	I64x1  func(dst, a []int64)
	I64x2  func(dst, a, b []int64)
	Boolx1 func(dst, a []uint8)
	Boolx2 func(dst, a, b []uint8)
	CmpF64 func(dst []uint8, a, b []float64)
	CmpF32 func(dst []uint8, a, b []float32)
	CmpI64 func(dst []uint8, a, b []int64)
	SelF64 func(dst []float64, c []uint8, a, b []float64)
	SelF32 func(dst []float32, c []uint8, a, b []float32)
	SelI64 func(dst []int64, c []uint8, a, b []int64)
}
