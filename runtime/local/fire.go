package local

// This file defines what a Body needs to run parts of a graph again and again, or not at all.

// Fire makes the task that w is in enable the successors of task list when it ends, instead of its
// own. A list is a number of the graph that no edge leads to and that is not counted (DAG.Counted):
// it stands for its successors and never runs itself.
func (w *Worker) Fire(list int32) { w.fires = list }

// Arm makes tasks lo..hi-1, which are not counted, wait for all their inputs again. All of them
// must have ended or never have been enabled, and the caller must be what the next enabling of any
// of them comes after.
func (w *Worker) Arm(lo, hi int32) {
	r := w.pool.current.Load()
	copy(r.count[lo:hi], r.dag.Waits[lo:hi])
}
