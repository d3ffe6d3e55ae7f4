package local_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flow/ir/plan"
	"flow/runtime/local"
	"flow/runtime/local/enginetest"
	"flow/runtime/schedule"
)

// BenchmarkLoops measures what a loop costs beside its work, of a plan of a thousand loops one
// after the other. One chunk: the launch. Many: what a chunk of seven additions costs with all that
// is around it.
func BenchmarkLoops(b *testing.B) {
	const loops = 1000
	for _, workers := range []int{1, 2} {
		for _, technique := range []string{"STATIC", "SS", "FAC2", "AUTO_CHUNK"} {
			tech, err := schedule.Lookup(technique)
			if err != nil {
				b.Fatal(err)
			}
			for _, cols := range []int{14, 7000} { // two units, a thousand
				var s strings.Builder
				fmt.Fprintf(&s, "%%0 = fill() {v=5.0} : f64[1,%d]\n", cols)
				for i := 1; i <= loops; i++ {
					fmt.Fprintf(&s, "%%%d = add(%%%d, %%0) : f64[1,%d]\n", i, i-1, cols)
				}
				p, err := plan.Parse(s.String(), enginetest.Table())
				if err != nil {
					b.Fatal(err)
				}
				pool := local.NewPool(workers)
				b.Run(fmt.Sprintf("%s/units=%d/workers=%d", technique, cols/7, workers), func(b *testing.B) {
					chunks := 0
					o := local.EngineOptions{Schedule: schedule.Plan{Technique: tech}, Stats: true}
					r, err := local.RunPlan(context.Background(), pool, p, o)
					if err != nil {
						b.Fatal(err)
					}
					for i := range r.Loops {
						chunks += len(r.Loops[i].Chunks)
					}
					o.Stats = false
					for b.Loop() {
						if _, err := local.RunPlan(context.Background(), pool, p, o); err != nil {
							b.Fatal(err)
						}
					}
					per := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
					b.ReportMetric(per/loops, "ns/loop")
					b.ReportMetric(per/float64(max(chunks, 1)), "ns/chunk")
				})
				pool.Close()
			}
		}
	}
}
