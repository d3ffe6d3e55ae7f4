package local

// This file defines Engine, which executes one rank's part of a plan: options, state, start and
// end. engine_build.go derives the task graph, engine_task.go runs one task, engine_fail.go decides
// which failure is reported, engine_report.go counts.

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
	"flow/memory"
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// EngineOptions says how a plan is executed. The zero value runs rank 0 of a plan without an
// environment.
type EngineOptions struct {
	Env op.Env
	// Read counts the bytes that tasks read of files, for the report, after those that it holds at the
	// beginning. nil: they are not counted.
	Read *atomic.Int64
	// Buffers lends the memory of results; nil: a pool of the engine's own, which ends with it.
	Buffers *BufferPool
	// Memory bounds that pool of the engine's own; zero: what the system gives.
	Memory memory.Limit
	// Stats asks for busy times and flops, at two clock reads a task. Counts are always
	// available.
	Stats bool
	// Trace records every task; nil is off. It needs a track a worker.
	Trace *trace.Recorder
	// Rank is the rank whose tasks are run.
	Rank int
	// OnProgress is called from one goroutine, a few times a second and once at the end.
	OnProgress func(Progress)
	// Observe gets each result as its task ends, in the task's worker, before it is read. It
	// must not keep the value, whose memory is lent again.
	Observe func(id ir.ID, v value.Value)
	// Grace is how long after a failure the tasks before it may still run, so that the first
	// failure in program order is reported; 0 means DefaultGrace. After it the remaining ones
	// are skipped, and the failure is TaskFailure.Unsettled if one of them may have failed.
	Grace time.Duration
	// HelpFrom is how long a rank's own rows of a loop must have taken for it to ask in any case
	// whether it can help other ranks with theirs; 0 means DefaultHelpFrom. Where they took less it
	// asks as long as others have something to do. A rank gives rows away that took it as long for
	// each half MiB of them.
	HelpFrom time.Duration
	// Schedule says how the loops of tasks are handed out in chunks. Its Groups are those of
	// the pool.
	Schedule schedule.Plan
	// Remote connects the engine to other ranks; nil for a plan of one rank.
	Remote *Remote
}

// Remote is what an engine needs from the transport. All functions must be set. Several workers may
// call them at once, and they must not block.
type Remote struct {
	// Sends returns how many messages will carry value id, made or received by this rank. Each
	// holds the value until Engine.Release.
	Sends func(id ir.ID) int
	// Produced is called when a value with Sends above zero exists.
	Produced func(id ir.ID, v value.Value)
	// Freed is called when a received value has had its last reader.
	Freed func(id ir.ID)
	// Between is called after each task, with the time of Engine.Now.
	Between func(now int64)
	// Idle is Options.Idle of the executor.
	Idle func(waited time.Duration, alone bool) bool
	// Failed is called when a task of this rank failed and no earlier one is known to have
	// failed.
	Failed func(*TaskFailure)
	// Gather brings the rows of d that other ranks have made, and sends them those of this rank
	// (plan.Window). key is the number of the gather in the plan. finished is called once, when d
	// is neither written nor read any more.
	Gather func(key int, d *value.Dense, finished func())
	// GatherSparse sends give[r] to each other rank r, and brings what the others have for this one: entries
	// of this rank's rows, or each of the rows of the rank that sends them (plan.Gathered). finished gets a
	// part from each rank; this rank's is its own of give.
	GatherSparse func(key int, give []*value.CSR, finished func(parts []*value.CSR))
	// Fetch sends x.Give[r] to each other rank r and receives x.Take[r]. It sends no message if both are
	// empty. finished is called once, when nothing reads or writes x any more.
	Fetch func(key int, x *Parts, finished func())
	// Ask asks another rank for iterations of a loop, and Give answers such a request. Return sends
	// a copy of the rows that given iterations have made, and the seconds that they took, or nil if
	// they were not run. They call Engine.Asked, Given and Returned of the other rank. Near reports
	// whether another rank is on the same machine; nil: all are. Wait drives transfers for a worker
	// that has waited this long inside a task, and sleeps if nothing happens.
	Ask    func(to int, a Ask)
	Give   func(a Ask, g Gift)
	Return func(to int, a Ask, chunk Chunk, made []byte, seconds float64)
	Near   func(rank int) bool
	Wait   func(waited time.Duration)
	// Cleared is called when all tasks of this rank have succeeded that node shown, of rank to,
	// waits for without reading them. Engine.Clear informs that rank.
	Cleared func(shown ir.ID, to int)
}

// Parts has, by rank, the bytes that one rank sends (Give) and receives (Take). Sender and receiver agree
// on the lengths, except for parts that the sender marks in GiveSome and the receiver in TakeSome. Such a
// message has at least one byte and at most as many as Take. Got is its length.
type Parts struct {
	Give, Take         [][]byte
	GiveSome, TakeSome []bool
	Got                []int
}

// newParts returns empty Parts for so many ranks.
func newParts(ranks int) Parts {
	return Parts{make([][]byte, ranks), make([][]byte, ranks), make([]bool, ranks), make([]bool, ranks), make([]int, ranks)}
}

// DefaultGrace is the default of EngineOptions.Grace.
const DefaultGrace = 10 * time.Second

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
	selector *schedule.Selector  // of nodes that ask for a choice where the run does not
	records  []trace.LoopRecord
	kept     int // chunks in records
	unkept   int // loops whose chunks would have been too many

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

// Start starts the tasks on pool and returns. Call it once, and then Wait.
func (e *Engine) Start(ctx context.Context, pool *Pool) {
	e.pool = pool
	e.scratch = make([]workerState, pool.Workers())
	for i := range e.scratch {
		e.scratch[i].init(e, i)
	}
	var opts Options
	if e.o.Remote != nil {
		opts.Idle = e.o.Remote.Idle
	}
	memory.Steady()
	e.processors = min(len(e.scratch), runtime.GOMAXPROCS(0))
	e.started = time.Now()
	e.startMu.Lock()
	defer e.startMu.Unlock()
	e.run.Store(pool.Start(ctx, &e.dag, e.body, opts))
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

// Waits reports whether nothing can happen in this engine until a value arrives: tasks are left, none is
// at work or ready, and no failure is known. moves is the same at two looks if nothing has happened
// between them. over says that all tasks have ended.
func (e *Engine) Waits() (moves uint64, waiting, over bool) {
	r := e.running()
	moves, waiting = r.waits()
	return moves, waiting && e.failedAt.Load() == maxNode, r.left.Load() == 0
}

// Done is closed when no task will run any more.
func (e *Engine) Done() <-chan struct{} { return e.running().Done() }

// Wait blocks until the run has ended and reports on it. The error is a *TaskFailure, or the cause
// of the context's end. Every call returns the same. Close releases the values that are left.
func (e *Engine) Wait() (*Report, error) {
	e.once.Do(func() {
		stop := e.showProgress()
		err := e.running().Wait()
		stop()
		e.failMu.Lock()
		if e.grace != nil {
			e.grace.Stop()
		}
		if f := e.failure; f != nil {
			// an error of the run itself: it was interrupted
			if e.unsettled || err != nil {
				told := *f
				told.Unsettled = true
				f = &told
			}
			err = f
		}
		e.failMu.Unlock()
		e.err = err
		e.report = e.makeReport(time.Since(e.started))
	})
	return e.report, e.err
}

// Close gives all memory back. Call it after Wait, when no message from or into a value of the
// engine is under way.
func (e *Engine) Close() error {
	for i, v := range e.slot {
		if v != nil {
			e.slot[i] = nil
			e.discard(v)
		}
	}
	for _, g := range e.gathers {
		if g.states != nil { // of a gather that was given up
			e.discard(g.states)
			g.states = nil
		}
	}
	if e.own {
		return e.buffers.Close()
	}
	return nil
}

// Now returns the engine's clock: nanoseconds, monotonic, with an arbitrary origin.
func (e *Engine) Now() int64 { return int64(time.Since(e.epoch)) }

// Buffers returns the pool that the engine takes memory from.
func (e *Engine) Buffers() *BufferPool { return e.buffers }

// Tasks returns the number of tasks of this rank. A loop or branch is one.
func (e *Engine) Tasks() int { return e.dag.counted() }

// Rounds returns how many rounds have ended, over all loops.
func (e *Engine) Rounds() int { return int(e.turns.Load()) }

// Finished returns how many tasks have ended.
func (e *Engine) Finished() int {
	n := int64(0)
	for i := range e.scratch {
		n += e.scratch[i].finished.Load()
	}
	return int(n)
}

// Current lists the nodes that workers are executing.
func (e *Engine) Current() []ir.ID {
	var out []ir.ID
	for i := range e.scratch {
		if id := e.scratch[i].current.Load(); id > 0 {
			out = append(out, e.planned(ir.ID(id-1)))
		}
	}
	return out
}

// RunPlan executes o.Rank's part of p on pool and waits for the end. It returns the report even if
// a task failed.
func RunPlan(ctx context.Context, pool *Pool, p *plan.Plan, o EngineOptions) (*Report, error) {
	e, err := NewEngine(p, o)
	if err != nil {
		return nil, err
	}
	e.Start(ctx, pool)
	report, err := e.Wait()
	if cerr := e.Close(); err == nil && cerr != nil {
		err = cerr
	}
	return report, err
}
