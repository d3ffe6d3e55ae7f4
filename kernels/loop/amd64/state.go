package amd64

// This file defines the state of a lowering: what it knows of values, rows, locals and reduced results.
// lower.go and the files that it calls fill it in.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// lowering is the state of one nest.
type lowering struct {
	*target
	nest    *loop.Nest
	weight  weight      // of the nest
	readIn  *loop.Block // the body that read belongs to
	read    []int       // by value: see reads
	params  []Layout
	results []Layout
	program
	asm   *maker
	lanes int // the name of the index that the lanes count, or -1
	rows  int // the name of the other index of the space, or -1

	part              // the vectors that are lowered now
	parts      []part // all that are lowered together
	square     bool   // the parts are rows: see squares
	besides    map[*loop.Stmt]*beside
	fetch      bool                // see Schedule.Fetch
	keep       bool                // see Schedule.Keep
	prefetches map[*loop.Stmt]bool // loads that prefetch lines of a later round
	counts     []*counting         // of the innermost loop, by part
	together   int                 // how many vectors are lowered together, but for the last ones of a row
	free       bool                // it may be lowered again, with fewer vectors together
	counters   map[int]counter     // of the indices of inner loops that are the same in all lanes, by name
	locals     []local
	named      map[loop.Val]*namedWord // of values that subscripts name: see point.go
	alongBody  map[*loop.Block]bool    // bodies of loops whose rounds are lanes: see along.go
	lives      intervals               // of the whole program; empty: they have not been found
	branches   int                     // how many blocks that perhaps do not run the statement is in
	filled     []bool                  // by local: the nest of one point begins by writing all its elements
	// localsEnd is the offset of what follows the locals of a constant size in scratch memory.
	localsEnd int
	top       virt // the mask of the lanes of the window, or 0: all
	nested    int  // how many inner loops the statement is in
	roots     bool // roots of f64 are computed by multiply-adds

	invariants
	words   []loop.Word // of constants that are folded
	divided []divided   // divisions by constants before the statement, in its block and those around it

	levels     int                         // of exact sums in results
	states     map[int]*loop.State         // of reduced results
	stateOf    map[int]types.Elem          // what contributes to them
	reductions map[contribution]*reduction // whose states are in registers
	reduced    []*reduction                // the same, in order
	keyed      map[int]*keyedTable         // of the results that are contributed to by key
}

// Layout says how an operand or a result lies in memory, as far as the code depends on it.
type Layout struct {
	// Unit says that rows follow each other by one element: a column that lies in one piece.
	Unit bool
}

// frame is the values of one body: of the nest or of a function.
type frame struct {
	vals   []operand
	types  []types.Elem
	tables []loop.Table
	body   *loop.Block
	nest   bool         // not of a function
	inner  map[int]virt // the indices of inner loops that are counted in every lane
}

// beside is a group of accesses of a block to columns side by side, in the rows of the lanes. All are
// loads or all are stores, to one memory, and they span at most as many columns as a vector has lanes.
// Loads run together at the place of the first of them, stores at the place of the last.
type beside struct {
	at    []*loop.Stmt // in the order of the block
	least int64        // the constant of the first column
	width int
	twice bool               // a column is accessed twice: the last store counts, so stores stay apart
	made  int                // how many stores have been reached
	rows  [][squareRows]virt // by part, of loads: what was read
	cols  [][squareRows]virt // the same, transposed
}

// squareRows is the most rows of a square: a row for each lane of 64 bits. side is how many the target
// has.
const squareRows = 8

// part is one of the vectors that are lowered together.
type part struct {
	frame  *frame
	active virt // the mask of the lanes that count, or 0: all
	number int  // it holds the lanes number*lanes to (number+1)*lanes-1 of those that are lowered together
	row    int  // it is so many rows behind the row index
}

// divided is a division of a by the constant b in the lanes of active. A later division of the same
// numbers in the block, or in a block inside, reuses it. shifted is the quotient plus 1.5 * 2^52, and
// rest is the rest. If rest is negative, the quotient is too large by one. large: see divideSmall.
type divided struct {
	a             virt
	b             loop.Word
	active, large virt
	shifted, rest operand
}

// namedWord is where a value lies that a subscript names.
type namedWord struct {
	at    int32     // offset in scratch memory
	inner *settling // of the innermost loop that makes it: see invariants.inner
	made  bool      // it is the same in all lanes, and at holds it
}

// point reports a nest without indices.
func (l *lowering) point() bool { return len(l.nest.Space) == 0 }

// alike reports code whose lanes all hold the same.
func (l *lowering) alike() bool { return l.lanes < 0 }

// invariants is what has been made before the loops.
type invariants struct {
	head    []step // before the rows
	rowHead []step // at the begin of each row
	consts  []knownWord
	byWord  [64]int32 // by some bits of a constant: 1 + the place in consts of the last such one
	made    []invariant
	sums    []sum // see recent
	before  settling
	// inner is like before, for the innermost of nested loops; nil: there is none. innermost is the name of
	// the index of that loop. See ahead.
	inner     *settling
	innermost int
}

// settling is what moves in front of the inner loop that is lowered and no other holds.
type settling struct {
	at    int // where the loop begins
	steps []step
	sums  []sum
}

// sum is an offset, or an address and an offset.
type sum struct {
	row, col        loop.Lin
	size            int
	arg             int32
	address, offset virt
	v               virt
}

// invariant is a value that depends on operands and the row alone.
type invariant struct {
	kind     invariantKind
	elem     types.Elem
	arg      int32 // the words of an operand or result
	row, col loop.Lin
	plane    int
	v        virt
}

type invariantKind uint8

const (
	addressKind invariantKind = iota // of an element
	elementKind                      // an element in all lanes
	formKind                         // a linear form in all lanes: row + col
	maskKind                         // the first lanes, as many as row says
	apartKind                        // all lanes, or none: see lowering.elsewhere
	rowsKind                         // the bytes of as many rows as row says
)

// perRow reports that a form changes with the row.
func (l *lowering) perRow(f loop.Lin) bool {
	return f.Coef(loop.Sym{Kind: loop.IndexSym, N: l.rows}) != 0
}

// counting is how the rounds of a loop are counted, for one part.
type counting struct {
	name   int
	rng    loop.Range
	left   virt    // the lanes that have rounds left, or 0: those that count outside
	shared bool    // the index is the same in all lanes: word
	word   counter // of a shared index
	// alone tells that the loop of a shared index contains no other loop. counterReg then holds the index,
	// too.
	alone  bool
	scalar bool // the end is shared, too
	after  bool // the index goes on where the loop before ended: see loop.Loop.After
	vector virt // of another
	to     virt // the end in every lane, where it is not shared
}

// local is where a local lies.
type local struct {
	elem types.Elem
	wide int64    // bytes from element to element
	cols loop.Lin // elements of a row
	at   int32    // offset in scratch memory; of one of a constant size
	// arg is the offset in the block of arguments of its address, bytes of a row, rows and columns. It is
	// 0 for a local of constant size.
	arg int32
}

// wordBytes is how many bytes an element of e has in a vector.
func wordBytes(e types.Elem) int {
	if e == types.F32 {
		return 4
	}
	return 8
}

// keyedTable is a result that is contributed to by key.
type keyedTable struct {
	key  loop.Sym
	coef int64
	at   map[int64]bool // the constants of the places
	// places is the keys times the coefficient, of every part.
	places map[[2]int]virt
	// abreast holds the values that are added at places side by side (see addAbreast).
	abreast map[[2]int][]virt
}

// reduction is one statement that contributes, whose element belongs to all lanes.
type reduction struct {
	*loop.State
	result int
	place  place
	row    bool // the element changes with the row
	words  []virt
	parts  []*reduction // those of the other vectors that are lowered together
	from   int          // the step where the round begins: see hold
}

// contribution is a statement that contributes, in one of the vectors that are lowered together.
type contribution struct {
	*loop.Stmt
	part int
}

// memory is an operand or a result: where its words stand in the block of arguments, and its
// layout.
type memory struct {
	elem types.Elem
	unit bool
	arg  int32 // offset of its words
}

// place is where an access is: contiguous lanes, one element for all, or an address a lane.
type place struct {
	mem    memory
	row    loop.Lin // without the lanes' index where the lanes are contiguous
	col    loop.Lin
	lanes  bool // contiguous
	gather bool
	plane  int // of the states of a reduced result: which word
}

// counted reports a form with an index that is counted a lane.
func (l *lowering) counted(f loop.Lin) bool {
	return f.Any(func(s loop.Sym) bool {
		_, inner := l.frame.inner[s.N]
		return inner && s.Kind == loop.IndexSym
	})
}

// weight is what is known of a block.
type weight struct {
	cost    int
	divides int  // what of it are quotients and roots
	roots   int  // how many roots
	inner   int  // the cost of the costliest block of an inner loop that holds no other, 0: there is none
	calls   bool // of functions
	open    bool // an inner loop ends for each lane when its values say so
	whole   bool // integers are divided
	carry   int  // the most values that an inner loop carries
}

// element is where an element of a local lies: in bytes from the local, as far as rows have a
// constant size.
type element struct {
	*local
	row, col loop.Lin
	varies   bool // from lane to lane
}
