package local

// This file defines Engine, which executes the part of a plan that one rank owns: what it is told,
// what it keeps, and how it starts and ends. engine_build.go derives the task graph, engine_task.go
// runs one task, engine_fail.go decides which failure is reported, engine_report.go counts.

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
	"flow/runtime/schedule"
	"flow/runtime/trace"
)

// EngineOptions says how a plan is executed. The zero value runs rank 0 of a plan that needs no
// world outside.
type EngineOptions struct {
	Env op.Env
	// Buffers lends the memory of results; nil: a pool of the engine's own, which ends with it.
	Buffers *BufferPool
	// Stats asks for busy times and flops; counts are always there. Two clock reads a task.
	Stats bool
	// Trace records every task; nil is off. It needs a track a worker.
	Trace *trace.Recorder
	// Rank is whose tasks of the plan are run.
	Rank int
	// OnProgress is called from one goroutine, a few times a second and once at the end.
	OnProgress func(Progress)
	// Observe sees each result as its task ends, in the task's worker, before anybody reads it. The
	// value may not be kept: its memory is lent again.
	Observe func(id ir.ID, v value.Value)
	// Grace is for how long after a failure the tasks before it may still run, so that the first
	// failure in program order is the one reported; 0 means DefaultGrace. Past it those that have
	// not ended are passed over, and the failure is reported as TaskFailure.Unsettled if one of
	// them may have failed.
	Grace time.Duration
	// Schedule says how the loops of tasks are handed out in chunks; its Groups are those of the
	// pool.
	Schedule schedule.Plan
	// Remote connects the engine to other ranks; nil for a plan of one rank.
	Remote *Remote
}

// Remote is what an engine needs of whoever moves values between ranks. All functions must be set.
// They may be called by several workers at once and must not block.
type Remote struct {
	// Sends is how many messages will carry value id, of this rank or received by it: each holds
	// the value until Engine.Release.
	Sends func(id ir.ID) int
	// Produced is called when a value with Sends above zero is there.
	Produced func(id ir.ID, v value.Value)
	// Freed is called when a received value has had its last reader.
	Freed func(id ir.ID)
	// Between is called after each task, with the time of Engine.Now.
	Between func(now int64)
	// Idle is Options.Idle of the executor.
	Idle func() bool
	// Failed is called when a task of this rank failed and no task before it is known to have
	// failed.
	Failed func(*TaskFailure)
	// Cleared is called when all tasks of this rank have succeeded that node shown, of rank to,
	// waits for without reading them: Engine.Clear tells that rank.
	Cleared func(shown ir.ID, to int)
}

// DefaultGrace is EngineOptions.Grace where nothing is said.
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

	g        *ir.Graph                 // the plan's, and after its nodes those of its loops and branches
	shown    atomic.Pointer[loopCount] // of the loop that began last; nil: none has, or nobody asks
	controls []*control                // loops and branches, outer ones first; see engine_control.go
	home     []home                    // of g's nodes that are not the plan's
	order    []int64                   // node -> its place in program order; nil: the node's number
	steer    map[int32]steer
	turns    atomic.Int64      // rounds of all loops
	several  map[ir.ID][]ir.ID // of tasks with several results: the node that stands for each, ir.None: nobody reads it

	dag     DAG
	task    []ir.ID           // task -> node
	index   []int32           // node -> task, -1: not ours
	root    []ir.ID           // node -> node whose slot holds its value; nil: each its own (no exchanges)
	flags   []uint16          // by task
	repeats map[ir.ID]*repeat // of kept nodes
	kind    []uint16
	kinds   []*op.Def

	external []ir.ID // received exchanges, ascending
	extOff   []int32 // tasks that read external[i]: extTask[extOff[i]:extOff[i+1]]
	extTask  []int32
	extState []atomic.Uint32 // 0 awaited, 1 arrived or given up

	awaits map[grant]*awaited   // what other ranks must say before nodes of this one show something
	clears map[int32]*clearance // by task

	slot []value.Value   // by node
	uses []int32         // readers left, by node; atomic while running
	done []atomic.Uint32 // a bit a task: has ended; nil without Remote
	low  int             // tasks below have ended; of FirstUnfinished

	loopMu   sync.Mutex
	loops    []*nodeLoop         // by task: what has learned from its executions; nil if no row has a loop
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
	failMu     sync.Mutex
	failure    *TaskFailure
	failedAt   atomic.Int64 // place after which tasks are passed over; maxNode: none; -1: all are, for the grace is over
	grace      *time.Timer
	expired    bool // the grace is over
	unsettled  bool // a task before failure that may fail was passed over
	once       sync.Once
	report     *Report
	err        error
}

// Start runs the tasks on pool and returns. Call it once, and Wait after it.
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
	steady()
	e.processors = min(len(e.scratch), runtime.GOMAXPROCS(0))
	e.started = time.Now()
	e.startMu.Lock()
	defer e.startMu.Unlock()
	e.run.Store(pool.Start(ctx, &e.dag, e.body, opts))
}

// running is the run. A task may fail, and a value arrive, before the pool's Start has returned it.
func (e *Engine) running() *Run {
	if r := e.run.Load(); r != nil {
		return r
	}
	e.startMu.Lock()
	defer e.startMu.Unlock()
	return e.run.Load()
}

// Done is closed when no task will run any more.
func (e *Engine) Done() <-chan struct{} { return e.running().Done() }

// Wait blocks until the run has ended and reports on it. The error is a *TaskFailure, or the cause
// of the context's end. Every call returns the same. Values that somebody has not released yet are
// released by Close.
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
			if e.unsettled || err != nil { // an error of the run itself: it was interrupted
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

// Close gives all memory back. After Wait, when no message is under way from or into a value of the
// engine.
func (e *Engine) Close() error {
	for i, v := range e.slot {
		if v != nil {
			e.slot[i] = nil
			e.discard(v)
		}
	}
	if e.own {
		return e.buffers.Close()
	}
	return nil
}

// Now is the engine's clock: nanoseconds, monotonic, of no particular origin.
func (e *Engine) Now() int64 { return int64(time.Since(e.epoch)) }

// Buffers is the pool that the engine takes memory from.
func (e *Engine) Buffers() *BufferPool { return e.buffers }

// Tasks is the number of tasks of this rank; a loop or branch is one, whatever runs in it.
func (e *Engine) Tasks() int { return e.dag.counted() }

// Rounds is how many rounds of loops have ended, of all loops together.
func (e *Engine) Rounds() int { return int(e.turns.Load()) }

// Finished is how many of them have ended.
func (e *Engine) Finished() int {
	n := int64(0)
	for i := range e.scratch {
		n += e.scratch[i].finished.Load()
	}
	return int(n)
}

// Current lists the nodes that workers are in at this moment.
func (e *Engine) Current() []ir.ID {
	var out []ir.ID
	for i := range e.scratch {
		if id := e.scratch[i].current.Load(); id > 0 {
			out = append(out, e.planned(ir.ID(id-1)))
		}
	}
	return out
}

// RunPlan executes p, or the part of it that o.Rank owns, on pool and waits for the end. The report
// is there also when a task failed.
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
