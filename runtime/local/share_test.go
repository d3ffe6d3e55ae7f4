package local

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted is a shared task of n chunks, which may be shared again and again.
type counted struct {
	Shared
	n     int64
	next  atomic.Int64
	ran   atomic.Int64
	dones atomic.Int32
	chunk func(w *Worker, i int64)
	err   error
}

func (c *counted) Work(w *Worker) {
	for !w.Stopping() {
		i := c.next.Add(1) - 1
		if i >= c.n {
			return
		}
		if c.chunk != nil {
			c.chunk(w, i)
		}
		c.ran.Add(1)
	}
}

func (c *counted) Done(w *Worker) error {
	c.dones.Add(1)
	return c.err
}

// TestSharedTasks checks that every chunk of every shared task runs once, before any successor,
// over random graphs in which some tasks are shared, some not, and some fail to find help.
func TestSharedTasks(t *testing.T) {
	for workers := 1; workers <= 8; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			p := NewPool(workers)
			defer p.Close()
			for seed := range uint64(6) {
				d := random(400, 3, 60, seed%2 == 0, seed)
				finished := make([]atomic.Bool, d.N)
				loops := make([]counted, d.N)
				before := make([][]int32, d.N)
				for t := range d.N {
					for _, s := range d.Succ[d.SuccOff[t]:d.SuccOff[t+1]] {
						before[s] = append(before[s], int32(t))
					}
				}
				body := func(w *Worker, k int32) error {
					for _, b := range before[k] {
						if l := &loops[b]; l.dones.Load() != 1 || l.ran.Load() != l.n {
							return fmt.Errorf("task %d ran after %d of %d chunks of %d", k, l.ran.Load(), l.n, b)
						}
					}
					l := &loops[k]
					l.n = int64(k) % 7 * int64(k%5)
					if k%3 == 0 { // not shared
						for l.n > l.ran.Load() {
							l.ran.Add(1)
						}
						l.dones.Add(1)
						return nil
					}
					l.chunk = func(*Worker, int64) { finished[k].Store(true) }
					w.Share(&l.Shared, l)
					return nil
				}
				if err := p.Start(context.Background(), d, body).Wait(); err != nil {
					t.Fatal(err)
				}
				for k := range loops {
					if l := &loops[k]; l.dones.Load() != 1 || l.ran.Load() != l.n {
						t.Fatalf("task %d: %d of %d chunks, completed %d times", k, l.ran.Load(), l.n, l.dones.Load())
					}
				}
			}
		})
	}
}

// All workers come to a shared task, also those that sleep: its chunks wait for all of them. Nobody
// spins, and the task begins when all others sleep, so whoever comes, and who shares the task, must
// have woken the next before the first chunk: else nobody ever would.
func TestSharedTaskGetsAllWorkers(t *testing.T) {
	const workers = 4
	p := NewPool(workers, PoolOptions{Spin: -1})
	defer p.Close()
	for round := range 20 {
		var chunks [workers]atomic.Int32
		var came atomic.Int32
		var once sync.Once
		all := make(chan struct{})
		l := &counted{n: workers}
		l.chunk = func(w *Worker, _ int64) {
			chunks[w.index].Add(1)
			k := came.Add(1)
			left := p.asleep.Load()
			forgotten := k < workers && left >= workers-k
			if forgotten {
				t.Errorf("round %d: %d workers sleep and %d are inside: nobody was woken", round, left, k)
			}
			if k == workers || forgotten {
				once.Do(func() { close(all) })
			}
			<-all
		}
		err := p.Start(context.Background(), graph(1, nil, nil), func(w *Worker, _ int32) error {
			for p.asleep.Load() != workers-1 {
				time.Sleep(10 * time.Microsecond)
			}
			w.Share(&l.Shared, l)
			return nil
		}).Wait()
		if err != nil {
			t.Fatal(err)
		}
		for i := range chunks {
			if n := chunks[i].Load(); n != 1 {
				t.Fatalf("round %d: worker %d had %d chunks", round, i, n)
			}
		}
	}
}

// TestSharedTaskAtMost: no more workers than that are inside at a time, and as many come: the first
// chunks wait for each other.
func TestSharedTaskAtMost(t *testing.T) {
	const workers, chunks = 5, 64
	p := NewPool(workers)
	defer p.Close()
	for _, most := range []int{1, 2, 3, 0} {
		l := &counted{}
		for range 10 {
			var inside, came, done atomic.Int32
			least := int32(most)
			if most == 0 {
				least = workers
			}
			all := make(chan struct{})
			l.n, l.next = chunks, atomic.Int64{}
			l.chunk = func(*Worker, int64) {
				if k := inside.Add(1); k > least {
					t.Errorf("at most %d: %d are inside", most, k)
				}
				if came.Add(1) == least {
					close(all)
				}
				<-all
				done.Add(1)
				inside.Add(-1)
			}
			l.AtMost(most)
			err := p.Start(context.Background(), graph(1, nil, nil), func(w *Worker, _ int32) error {
				w.Share(&l.Shared, l)
				return nil
			}).Wait()
			if err != nil || done.Load() != chunks {
				t.Fatalf("at most %d: %d chunks, %v", most, done.Load(), err)
			}
		}
	}
}

func TestSharedTaskIsCancelled(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	l := &counted{n: 1 << 40}
	l.chunk = func(_ *Worker, i int64) {
		if i == 100 {
			cancel()
		}
	}
	next := false
	err := p.Start(ctx, chain(2), func(w *Worker, t int32) error {
		if t == 1 {
			next = true
		} else {
			w.Share(&l.Shared, l)
		}
		return nil
	}).Wait()
	if !errors.Is(err, context.Canceled) || l.dones.Load() != 1 || next {
		t.Errorf("%v, completed %d times, successor ran: %v", err, l.dones.Load(), next)
	}
	l = &counted{n: 10, err: errors.New("no")}
	err = p.Start(context.Background(), chain(2), func(w *Worker, t int32) error {
		if t == 1 {
			next = true
		}
		w.Share(&l.Shared, l)
		return nil
	}).Wait()
	var failed *TaskError
	if !errors.As(err, &failed) || failed.Task != 0 || next {
		t.Errorf("%v, successor ran: %v", err, next)
	}
}

// BenchmarkSharedTask measures what a shared task costs beside its chunks, and a chunk with one
// atomic operation.
func BenchmarkSharedTask(b *testing.B) {
	for _, workers := range []int{1, 2} {
		for _, chunks := range []int64{2, 1000} {
			b.Run(fmt.Sprintf("workers=%d/chunks=%d", workers, chunks), func(b *testing.B) {
				p := NewPool(workers)
				defer p.Close()
				const tasks = 1000
				d := chain(tasks)
				l := &counted{n: chunks}
				body := func(w *Worker, _ int32) error {
					l.next.Store(0)
					w.Share(&l.Shared, l)
					return nil
				}
				b.ReportAllocs()
				for b.Loop() {
					if err := p.Start(context.Background(), d, body).Wait(); err != nil {
						b.Fatal(err)
					}
				}
				per := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / tasks
				b.ReportMetric(per, "ns/task")
				b.ReportMetric(per/float64(chunks), "ns/chunk")
			})
		}
	}
}

// repeated is a shared task of several passes.
type repeated struct {
	counted
	passes, again int64
	early         atomic.Int64 // chunks of a pass that ran before the pass before had ended
}

func (r *repeated) Work(w *Worker) {
	for !w.Stopping() {
		i := r.next.Add(1) - 1
		if i >= r.n {
			return
		}
		if r.ran.Load() < r.again*r.n {
			r.early.Add(1)
		}
		r.ran.Add(1)
	}
}

func (r *repeated) Again(*Worker) bool {
	if r.again++; r.again == r.passes {
		return false
	}
	r.next.Store(0)
	return true
}

// Passes of a shared task follow each other: none begins before all chunks of the one before are
// done, and the task ends after the last.
func TestSharedTaskOfSeveralPasses(t *testing.T) {
	for workers := 1; workers <= 8; workers++ {
		p := NewPool(workers)
		tasks := make([]repeated, 200)
		err := p.Start(context.Background(), chain(len(tasks)), func(w *Worker, k int32) error {
			r := &tasks[k]
			r.n, r.passes = int64(k)%50, 1+int64(k)%4
			w.Share(&r.Shared, r)
			return nil
		}).Wait()
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		for k := range tasks {
			if r := &tasks[k]; r.ran.Load() != r.n*r.passes || r.early.Load() != 0 || r.dones.Load() != 1 {
				t.Fatalf("%d workers, task %d: %d chunks of %d in %d passes, %d early, completed %d times", workers, k, r.ran.Load(), r.n, r.passes, r.early.Load(), r.dones.Load())
			}
		}
	}
}

// TestBriefTasksStay: the worker that enables brief tasks runs them and then the task that was enabled
// with them, although others look for work. What it cannot hold is for the others.
func TestBriefTasksStay(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	const n = 14 // task 0 enables 1 .. 12, of which 1 .. 11 are brief
	d := fan(n)
	d.Brief = make([]bool, n)
	for i := 1; i < n-2; i++ {
		d.Brief[i] = true
	}
	var by, order [n]int32
	var next atomic.Int32
	r := p.Start(context.Background(), d, func(w *Worker, k int32) error {
		by[k], order[k] = int32(w.index), next.Add(1)
		time.Sleep(time.Millisecond) // the other worker would come
		return nil
	})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
	stayed := 0
	for k := 1; k < n-1; k++ {
		if by[k] == by[0] {
			stayed++
		} else if k <= len(p.workers[0].briefs) {
			t.Errorf("brief task %d was run by another worker", k)
		}
	}
	// With them, the best of the others; more where the other worker was late.
	if stayed <= len(p.workers[0].briefs) {
		t.Errorf("%d tasks stayed: workers %v, order %v", stayed, by, order)
	}
}

// TestBriefTasksAreShared: a worker whose brief task another one has completed goes on with those that
// it holds. The other worker is the last to leave each shared task.
func TestBriefTasksAreShared(t *testing.T) {
	p := NewPool(2)
	defer p.Close()
	d := fan(6) // task 0 enables 1 .. 4
	d.Brief = []bool{false, true, true, true, false, false}
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	var opener atomic.Int32
	loops := make([]counted, d.N)
	r := p.Start(ctx, d, func(w *Worker, k int32) error {
		if l := &loops[k]; k > 0 && k < 4 {
			opener.Store(int32(w.index))
			var both sync.WaitGroup
			both.Add(2)
			l.n = 2
			l.chunk = func(w *Worker, _ int64) {
				both.Done()
				both.Wait()
				if w.index != int(opener.Load()) {
					time.Sleep(time.Millisecond)
				}
			}
			w.Share(&l.Shared, l)
		}
		return nil
	})
	if err := r.Wait(); err != nil {
		t.Fatal(err)
	}
}
