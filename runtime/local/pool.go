package local

// This file defines Pool: the workers, how a run starts, and how workers sleep and wake.

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a set of workers that outlives its runs. Its methods are safe for concurrent use.
type Pool struct {
	workers []*Worker
	options PoolOptions
	cpus    []int         // to pin workers to; empty: do not
	groups  func() []int  // of each worker
	slot    chan struct{} // holds an element while a run is in flight
	closed  chan struct{} // closed by Close
	once    sync.Once
	alive   sync.WaitGroup
	current atomic.Pointer[Run]
	spin    atomic.Int64 // ns that a worker spins for work before it sleeps
	procs   atomic.Int64 // workers that can run at a time

	count, link []int32 // memory of the current run, reused by the next

	_         [cacheLine]byte
	searching atomic.Int32 // workers inside a run that look for work
	asleep    atomic.Int32 // len(sleepers)
	_         [cacheLine - 8]byte
	mu        sync.Mutex
	sleepers  []*Worker
}

// PoolOptions changes how a pool is made. The zero value is the common case.
type PoolOptions struct {
	// Pin binds worker i to the i-th processor that the caller of NewPool may use, if the
	// system can: first one of every core, then the second ones. Two processes that pin take
	// the same processors.
	Pin bool
	// Spin is how long a worker spins for work before it sleeps. 0 means 50 us, and inside a
	// run several times that while its waits are short (patience.go); negative means never.
	// Waking a thread costs about 10 us, so the default loses a few times that once. Workers
	// never spin while more than GOMAXPROCS of them are awake.
	Spin time.Duration
	// OneThreadPerCore makes the default number of workers that of the cores instead of the
	// processors.
	OneThreadPerCore bool
}

const defaultSpin = 50 * time.Microsecond

// NewPool starts a pool of workers threads; values below one mean GOMAXPROCS. At most one options
// value counts. Close ends it.
//
// With workers = GOMAXPROCS every other goroutine (timers, cancellation, a network) waits until a
// worker sleeps or the scheduler preempts it, up to 10 ms. Programs that need those promptly set
// GOMAXPROCS above the number of workers.
func NewPool(workers int, options ...PoolOptions) *Pool {
	p := &Pool{slot: make(chan struct{}, 1), closed: make(chan struct{})}
	if len(options) > 0 {
		p.options = options[0]
	}
	mask := processors()
	// hundreds of files on large machines
	machine := sync.OnceValue(func() []processor { return topology(sysfs, mask) })
	if workers < 1 {
		workers = parallelism(p.options.OneThreadPerCore, machine)
	}
	workers = min(workers, insides/2)
	p.groups = sync.OnceValue(func() []int { return groupsOf(machine(), workers) })
	if p.options.Pin {
		for _, c := range machine() {
			p.cpus = append(p.cpus, c.id)
		}
	}
	p.alive.Add(workers)
	for i := range workers {
		p.workers = append(p.workers, &Worker{pool: p, index: i, victim: i, wake: make(chan struct{}, 1)})
	}
	for _, w := range p.workers {
		go w.main()
	}
	return p
}

// Parallelism returns the default number of workers: one a processor that the process may use and
// has a quota for, or one a core.
func Parallelism(oneThreadPerCore bool) int {
	return parallelism(oneThreadPerCore, func() []processor { return topology(sysfs, processors()) })
}

func parallelism(oneThreadPerCore bool, machine func() []processor) int {
	// respects the affinity mask, and quotas of two processors and more
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" {
		n = within(n, "/")
	}
	if oneThreadPerCore {
		n = min(n, max(1, cores(machine())))
	}
	return n
}

// Groups returns the group number, from 0 on, of each worker. Workers of one group share near
// memory.
func (p *Pool) Groups() []int { return p.groups() }

// Workers returns the number of workers.
func (p *Pool) Workers() int { return len(p.workers) }

// ProcessorTime returns the processor time that the threads of the workers have used since they
// began; 0 on systems other than Linux. It makes a system call for each worker, and is safe for
// concurrent use.
func (p *Pool) ProcessorTime() (sum time.Duration) {
	for _, w := range p.workers {
		if thread := w.thread.Load(); thread != 0 {
			sum += time.Duration(w.before.Load()) + threadTime(int(thread))
		}
	}
	return sum
}

// Close waits for the current run, if any, and for the workers to stop. Later runs fail with
// ErrClosed. It may be called more than once.
func (p *Pool) Close() {
	p.once.Do(func() {
		p.slot <- struct{}{}
		close(p.closed)
		p.mu.Lock()
		for _, w := range p.sleepers {
			w.wake <- struct{}{}
		}
		p.sleepers = nil
		p.asleep.Store(0)
		p.mu.Unlock()
		p.alive.Wait()
	})
}

// Start runs the tasks of d and returns at once; it first waits for the end of another run. At most
// one options value counts. A run that cannot start is returned ended, with its error. The caller
// must ensure that the run ends: all external inputs arrive, a task fails, or ctx is cancelled.
func (p *Pool) Start(ctx context.Context, d *DAG, body Body, options ...Options) *Run {
	r := &Run{pool: p, dag: d, body: body, errTask: -1, done: make(chan struct{})}
	if len(options) > 0 {
		r.idle = options[0].Idle
	}
	if err := p.take(ctx, d, body); err != nil {
		r.state.Store(ending)
		r.err, r.over = err, true
		r.left.Store(int64(d.N))
		close(r.done)
		return r
	}
	r.join() // keeps the run from ending while it is set up
	p.spin.Store(p.spinTime())
	p.procs.Store(int64(runtime.GOMAXPROCS(0)))
	r.left.Store(int64(d.counted()))
	r.away.Store(d.prepared.external)
	r.class = d.prepared.class
	if cap(p.count) < d.N {
		p.count, p.link = make([]int32, d.N), make([]int32, d.N)
	}
	r.count = p.count[:d.N]
	copy(r.count, d.Waits)
	p.deal(r)
	r.watch(ctx)
	if d.N == 0 {
		r.end()
	}
	p.current.Store(r)
	r.leave() // an empty run ends here, and one without an initial task fails
	if p.ready() || r.idle != nil {
		// each worker that finds more wakes the next; without work yet, one must call idle
		p.wakeOne()
	}
	return r
}

// take waits for the pool to be free and checks that the run can start.
func (p *Pool) take(ctx context.Context, d *DAG, body Body) error {
	if err := d.prepare().err; err != nil {
		return err
	}
	if body == nil && d.N > 0 {
		return errors.New("local: no body")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-p.closed:
		return ErrClosed
	case p.slot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deal puts the tasks without predecessors into the queues, in blocks, since neighbours share data.
// Blocks are dealt round robin, so that each worker gets a share of the important ones.
func (p *Pool) deal(r *Run) {
	for _, w := range p.workers {
		w.queue.reset(p.link[:r.dag.N])
	}
	block := min(max(r.dag.prepared.roots/(8*len(p.workers)), 1), 1024)
	// From the back, so that stacks pop them from the front.
	n := r.dag.prepared.roots
	for t := r.dag.counted() - 1; n > 0; t-- {
		if r.dag.Waits[t] != 0 {
			continue
		}
		n--
		p.workers[n/block%len(p.workers)].queue.push(int32(t), int32(t), r.classOf(int32(t)))
	}
	for _, w := range p.workers {
		w.queue.release()
	}
}

// Spins reports whether workers look for work for a while before they sleep.
func (p *Pool) Spins() bool { return p.spinTime() > 0 }

func (p *Pool) spinTime() int64 {
	switch {
	case p.options.Spin < 0:
		return 0
	case p.options.Spin == 0:
		return int64(defaultSpin)
	}
	return int64(p.options.Spin)
}

// crowded reports whether workers without a processor are awake: a spinning worker would take it
// from them.
func (p *Pool) crowded() bool { return int64(len(p.workers))-int64(p.asleep.Load()) > p.procs.Load() }

// ready reports whether some queue holds a task, or a shared task is open.
func (p *Pool) ready() bool {
	for _, w := range p.workers {
		if w.queue.best.Load() != 0 || w.offered.Load() != nil {
			return true
		}
	}
	return false
}

// wakeForWork is called after a task was made ready. A searching worker will find it; else a
// sleeper is woken.
func (p *Pool) wakeForWork() {
	if p.asleep.Load() > 0 && p.searching.Load() == 0 {
		p.wakeOne()
	}
}

func (p *Pool) wakeOne() {
	if p.asleep.Load() == 0 {
		return
	}
	p.mu.Lock()
	if n := len(p.sleepers) - 1; n >= 0 {
		w := p.sleepers[n]
		p.sleepers = p.sleepers[:n]
		p.asleep.Add(-1)
		w.wake <- struct{}{} // never blocks: one token for each time in the list
	}
	p.mu.Unlock()
}

// sleep blocks w until there may be work. It returns false when the pool is closed. See Note
// [Sleeping].
func (p *Pool) sleep(w *Worker) bool {
	p.mu.Lock()
	select {
	case <-p.closed:
		p.mu.Unlock()
		return false
	default:
	}
	p.sleepers = append(p.sleepers, w)
	p.asleep.Add(1)
	p.mu.Unlock()
	// A run that began meanwhile does not know w: Start may have seen no sleepers.
	if r := p.current.Load(); r != nil && !r.ended() && (p.ready() || r.idle != nil && w.run != r) {
		p.mu.Lock()
		for i, s := range p.sleepers {
			if s == w {
				p.sleepers = append(p.sleepers[:i], p.sleepers[i+1:]...)
				p.asleep.Add(-1)
				p.mu.Unlock()
				return true
			}
		}
		p.mu.Unlock() // another worker took w off the list: the token is in the channel
	}
	<-w.wake
	select {
	case <-p.closed:
		return false
	default:
		return true
	}
}

// Note [Sleeping]
//
// A ready task must not wait while a worker sleeps. The maker of a ready task (1) puts it into a
// queue and then (2) reads asleep and searching. A worker that gives up (a) leaves searching, (b)
// adds itself to asleep, and then (c) looks into all queues again. The operations are sequentially
// consistent, so if (2) misses (b) then (c) sees (1). If (2) sees a searcher and leaves the task to
// it, that searcher finds the task or comes to (c) after (1). The last searcher that finds
// something wakes a sleeper if more is ready. So a million tasks enabled at once cost one wake-up a
// worker, one after the other, not a million.
