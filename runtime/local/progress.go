package local

// This file tells how far a run is. Workers note what they have done in memory of their own, a
// store for each chunk and each round; a goroutine reads it a few times a second, and only where
// somebody asks for progress.

import (
	"slices"
	"sync/atomic"
	"time"

	"flow/ir"
)

// Progress is how far this rank's part of a run is.
type Progress struct {
	// Done and Total are tasks; a loop or branch is one.
	Done, Total int
	// Node is the node of the plan that the rest is about; ir.None where nothing runs.
	Node ir.ID
	// Rounds have ended of the outermost iterate that runs, which has Times; -1: its condition
	// says, -2: none runs.
	Rounds, Times int64
	// Iterations have ended of the Of iterations of the parallel loop that runs; 0 of 0 where none
	// does.
	Iterations, Of int64
}

// NoRounds is Progress.Times where no iterate runs.
const NoRounds = -2

// loopCount is how many iterations of an execution of a loop each worker has run.
type loopCount struct {
	node ir.ID // of the plan
	of   atomic.Int64
	done []paddedCount
}

type paddedCount struct {
	atomic.Int64
	_ [56]byte // a cache line each
}

// counted makes l the loop whose iterations are told, for n of them.
func (l *loopRun) counted(n int) {
	e := l.e
	if e.o.OnProgress == nil {
		return
	}
	if l.count == nil {
		l.count = &loopCount{node: e.planned(l.id), done: make([]paddedCount, len(e.scratch))}
	}
	for i := range l.count.done {
		l.count.done[i].Store(0)
	}
	l.count.of.Store(int64(n))
	e.shown.Store(l.count)
}

// ran notes iterations that a worker has run.
func (c *loopCount) ran(worker, n int) {
	if c != nil {
		d := &c.done[worker]
		d.Store(d.Load() + int64(n)) // nobody else writes it
	}
}

// Progress is how far the run is. It may be called while it runs; what it returns is some
// microseconds old, and its parts are not of one moment.
func (e *Engine) Progress() Progress {
	p := Progress{Done: e.Finished(), Total: e.Tasks(), Node: ir.None, Times: NoRounds}
	if running := e.Current(); len(running) > 0 {
		p.Node = slices.Min(running)
	}
	if c := e.shown.Load(); c != nil {
		done := int64(0)
		for i := range c.done {
			done += c.done[i].Load()
		}
		if of := c.of.Load(); done < of {
			p.Node, p.Iterations, p.Of = c.node, done, of
		}
	}
	for _, lp := range e.controls { // outer ones come first
		if r := lp.told.Load(); r > 0 && !lp.branch {
			p.Node, p.Rounds, p.Times = e.planned(lp.node), r-1, max(lp.times, -1)
			break
		}
	}
	return p
}

// showProgress calls OnProgress until stop is called.
func (e *Engine) showProgress() (stop func()) {
	f := e.o.OnProgress
	if f == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f(e.Progress())
			case <-quit:
				f(e.Progress())
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}
