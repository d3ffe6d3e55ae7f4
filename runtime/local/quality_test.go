package local

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// cholesky is the graph of a tiled factorisation of t x t tiles, priorities the longest path to the end in units of a task.
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

// longest is the number of tasks on the longest path from each task to an end; tasks are numbered in topological order.
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

// TestScheduleLength runs tasks that sleep, so that eight workers are really eight on any machine, and compares the
// length of the schedule with its lower bounds: the longest path, and all work spread evenly. Sleep overshoots, so
// the unit is what a sleep took on average in this run.
func TestScheduleLength(t *testing.T) {
	for name, d := range map[string]*DAG{"cholesky": cholesky(12), "wavefront": wavefront(20), "fan": fan(200)} {
		const workers = 8
		p := NewPool(workers)
		var slept atomic.Int64
		start := time.Now()
		err := p.Start(context.Background(), d, func(*Worker, int32) error {
			s := time.Now()
			time.Sleep(2 * time.Millisecond)
			slept.Add(int64(time.Since(s)))
			return nil
		}).Wait()
		took := time.Since(start)
		p.Close()
		if err != nil {
			t.Fatal(err)
		}
		unit := float64(slept.Load()) / float64(d.N)
		path := int32(0)
		for _, l := range longest(d) {
			path = max(path, l)
		}
		bound := max(float64(path), float64(d.N)/workers)
		ratio := float64(took) / unit / bound
		t.Logf("%s: %d tasks, longest path %d, %.2f of the bound (unit %.2f ms, %d processors)", name, d.N, path, ratio, unit/1e6, runtime.NumCPU())
		if ratio > 1.5 {
			t.Errorf("%s: the schedule took %.2f times its lower bound", name, ratio)
		}
	}
}

// BenchmarkSatisfy measures how long an input from outside takes to make a sleeping or busy pool run its task, and how late
// the goroutine that brings it wakes beside busy workers (us-late), with and without a processor to spare in the scheduler's eyes.
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
