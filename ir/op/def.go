package op

import (
	"strings"

	"flow/ir/loop"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
)

// Def is one row of the operator table: everything about an operator.
type Def struct {
	// Name is the operator's name in printed IR, unique in the table.
	Name string
	// Word is the name in programs, if it is not Name. Rows may share a word and then differ in
	// the number of arguments: `max` of one argument reduces, of two is elementwise.
	Word string
	// Infix is the sign of the operator ("+", "@", "not"; unary minus is "neg"), or "".
	Infix string
	// For names the dense row whose calls with sparse arguments this row takes: `sum` of a
	// sparse matrix is the row with For: "sum". Else "".
	For string
	// Hidden rows come only from the compiler (gemm, exchange); programs cannot name them.
	Hidden bool
	// Doc is the manual entry. Its first sentence begins with the word.
	Doc string
	// Args are the parameters in order, values before attributes.
	Args []Arg
	// Eg are programs that the tests run and `flowrun doc` prints.
	Eg []Example

	// Type is the type and shape rule: it returns the result's type or a *Fault.
	Type func(s *Sig) (types.Type, error)
	// Ref is the definition: obvious, slow, and without code shared with Kernel. Its result is
	// on the heap.
	Ref func(c *Call) (value.Value, error)
	// Elt defines an elementwise operator on scalars of one element type. Ref follows from it
	// (Broadcast). Else nil.
	Elt func(x []value.Scalar) value.Scalar
	// Body writes the operator on one element into a loop. in has the type in which a result of
	// type out is computed, and no operands without a value (Partial). The bits are those of
	// Elt, all NaNs being equal. nil: a loop cannot compute it.
	Body func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val
	// Elements writes the elements of a result into a loop, for rows that are not elementwise.
	// It writes work done once a call, such as subscript checks, at once, and each element on
	// demand. nil, or a nil result: a loop cannot compute it.
	Elements func(e *Elements) Element
	// Ramp describes a constructor of integers whose element (i, j) is first + i * down. ok is false if the
	// matrix with these attributes is none. nil: no attributes give a ramp.
	Ramp func(a *Attrs) (first, down int64, ok bool)
	// Keyed is how a loop reduces by key, for a reduction whose result has an element, or a row,
	// for each key. nil: no loop does.
	Keyed *Keyed
	// Along lists the inputs whose row i alone makes row i of the result, or is AllInputs; the row
	// reads the others as a whole. nil: its laws and Fold say so, or there are none.
	Along func(a *Attrs) []int
	// Turned names the row that reduces rows as this one reduces columns: Turned(t(x)) is the transpose of
	// the result. "": there is none.
	Turned string
	// OfPairs returns the elementwise row that computes the element of each pair of elements of two
	// vectors, so the compiler calls that one with a column and a row. The row needs no Ref and no
	// Kernel.
	OfPairs func(a *Attrs) *Def
	// Down: column j of the result is computed from column j of the input alone, from its first element
	// on. The result has the shape of the input, and the row never fails.
	Down bool
	// Scan says how ranks share a running reduction: row i of the result follows from its row i - 1 and
	// from row i of input 0. nil: the row is no running reduction.
	Scan *Scan
	// Select says how ranks share a row that needs only elements at some places of its sorted input.
	// nil: the row needs others.
	Select *Selection
	// Order says how ranks share a row that puts the rows of input 0 in order. nil: the row does not.
	Order *Ordering
	// Folds says how ranks share a row that reduces a tall input 0 block by block. nil: they do not.
	Folds *Folding
	// RowSpan returns which consecutive rows, or elements, of input 0 are read for row i of the result.
	// nil: Elements tells it.
	RowSpan func(s *Sig, out types.Type) RowSpan
	// RowsRead says which rows of input 0 a call reads, for a row that copies a rectangle of it. nil: all
	// of them.
	RowsRead func(a *Attrs) RowsRead
	// ByRows: a constructor of a sparse matrix, or a conversion to one, makes some rows alone (Call.Lo and
	// Hi), if asked to.
	ByRows bool
	// ByColumn is the input whose row j is read only where the input before it has an entry in
	// column j, if that is a sparse matrix. 0: there is none.
	ByColumn int
	// Numbers is the input whose elements are the row numbers that are read of input 0; negative ones count
	// from the end. 0: there is none.
	Numbers int
	// Chooses: the result is the numbers of the rows that input 0, a column, chooses, in their order. A
	// call finds those in some rows (Call.Lo and Hi), if asked to.
	Chooses bool
	// MostRows returns how many rows a result has at most whose rows the run chooses. The types of the
	// inputs are known. nil: Type tells it.
	MostRows func(s *Sig) int
	// Bound returns a number on which Elements depends. It gets the values of the inputs that are read as
	// a whole, and nil for other inputs. Before a run all are nil. The call has the number as BoundAttr.
	// A nil Bound: Elements needs no values.
	Bound func(in []value.Value) int64
	// Prepare names rows that do the same in two steps. The first step needs one input alone. nil:
	// there are none.
	Prepare *Prepare
	// Once says that Elements reads each element of input 0 once for all elements of the result, as
	// a statistic of rows does. A loop then makes it where it is read. A reduction with a Class
	// does so, too.
	Once bool
	// Nests returns, for listings, the loops that a call with these argument types runs once
	// there is enough work, or why there is none. Both are empty where no loop is wanted. The
	// arguments have no values. nil: the row has no loops.
	Nests func(c *Call, in []types.Type) (loops []*loop.Nest, why string)
	// Class is how a loop reduces, for a reduction with a Fold.
	Class loop.Class
	// Places says that the result is the place of one of the elements (argmax, argmin). Elements finds
	// it by a fold whose contributions may come in any order.
	Places bool
	// Native is an elementwise operator on floats without a Body, as a Go function: of f32 its
	// result is rounded. It must not keep x.
	Native func(x []float64) float64
	// Operands says in which types an elementwise operator takes its operands.
	Operands Operands

	// Shape, if set, makes every call a plan-time constant: a function of the argument types
	// alone (nrow, auto_tile). Such a row has no kernel.
	Shape func(in []types.Type) (value.Value, error)

	// Partial says for which integers an elementwise row without the law Total has no value.
	Partial Partial

	// Laws are claims that the compiler relies on and the tests check on random data.
	Laws Laws
	// Shows reports whether an effect with these attributes is visible during the run, such as
	// text on standard output. It then waits for everything before it that may fail. nil: the
	// effect is visible only after the run.
	Shows func(a *Attrs) bool
	// Shard says how the operator is cut into blocks.
	Shard Shard
	// Fold says that a pipeline may end with this reduction, and over what it reduces.
	Fold Fold
	// Accum is 1 + the index of the input that the result starts from (gemm's c, trsm's b): the
	// runtime puts its contents into Out, in place if it has no other reader. 0: Out is
	// uninitialised.
	Accum int
	// Alias: Out may share the memory of any input of the same type that has no other reader. Other inputs
	// of maps and elementwise rows may then be columns of this memory.
	Alias bool
	// Lower lists the inputs of which only the lower triangle is read.
	Lower []int
	// Seeded names the row that takes a seed of the run as its first input, for a row whose
	// attribute seed is a plan-time number. Else "".
	Seeded string
	// Narrow names the row that computes only the lower triangle, for results of which nothing
	// else is read (gemm with equal factors: syrk). Else "".
	Narrow string
	// Rate names the kernel's measured speed for cost; "" means Name.
	Rate string
	// Stored estimates the nonzeros of the result. in has an estimate for each input, empty for
	// scalars. nil: nothing is known of a sparse result.
	Stored func(s *Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate
	// Cost returns the work for given shapes.
	Cost func(s *Sig, out types.Type) Work
	// Beside returns the bytes that a run of Kernel or Loop holds beside operands and result. nil: a small
	// part of those, or a size that does not follow from types.
	Beside func(s *Sig, out types.Type) float64
	// Kernel fills c.Out (dense results) or sets it (others). nil if the operator never reaches
	// a plan.
	Kernel func(c *Call) error
	// Look returns the result as a view of the memory of input 0, for engines that keep the
	// input as long as the result is read. A row without inputs returns memory that never
	// changes. It returns nil without an error if the part is no rectangle of rows. nil: the
	// row always copies.
	Look func(c *Call) (*value.Dense, error)
	// Draw writes the elements of a constructor into loops, which store no matrix then. The elements
	// are those that Kernel makes. nil: no loop computes them.
	Draw *Draw
	// Alike returns the one value of all elements of a constructor. nil: they may differ.
	Alike func(a *Attrs) Val
	// Reads returns the file that a node with these attributes reads; nil for rows that read
	// none. Looked lists the files that the type rule has read, sorted by name.
	Reads  func(a *Attrs) string
	Looked func() []Looked
	// Writes begins to write the rows of operand 0 of a call to a file. Chunks must come in ascending
	// order. Parts reports whether a node can write so. nil: the row writes whole matrices only.
	Writes func(c *Call) (LoopBody, error)
	// Parts reports whether a node with these attributes reads no more of its file than it returns, or,
	// with Writes, can write its file part by part. Of other files one rank reads all, and sends parts.
	// nil: it reads all.
	Parts func(a *Attrs) bool
	// Strewn reports whether a rank that reads a part of a sparse file gets entries in rows of other ranks,
	// in the order of the file. Ranks then send entries to the ranks of their rows and add those at one
	// place. nil means that a rank gets only entries in its own rows.
	Strewn func(a *Attrs) bool
	// Root: only rank 0 has what the row reads, so its tasks run there and their results are
	// sent.
	Root bool
	// Absorbs says which elements that a sparse operand does not store make a zero of the result of
	// an elementwise row, whatever the other operands are.
	Absorbs Absorbs
	// Role is the row's role in a graph, if its laws do not give it.
	Role Role
	// Control is the meaning of control rows (iterate, select, part).
	Control Control
	// Loop lets several workers share the kernel in chunks. nil: one worker does it all.
	Loop *Loop
}

// Looked is a file that a type rule has read, and the type it found; "" if it could not parse the
// file.
type Looked struct{ Path, Type string }

// Source returns the word that programs use.
func (d *Def) Source() string {
	if d.Word != "" {
		return d.Word
	}
	return d.Name
}

// Told returns a message of the operator as users read it: with its name or sign in front, unless
// the message names it, programs do not know the name, or the message is a sentence about what
// happened (assertion failed).
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

// SeedArg names the argument that Def.Seeded replaces.
const SeedArg = "seed"

// Arg is one parameter of an operator.
type Arg struct {
	Name string
	// Attr arguments are plan-time constants that become attributes of the node. The others are
	// edges.
	Attr bool
	// Rest takes all remaining positional arguments (cbind). Only the last value argument may
	// be one.
	Rest bool
	// Default replaces an absent attribute. nil with Optional false means required.
	Default  *Val
	Optional bool
	// Kind is the kind of an attribute.
	Kind ValKind
	// Told is help for an attribute that the run tells; its %s is the argument as written.
	Told string
	// Open names the function of the library that takes the call if only the run tells this attribute,
	// an i64. The function has the parameters of the row.
	Open string
	Doc  string
}

// Example is a small program and what it prints.
type Example struct {
	Program string
	Output  string
}

// AllInputs stands for all of them in what Def.Along returns.
const AllInputs = -1

// BoundAttr is the attribute that has what Def.Bound returns.
const BoundAttr = "bound"

// CarryAttr is an attribute of a loop whose iterations ranks may give to each other. It lists the
// inputs whose rows ranks share. Iteration i reads row i of such an input and no other row, and the
// row comes with the iteration. So a kernel must not make anything of all rows before the first
// iteration.
const CarryAttr = "carry"

// Prepare is how a row does in two steps what a loop cannot do in one: row By, with the row's
// attributes that it takes, makes of input number Input what row Then takes in its place. By fails
// where the row does because of that input.
type Prepare struct {
	Input    int
	By, Then string
}

// RowSpan is the range By i + Lo .. By i + Hi - 1 for row i of the result. It counts rows of the
// input if Per is 1. Otherwise it counts elements, and a row of the input has Per elements. With Rest,
// the last row of the result reads all rows from By i + Lo on.
type RowSpan struct {
	By, Lo, Hi, Per int
	Rest            bool
}

// Work is the cost of one call: arithmetic operations and the least bytes moved.
type Work struct{ Flops, Bytes float64 }

// Laws are algebraic claims, each tested on random data.
type Laws uint16

// The laws. Compilers may rely only on these bits.
const (
	Pure Laws = 1 << iota // same inputs, same bits; no effect
	// result (i,j) depends only on element (i,j) of the inputs, broadcast
	Elementwise
	Commutes   // f(a,b) has the bits of f(b,a)
	Associates // f(a,f(b,c)) has the bits of f(f(a,b),c)
	Idempotent // f(x,x) has the bits of x
	Involution // f(f(x)) has the bits of x
	Effectful  // emit, assert: kept, ordered by effect edges
	View       // the result is a rearrangement of input elements
	Total      // never fails in the run on types that the type rule accepts
)

// Has reports whether all laws in m are claimed.
func (l Laws) Has(m Laws) bool { return l&m == m }

// Partial says for which operands an elementwise row has no value. It concerns i64 results only.
type Partial uint8

// The kinds of Partial.
const (
	Everywhere Partial = iota // it has a value of all operands
	NotByZero                 // the second operand must not be 0
	InWords                   // the operand, a float, must be in the range of i64
)

// Fails reports whether the row has no value for some operands, the first of type in, with a result
// of type out.
func (d *Def) Fails(in, out types.Elem) bool {
	return out == types.I64 && (d.Partial == NotByZero || d.Partial == InWords && in.IsFloat())
}

// TotalOn reports whether an elementwise row has a value for all operands, the first of type in,
// with a result of type out.
func (d *Def) TotalOn(in, out types.Elem) bool {
	return d.Laws.Has(Total) || d.Partial != Everywhere && !d.Fails(in, out)
}

// Absorbs is the operands of an elementwise row whose absent elements make zeros.
type Absorbs uint8

// The kinds of Absorbs.
const (
	NoZeros   Absorbs = iota // where all operands are 0 the result is what the row makes of them
	EachZero                 // a product: 0 times inf or nan is 0 too
	FirstZero                // a quotient: 0 by anything, 0 too, is 0
)

// ShardKind is how an operator is cut into blocks.
type ShardKind uint8

// The kinds. A ShardWhole row runs on whole values on one worker.
const (
	ShardWhole ShardKind = iota
	// a constructor: each block follows from its place (attributes full, at)
	ShardGenerate
	// elementwise: block (i,j) from blocks (i,j), broadcast along missing axes
	ShardAligned
	ShardTranspose // block (i,j) from block (j,i)
	ShardDiagonal  // square matrix: block i of the result from diagonal block (i,i)
	// square matrix: diagonal blocks by the operator, others kept or zero (Shard.Upper)
	ShardTriangle
	ShardContract // a @ b: blocks (i,k) and (k,j), accumulated over ascending k
	// blocks to partials (Partial), partials to one (Combine), then Finish
	ShardReduce
	// like ShardReduce, a result a row: partial results over a row of blocks
	ShardRows
	ShardCols // a result per column
	ShardMove // slice, assemble: blocks are cut from and put into blocks
	ShardSink // emit: blocks are gathered in one place
)

// Fold is the range of a reduction that ends a pipeline.
type Fold uint8

// The folds. Their results do not depend on the order of the elements.
const (
	NoFold   Fold = iota // no reduction, or one that is not fused
	FoldAll              // all elements
	FoldRows             // each row: n x 1
	FoldCols             // each column: 1 x m
)

// Shard says how an operator is cut.
type Shard struct {
	Kind ShardKind
	// Partial, Combine and Finish name the rows of a reduction. Partial: block -> accumulator.
	// Combine: accumulators -> accumulator (any number and order, same bits). Finish:
	// accumulator -> result.
	Partial, Combine, Finish string
	// Chain names the row that adds terms in the order of rows, for accumulators that cannot be combined
	// (define.Chained). Its result holds an accumulator for each panel of rows, one below the other. A call
	// adds rows from[p]..to[p]-1 to the accumulator of panel p, which an earlier call may have begun.
	Chain string
	// Rows names the row that makes only a rank's rows of the result, from all rows of the operands. "":
	// none.
	Rows string
	// List names the row that lists the state of a reduction to a table whose size only the run tells. The
	// result is a sparse matrix, and row r has the state of rank r. Rank r has a window of the rows, in
	// units of `step` rows, or without `step` all rows of the call. Listed names the row that makes the
	// table from the lists of all ranks.
	List, Listed string
	// Count is for a number that follows from the lists if each rank takes a part of all keys. With the
	// attribute `split` List makes rows of such parts: row r has this rank's keys that rank r takes. Count
	// names the row that makes a column from the rows of all ranks for this one, with a row for each rank.
	// Listed makes the number of the whole column. "": none.
	Count string
	// Accum names the accumulating form of a contraction (gemm): acc + a@b.
	Accum string
	// Upper: a ShardTriangle keeps the blocks above the diagonal, else those below.
	Upper bool
}

// Operands says in which element types an elementwise operator takes its operands.
type Operands uint8

const (
	AsResult Operands = iota // in that of the result
	AsCommon                 // in the one in which they meet: a predicate
	AsGiven                  // in their own: a conversion
	AsChosen                 // the first as a truth value, the others in that of the result: a selection
)
