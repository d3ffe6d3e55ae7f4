package local

// This file reports progress. Workers count in memory of their own, one store a chunk and a round;
// a goroutine reads it a few times a second, only if progress is wanted.

import (
	"slices"
	"time"

	"flow/ir"
)

// NoRounds is Progress.Times if no iterate runs.
const NoRounds = -2

// counted makes l the loop whose n iterations are reported.
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

// ran counts iterations that a worker has run.
func (c *loopCount) ran(worker, n int) {
	if c != nil {
		d := &c.done[worker]
		d.Store(d.Load() + int64(n)) // no other worker writes it
	}
}

// Progress returns how far the run is. It may be called during the run. The result is some
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
			return p
		}
	}
	for i := range e.scratch {
		s := &e.scratch[i]
		if r, id := s.rounds.Begun.Load(), s.current.Load(); r > 0 && id > 0 {
			p.Node, p.Rounds, p.Times = e.planned(ir.ID(id-1)), r-1, s.rounds.Times.Load()
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
