package flow

import (
	"flow/ir"
	"flow/runtime/local"
)

// Progress is how far a run is; of a run on ranks, how far rank 0 is.
type Progress struct {
	// Done and Total are tasks; a loop of the run is one.
	Done, Total int
	// What is the statement that runs and its line, "" where nothing does; the fields below are
	// about it.
	What string
	// Looping says that an iterate runs, of which Rounds have ended of Times; Times is -1 where its
	// condition says how many.
	Looping       bool
	Rounds, Times int64 // without meaning where none runs
	// Iterations have ended of the Of iterations of the parallel loop that runs; 0 of 0 where none
	// does.
	Iterations, Of int64
}

// told is f as the engine calls it.
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
