package compiler_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"flow/compiler"
	"flow/ir"
	"flow/ir/plan"
	"flow/kernels"
	"flow/stdlib"
)

// This file measures compilation: of a tiled Cholesky of nt x nt tiles, which has
// nt (nt + 1) (nt + 2) / 6 tasks, and of programs of a few lines.

const tiledCholesky = `param nt: i64 = 8
param nb: i64 = 4
A = zeros(nt * nb, nt * nb)
chan L = tiles(A, nb, part = "lower")
for k in 0..nt {
  L[k,k] <- potrf(L[k,k])
  for i in k+1..nt { L[i,k] <- trsm(L[k,k], L[i,k]) }
  for i in k+1..nt, j in k+1..=i { L[i,j] <- L[i,j] - L[i,k] @ t(L[j,k]) }
}
emit sum(untile(L))
`

func compileTiles(tb testing.TB, nt, nb, ranks int, dump func(string, *ir.Graph)) *compiler.Result {
	tb.Helper()
	table, err := kernels.Table("")
	if err != nil {
		tb.Fatal(err)
	}
	r, ds := compiler.Compile(context.Background(), "x.flow", []byte(tiledCholesky), compiler.Options{Table: table, Ranks: ranks, Std: stdlib.Files, Dump: dump, PlanOnly: true,
		Sets: []compiler.Setting{{Name: "nt", Text: fmt.Sprint(nt)}, {Name: "nb", Text: fmt.Sprint(nb)}}})
	if ds.HasErrors() {
		tb.Fatal(ds)
	}
	return r
}

// Task counts are the closed form, and the load is even: at most 1.2 times the mean for 40 x 40
// tiles on 16 ranks.
func TestTiledCholeskyPlan(t *testing.T) {
	const nt = 40
	r := compileTiles(t, nt, 256, 16, nil)
	n := map[string]int{}
	for i := range r.Plan.Graph.Nodes {
		n[r.Plan.Graph.Nodes[i].Op.Name]++
	}
	if n["potrf"] != nt || n["trsm"] != nt*(nt-1)/2 || n["syrk"] != nt*(nt-1)/2 || n["gemm"] != nt*(nt-1)*(nt-2)/6 || n["slice"] != 0 || n["matmul"] != 0 {
		t.Errorf("tasks: %v", n)
	}
	s := plan.Summarise(r.Plan, nil, 1)
	if s.LoadRatio > 1.2 || s.BusyRanks != 16 {
		t.Errorf("the busiest of %d busy ranks has %.3f times the mean", s.BusyRanks, s.LoadRatio)
	}
	t.Logf("load max/mean %.3f, %d messages, %d MB, parallelism %.0f", s.LoadRatio, s.Messages, s.Bytes>>20, s.Parallelism)
}

// While a tiled program is compiled, a task takes the memory of its node and at most mostMallocs
// allocations.
func TestTasksAllocateLittle(t *testing.T) {
	made := func(nt int) (mallocs, tasks float64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := compileTiles(t, nt, 4, 1, nil)
		runtime.ReadMemStats(&after)
		return float64(after.Mallocs - before.Mallocs), float64(r.Plan.Graph.Len())
	}
	few, least := made(16)
	many, most := made(80)
	if each := (many - few) / (most - least); each > mostMallocs {
		t.Errorf("%.2f allocations a task, want at most %v", each, mostMallocs)
	}
}

// mostMallocs is the largest number of allocations a task, on average. Almost all are those of the
// tiles of a matrix that is cut: there are 27 tasks a tile. An argument on the heap would add one a
// task.
const mostMallocs = 1.4

// residentPeak is the most memory the process has had, in bytes; 0 where the system does not say.
func residentPeak() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kb << 10
}

// BenchmarkElaborate compiles 1.2 million tasks. Goals: under 3 s and 600 MB for the whole
// compilation.
func BenchmarkElaborate(b *testing.B) {
	const nt = 192
	b.ReportAllocs()
	seconds := map[string]float64{}
	var order []string
	var heap uint64
	for range b.N {
		debug.FreeOSMemory()
		r := compileTiles(b, nt, 4, 1, func(string, *ir.Graph) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = max(heap, m.HeapInuse)
		})
		if n := r.Plan.Graph.Len(); n < nt*(nt+1)*(nt+2)/6 {
			b.Fatalf("%d tasks", n)
		}
		for _, p := range r.Passes {
			if _, ok := seconds[p.Name]; !ok {
				order = append(order, p.Name)
			}
			seconds[p.Name] += p.Seconds
		}
		runtime.KeepAlive(r)
	}
	for _, p := range order {
		b.ReportMetric(seconds[p]/float64(b.N), p+"-s")
	}
	b.ReportMetric(float64(heap)/1e6, "heap-MB")
	b.ReportMetric(float64(residentPeak())/1e6, "rss-MB")
}

// BenchmarkPasses is each pass on graphs of a growing number of tasks.
func BenchmarkPasses(b *testing.B) {
	for _, nt := range []int{16, 32, 64} {
		b.Run(fmt.Sprint(nt*(nt+1)*(nt+2)/6), func(b *testing.B) {
			total := map[string]float64{}
			nodes := 0
			for range b.N {
				r := compileTiles(b, nt, 4, 4, nil)
				nodes = r.Plan.Graph.Len()
				for _, p := range r.Passes {
					total[p.Name] += p.Seconds
				}
			}
			for name, s := range total {
				b.ReportMetric(s/float64(b.N)/float64(nodes)*1e9, name+"-ns/task")
			}
		})
	}
}

// BenchmarkStart is a program of twenty lines from text to plan: what a user waits for before
// anything is computed.
func BenchmarkStart(b *testing.B) {
	text, err := os.ReadFile("../examples/cholesky.flow")
	if err != nil {
		b.Fatal(err)
	}
	table, err := kernels.Table("")
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for range b.N {
		if _, ds := compiler.Compile(context.Background(), "cholesky.flow", text, compiler.Options{Table: table, Std: stdlib.Files}); ds.HasErrors() {
			b.Fatal(ds)
		}
	}
	b.ReportMetric(time.Since(start).Seconds()*1000/float64(b.N), "ms")
}
