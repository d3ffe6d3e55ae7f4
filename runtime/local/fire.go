package local

// This file lets a Body run parts of a graph repeatedly, or not at all.

// Fire makes the current task of w enable the successors of task list when it ends, instead of its
// own. A list is a number of the graph without incoming edges that is not counted (DAG.Counted): it
// stands for its successors and never runs.
func (w *Worker) Fire(list int32) { w.fires = list }

// Arm makes the uncounted tasks lo..hi-1 wait for all their inputs again. All of them must have
// ended or never have been enabled, and the next enabling of any of them must come after the call.
func (w *Worker) Arm(lo, hi int32) {
	r := w.pool.current.Load()
	copy(r.count[lo:hi], r.dag.Waits[lo:hi])
}
