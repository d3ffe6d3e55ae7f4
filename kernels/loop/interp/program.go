package interp

// This file defines a prepared nest: its statements, with their registers and operations.

import (
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// Unsupported is the error of Compile for a nest that the package cannot run.
type Unsupported struct{ What string }

func (u *Unsupported) Error() string { return "interp: no code for " + u.What }

// Code is a prepared nest. It is read-only and safe for concurrent use.
type Code struct {
	nest   *loop.Nest
	body   *body
	bodies []*body // the body of the nest, and the bodies of functions
	// known lists the parts of linear forms that depend on operands only.
	known []loop.Lin
	lists int // number of loops and branches, whose lanes may part
	// contributions are the statements that contribute to results.
	contributions []reducedInfo
	idle          sync.Pool
}

// reducedInfo describes a contributing statement: the number of its result, and the element type of its
// contributions.
type reducedInfo struct {
	number int
	elem   types.Elem
}

// body holds the statements of a nest or of a function. Its registers are first the values, then the
// indices, then registers of the interpreter.
type body struct {
	*block
	number  int          // position in Code.bodies
	elems   []types.Elem // of the registers
	kept    []bool       // registers of constants and scalar operands, which keep their element
	consts  []constant
	scalars []scalar
	early   []stmt // operations on kept registers, which run once
	tables  []*value.Dense
	lane    int // the register with the number of each lane in the batch
	values  int // the number of values
}

type constant struct {
	reg  int
	word loop.Word
}

type scalar struct{ reg, param int }

// block is a list of statements.
type block struct {
	stmts []stmt
	yield []handed
	reads []int // registers that enclosing blocks define
	own   []int // registers that its statements define
	point bool  // the block of one point: locals are zero at its start
}

// handed is a register that a block yields. last tells that no statement reads it afterwards.
type handed struct {
	reg  int
	last bool
}

// stmt is a prepared statement.
type stmt struct {
	*loop.Stmt
	dst  int
	args []int
	do   operation // for statements that work lane by lane
	at   [2]form   // subscripts
	// along tells that the subscripts depend on indices only.
	along bool
	free  []int // registers that no later statement reads
	inner *inner
	// then and other are the sides of an If. cheap tells that both may run on all lanes.
	then, other *block
	cheap       bool
	list        int // position in Worker.lists, for an If or a loop
	call        *body
	bits        bool // the stored value is the bits of a float
	ordered     bool // contributions are sorted into the order of the points
}

// inner is the loop of a For.
type inner struct {
	*block
	from, to     form
	dst          int   // the register of the first result
	index, count int   // registers; count is the number of rounds of each lane, if lanes differ
	carry, next  []int // registers of carried values in a round and after it
	init         []int
	breaks       bool
	moves        []int // registers that are gathered when lanes leave
}

// form is a linear form.
type form struct {
	known int // position in Worker.known of the part that depends on operands only
	terms []term
}

// term is a multiple of a register.
type term struct {
	coef int64
	reg  int
}
