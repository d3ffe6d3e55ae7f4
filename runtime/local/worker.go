package local

// This file defines Worker and its loop: run a task, release its successors, take the next.

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Worker is one thread of a pool. A Body may use its worker until it returns.
type Worker struct {
	pool    *Pool
	index   int
	wake    chan struct{}
	victim  int   // the queue looked at last
	fires   int32 // the list that the current task fires; -1: its own successors
	task    int32 // the current task, -1: none; whom to blame for a panic
	done    int32 // tasks finished and not yet reported to the run
	seeks   bool  // counted in Pool.searching
	clean   bool  // work returned normally, neither by a panic nor by Goexit
	steals  int64
	waits   patience
	run     *Run       // while in serve
	sharing *Shared    // set by Share
	batch   [256]int32 // enabled successors on their way to the queue
	briefs  [8]int32   // brief tasks to run next, the last one first
	near    int        // how many
	held    int32      // the task to run after them, -1: none

	thread atomic.Int64 // the number of its thread, 0 before it has started
	// before is the nanoseconds of processor time of its earlier threads, less what this thread had used
	// before it served the worker.
	before atomic.Int64

	queue queue

	offered atomic.Pointer[Shared] // the open shared task that this worker began
	_       [cacheLine - 8]byte
}

// reportEvery bounds how many finished tasks a worker counts privately. Only progress displays need
// more: a worker reports before it looks for work elsewhere, so the last one always does.
const reportEvery = 1024

// main serves runs until the pool closes.
func (w *Worker) main() {
	runtime.LockOSThread()
	w.before.Add(-int64(threadTime(thisThread())))
	w.thread.Store(int64(thisThread()))
	cpus := w.pool.cpus
	pinned := len(cpus) > 0 && pin(cpus[w.index%len(cpus)])
	debug.SetPanicOnFault(true) // a truncated mapped file fails a task, not the process
	returned := false
	defer func() {
		if !returned { // a Body called runtime.Goexit; work has reported it
			w.before.Add(int64(threadTime(int(w.thread.Swap(0)))))
			go w.main()
			return
		}
		if !pinned { // the thread of a pinned worker ends with it, because of its affinity
			runtime.UnlockOSThread()
		}
		w.pool.alive.Done()
	}()
	p := w.pool
	for {
		r := p.current.Load()
		last := false
		if r != nil && r.join() {
			w.serve(r)
			r.steals.Add(w.steals)
			w.steals = 0
			last = r.leave()
		}
		switch {
		case r != nil && !r.ended(): // serve has already searched for a while
		case last:
			// measured, 2 processors: the waiter is woken 2.5 times sooner on this
			// worker's processor
		case w.await():
			continue
		}
		if !p.sleep(w) {
			returned = true
			return
		}
		w.waits.woken(time.Now())
	}
}

// await spins between runs. It returns true when one has started, false when it is time to sleep.
func (w *Worker) await() bool {
	spin := time.Duration(w.pool.spin.Load())
	if spin == 0 {
		return false
	}
	start := time.Now()
	for i := 1; !w.pool.crowded(); i++ {
		if r := w.pool.current.Load(); r != nil && !r.ended() {
			return true
		}
		if i%32 == 0 && time.Since(start) > spin {
			return false
		}
		pause()
	}
	return false
}

// serve works on r, which w has joined, until it finds nothing for a while or r ends. Panics end
// here.
func (w *Worker) serve(r *Run) {
	w.task, w.fires, w.done, w.clean, w.run, w.sharing = -1, -1, 0, false, r, nil
	w.near, w.held = 0, -1
	defer func() {
		if w.clean {
			return
		}
		// recover returns nil for Goexit, which goes on after this function.
		if v := recover(); v != nil {
			r.fail(w.task, panicked(v))
		} else {
			r.fail(w.task, errors.New("BUG: the body of a task called runtime.Goexit"))
			defer r.leave() // main will not come to it
		}
		w.found()
	}()
	w.work(r)
	w.clean = true
}

// work runs tasks. Each call of body has an ordinary Go frame, where the garbage collector can stop
// the worker.
func (w *Worker) work(r *Run) {
	t, s := w.take(r)
	if w.pool.ready() {
		w.pool.wakeForWork() // each worker that sees more brings the next
	}
	for {
		if t < 0 && s == nil {
			if t, s = w.take(r); t < 0 && s == nil {
				return
			}
		}
		if s == nil {
			if w.halted() {
				return
			}
			w.task = t
			err := r.body(w, t)
			w.task = -1
			if err != nil {
				r.fail(t, err)
				return
			}
			if s = w.sharing; s != nil {
				w.sharing = nil
				w.offer(r, s, t)
			}
		}
		if s != nil {
			t, s = w.takePart(r, s), nil
		}
		if t >= 0 {
			t = w.release(r, t)
		}
	}
}

// release tells the successors of t that it has finished. It returns the best of those that became
// ready, to run next: its input is warm in the cache, and a chain never touches a queue. It returns
// -1 if there is none, or if the queue holds a better one. Brief tasks come first, and until they have
// ended the best one is held, so that no other worker takes it, and its input, for their sake.
func (w *Worker) release(r *Run, t int32) int32 {
	d := r.dag
	counted := int(t) < d.counted()
	if w.fires >= 0 {
		t, w.fires = w.fires, -1
	}
	best, n := int32(-1), 0
	for _, s := range d.Succ[d.SuccOff[t]:d.SuccOff[t+1]] {
		// Reading 1 means bringing the last input; no other worker can still write, so no
		// locked operation is needed.
		if atomic.LoadInt32(&r.count[s]) == 1 {
			r.count[s] = 0
		} else if c := atomic.AddInt32(&r.count[s], -1); c > 0 {
			continue
		} else if c < 0 {
			r.fail(s, errMoreInputs)
			continue
		}
		if d.Brief != nil && d.Brief[s] && w.near < len(w.briefs) {
			w.briefs[w.near] = s
			w.near++
			continue
		}
		best, n = w.better(r, best, s, n)
	}
	if w.held >= 0 {
		best, n = w.better(r, w.held, best, n)
		w.held = -1
	}
	if counted {
		if w.done++; w.done >= reportEvery {
			w.report(r)
		}
	}
	if w.near > 0 {
		w.held = best
		w.near--
		best = w.briefs[w.near]
	} else if best >= 0 && r.class != nil && int32(r.class[best])+1 < w.queue.best.Load() {
		if n == len(w.batch) {
			w.push(r, n)
			n = 0
		}
		w.batch[n] = best
		n++
		best = -1
	}
	if n > 0 {
		w.push(r, n)
	}
	return best
}

// better returns the better of two ready tasks, and the number of tasks in the batch. The other task
// joins the n that are in it. best or s is -1 where there is no task.
func (w *Worker) better(r *Run, best, s int32, n int) (int32, int) {
	if best < 0 || s < 0 {
		return max(best, s), n
	}
	if r.class != nil && r.class[s] > r.class[best] {
		best, s = s, best
	}
	if n == len(w.batch) {
		w.push(r, n)
		n = 0
	}
	w.batch[n] = s
	return best, n + 1
}

// push moves the first n tasks of the batch into the queue, so that they come out in the order of
// the batch.
func (w *Worker) push(r *Run, n int) {
	q := &w.queue
	q.acquire()
	for i := n - 1; i >= 0; i-- {
		t := w.batch[i]
		q.push(t, t, r.classOf(t))
	}
	q.release()
	w.pool.wakeForWork()
}

// take finds the next task: from the own queue unless another has a better one, else from any, or a
// shared one, which w has then entered. It returns -1 and nil when the run ended or nothing came up
// while spinning.
func (w *Worker) take(r *Run) (int32, *Shared) {
	// a brief task was shared, and another worker has completed it
	if t := w.held; w.near > 0 {
		w.near--
		return w.briefs[w.near], nil
	} else if w.held = -1; t >= 0 {
		return t, nil
	}
	if own := w.queue.best.Load(); own != 0 {
		if r.class != nil && len(w.pool.workers) > 1 {
			// Look at one worker in turn: its line may be in another cache, and looking
			// at all would be slow with many workers.
			v := w.next()
			if s := v.offered.Load(); s != nil && s.class.Load() > own && s.enter() {
				return -1, s
			}
			if v.queue.best.Load() > own {
				if t := w.rob(v, 1); t >= 0 {
					return t, nil
				}
			}
		}
		if t := w.queue.pop(); t >= 0 {
			return t, nil
		}
	}
	w.report(r)
	if t, s := w.steal(); t >= 0 || s != nil {
		return t, s
	}
	return w.search(r)
}

// next goes round the other workers.
func (w *Worker) next() *Worker {
	all := w.pool.workers
	if w.victim++; w.victim >= len(all) {
		w.victim = 0
	}
	if w.victim == w.index {
		if w.victim++; w.victim >= len(all) {
			w.victim = 0
		}
	}
	return all[w.victim]
}

// steal takes from the worker, itself included, with the best task. An equally good shared task
// goes first: helping finishes something, beginning more takes memory.
func (w *Worker) steal() (int32, *Shared) {
	var victim *Worker
	best := w.queue.best.Load()
	if best > 0 {
		victim = w
	}
	for range len(w.pool.workers) - 1 {
		if v := w.next(); v.queue.best.Load() > best {
			best, victim = v.queue.best.Load(), v
		}
	}
	if s := w.join(best); s != nil {
		return -1, s
	}
	switch victim {
	case nil:
		return -1, nil
	case w:
		return w.queue.pop(), nil
	}
	return w.rob(victim, stealWindow), nil
}

// rob takes up to limit tasks from v, returns the first and queues the rest.
func (w *Worker) rob(v *Worker, limit int) int32 {
	first, last, c := v.queue.steal(limit)
	if first < 0 {
		return -1
	}
	w.steals++
	if first != last {
		rest := w.queue.link[first] // of a chain that is ours alone
		w.queue.acquire()
		w.queue.push(rest, last, c)
		w.queue.release()
	}
	return first
}

// search looks for work until the spin time is over, calling the run's Idle meanwhile.
func (w *Worker) search(r *Run) (int32, *Shared) {
	p := w.pool
	w.seeks = true
	p.searching.Add(1)
	defer w.found()
	spin := w.waits.limit(time.Duration(p.spin.Load()))
	if p.crowded() {
		spin = 0
	}
	if spin == 0 && r.idle == nil {
		return -1, nil
	}
	start, spun := time.Now(), time.Duration(0)
	begun := start
	for i := 1; !r.ended(); i++ {
		if t, s := w.steal(); t >= 0 || s != nil {
			if w.found() && p.asleep.Load() > 0 && p.ready() {
				p.wakeOne()
			}
			w.waits.waited(spun)
			return t, s
		}
		if r.idle != nil {
			alone := int(p.asleep.Load()) == len(p.workers)-1
			if r.idle(time.Since(begun), alone) {
				start, spun = time.Now(), 0
				continue
			}
		}
		if spin == 0 {
			break
		}
		if i%32 == 0 {
			before := spun
			if spun = time.Since(start); spun-before > taken {
				w.waits.disturbed()
				spin = w.waits.limit(time.Duration(p.spin.Load()))
			}
			if spun > spin || p.crowded() {
				break
			}
		}
		pause()
	}
	w.waits.slept(start)
	return -1, nil
}

// found ends a search, and reports whether it was the last one in the pool.
func (w *Worker) found() bool {
	if !w.seeks {
		return false
	}
	w.seeks = false
	return w.pool.searching.Add(-1) == 0
}

// report adds the finished tasks to the run's count, and ends the run with the last.
func (w *Worker) report(r *Run) {
	if w.done == 0 {
		return
	}
	n := int64(w.done)
	w.done = 0
	if r.left.Add(-n) == 0 {
		r.end()
	}
}

// pause leaves the memory bus alone for some tens of nanoseconds.
func pause() {
	for i := 0; i < 20; i++ {
	}
}

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
