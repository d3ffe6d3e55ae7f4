package local

import (
	"context"
	"runtime"
	"time"

	"flow/ir/plan"
	"flow/memory"
)

// This file starts an engine and ends it.

// Start starts the tasks on pool and returns. Call it once, and then Wait.
func (e *Engine) Start(ctx context.Context, pool *Pool) {
	e.pool = pool
	e.scratch = make([]workerState, pool.Workers())
	if e.own {
		e.buffers.forWorkers(len(e.scratch))
	}
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

// Waits reports whether nothing can happen in this engine until a value arrives: tasks are left, none
// is at work or ready, and no failure is known. moves is the same at two looks if nothing has happened
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
