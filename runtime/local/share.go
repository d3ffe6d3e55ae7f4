package local

// This file defines Shared, a task that several workers run at once: how it is offered, joined,
// left and completed.

import (
	"context"
	"sync/atomic"
)

// Sharer is what a shared task does.
type Sharer interface {
	// Work takes part until w finds nothing left to begin. Several workers call it at once. It
	// should check Worker.Stopping now and then. It must not panic.
	Work(w *Worker)
	// Done is called once, by the last worker to leave Work, also if the run is ending. An
	// error cancels the run.
	Done(w *Worker) error
}

// Repeater is a Sharer with several passes. The worker that would call Done first calls Again. If
// that returns true the task is offered once more and Work begins anew.
type Repeater interface {
	Again(w *Worker) bool
}

// Shared is the state of a shared task. The zero value is ready for Worker.Share. After Done it may
// be shared again.
type Shared struct {
	body  Sharer
	task  int32
	owner *Worker
	class atomic.Int32 // 1 + class of the task
	most  atomic.Int32 // workers inside; 0: all who come
	_     [cacheLine]byte
	state atomic.Int64 // see Note [Leaving a shared task]
	_     [cacheLine - 8]byte
}

// left is one in the upper half of the state, which counts the workers that have left. The lower half
// counts those inside, so one atomic operation changes both.
const left = 1 << 32

// Share makes the current task of w a shared one: after its Body has returned nil, w and idle
// workers call b.Work, and the task finishes with b.Done. Call it only in a Body, once.
func (w *Worker) Share(s *Shared, b Sharer) {
	s.body = b
	w.sharing = s
}

// AtMost limits the number of workers that take part from now on; 0: no limit. A worker that leaves
// is not replaced, since it has found nothing left to begin.
func (s *Shared) AtMost(workers int) {
	if most := int32(workers); s.most.Load() != most {
		s.most.Store(most)
	}
}

// Stopping reports that the run is ending: a shared task should begin nothing more. It costs some
// nanoseconds.
func (w *Worker) Stopping() bool { return w.run.stopping() }

// stopping is Worker.Stopping.
func (r *Run) stopping() bool {
	if r.ended() {
		return true
	}
	if r.quit != nil {
		select {
		case <-r.quit: // the goroutine that reports it may still wait for a processor
			return true
		default:
		}
	}
	return false
}

// halted is Stopping for the worker itself. It ends a run whose context is the reason.
func (w *Worker) halted() bool {
	if !w.Stopping() {
		return false
	}
	if r := w.run; !r.ended() {
		r.fail(-1, context.Cause(r.ctx))
	}
	return true
}

// offer publishes the shared task t of w and wakes a worker for it.
func (w *Worker) offer(r *Run, s *Shared, t int32) {
	s.task, s.owner = t, w
	// a store costs as much as the rest of this function
	if c := int32(r.classOf(t)) + 1; s.class.Load() != c {
		s.class.Store(c)
	}
	s.state.Store(1)
	if len(w.pool.workers) == 1 || s.most.Load() == 1 {
		return
	}
	w.offered.Store(s)
	w.pool.wakeForWork() // who comes and sees it brings the next
}

// enter joins s if it is still open and not full. Taking the last place withdraws the offer, so
// that no worker is woken for it.
func (s *Shared) enter() bool {
	for {
		n := s.state.Load()
		most := int64(s.most.Load())
		if n <= 0 || n >= left || most > 0 && n >= most {
			return false
		}
		if s.state.CompareAndSwap(n, n+1) {
			if n+1 == most {
				s.owner.offered.CompareAndSwap(s, nil)
			}
			return true
		}
	}
}

// leave closes s, which has nothing left to begin, and leaves it. It returns true if no worker is
// left inside.
func (s *Shared) leave() bool { return s.state.Add(left-1)&(left-1) == 0 }

// takePart works on s, which w has entered. The last worker to leave completes the task, which is
// returned; else -1.
func (w *Worker) takePart(r *Run, s *Shared) int32 {
	w.task = s.task
	for {
		s.body.Work(w)
		// Withdraw the offer before s closes and could be shared again: it may be the next
		// offer of the same worker.
		if s.owner.offered.Load() == s {
			s.owner.offered.CompareAndSwap(s, nil)
		}
		if !s.leave() {
			w.task = -1
			return -1
		}
		// No worker is inside, and none enters a closed task.
		if b, repeats := s.body.(Repeater); !repeats || !b.Again(w) {
			break
		}
		w.offer(r, s, s.task)
	}
	t := s.task
	err := s.body.Done(w)
	w.task = -1
	switch {
	case err != nil:
		r.fail(t, err)
		return -1
	case w.halted():
		return -1
	}
	return t
}

// join enters the most important open shared task, if it is of at least class best (1 + class; 0:
// any).
func (w *Worker) join(best int32) *Shared {
	all := w.pool.workers
	var found *Shared
	for i := 1; i < len(all); i++ {
		v := w.index + i
		if v >= len(all) {
			v -= len(all)
		}
		if s := all[v].offered.Load(); s != nil {
			if c := s.class.Load(); c >= best && (found == nil || c > found.class.Load()) {
				found = s
			}
		}
	}
	if found != nil && found.enter() {
		return found
	}
	return nil
}

// Note [Leaving a shared task]
//
// The state counts the workers inside and those that have left. The first worker that leaves closes the
// task: it has seen that nothing is left to begin. No worker enters a closed task, so the first count
// falls to zero once. The worker that makes it zero knows that all chunks have been executed: a claimed
// chunk is executed by a worker inside. It completes the task, and no worker waits.
//
// A Shared is reused, so a worker that saw an offer may enter another task of it. That task is one
// of the same run, since the run cannot end while the worker is inside it.
