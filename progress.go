package flow

import (
	"flow/ir"
	"flow/runtime/local"
)

// Progress is how far a run is; for ranks, how far rank 0 is.
type Progress struct {
	// Done and Total count tasks. A loop of the run is one.
	Done, Total int
	// What is the running statement and its line, or "". The fields below describe it.
	What string
	// Looping: an iterate runs, of which Rounds of Times have ended. Times is -1 if its
	// condition decides.
	Looping       bool
	Rounds, Times int64 // without meaning where none runs
	// Iterations of the running parallel loop have ended, of Of; 0 of 0 without one.
	Iterations, Of int64
}

// told adapts f for the engine.
func (p *Program) told(f func(Progress)) func(local.Progress) {
	if f == nil {
		return nil
	}
	return func(l local.Progress) {
		o := Progress{Done: l.Done, Total: l.Total, Looping: l.Times != local.NoRounds, Rounds: l.Rounds, Times: l.Times, Iterations: l.Iterations, Of: l.Of}
		if l.Node != ir.None {
			o.What = p.statement(l.Node, "")
		}
		f(o)
	}
}
