package local

// This file defines what an Engine remembers, part by part. An Engine executes one rank's part of a
// plan. engine_build.go derives the task graph, engine_run.go starts it, engine_task.go runs one task,
// engine_finish.go ends it, engine_fail.go decides which failure is reported, engine_report.go counts.

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// Flags of a task.
const (
	sent     = 1 << iota // messages carry its result
	lent                 // the result is Sized: the pool lends memory before the kernel runs
	fused                // it has a body
	effect               // the result may be nil
	asks                 // only the run can check whether its arguments fit
	steers               // of a loop or branch: it decides what runs next
	constant             // a scalar without inputs: available from the start
	// the result may share the memory of the first input, or of another owner
	looks
	several  // it has several results, selected by part nodes
	kept     // the result is the same in several rounds: see engine_keep.go
	clears   // a node of another rank waits for its success: see engine_guard.go
	gathered // its result is that of transfers: see engine_gather.go
	windowed // it makes this rank's rows, and no loop is cut for that: op.Call.Lo and Hi
)

// maxNode is above every node.
const maxNode = math.MaxInt64

// Engine executes one rank's part of one plan, once. Its methods are safe for concurrent use after
// Start.
type Engine struct {
	p       *plan.Plan
	o       EngineOptions
	buffers *BufferPool
	own     bool // buffers is ours to close
	epoch   time.Time
	clock   bool // tasks read it

	// the plan's, followed by the nodes of its loops and branches
	g *ir.Graph
	// the loop that began last; nil: none, or no progress is wanted
	shown atomic.Pointer[loopCount]
	// loops and branches, outer ones first; see engine_control.go
	controls []*control
	home     []home // of g's nodes that are not the plan's
	// node -> its place in program order; nil: the node's number
	order []int64
	steer map[int32]steer
	turns atomic.Int64 // rounds of all loops
	// of tasks with several results: the node of each, ir.None without a reader
	several map[ir.ID][]ir.ID

	dag   DAG
	task  []ir.ID // task -> node
	index []int32 // node -> task, -1: not ours
	// node -> node whose slot holds its value; nil: each its own (no exchanges)
	root    []ir.ID
	flags   []uint16          // by task
	takes   map[ir.ID]uint64  // of loops: the inputs whose memory the result may take, a bit an input
	repeats map[ir.ID]*repeat // of kept nodes
	kind    []uint16
	kinds   []*op.Def

	gathers  []*gather
	gatherOf map[ir.ID]*gather
	external []ir.ID // received exchanges, ascending
	extOff   []int32 // tasks that read external[i]: extTask[extOff[i]:extOff[i+1]]
	extTask  []int32
	extState []atomic.Uint32 // 0 awaited, 1 arrived or given up

	// what other ranks must report before nodes of this one show something
	awaits map[grant]*awaited
	clears map[int32]*clearance // by task

	slot []value.Value   // by node
	uses []int32         // readers left, by node; atomic while running
	done []atomic.Uint32 // a bit a task: has ended; nil without Remote
	low  int             // tasks below have ended; of FirstUnfinished

	loopMu sync.Mutex
	// by task: what has learned from its executions; nil if no row has a loop
	loops    []*nodeLoop
	spare    map[cut][]*nodeLoop // unused, of those that learn nothing; see engine_idle.go
	spares   atomic.Int32        // in spare
	rounds   []executions        // by task, if loops are recorded
	took     []int64             // ns of the last execution of a loop, by task of a region; 0: none yet
	selector *schedule.Selector  // of nodes that ask for a choice where the run does not
	records  []trace.LoopRecord
	kept     int           // chunks in records
	room     []trace.Chunk // for those of the next loops
	unkept   int           // loops whose chunks would have been too many

	scratch []workerState
	names   []int32 // of kinds, in the trace

	pool       *Pool
	processors int        // that the workers share
	startMu    sync.Mutex // held while run is being made
	run        atomic.Pointer[Run]
	started    time.Time
	helping    helping
	failMu     sync.Mutex
	failure    *TaskFailure
	// place after which tasks are skipped; maxNode: none; -1: all, since the grace is over
	failedAt  atomic.Int64
	grace     *time.Timer
	expired   bool // the grace is over
	unsettled bool // a task before failure that may fail was skipped
	once      sync.Once
	report    *Report
	err       error
}

// control is an iterate or select of this rank.
type control struct {
	node    ir.ID // of Engine.g
	regions []*region
	args    []ir.ID // the nodes of the arguments, the same for all regions
	carry   int     // how many of them are carried
	branch  bool
	times   int64     // rounds; -1: the condition says
	parts   [][]ir.ID // the nodes that stand for each result
	enter   int32     // task
	exit    int32     // list
	place   int64     // of enter in program order

	// Where it is in its rounds, for failures of other ranks: see engine_ahead.go.
	inside []*control   // loops and branches of its regions
	at     atomic.Int64 // 1 + round while it runs; a branch has one round
	left   atomic.Bool  // it has, in this round of the one around it

	entered  int64        // how often
	told     atomic.Int64 // 1 + round while the loop runs, for progress; else 0
	retained []ir.ID      // nodes whose values stay until the loop ends
	early    []*gather    // gathers whose transfers begin in the round before

	round int64        // rounds that have ended
	shape []types.Type // of the carried values
	vals  []value.Value
}

// region is a region of a loop as tasks.
type region struct {
	body   *ir.Region
	lo, hi ir.ID // its nodes in Engine.g
	yields []ir.ID
	// Tasks from..to-1 are those of its nodes and, last, its join.
	from, to int32
	begin    int32   // list
	place    int64   // of the join in program order
	reads    []int32 // how often each argument is read in it
	uses     []int32 // Engine.uses of its nodes when it begins
	runs     int64
	repeats  []*repeat
}

// home locates a node that is not in the plan's graph.
type home struct {
	loop   *control
	region int
	id     ir.ID // in the region's graph
}

// steer is a task that decides what runs next.
type steer struct {
	role   role
	loop   *control
	region int
	gather *gather
}

type role uint8

const (
	enters role = iota
	joins
	leaves
	gathers // starts the transfers of a gather; see engine_gather.go
	early   // starts those of the next round
)

// repeat says whether the marked nodes of a region that are invariant in one loop have run since it
// was entered.
type repeat struct {
	loop  *control
	seen  int64 // control.entered when the region last began
	again bool
	runs  int64 // how often they have been run
}

// gather is a node of the role Gathers.
type gather struct {
	id     ir.ID
	task   int32
	away   atomic.Bool  // its transfers are under way and have not been given up
	states *value.Dense // the states of all ranks, one below the other
	parts  []*value.CSR // the parts of a sparse matrix, by rank
	fetch  fetch        // with lists

	// Of a gather whose transfers begin in the round before; see Note [Early gathers].
	loop   *control
	from   ir.ID        // the value that the loop carries to its input
	sent   *value.Dense // that value, if the transfers of the next round have begun
	stage  atomic.Int32 // of these transfers
	finish func()       // what ends them, once the next round has begun
}

// fetch is what a gather with lists sends and receives in a round, by rank.
type fetch struct {
	Parts
	landed         [][]byte    // memory of packed rows, used again in later rounds
	sent, received []resending // see engine_changed.go
}

// resending is the state of the messages to or from another rank.
type resending struct {
	last   []byte  // the rows of the last message, if kept is set
	kept   bool    // the next message may have only the changed rows
	sample []byte  // some rows of the last message; nil: there was none
	bytes  int     // of all rows
	at     []int32 // positions of the changed rows
	some   []byte  // memory of messages with changed rows
}

// clearance counts this rank's tasks that must succeed before a node of another rank shows
// something.
type clearance struct {
	shown ir.ID
	left  atomic.Int32
}

// awaited lets a task of this rank run as far as another rank is concerned.
type awaited struct {
	task  int32
	given atomic.Bool // or given up
}

// grant is a clearance for a node of this rank by another rank.
type grant struct {
	shown ir.ID
	from  int
}

// helping is the state of an engine's loops that ranks help each other with. Locks are taken in the
// order: the lock of transfers, mu, the lock of sends. So Remote.Ask, Give and Return may be called
// with mu held.
type helping struct {
	mu      sync.Mutex
	open    map[int32]*loopRun // executions under way, by number of the loop
	begun   map[int32]int32    // executions begun, by number of the loop
	opened  atomic.Int32       // len(open)
	waits   atomic.Int32       // workers that wait for another rank's rows or answers
	vain    map[int32]bool     // the last requests got nothing, by number of the loop
	reached []map[int32]int32  // by rank: executions that it is known to have begun, by number of the loop
	gone    []bool             // ranks that answer no more
	moved   int64              // iterations given away before first chunks
	late    map[int32]int32    // the execution before which such gifts would come too late, by number of the loop
	early   []earlyGift        // for executions that this rank has not begun
	tally   map[int32]*tally   // by number of the loop
	trip    atomic.Int64       // nanoseconds from a request to its answer, a mean of the last
	fast    atomic.Int64       // of the fastest: messages alone, without waits for a processor
}

// earlyGift is a gift for an execution that this rank has not begun.
type earlyGift struct {
	from int
	ask  Ask
	gift Gift
}

// tally has what ranks have told each other of the times that their rows took.
type tally struct {
	totals    []float64 // seconds by rank, in the last execution for which all are known; nil: none
	execution int32
	telling   map[int32]*telling // by execution
}

// telling is one exchange of times. Ranks count backwards from this one.
type telling struct {
	heard []float64         // of this rank and of those before it
	sent  int               // how many of these were sent at last
	early map[int][]float64 // what continues so many that are heard
}

// helped is what an execution of a loop knows of other ranks. helping.mu guards it, except atomics.
type helped struct {
	ask       Ask // of this rank; Loop is 0 if ranks do not help each other
	since     time.Time
	perRow    int            // iterations
	carry     []*value.Dense // inputs whose rows go with iterations
	asked     []Ask          // not answered yet
	waiting   atomic.Int32   // len(asked)
	left      atomic.Int64   // iterations of this rank that no worker has claimed
	pace      atomic.Uint64  // bits of the seconds that a worker takes for an iteration; 0: unknown
	asking    []asking       // requests of this rank under way
	given     []Lent         // what others gave and no worker has begun
	handed    atomic.Int64   // iterations in given
	hints     schedule.Hints
	dry       []bool    // by rank: its last answer was empty
	again     []float64 // by rank: when to ask again, as helped.clock, because it gives some later; 0: it was not said
	away      []Chunk   // iterations of this rank that others have
	undone    []Chunk   // iterations that others had and have not done
	returned  []returned
	moved     []Chunk      // iterations of this rank that it gave away at the start, in order
	spare     []Chunk      // parts of claims that have some of these
	spares    atomic.Int32 // len(spare)
	expects   atomic.Int32 // gifts that should come at the start
	spent     atomic.Int64 // nanoseconds of chunks that ran here, of this rank's rows
	busy      int          // workers that run what they claimed
	exhausted bool         // nothing is left to give but given
}

// asking is a request under way: to which rank, and when it was sent, as helped.clock.
type asking struct {
	to int32
	at float64
}

// returned is what another rank has run, and how long that took.
type returned struct {
	from    int
	chunk   Chunk
	seconds float64
	at      int64 // when it came, as Engine.Now
}

// cut is what determines, beside the options of a run, how a loop is cut into chunks.
type cut struct {
	units, grain int    // grain in units
	technique    string // that the node asks for and gets; "": that of the run
	ranks        int    // whose workers may take part
	near         bool   // each worker begins with the same part in every execution
	least        int    // the least units of a chunk under the default technique; 0: any
}

// executions counts those of a task's loop with this number of units.
type executions struct {
	units int
	n     int32
}

// nodeLoop is the engine's state of a node that ran as a loop, and the memory of an execution.
type nodeLoop struct {
	loopRun
	queues *schedule.Queues
	plan   schedule.Plan
	cut    cut
	// it goes to the next execution of the same task; else to any loop with the same cut
	learns bool

	by     map[*schedule.Technique]*schedule.Queues // that have been chosen
	auto   *schedule.Selector                       // nil: the technique is given
	key    schedule.Key
	record bool // this execution is recorded for the choice

	did []moments // of each worker, if the technique or the choice needs them
}

// moments sums up the chunks of one worker: n units in t seconds, q the sum of t^2/n.
type moments struct {
	n, t, q, claiming float64
	chunks            float64
	_                 [88]byte
}

// loopRun is one execution of a loop.
type loopRun struct {
	Shared
	e     *Engine
	t     int32
	id    ir.ID
	call  op.Call
	in    []value.Value
	out   value.Value // what was lent
	steps op.LoopBody
	n     int // iterations
	leaf  int
	base  int   // the first iteration: of the rows of this rank
	begun int64 // when the opener's task began
	owner int   // worker that opened the loop; its share begins with the task
	timed bool  // chunks are timed, and begun is a time
	paced int64 // when the execution began, if its length is kept in took; else 0
	helped

	stopped func() bool // of the call

	failed atomic.Int64 // first iteration of the first failed chunk; maxNode: none
	mu     sync.Mutex
	err    error // of that chunk

	count  *loopCount // for progress; nil: nobody asks
	keeps  bool
	chunks []chunkList // of each worker, if keeps
	log    *nodeLoop
}

// chunkList is what a worker has run, in a cache line of its own.
type chunkList struct {
	list []trace.Chunk
	_    [cacheLine - 24]byte
}

// claimed is a chunk that a worker has claimed.
type claimed struct {
	Chunk
	stolen bool // from another worker's queue
}

// workerState is the private state of one worker of a run.
type workerState struct {
	_        [cacheLine]byte
	call     op.Call // of the task in its kernel
	in       []value.Value
	finished atomic.Int64  // tasks
	current  atomic.Int64  // 1 + node in its kernel; 0: none
	rounds   op.RoundCount // of an iterate that is one task
	idle     []*nodeLoop   // unused; see engine_idle.go
	track    *trace.Track
	helped   int64 // chunks of other ranks
	waited   int64 // ns that it has waited for answers
	kinds    []kindCount
	calls    []callCount
	lent     int64 // bytes
	reused   int64 // bytes of results that reused an input's memory
	_        [cacheLine]byte
}

// kindCount sums up the tasks of one operator on one worker.
type kindCount struct{ tasks, busy int64 }

// callCount sums up the tasks of one call on one worker.
type callCount struct {
	tasks, first, last, busy int64
	any                      bool // first and last are times
}

// loopCount counts the iterations of a loop execution that each worker has run.
type loopCount struct {
	node ir.ID // of the plan
	of   atomic.Int64
	done []paddedCount
}

type paddedCount struct {
	atomic.Int64
	_ [56]byte // a cache line each
}

// running returns the run. A task may fail, and a value arrive, before the pool's Start has
// returned it.
func (e *Engine) running() *Run {
	if r := e.run.Load(); r != nil {
		return r
	}
	e.startMu.Lock()
	defer e.startMu.Unlock()
	return e.run.Load()
}

// Now returns the engine's clock: nanoseconds, monotonic, with an arbitrary origin.
func (e *Engine) Now() int64 { return int64(time.Since(e.epoch)) }

// Buffers returns the pool that the engine takes memory from.
func (e *Engine) Buffers() *BufferPool { return e.buffers }
