// Package local runs plans on the cores of one machine.
//
// It has two layers. The executor (Pool, DAG, Run) knows tasks by number; a Body function gives a
// number its meaning. One run:
//
//	DAG (counters, successors, priorities)   Body            inputs from elsewhere
//	        |                                  |                     |
//	        v                                  v                     v
//	    Pool.Start --> queue of worker 0 --> task --> enabled successors    Run.Satisfy
//	                   queue of worker 1 --> task --> ...                        |
//	                        ^   stealing, best class first   ^-------------------+
//
// Engine runs one rank's part of a plan on the executor: a task is a node, and its Body calls the
// kernel of the node's row. Results are in memory lent by a BufferPool, which the last reader may
// take over in place. A result that is a large part of another value (op.Def.Look: slices) is a
// view of it, and counts as one of its readers until the view's own last reader. Values that leave
// a loop or branch are copied (Engine.keep), since they outlive its captures. Remote, supplied by
// package dist, connects the engine to other ranks.
//
// Several workers may share a task (share.go): the worker that runs it opens it, others join, the
// last to leave completes it. The engine runs the loops of operators this way (engine_loop.go), in
// chunks that package schedule hands out. engine_learn.go and engine_idle.go keep what a loop
// leaves to its next execution.
//
// Invariants:
//
//   - A task runs exactly once, after every predecessor and every external input, or the run has
//     failed.
//   - A worker is one goroutine locked to one thread. Workers are made once; a run starts no
//     goroutine.
//   - A pool runs one graph at a time. A run takes eight bytes a task (a counter and a list link),
//     which the pool owns and reuses.
//   - Between runs, and in a run without work, workers sleep after a short spin.
//   - Of several failing tasks the first in program order is reported, whatever the threads did.
//     Visible effects wait for every earlier task that may fail.
//
// Start at DAG, then Worker.work, then Engine: options.go has what callers tell it, and engine.go what
// it remembers. Note [Ending a run] in run.go, Note [Sleeping] in pool.go and Note [The first failure]
// in engine_fail.go explain protocols that no single function shows.
//
// The package knows no operator by name (except exchange, which is no task), and neither how plans
// are made nor transports.
package local
