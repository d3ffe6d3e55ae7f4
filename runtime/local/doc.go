// Package local runs directed acyclic graphs of tasks on the cores of one machine.
//
// It knows tasks by number and nothing of what they do: a Body function gives a number its
// meaning. The picture of one run:
//
//	DAG (counters, successors, priorities)   Body            inputs from elsewhere
//	        |                                  |                     |
//	        v                                  v                     v
//	    Pool.Start --> queue of worker 0 --> task --> enabled successors    Run.Satisfy
//	                   queue of worker 1 --> task --> ...                        |
//	                        ^   stealing, best class first   ^-------------------+
//
// Invariants:
//
//   - A task runs exactly once, after every predecessor and every external input, or the run has failed.
//   - A worker is one goroutine locked to one thread. Workers are made once; a run spawns nothing.
//   - A pool runs one graph at a time. A run keeps eight bytes a task (a counter and a list link), which the
//     pool owns and the next run uses again.
//   - Between runs, and inside a run while nothing can be done, workers sleep after a short spin.
//
// Start reading at DAG, then Worker.work; Note [Ending a run] in run.go and Note [Sleeping] in pool.go
// carry the two arguments that are not local to a function.
//
// BufferPool lends pointer-free, aligned memory to whoever computes. The package refuses to know
// operators, plans, and that other machines exist.
package local
