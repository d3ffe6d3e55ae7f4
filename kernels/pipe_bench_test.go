//go:build linux

package kernels

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/construct"
	"flow/kernels/reduce"
)

// runLoop executes a call as a loop on that many goroutines, each of which takes every chunk that
// is next.
func runLoop(b *testing.B, c *op.Call, workers int) {
	n, leaf := c.Def.Loop.Space(c)
	body, err := c.Def.Loop.Begin(c, workers)
	if err != nil {
		b.Fatal(err)
	}
	step := max(leaf, (n/leaf/64)*leaf)
	var next int
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for {
				mu.Lock()
				lo := next
				next += step
				mu.Unlock()
				if lo >= n {
					return
				}
				if err := body.Chunk(w, lo, min(lo+step, n)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := body.End(); err != nil {
		b.Fatal(err)
	}
}

// huge is a matrix as the runtime lends it: outside of the heap, on huge pages where the kernel
// gives them.
func huge(b *testing.B, rows, cols int) *value.Dense {
	m, err := syscall.Mmap(-1, 0, 8*rows*cols, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	_ = syscall.Madvise(m, 14) // MADV_HUGEPAGE
	b.Cleanup(func() { _ = syscall.Munmap(m) })
	return value.Over(m, types.F64, rows, cols)
}

// BenchmarkFused is workload c of the peers: y = sqrt(a*x+b)*c-d over 1e8 elements and its sum; and
// b, x + t(x).
func BenchmarkFused(b *testing.B) {
	const n = 100_000_000
	y := sqrtChain(1, 1)
	y.Def = fused()[0]
	x, out := huge(b, n, 1), huge(b, n, 1)
	for i := range x.F64 {
		x.F64[i] = (float64(i) + .5) / n
	}
	y.In[0], y.Type, y.Out = x, x.Type(), out
	sum := *y
	sum.Def, sum.Type, sum.Out = fused()[1], types.ScalarOf(types.F64), nil
	sum.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")}, op.Attr{Name: "rows", Val: op.Int(n)}, op.Attr{Name: "cols", Val: op.Int(1)})
	for _, c := range []struct {
		name string
		c    *op.Call
		size int64
	}{{"sum", &sum, 8 * n}, {"y", y, 16 * n}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(c.size)
			runLoop(b, c.c, 2)
			for b.Loop() {
				runLoop(b, c.c, 2)
			}
		})
	}
}

func BenchmarkTransposeAdd(b *testing.B) {
	const n = 8192
	x, out := huge(b, n, n), huge(b, n, n)
	for i := range x.F64 {
		x.F64[i] = construct.U01(1, uint64(i))
	}
	var add *op.Def
	for _, d := range elementwiseRows() {
		if d.Name == "add" {
			add = d
		}
	}
	c := &op.Call{Def: fused()[0], Body: &op.Program{
		In:    []op.Operand{{Elem: types.F64}, {Elem: types.F64, Mode: op.Trans}},
		Steps: []op.Step{{Def: add, Args: []int{0, 1}, Elem: types.F64}},
	}, In: []value.Value{x, x}, Type: x.Type(), Out: out}
	b.SetBytes(16 * n * n)
	runLoop(b, c, 2)
	for b.Loop() {
		runLoop(b, c, 2)
	}
}

// BenchmarkSeveral is a chain over 3e7 elements with several results, in one pass and as a map and
// reductions apart.
func BenchmarkSeveral(b *testing.B) {
	const n = 30_000_000
	x, out := huge(b, n, 1), huge(b, n, 1)
	for i := range x.F64 {
		x.F64[i] = construct.U01(1, uint64(i))
	}
	chain := sqrtChain(1, 1)
	chain.Def, chain.In[0], chain.Type, chain.Out = fused()[0], x, x.Type(), out
	timed := func(name string, calls ...*op.Call) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(8 * n)
			from := cpuSeconds()
			for b.Loop() {
				for _, c := range calls {
					runLoop(b, c, 2)
				}
			}
			b.ReportMetric(1e9*(cpuSeconds()-from)/float64(b.N)/n, "cpu-ns/elem")
		})
	}
	for _, names := range [][]string{{stores, "sum"}, {stores, "max"}, {stores, "sum", "max", "norm"}, {"sum", "max"}, {"var", "max"}} {
		c := *chain
		c.Def = fused()[1]
		c.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str("sum")}, op.Attr{Name: "rows", Val: op.Int(n)}, op.Attr{Name: "cols", Val: op.Int(1)})
		one, _ := severalCall(&c, names, n, 1)
		lent := make(value.Tuple, len(names))
		if names[0] == stores {
			lent[0] = out
		}
		one.Out = lent
		timed(strings.Join(names, "+"), one)
		apart := []*op.Call{chain}
		for _, name := range names {
			if name != stores {
				apart = append(apart, reducing(name, out, types.ScalarOf(types.F64), nil))
			}
		}
		timed(strings.Join(names, "+")+"/apart", apart...)
	}
}

// reducing is a call of a reduction. One whose row has no loop runs as a chain without operators.
func reducing(name string, of *value.Dense, t types.Type, out value.Value) *op.Call {
	c := &op.Call{Def: reduce.Named(name).Def, In: []value.Value{of}, Type: t, Out: out}
	if c.Def.Loop == nil {
		c.Def, c.Body = fused()[1], &op.Program{In: []op.Operand{{Elem: types.F64}}}
		c.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(name)}, op.Attr{Name: "rows", Val: op.Int(of.Rows)}, op.Attr{Name: "cols", Val: op.Int(of.Cols)})
	}
	return c
}

// cpuSeconds is the time that the process has had, which tells kernels apart on a busy machine,
// too.
func cpuSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
