package local

// This file defines Run, one execution of a graph: its counters, how it fails and how it ends.

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir/op"
)

// Body runs task t on worker w. It must not block on other tasks, nor call Start or Wait. An error
// cancels the run. Several workers call it at once, for different tasks.
type Body func(w *Worker, t int32) error

// Options changes how one run behaves. The zero value is the common case.
type Options struct {
	// Idle, if not nil, is called repeatedly by workers without a task before they sleep, for
	// example to poll a network. It returns true if something happened, and the worker then
	// searches again. waited is how long the worker has been without a task. alone: all other
	// workers sleep, so nothing but Satisfy can make a task ready; Idle may then sleep a while
	// itself. Else it must not block. Several workers may be in it at once, and it may call
	// Satisfy. It is never called after Wait has returned. A run whose inputs arrive only by
	// Idle would stop once all workers sleep, so it must return true while inputs are
	// outstanding and nothing else calls Satisfy.
	Idle func(waited time.Duration, alone bool) bool
}

// TaskError says which task failed. Unwrap returns the error of its Body.
type TaskError struct {
	Task int32
	Err  error
}

func (e *TaskError) Error() string { return fmt.Sprintf("task %d: %v", e.Task, e.Err) }

// Unwrap returns the error of the Body.
func (e *TaskError) Unwrap() error { return e.Err }

// PanicError is a panic caught in a Body: a bug in Flow, not a user's mistake.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("BUG: panic: %v\n%s", e.Value, e.Stack) }

// panicked returns the error of a Body that panicked with v. It must be called while the stack of
// the panic exists.
func panicked(v any) error {
	if f := op.Panicked(v); f != nil {
		return f
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// ErrClosed is the error of a run that was started on a closed pool.
var ErrClosed = errors.New("local: pool is closed")

var errMoreInputs = errors.New("BUG: more inputs arrived than the task waits for")

// Run is a run in flight. Its methods are safe for concurrent use.
type Run struct {
	pool  *Pool
	dag   *DAG
	body  Body
	idle  func(waited time.Duration, alone bool) bool
	class []uint16
	count []int32 // inputs still missing; owned by the pool
	ctx   context.Context
	quit  <-chan struct{}

	_     [cacheLine]byte
	state atomic.Uint64 // see Note [Ending a run]
	_     [cacheLine - 8]byte
	left  atomic.Int64 // tasks not yet reported finished
	away  atomic.Int64 // external inputs not yet satisfied
	turn  atomic.Uint32

	steals atomic.Int64

	unwatch func() bool
	done    chan struct{}

	mu      sync.Mutex
	over    bool  // finished; err is final
	err     error // of the failing task with the smallest index, or the context's
	errTask int32 // -1: err is no task's
}

const (
	ending  = 1 << 63       // state: no new task starts
	joined  = 1<<16 | 1     // added to state by a join: one more join, one more inside
	insides = (1 << 16) - 1 // state: how many are inside
)

// join enters r. It returns false if r is ending; then nothing of r may be touched.
func (r *Run) join() bool {
	if r.state.Load()&ending != 0 {
		return false
	}
	if r.state.Add(joined)&ending != 0 {
		r.leave()
		return false
	}
	return true
}

// leave undoes join. The last to leave an ending run finishes it, and leave then returns true.
func (r *Run) leave() bool {
	s := r.state.Add(^uint64(0))
	if s&insides != 0 {
		return false
	}
	if s&ending != 0 {
		return r.finish()
	}
	if r.stuck(s) {
		r.fail(-1, fmt.Errorf("BUG: %d tasks can never run: a cycle, or tasks that wait for more inputs than they have", r.left.Load()))
	}
	return false
}

// stuck reports whether no task can run any more, though some are left. It looks only if nobody is
// inside (s), and is valid only if no worker entered meanwhile.
func (r *Run) stuck(s uint64) bool {
	return r.left.Load() > 0 && r.away.Load() == 0 && !r.pool.ready() && r.state.Load() == s
}

// waits reports whether tasks are left, and no worker has one or finds one that is ready. moves counts
// who has entered the run: if it is the same at two looks, nothing has changed between them.
func (r *Run) waits() (moves uint64, waiting bool) {
	s := r.state.Load()
	return s >> 16, s&(insides|ending) == 0 && r.left.Load() > 0 && !r.pool.ready()
}

func (r *Run) ended() bool { return r.state.Load()&ending != 0 }

// end lets no further task start. The last one inside finishes the run, or this call if there is
// none.
func (r *Run) end() {
	if r.state.Or(ending)&insides == 0 {
		r.finish()
	}
}

// finish frees the pool and wakes the waiters, once. No worker is inside.
func (r *Run) finish() bool {
	r.mu.Lock()
	again := r.over
	r.over = true
	r.mu.Unlock()
	if again {
		return false
	}
	if r.unwatch != nil {
		r.unwatch()
	}
	r.pool.current.CompareAndSwap(r, nil)
	<-r.pool.slot
	close(r.done)
	return true
}

// fail records err and ends the run. A task's error takes precedence over the context's, a smaller
// task over a larger.
func (r *Run) fail(t int32, err error) {
	r.mu.Lock()
	switch {
	case r.over:
	case t < 0 && r.err == nil && !r.ended():
		r.err, r.errTask = err, -1
	case t >= 0 && (r.err == nil || r.errTask < 0 || t < r.errTask):
		r.err, r.errTask = &TaskError{Task: t, Err: err}, t
	}
	r.mu.Unlock()
	r.end()
}

// Satisfy says that one external input of t arrived. After the last one t becomes ready. It does
// not block. Any goroutine may call it, a Body or Idle too, and also after the run has ended, when
// it does nothing. The caller's earlier writes are visible to the Body of t.
func (r *Run) Satisfy(t int32) {
	if !r.join() {
		return
	}
	defer r.leave()
	if r.away.Add(-1) < 0 {
		r.fail(t, errors.New("BUG: an external input arrived that the graph does not expect"))
		return
	}
	switch n := atomic.AddInt32(&r.count[t], -1); {
	case n < 0:
		r.fail(t, errMoreInputs)
	case n == 0:
		p := r.pool
		q := &p.workers[r.turn.Add(1)%uint32(len(p.workers))].queue
		q.acquire()
		q.push(t, t, r.classOf(t))
		q.release()
		p.wakeForWork()
	}
}

// Expect announces an external input that is not among those of the graph from the start. A Body
// calls it before anything can satisfy the input.
func (r *Run) Expect() { r.away.Add(1) }

func (r *Run) classOf(t int32) int {
	if r.class == nil {
		return 0
	}
	return int(r.class[t])
}

// Wait blocks until the run has ended: all tasks finished, or one failed, or the context was
// cancelled, and no Body is running. The error is that of the failing task with the smallest index
// among those seen, as a *TaskError, else the context's. Several goroutines may call it, more than
// once.
func (r *Run) Wait() error {
	<-r.done
	return r.err
}

// Done returns a channel that is closed when Wait would return at once.
func (r *Run) Done() <-chan struct{} { return r.done }

// Cancel ends the run with err, as cancelling its context would. err is not nil.
func (r *Run) Cancel(err error) { r.fail(-1, err) }

// Finished returns the number of finished tasks, for progress. It lags by up to a thousand tasks a
// worker.
func (r *Run) Finished() int { return r.dag.counted() - int(r.left.Load()) }

// Steals returns how often a worker took tasks from another's queue. It is final after Wait.
func (r *Run) Steals() int { return int(r.steals.Load()) }

// watch ends r when ctx is cancelled.
func (r *Run) watch(ctx context.Context) {
	r.ctx = ctx
	if r.quit = ctx.Done(); r.quit != nil {
		r.unwatch = context.AfterFunc(ctx, func() { r.fail(-1, context.Cause(ctx)) })
	}
}

// Note [Ending a run]
//
// The memory of a run (counters, links, queues) belongs to the pool and is reused, so nothing may
// touch it after the end: no late worker and no Satisfy from a network. So everyone joins before
// and leaves after. The state word holds, in one atomic integer, the ending flag, how many joined
// ever, and how many are inside. A run is over when the flag is set and nobody is inside; whoever
// makes that true finishes it. It can become true more than once (a late joiner sees the flag and
// leaves), so finish has a flag of its own. Joins are counted so that stuck can tell that nobody
// entered while it looked. Sleeping workers are not inside: ending a run does not wait for them to
// wake.
