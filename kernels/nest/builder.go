package nest

// This file defines the Builder, which writes bodies as loops, and what its methods in other files
// share.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

// Builder writes bodies into a nest.
type Builder struct {
	*loop.Builder
	Words    int  // of an exact sum
	Affine   bool // see Form
	made     int  // matrices so far
	most     int  // elements of a matrix in memory, if that is not laidElements
	few      int  // the most elements of a matrix in registers
	limit    int  // the most statements
	short    bool // see Form
	laying   bool // all elements of a matrix are written
	remakes  bool // a matrix too large for memory is made again where it is read, as phases do
	widest   int  // the most elements of a matrix that rounds carry in registers
	Scopes   []map[ElementKey]loop.Val
	depths   []int                 // how many blocks are open in each scope
	fence    int                   // the outermost scope of what may be taken back; 0: nothing may
	Lins     map[loop.Val]loop.Lin // of integers that are linear in indices and operands
	Operands []Operand             // behind the bounds
	extent   *[2]int               // of the space, where it is a rectangle of a result: see space.go
	inside   map[int]int           // the rounds of inner loops there, by the name of the index
	fixed    []bool                // see Stages
	replaced *overwrites           // for a result that may be written in place: see place.go
	sides    int                   // the number of branches around the statements that it writes
	told     bool                  // the run tells integers of subscripts before each launch: see Stages
	parted   bool                  // workers share the loop: numbers are reduced in parts that Merge joins
	phase    *RowPhase             // of a body by phases, which has no matrices in memory of the point
	row      loop.Lin              // of matrices of which a body has one row: which it is
	own      loop.Lin              // the index of the point, which has one row of all matrices with owned rows
	owned    int                   // 0: a point has whole matrices. See Builder.owns.
	keep     *MemoMap              // of the body that is written; nil: it keeps nothing
	again    bool                  // points that cannot fail are made where they are read
	trial    bool                  // see cannotFail
	around   bool                  // branches are around the loops over their large matrices, not in them
	branched bool                  // a branch is in a loop over a large matrix
	rounded  map[loop.Mem]bool     // the memory of matrices that rounds carry
}

// NewBuilder begins a nest in a form.
func NewBuilder(f Form) *Builder {
	few := define.Unrolled
	if f.Short {
		few = define.WrittenLines
	}
	return &Builder{Builder: loop.New(), Words: f.Words, Affine: f.Affine, short: f.Short, few: few, limit: bodyStatements,
		Lins: map[loop.Val]loop.Lin{}, inside: map[int]int{}, rounded: map[loop.Mem]bool{}, Scopes: []map[ElementKey]loop.Val{{}}, depths: []int{1}}
}

// Form is how a body is written.
type Form struct {
	// Affine says that subscripts which are linear in the indices are taken to be in range: who
	// launches the loop has to prove it. Else each is checked, and counted from the end where it is
	// negative.
	Affine bool
	Words  int // of exact sums
	// Short says that matrices of more than define.WrittenLines elements are in memory, and reductions
	// of more are loops.
	Short bool
	// across says that the loop of a rectangle goes over the rows, and a point makes all columns.
	across bool
}

// bodyStatements is the most statements of a loop: code beyond that fits into no cache.
const bodyStatements = 12000

// laidElements is the most elements that a matrix of the body may have in memory. Each lane has a
// matrix of its own, and eight of them fill 256 KiB.
const laidElements = 4096

// readElements is the same for a matrix that one statement stores and that the point reads several
// times. Eight of them fill 1 MiB, a second-level cache. Without the loop, the point would run an
// operator at a time, and write and read each of its matrices. A matrix that rounds carry has two
// statements: its lanes would pass through that cache in every round.
const readElements = 1 << 14

// Ref is what a register of a body is in a loop: a scalar, a matrix, or the results of a loop
// or branch.
type Ref struct {
	Type types.Type
	Val  loop.Val
	At   op.Element // of matrices
	rows loop.Lin   // its size
	cols loop.Lin
	// hull tells along which axes the elements are loaded from memory of that length. A launch proves that
	// such loads are in range. Elements that the body computes have no such proof.
	hull   [2]bool
	linear bool // its elements are linear forms of their places, computed where they are read
	Parts  []Ref
	pairs  *pairs // of a loop over pairs, which has no At
	// mem is the memory with all elements of a matrix, unchanged until the end of the round. The matrix
	// that a branch chooses is in sides[0] if condition holds, else in sides[1].
	mem       loop.Mem
	sides     *[2]loop.Mem
	condition loop.Val
}

// along is element k of a row or column, or the number.
func (r Ref) along(k loop.Lin) loop.Val {
	switch {
	case r.At == nil:
		return r.Val
	case r.Type.Rows == 1:
		return r.At(loop.Num(0), k)
	}
	return r.At(k, loop.Num(0))
}

// proved marks a matrix whose loads a launch proves to be in range: an operand, or memory of the nest.
func (r Ref) proved() Ref {
	r.hull = [2]bool{true, true}
	return r
}

// pairs is the values of a loop over pairs, row by row.
type pairs struct {
	rows loop.Lin
	// row returns the number n of values in row i, and at, which returns value j of them. A value is a row
	// of numbers, by their columns k.
	row func(i loop.Lin) (n loop.Lin, at func(j loop.Lin) func(k loop.Lin) loop.Val)
}

// ElementKey is an element that a scope has written.
type ElementKey struct {
	matrix int
	i, j   string
}

// Operand is an operand of a nest: a register of the loop's body or something of it, what
// phases have made of it, or a cell.
type Operand struct {
	Register int
	What     operandPart
	Row, Col int // where a view begins
	// RowBy and ColBy are 1 + a register whose number is added to Row or Col, or the negative of that if
	// the number is subtracted; 0: there is none. The view then has Rows rows or Cols columns.
	RowBy, ColBy, Rows, Cols int
	// Turned: it is the matrix transposed. Row and column are those of the transposed one.
	Turned bool
}

type operandPart uint8

// overwrites describes how a loop reads the matrix that its result replaces.
type overwrites struct {
	register int              // of the matrix
	at       [2]loop.Lin      // the place of the element that an iteration makes
	own      map[loop.Val]int // loads at this place, and their operands
	others   [][2]loop.Lin    // the places of all other loads
	foreign  []int            // the operands of these loads
}

// MemoMap says which actions of a body are kept, for the loops and branches in it as well. It is
// read-only. A body that stands in two places of a program has two.
type MemoMap struct {
	Cell []int        // of each action: 1 + its cell; 0: it is run
	In   [][]*MemoMap // of each action: of its bodies
}

// RowPhase is one loop of several that run one after the other on some rows, or on some points.
type RowPhase struct {
	Operands []Operand // behind the bounds
	Results  []Operand
	Loop     *launch.Loop
	// What follows is of phases over rows and columns.
	plan   *RowPlan
	Own    *phasePlan
	Apart  map[int]bool // kept registers that are read elsewhere than at the element that is made
	column loop.Lin
}

// phasePlan is a phase: rows of one width, at one level. It reads what phases of lower levels make.
type phasePlan struct {
	level, Width int
	need         []bool // registers that it reads or makes
	Results      []int  // that it stores, or contributes to
}

// RowPlan says which phase computes what.
type RowPlan struct {
	*RowsBody
	width  int // of rows of the only result; 0: rows may have several widths
	Phases []phasePlan
	level  []int  // of each register, the first level of phases that may read it
	Kept   []bool // registers that their first phase stores for later ones
	cost   []int  // of each register, statements for an element
}

// RowsBody is a body whose only index is its first argument, and which gives rows.
type RowsBody struct {
	*op.Body
	Varies  []bool
	ByRow   []bool // of arguments: an iteration has its row of a matrix; nil: of none
	Results []RowResult
}

// RowResult is a result of a body that gives rows: a row of it for each iteration, the reduction of
// all elements that a register has in all iterations, or one by key.
type RowResult struct {
	Register int
	Total    *op.Def // nil: rows. If Type is that of a row, Total reduces each column.
	// Keyed is a reduction by key over all iterations, of registers of the body; Register is its
	// first operand then. nil: another result.
	Keyed *op.Action
	Type  types.Type
}

// within reports whether size neighbours from l on are in 0..n-1 wherever inner loops are.
func (x *Builder) within(l loop.Lin, size int, n loop.Lin) bool {
	least, most := l.Const, l.Const+int64(size)
	for _, t := range l.Terms {
		many, known := x.inside[t.Sym.N]
		if t.Sym.Kind != loop.IndexSym || !known {
			return false
		}
		end := t.Coef * int64(max(0, many-1))
		least, most = least+min(0, end), most+max(0, end)
	}
	return n.Known() && 0 <= least && most <= n.Const
}
