package blas

// This file measures every kernel of every set in GFLOP/s on one core:
//
//	go test -run '^$' -bench Kernels -benchtime 5x ./kernels/blas              (add -tags openblas to see it beside)
//
// The sets take turns within one benchmark, round by round, so that a drifting clock hits all alike; the figure of
// each is its best round out of many, and the operands are fresh copies in cache, as a task finds them.

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// benchOps lists the kernels with their floating-point operations at order b.
var benchOps = []string{"gemm", "gemmNN", "syrk", "trsm", "potrf"}

func flops(op string, b int) float64 {
	x := float64(b)
	switch op {
	case "gemm", "gemmNN":
		return 2 * x * x * x
	case "potrf":
		return x * x * x / 3
	}
	return x * x * x
}

// tileRun prepares one call of op on tiles of order b; before restores the operand that the call overwrites.
func tileRun[T element](k ops[T], op string, b int) (before, call func()) {
	r := rand.New(rand.NewPCG(7, 8))
	full := func() []T {
		v := make([]T, b*b)
		for i := range v {
			v[i] = T(r.Float64() - 0.5)
		}
		return v
	}
	ws := new(Workspace)
	x, y, z := full(), full(), full()
	for i := range b {
		x[i*b+i] += T(b) // positive definite, and a tame triangle
	}
	work := make([]T, b*b)
	switch op {
	case "gemm":
		return func() { copy(work, z) }, func() { k.gemm(ws, true, true, b, b, b, x, b, y, b, work, b) }
	case "gemmNN":
		return func() { copy(work, z) }, func() { k.gemm(ws, false, true, b, b, b, x, b, y, b, work, b) }
	case "syrk":
		return func() { copy(work, z) }, func() { k.syrk(ws, true, b, b, y, b, work, b) }
	case "trsm":
		return func() { copy(work, z) }, func() { k.trsm(ws, b, b, x, b, work, b) }
	}
	return func() { copy(work, x) }, func() { k.potrf(ws, b, work, b) }
}

func benchElem[T element](b *testing.B, elem string, get func(Set) ops[T]) {
	for _, op := range benchOps {
		for _, order := range []int{128, 192, 256, 384, 512} {
			b.Run(fmt.Sprintf("%s/%s/%d", elem, op, order), func(b *testing.B) {
				type contender struct {
					name         string
					before, call func()
					best         time.Duration
				}
				var field []*contender
				for _, s := range sets() {
					if (s.Name() == "portable" || s.Name() == "gonum") && order > 128 {
						continue // slow, and seen well enough below
					}
					before, call := tileRun(get(s), op, order)
					field = append(field, &contender{s.Name(), before, call, time.Hour})
				}
				for range b.N {
					for _, c := range field {
						c.before()
						start := time.Now()
						c.call()
						c.best = min(c.best, time.Since(start))
					}
				}
				for _, c := range field {
					b.ReportMetric(flops(op, order)/c.best.Seconds()/1e9, c.name+"-GFLOP/s")
				}
			})
		}
	}
}

func BenchmarkKernelsF64(b *testing.B) { benchElem(b, "f64", opsF64) }

func BenchmarkKernelsF32(b *testing.B) { benchElem(b, "f32", opsF32) }
