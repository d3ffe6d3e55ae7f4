package nest

// This file defines what is planned for a body and its loops: stages, and batches of rounds.

import (
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
)

// Stages are the stages of a body. They are safe for concurrent use.
type Stages struct {
	body *op.Body
	// fixed reports, by argument, whether it is the same matrix with the same elements in all runs of an
	// interpreter. known writes an argument whose elements are known before the run; nil: they are not.
	fixed []bool
	known []writer
	// root is, by action, the last action of its stage; -1: a call.
	root []int
	// roots is, by action, the last actions of all stages that compute it. Comparisons of places may have
	// several.
	roots   [][]int
	members [][]int // by last action, the actions of its stage in order
	// over is, by last action, 1 + the carried argument that the stage writes in place; 0: none. last lists
	// these stages. They run after all other actions, in this order.
	over []int
	last []int
	// tiny reports, by last action, a stage of numbers: see numbers.go. gives lists the registers that it
	// sets.
	tiny  []bool
	gives [][]int
	code  []stageCode
}

// writer writes a matrix into a loop.
type writer func(x *Builder) Ref

// stageCode is a stage as loops, which are written when enough work has been seen.
type stageCode struct {
	seen atomic.Int64 // about the operations that its actions have run
	// forms are its loops: those whose subscripts a launch proves, and those that check them.
	forms [2]struct {
		once  sync.Once
		rects []SpaceRect // none: it has no loops
		why   string      // why it has none, if the stage is a matrix
	}
}

const (
	// stageOps is the most operations of an element of a stage: longer code fills the instruction cache. A
	// long reduction is a loop and counts as stageBefore.
	stageOps = 400
	// stageAgain is the most operations of an element that is computed again: about the cost of a launch
	// and of the memory of an element.
	stageAgain = 12
	// stageBefore is the most operations of an element that is made before the loop. More are a loop of
	// their own, which would run for every vector of points.
	stageBefore = 2 * define.Unrolled
	// shortRows is the most elements of a matrix with short rows that is reduced as a stage.
	shortRows = 2048
	// stageReads is the most reads of one element.
	stageReads = 16
)

// stageRun is a stage in the memory of one interpreter.
type stageRun struct {
	rects []stageRect
	off   bool // it is not run as loops: there are none, or they have failed
	form  int  // of its loops: see Stages.written
	flags int  // consecutive windows in which a check has failed
	// number is the result of a reduction of all elements; nil for other stages.
	number *value.Dense
	ops    float64 // an estimate for all elements
	ready  bool    // it is bound to write in place
	dear   bool    // the action alone has work for several workers, which team shares
	team   teamLoop
}

// stageRect is a loop of a stage, bound to operands.
type stageRect struct {
	*SpaceRect
	team   teamLoop
	run    launch.Run
	worker *launch.Worker // nil: it is not bound
	in     []value.Value
	views  []stageView
	view   value.Dense
	out    []*value.Dense // view, or the memory of each register that a stage of numbers sets
	given  []*value.Dense // the same memory in the shape of the registers
	first  int            // the place of the first operand in in: 2 after the size, or 0
	part   [2][2]int      // the first and the end of the rows, and of the columns, that are made
}

// stageView is an operand as it was last bound.
type stageView struct {
	value.Dense
	from   *value.Dense // the register's matrix; nil: the operand is a number
	number loop.Word    // the number
	turned *value.Dense // from, transposed where the operand is
	at     [2]int       // where the view begins
}

// batchCode is a loop as nests of one point. Each nest is written when it is first needed. batchCode is
// safe for concurrent use.
type batchCode struct {
	a       *op.Action
	known   []writer     // see Stages
	work    int64        // actions of a round
	apart   float64      // the cost of a round by stages, see weighStages
	numbers bool         // the only stage is one of numbers: it is such a nest that makes one round a launch
	rows    int          // of the carried matrices; 0: they differ, or there is one
	laid    int64        // elements of the carried matrices, which each call copies
	seen    atomic.Int64 // actions run so far, see worthwhile
	forms   define.Made[batchKey, *batchForm]
}

// bodyPlan says how the body of a loop or branch is run.
type bodyPlan struct {
	stages *Stages    // nil: the body has none
	batch  *batchCode // of the body of a loop; nil: rounds are made one by one
}
