// Package local runs plans on the cores of one machine.
//
// It has two layers. The executor (Pool, DAG, Run) knows tasks by number and nothing of what they
// do: a Body function gives a number its meaning. The picture of one run:
//
//	DAG (counters, successors, priorities)   Body            inputs from elsewhere
//	        |                                  |                     |
//	        v                                  v                     v
//	    Pool.Start --> queue of worker 0 --> task --> enabled successors    Run.Satisfy
//	                   queue of worker 1 --> task --> ...                        |
//	                        ^   stealing, best class first   ^-------------------+
//
// Engine, on top of it, gives the numbers the meaning of one rank's part of a plan: a task is a
// node, its Body calls the kernel of the node's row, results live in memory of a BufferPool that is
// lent for as long as readers are left and taken over in place by the last one. A result that is a
// good part of another value's memory (op.Def.Look: slices) is a view of it, which counts as one of
// its readers until the view has had its own last one; what a loop or branch hands over is copied
// (Engine.keep), for it outlives that. What other ranks have to do with it comes and goes through
// Remote, functions that package dist supplies.
//
// A task may be shared (share.go): the worker that runs it opens it, others join, the last to leave
// completes it. That is how the engine runs the loops of operators in chunks (engine_loop.go),
// handed out by package schedule; what a loop leaves to its next execution is in engine_learn.go
// and engine_idle.go.
//
// Invariants:
//
//   - A task runs exactly once, after every predecessor and every external input, or the run has
//     failed.
//   - A worker is one goroutine locked to one thread. Workers are made once; a run spawns nothing.
//   - A pool runs one graph at a time. A run keeps eight bytes a task (a counter and a list link),
//     which the pool owns and the next run uses again.
//   - Between runs, and inside a run while nothing can be done, workers sleep after a short spin.
//   - Of several tasks that fail, the first in program order is reported, whatever the threads did.
//     What the user sees at once is shown only after every task before it that may fail.
//
// Start reading at DAG, then Worker.work, then Engine. Note [Ending a run] in run.go, Note
// [Sleeping] in pool.go and Note [The first failure] in engine_fail.go carry the arguments that are
// not local to a function.
//
// The package refuses to know operators by name (but for exchange, which no task runs), how plans
// are made, and transports.
package local
