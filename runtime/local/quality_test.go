package local

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// cholesky is the graph of a tiled factorisation of t x t tiles, priorities the longest path to the
// end in units of a task.
func cholesky(t int) *DAG {
	id := map[[3]int]int32{}
	n := int32(0)
	for k := range t {
		for i := k; i < t; i++ {
			for j := k; j <= i; j++ { // (k,k) potrf, (i,k) trsm, others update
				id[[3]int{k, i, j}] = n
				n++
			}
		}
	}
	var edges [][2]int32
	for k := range t {
		for i := k; i < t; i++ {
			for j := k; j <= i; j++ {
				me := id[[3]int{k, i, j}]
				if k > 0 {
					edges = append(edges, [2]int32{id[[3]int{k - 1, i, j}], me})
				}
				switch {
				case i == k:
				case j == k:
					edges = append(edges, [2]int32{id[[3]int{k, k, k}], me})
				default:
					edges = append(edges, [2]int32{id[[3]int{k, i, k}], me})
					if i != j {
						edges = append(edges, [2]int32{id[[3]int{k, j, k}], me})
					}
				}
			}
		}
	}
	d := graph(int(n), edges, nil)
	d.Prio = longest(d)
	return d
}

// longest is the number of tasks on the longest path from each task to an end; tasks are numbered
// in topological order.
func longest(d *DAG) []int32 {
	l := make([]int32, d.N)
	for t := d.N - 1; t >= 0; t-- {
		for _, s := range d.Succ[d.SuccOff[t]:d.SuccOff[t+1]] {
			l[t] = max(l[t], l[s])
		}
		l[t]++
	}
	return l
}

// TestScheduleLength measures the length of schedules in steps, not in time: a task ends when the
// step ends, and a step ends when as many tasks run as there are workers or tasks that can run. A
// pool that leaves a worker asleep beside a ready task does not come that far, and one that takes
// unimportant tasks first needs more steps. The lower bounds are the longest path, and all tasks
// spread evenly.
func TestScheduleLength(t *testing.T) {
	for name, d := range map[string]*DAG{"cholesky": cholesky(12), "wavefront": wavefront(20), "fan": fan(200)} {
		const workers = 8
		steps, err := inSteps(d, workers, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		path := int32(0)
		for _, l := range longest(d) {
			path = max(path, l)
		}
		bound := max(int(path), (d.N+workers-1)/workers)
		t.Logf("%s: %d tasks, longest path %d, %d steps, at least %d", name, d.N, path, steps, bound)
		if 10*steps > 13*bound { // Graham's bound for any order is path + (N - path)/workers
			t.Errorf("%s: the schedule took %d steps, its lower bound is %d", name, steps, bound)
		}
	}
}

// inSteps runs d on a pool and returns the number of steps; saw, if not nil, gets the tasks of
// each. The error says that workers sleep while tasks are ready, for so long that no load of the
// machine explains it.
func inSteps(d *DAG, workers int, saw func(tasks []int32)) (steps int, err error) {
	p := NewPool(workers)
	defer p.Close()
	began := make(chan int32, d.N)
	var release [2]chan struct{} // closed when an even or odd step ends
	release[0], release[1] = make(chan struct{}), make(chan struct{})
	var parity atomic.Int32
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := p.Start(ctx, d, func(_ *Worker, task int32) error {
		end := release[parity.Load()]
		began <- task
		<-end
		return nil
	})
	waits, ready := slices.Clone(d.Waits), 0
	for _, n := range waits {
		if n == 0 {
			ready++
		}
	}
	for done := 0; done < d.N; steps++ {
		var running []int32
		for want := min(ready, workers); len(running) < want; {
			select {
			case task := <-began:
				running = append(running, task)
			case <-time.After(guard):
				cancel()
				close(release[parity.Load()])
				r.Wait()
				return steps, fmt.Errorf("step %d: %d of %d tasks run that could", steps, len(running), want)
			}
		}
		for _, task := range running {
			ready--
			done++
			for _, s := range d.Succ[d.SuccOff[task]:d.SuccOff[task+1]] {
				if waits[s]--; waits[s] == 0 {
					ready++
				}
			}
		}
		if saw != nil {
			saw(running)
		}
		now := parity.Load()
		release[1-now] = make(chan struct{})
		parity.Store(1 - now)
		close(release[now])
	}
	return steps, r.Wait()
}

// BenchmarkSatisfy measures how long an input from outside takes to make a sleeping or busy pool
// run its task, and how late the goroutine that brings it wakes beside busy workers (us-late), with
// and without a processor to spare in the scheduler's eyes.
func BenchmarkSatisfy(b *testing.B) {
	for _, busy := range []bool{false, true} {
		name := "idle"
		if busy {
			name = "busy"
		}
		for _, procs := range []int{2, 3} {
			b.Run(fmt.Sprintf("%s/GOMAXPROCS=%d", name, procs), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				p := NewPool(2)
				defer p.Close()
				var total, worst, late time.Duration
				for range b.N {
					n := 1 // task 0 waits for the input; the others keep the workers busy
					if busy {
						n = 300
					}
					d := graph(n, nil, map[int32]int32{0: 1})
					var sent, ran time.Time
					r := p.Start(context.Background(), d, func(_ *Worker, t int32) error {
						if t == 0 {
							ran = time.Now()
							return nil
						}
						for s := time.Now(); time.Since(s) < 100*time.Microsecond; {
						}
						return nil
					})
					asked := time.Now()
					time.Sleep(2 * time.Millisecond)
					sent = time.Now()
					late = max(late, sent.Sub(asked)-2*time.Millisecond)
					r.Satisfy(0)
					if err := r.Wait(); err != nil {
						b.Fatal(err)
					}
					total += ran.Sub(sent)
					worst = max(worst, ran.Sub(sent))
				}
				b.ReportMetric(float64(total.Microseconds())/float64(b.N), "us/input")
				b.ReportMetric(float64(worst.Microseconds()), "us-worst")
				b.ReportMetric(float64(late.Microseconds()), "us-late-worst")
			})
		}
	}
}
