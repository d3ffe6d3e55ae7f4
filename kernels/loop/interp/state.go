package interp

// This file defines the state of a worker: registers, frames, lanes, locals and results.

import (
	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/state"
)

const (
	// batchLanes is the greatest number of lanes of a batch. A register of f64 takes 4 KiB then:
	// some of them stay in the first-level cache, and a chain takes 0.8 of the time that it takes
	// with 256 lanes.
	batchLanes = 512
	// leastLanes is the least number of lanes that large locals reduce a batch to.
	leastLanes = 8
	// localBytes is the memory of the locals of a batch from which batches are shorter.
	localBytes = 1 << 20
	// shortRow is the length below which rows share a batch.
	shortRow = 48
)

// Worker evaluates windows of a nest for given operands and results. It must not be used by two
// goroutines at a time.
type Worker struct {
	code *Code
	*frame
	frames []*frame // by body.number; nil: not used yet
	n      int      // active lanes
	begun  bool     // start has run for the current scalars
	known  []int64  // by form.known
	lists  []lanes
	pool   [types.Picture + 1][]*slab // free memory by element type, for a batch each

	scalars []loop.Word
	dense   []*value.Dense
	in      []value.Value
	out     []*value.Dense
	// origins are the numbers of the elements with which the memory of operands and results begins:
	// see Place.
	origins []int

	stopped func() bool
	fuel    int
	flagged bool
	err     error

	comparing bool // stores compare: see Compare
	// odd are the results and columns in which a comparing worker met a float that is not finite.
	odd map[[2]int]bool

	most     int // lanes of a batch
	locals   []matrix
	results  []result
	segments []segment
	filled   int      // lanes of the batch that takes points from several rows
	by       [2]int64 // steps of the first two indices
	places   []int
}

// segment is the lanes of a batch that lie in one row: first, first + by, .. of the second index.
type segment struct {
	at, n      int
	row, first int64
}

// matrix is a local of a worker. Element (r, c) of all lanes is contiguous; rows follow each other.
type matrix struct {
	mem        *value.Dense
	rows, cols int64
	// strides are the distances between rows and between columns, in elements.
	strides [2]int64
}

// lanes is the state of an If or a loop whose lanes part. The outer lanes are those that were active
// before it.
type lanes struct {
	at    []int // the number of each active lane among the outer lanes
	move  []int // room for a list of lanes
	saved []saved
	n     int  // number of outer lanes
	parts bool // lanes may part
	given bool // some lanes have left the loop, and its results have their values
	left  bool // all lanes have left the loop
}

// kindOf is how a register holds its elements.
type kindOf uint8

const (
	empty   kindOf = iota
	uniform        // one element for all lanes
	ramp           // an integer that grows by a step from lane to lane
	varying        // an element for each lane
)

// register holds the value of a statement for the active lanes.
type register struct {
	kind  kindOf
	owned bool // s is from the pool
	elem  types.Elem
	s     *slab // an element for each lane if varying, else one element
	by    int64 // the step of a ramp
	// wide has an element for each of the first filled lanes of a uniform register or a ramp.
	wide   *slab
	filled int
	cell   *slab // room for one element
	view   *slab // elements in memory of another owner
}

// frame holds the registers of a body.
type frame struct {
	body *body
	regs []register
}

// result is a worker's part of a result.
type result struct {
	loop.Result
	rows, cols int
	state      state.State // of a reduced one that some statement contributes to
	elem       types.Elem
	// kept are contributions whose order counts and which the batch makes in another order.
	kept []contribution
	one  [2]slab

	fresh bool // there are no states yet
	// byRow says that states are those of the rows of the window: row i contributes to row i +
	// offset of the result.
	byRow        bool
	offset       int
	base, places int // the first place with a state, and how many have one where byRow is not set
}

// contribution is one to a place, at a lane of the batch.
type contribution struct {
	lane int64
	at   int
	word [2]loop.Word
}

// saved is a register as the outer lanes have it.
type saved struct {
	reg    int
	kind   kindOf
	owned  bool
	s      *slab
	by     int64
	wide   *slab
	filled int
}
