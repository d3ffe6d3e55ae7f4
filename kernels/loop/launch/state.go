package launch

// This file defines the types of loops, runs and workers.

import (
	"sync"
	"sync/atomic"

	"math/rand/v2"

	"flow/ir/loop"
	"flow/ir/value"
	"flow/kernels/loop/interp"
	"flow/kernels/state"
)

// Loop is a nest that can be run. It is safe for concurrent use.
type Loop struct {
	nest *loop.Nest
	// whole is nest with whole sweeps (loop.AtPlaces). If all accesses of whole are inside, so are
	// those of nest.
	whole   *loop.Nest
	flat    bool   // see amd64.Flat
	across  uint64 // of flat: operands that are read in row 0
	inner   bool   // it stores in an inner loop
	keeps   bool   // see amd64.Keeping
	crosses bool   // see amd64.Crosses
	over    bool   // a result may share the memory of an operand: see loop.Result.Over
	facts   branches
	proved  atomic.Pointer[proof]
	core    *core // nest, and with the borders of it
	cores   int   // made of it
	byRow   []rowResult
	small   bool  // it is interpreted, whatever the target
	levels  []int // of exact sums that windows are tried with, in this order
	depth   Depth
	// See nearWindows and nearRows.
	near, nearRows bool
	sizes          sizes
	// decides lists the scalar operands for whose values code is made: see loop.Deciding.
	decides []int
	mu      sync.Mutex
	made    map[version]*variant
	// met is how many versions in made are for values of scalars, fixed how many of these have code.
	met, fixed int
	// beside is the nest for the interpreter, which checks machine code.
	beside func() (*interp.Code, error)
	// Together returns how many points of a row are evaluated at a time, about.
	Together func() int
}

// layout is what machine code depends on. It has a bit for each operand and result, set if it is a
// column without gaps, and four bits of the schedule (lanesFirst to keeping).
type layout uint64

// most is how many operands and results a layout has room for.
const most = 60

// variant is a loop compiled for a version.
type variant struct {
	code   executable
	err    error
	points int       // bound so far, until there is code for values of scalars
	idle   sync.Pool // of *Worker
}

// executable is the code of a target.
type executable interface {
	// worker makes the state of a worker.
	worker() *Worker
	// ScratchFor is how many bytes of scratch memory a worker needs for operands with these words.
	ScratchFor(operands []uint64) (int, error)
	// states are those of the reduced results, by number.
	states() map[int]*loop.State
}

// Run is one execution of a loop on given operands and results.
type Run struct {
	v    *variant
	in   []value.Value
	out  []*value.Dense
	args []uint64 // the words of the operands and results, as machine code reads them
	next []uint64 // room for those of other operands: see Again
	room int      // bytes of scratch memory of a worker
	hull hull
	// Varies marks scalar operands that Worker.Word may change after Bind, a bit each. A proof of Bind
	// knows nothing of them.
	Varies uint64
	// Stays marks scalar operands, a bit each, that keep their values: Bind may make code for these
	// values.
	Stays uint64
	// Overwrites says that results may lie in the memory of operands. A window is not run again then.
	Overwrites bool
	// Together says that the lanes of a window are doubted together: see Worker.Doubted.
	Together bool
	// Past says that each result is a part of a large one, so that results of any size are stored past the
	// caches.
	Past bool

	loop *Loop
	made version
	// cuts says where the code of version core runs, which is for most points. nil: nowhere.
	cuts    *cuts
	core    version
	lanes   [2]int // where the lanes of the space begin and end
	reduced []reducing
	wide    int // of rows that are one row of memory: see schedule
}

// Worker is what a worker needs to run windows of a Run.
type Worker struct {
	run  *Run
	call func(w *Worker) // one call into machine code
	args []uint64
	keep []byte // scratch memory
	fuel uint64
	// points is the number of points that machine code evaluates at a time. rounds is the fuel that it
	// has taken, see Rounds.
	points int
	rounds int64

	saved, rows []uint64 // of joined: the words of operands, and repeated rows

	parts []part // of reduced results
	// Doubted is called when sum k of a window has lost bits; k counts reduced results alone. The
	// window has contributed nothing to that result in these lanes. If each lane has a sum of its
	// own, they are a few lanes or all. If Doubted is nil, the window ends with ErrInexact.
	Doubted func(k, r0, r1, l0, l1 int) error
	// deeper are the workers of code with more levels of exact sums: see atDepth.
	deeper []*Worker
	doubts []int   // the rows of a window that are in doubt: see nearRows
	alone  bool    // a row in doubt runs: its levels tell nothing of other windows
	core   *Worker // for the points within, or nil
	moved  bool    // there is none, or an operand that says where they are has another value
	seen   int     // points without it: see cut
	told   int     // how often Told has changed the cuts
	edges  []edge  // for the stretches that are not within, while there is a core

	variant *variant // of core, and of deeper

	beside *beside // the interpreter, where it is the target
	check  *check  // nil where machine code is not checked
}

// The words of the block of arguments: as package amd64 has them.
const (
	argRow = iota
	argRowEnd
	argLane
	argLaneEnd
	argScratch
	argFlags
	argFuel
	argResume
	firstOperand

	wordsOfOperand = 4
)

// cuts says where in its space a loop meets the same side of conditions.
type cuts struct {
	rows, cols []stretch // one after the other; those of columns hold in rows that are within
	core       *core     // for the points within
	edges      []*core   // for the stretches that are not within, where conditions are decided there
	reads      uint64    // the operands that the cuts depend on
}

// stretch is the indices from from to to-1. within: they meet the same sides as most. Otherwise
// cuts.edges[edge-1] has the code for them, unless edge is 0.
type stretch struct {
	from, to int
	within   bool
	edge     int
}

// edge is the worker for a stretch that is not within. none: there is no code for it.
type edge struct {
	on   *Worker
	none bool
}

// core is a nest for some points of a loop. It may have borders, which cut off more points.
type core struct {
	nest    *loop.Nest
	borders []loop.Border
	next    map[string]*core // by the outcomes of borders
}

// check is the interpreter beside the machine code of a worker.
type check struct {
	*beside
	random *rand.Rand
	// reduces says that there are reduced results: all points of every window are interpreted then,
	// and shadow holds what comes of them.
	reduces bool
	shadow  []*value.Dense
	// rows are the windows' rows.
	rows [][2]int
	// off says that contributions to reduced results are missing.
	off bool
}

// proof is the last proof that accesses are inside.
type proof struct {
	from []int64 // what it depends on: see proofOf
	cuts *cuts   // of a space with such sizes and integers
}

// hull is what is known while a nest is walked.
type hull struct {
	nest  *loop.Nest
	in    []value.Value
	out   []*value.Dense
	index map[int]span
	inner []loop.Index // the indices of open inner loops that count up by one
	// facts are what holds within the branches of the nest; nil: nothing is known.
	facts branches
	saved []narrowed
	// visit sees each access to a matrix where all indices around it have ranges. It returns false to end
	// the walk.
	visit   func(s *loop.Stmt) bool
	touched touched // see touch
	// varies marks the operands whose scalars may change while the proof holds, a bit each.
	varies uint64
}

// branches are the forms that are not negative in the two blocks of each if, where there are any.
type branches map[*loop.Stmt]*[2][]loop.Lin

// narrowed is what an index was before a branch said more.
type narrowed struct {
	name int
	span span
}

// span is the numbers from lo to hi; empty where hi < lo. Ends are far from overflow: see wide.
type span struct{ lo, hi int64 }

// Depth remembers which levels of a list recent windows needed, by their place in the list. Its zero
// value is the first place. It is safe for concurrent use. It changes only speed.
type Depth struct{ at, left atomic.Int32 }

// beside is an interpreter that evaluates windows of a launch worker. Like machine code it finds
// matrices by the words of the worker: what Begin was told may be gone, but for sparse operands and
// reduced results.
type beside struct {
	*interp.Worker
	run   *Run
	hull  hull           // operands and results without elements
	heads []value.Dense  // of hull, results after operands
	parts []value.Dense  // what of them a window touches
	out   []*value.Dense // what the interpreter is told
}

// reducing is a reduced result of a run.
type reducing struct {
	result     int
	class      loop.Class
	fast       *loop.State
	extent     extent
	offset     int64 // of oneEach: the row of row i is i + offset
	out        *value.Dense
	rows, cols int
	kept       bool // exact sums whose words stay from window to window
}

// exact reports states that can lose something.
func (r *reducing) exact() bool { return r.fast.Lost >= 0 }

// part is what a worker has of a reduced result.
type part struct {
	words []uint64     // the states of the last window of exact sums that are not kept, else of all windows
	next  []uint64     // of kept sums: those of the last window, too
	begun bool         // words are those of kept sums
	first int          // of the places, see Worker.Columns
	n     int          // of places
	size  int          // of numbers that are summed: see nearWindows
	last  float64      // the first word of the last window of exact sums; in a window of one point its number
	exact *state.Exact // of exact sums: what earlier windows gave
}

// rowResult is a result with a row for each row of the space: row i of the space makes its row i +
// offset.
type rowResult struct{ result, offset int }

// extent is which elements of a reduced result a window contributes to.
type extent uint8

const (
	anywhere extent = iota // all of them, maybe
	oneEach                // row i of it in row i of the window
	oneInAll               // the same in all windows
	byLane                 // element (0, j) of it in lane j
)

// version names what code is made for: a layout of the operands, a number of levels of exact sums and
// the values of some scalar operands.
type version struct {
	layout
	levels int
	which  uint64 // the operands with a value, a bit each
	values [mostDecides]loop.Word
	core   *core // nil: for all points
}

// sizes has the size of the numbers that a loop adds to each reduced result: their magnitude is about
// 2^e or less. It changes only speed.
type sizes struct {
	known atomic.Bool
	exps  []atomic.Int32
}

const (
	// mostDecides is the most operands for whose values code is made.
	mostDecides = 16
	// mostFixed is the most values, or combinations of values, that a loop has code for. All others
	// share code.
	mostFixed = 4
	// mostMet is the most values whose points are counted.
	mostMet = 64
)
