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

// BenchmarkColdGemm is gemm as a tiled factorization meets it: operands are tiles of a matrix far larger than the
// caches, one of the three being the same as in the call before.
func BenchmarkColdGemm(b *testing.B) {
	for _, order := range []int{192, 256, 384} {
		b.Run(fmt.Sprint(order), func(b *testing.B) {
			r := rand.New(rand.NewPCG(9, 10))
			tiles := make([][]float64, (128<<20)/(8*order*order))
			for i := range tiles {
				tiles[i] = make([]float64, order*order)
				for j := range tiles[i] {
					tiles[i][j] = r.Float64() - 0.5
				}
			}
			const calls = 12
			ws := new(Workspace)
			best := map[string]time.Duration{}
			var names []string
			for range b.N {
				at := r.IntN(len(tiles))
				next := func() []float64 { at = (at + 7) % len(tiles); return tiles[at] }
				for _, s := range sets() {
					if s.Name() == "portable" || s.Name() == "gonum" {
						continue
					}
					if best[s.Name()] == 0 {
						best[s.Name()] = time.Hour
						names = append(names, s.Name())
					}
					start := time.Now()
					x := next()
					for range calls {
						s.GemmF64(ws, true, true, order, order, order, x, order, next(), order, next(), order)
					}
					best[s.Name()] = min(best[s.Name()], time.Since(start))
				}
			}
			for _, name := range names {
				b.ReportMetric(calls*flops("gemm", order)/best[name].Seconds()/1e9, name+"-GFLOP/s")
			}
		})
	}
}
