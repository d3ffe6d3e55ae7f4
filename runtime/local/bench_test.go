package local

import (
	"context"
	"fmt"
	"runtime"
	"testing"
)

// BenchmarkEmptyTasks measures the executor alone: a million tasks that do nothing. The B/task
// column is the memory of the graph and of the run together.
func BenchmarkEmptyTasks(b *testing.B) {
	const n = 1000000
	shapes := []struct {
		name string
		make func() *DAG
	}{
		{"chain", func() *DAG { return chain(n) }},
		{"fan", func() *DAG { return fan(n) }},
		{"random", func() *DAG { return random(n, 4, 10000, false, 1) }},
		{"random-prio", func() *DAG { return random(n, 4, 10000, true, 1) }},
		{"wavefront-prio", func() *DAG { return wavefront(1000) }},
		{"independent", func() *DAG { return graph(n, nil, nil) }},
	}
	for _, s := range shapes {
		d := s.make()
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", s.name, workers), func(b *testing.B) {
				p := NewPool(workers)
				defer p.Close()
				ran := make([]struct {
					n int
					_ [cacheLine]byte
				}, workers)
				body := func(w *Worker, _ int32) error { ran[w.index].n++; return nil }
				if err := p.Start(context.Background(), d, body).Wait(); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				b.ResetTimer()
				for range b.N {
					if err := p.Start(context.Background(), d, body).Wait(); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				total := 0
				for _, r := range ran {
					total += r.n
				}
				if total != d.N*(b.N+1) {
					b.Fatalf("%d tasks ran, want %d", total, d.N*(b.N+1))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.N), "ns/task")
				bytes := 4 * (len(d.Waits) + len(d.SuccOff) + len(d.Succ) + len(d.Prio) + len(p.count) + len(p.link))
				bytes += 2 * len(d.prepared.class)
				b.ReportMetric(float64(bytes)/float64(d.N), "B/task")
			})
		}
	}
}

// BenchmarkRun measures what a run costs beside its tasks: start, wake-up, end.
func BenchmarkRun(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			p := NewPool(workers)
			defer p.Close()
			d := graph(2, nil, nil)
			for range b.N {
				if err := p.Start(context.Background(), d, func(*Worker, int32) error { return nil }).Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
