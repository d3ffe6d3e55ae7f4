package blas

// This file measures every kernel of every set in GFLOP/s on one core:
//
//	go test -run '^$' -bench 'Kernels|Cold' -benchtime 15x ./kernels/blas       (add -tags openblas to see it beside)
//
// The sets take turns within one benchmark, round by round, so that a drifting clock hits all
// alike. The figure of each is its median round after a first one to warm up; what a call
// overwrites is copied anew before it, outside the time. testdata/bench keeps accepted figures.

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// tileRun prepares one call of op on tiles of order b; before restores the operand that the call
// overwrites.
func tileRun[T element](k Kernels[T], op string, b int) (before, call func()) {
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
		return func() { copy(work, z) }, func() { k.Gemm(ws, true, true, b, b, b, x, b, y, b, work, b) }
	case "gemmNN":
		return func() { copy(work, z) }, func() { k.Gemm(ws, false, true, b, b, b, x, b, y, b, work, b) }
	case "syrk":
		return func() { copy(work, z) }, func() { k.Syrk(ws, true, b, b, y, b, work, b) }
	case "trsm":
		return func() { copy(work, z) }, func() { k.Trsm(ws, b, b, x, b, work, b) }
	}
	return func() { copy(work, x) }, func() { k.Potrf(ws, b, work, b) }
}

// contender is one set in a benchmark: what to do before a round, the round itself, and what the
// rounds took.
type contender struct {
	name         string
	before, call func()
	took         []time.Duration
}

// race lets the field take turns and reports work (floating-point operations a round) by the median
// time of each.
func race(b *testing.B, field []*contender, work float64) {
	for round := range b.N + 1 {
		for _, c := range field {
			c.before()
			start := time.Now()
			c.call()
			if took := time.Since(start); round > 0 {
				c.took = append(c.took, took)
			}
		}
	}
	for _, c := range field {
		slices.Sort(c.took)
		b.ReportMetric(work/c.took[len(c.took)/2].Seconds()/1e9, c.name+"-GFLOP/s")
	}
	b.ReportMetric(0, "ns/op") // of all sets together: no figure of interest
}

// slow reports the sets that larger orders leave out.
func slow(s *Set) bool { return s.Name == "portable" || s.Name == "gonum" }

func benchElem[T element](b *testing.B, elem string, get func(*Set) Kernels[T]) {
	for _, op := range benchOps {
		for _, order := range []int{128, 192, 256, 384, 512} {
			b.Run(fmt.Sprintf("%s/%s/%d", elem, op, order), func(b *testing.B) {
				var field []*contender
				for _, s := range sets() {
					if slow(s) && order > 128 {
						continue
					}
					before, call := tileRun(get(s), op, order)
					field = append(field, &contender{name: s.Name, before: before, call: call})
				}
				race(b, field, flops(op, order))
			})
		}
	}
}

func BenchmarkKernelsF64(b *testing.B) {
	benchElem(b, "f64", func(s *Set) Kernels[float64] { return s.F64 })
}

func BenchmarkKernelsF32(b *testing.B) {
	benchElem(b, "f32", func(s *Set) Kernels[float32] { return s.F32 })
}

// BenchmarkColdGemm is gemm as a tiled factorization meets it: operands are tiles of a matrix far
// larger than the caches, one of the three being the same as in the call before.
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
			at := 0
			next := func() []float64 { at = (at + 7) % len(tiles); return tiles[at] }
			var field []*contender
			for _, s := range sets() {
				if slow(s) {
					continue
				}
				ws := new(Workspace)
				field = append(field, &contender{name: s.Name, before: func() {}, call: func() {
					x := next()
					for range calls {
						s.F64.Gemm(ws, true, true, order, order, order, x, order, next(), order, next(), order)
					}
				}})
			}
			race(b, field, calls*flops("gemm", order))
		})
	}
}
