package local

// This file defines Shared, a task that several workers run at once: how it is offered, joined,
// left and completed.

import (
	"context"
	"sync/atomic"
)

// Sharer is what a shared task does.
type Sharer interface {
	// Work takes part until nothing is left for w to begin. Several workers are in it at once. It
	// should look at Worker.Stopping now and then. It must not panic.
	Work(w *Worker)
	// Done is called once, by the last worker that came out of Work, also when the run is ending.
	// An error cancels the run.
	Done(w *Worker) error
}

// Repeater is a Sharer that may have more to share out when all that it had is done: Again is asked
// before Done, by the worker that would call that. If it says true the task is offered once more
// and Work begins anew.
type Repeater interface {
	Again(w *Worker) bool
}

// Shared is the state of a shared task. The zero value is ready for Worker.Share; after Done it may
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

const open = 1 << 62 // state: workers may enter; the rest counts those inside

// Share makes the task that w is running a shared one: after its Body has returned nil, w and
// others that have nothing better to do call b.Work, and the task has finished when b.Done has.
// Only in a Body, once.
func (w *Worker) Share(s *Shared, b Sharer) {
	s.body = b
	w.sharing = s
}

// AtMost lets only so many workers take part in what is shared from now on; 0: all who come. Who
// leaves has found nothing left to begin, so nobody takes that place.
func (s *Shared) AtMost(workers int) {
	if most := int32(workers); s.most.Load() != most {
		s.most.Store(most)
	}
}

// Index is the number of the worker in its pool.
func (w *Worker) Index() int { return w.index }

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
		case <-r.quit: // the goroutine that will tell so may still wait for a processor
			return true
		default:
		}
	}
	return false
}

// halted is Stopping for the worker itself, which ends a run whose context is the reason.
func (w *Worker) halted() bool {
	if !w.Stopping() {
		return false
	}
	if r := w.run; !r.ended() {
		r.fail(-1, context.Cause(r.ctx))
	}
	return true
}

// offer publishes the shared task t, which w is inside of, and wakes somebody for it.
func (w *Worker) offer(r *Run, s *Shared, t int32) {
	s.task, s.owner = t, w
	if c := int32(r.classOf(t)) + 1; s.class.Load() != c { // a store costs as much as the rest of this function
		s.class.Store(c)
	}
	s.state.Store(open | 1)
	if len(w.pool.workers) == 1 || s.most.Load() == 1 {
		return
	}
	w.offered.Store(s)
	w.pool.wakeForWork() // who comes and sees it brings the next
}

// enter goes into s if it is still open and not full. Who takes the last place takes the offer
// back: nobody need be woken for it.
func (s *Shared) enter() bool {
	for {
		n := s.state.Load()
		most := int64(s.most.Load())
		if n&open == 0 || most > 0 && n-open >= most {
			return false
		}
		if s.state.CompareAndSwap(n, n+1) {
			if n-open+1 == most {
				s.owner.offered.CompareAndSwap(s, nil)
			}
			return true
		}
	}
}

// leave closes s, which has nothing left to begin, and comes out of it; true if nobody else is
// inside.
func (s *Shared) leave() bool {
	if s.state.Load() == open|1 && s.state.CompareAndSwap(open|1, 0) {
		return true // one atomic operation for who was alone
	}
	s.state.And(^open)
	return s.state.Add(-1) == 0
}

// takePart works on s, inside of which w is. If w is the last to leave it completes the task, which
// is returned; else -1.
func (w *Worker) takePart(r *Run, s *Shared) int32 {
	w.task = s.task
	for {
		s.body.Work(w)
		// The offer is taken back before s closes, while s cannot be shared again: it may be the
		// next offer of the same worker.
		if s.owner.offered.Load() == s {
			s.owner.offered.CompareAndSwap(s, nil)
		}
		if !s.leave() {
			w.task = -1
			return -1
		}
		// Nobody else is inside, and nobody enters what is closed.
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

// join enters the most important shared task that is open, if it is of at least class best (1 +
// class; 0: any).
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
// The state counts the workers inside, with a bit that says whether more may enter. Who comes out
// of Work has seen that nothing is left to begin, so it closes the task and leaves. Nobody enters a
// closed task, so the count falls to zero once, and whoever makes it zero knows that all chunks
// have been executed: a chunk that was claimed is executed by a worker inside. That worker
// completes the task, the others have long gone on to something else; nobody waits.
//
// A Shared is used again, so a worker that looked at an offer may find another task under it when
// it enters. That is as good: it is one of the same run, since the run cannot end while the worker
// is inside of the run.
