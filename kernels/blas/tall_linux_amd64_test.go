package blas

// This file tests the products of tall matrices against the reference, on operands that end where
// memory ends.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fenced is n elements, all that the slice may reach, and behind them a page that nobody may touch.
func fenced[T element](t *testing.T, n int) []T {
	t.Helper()
	var zero T
	page := syscall.Getpagesize()
	size := roundUp(n*int(unsafe.Sizeof(zero)), page)
	mem, err := syscall.Mmap(-1, 0, size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	if err := syscall.Mprotect(mem[size:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	first := size/int(unsafe.Sizeof(zero)) - n
	return unsafe.Slice((*T)(unsafe.Pointer(&mem[first*int(unsafe.Sizeof(zero))])), n)
}

type tall[T element] func(ws *Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)

func TestTallProducts(t *testing.T) {
	for _, s := range sets() {
		if s.F64.Pack == nil { // Tall is GemmTN there
			continue
		}
		r := rand.New(rand.NewPCG(21, 22))
		t.Run(s.Name, func(t *testing.T) {
			for range 40 {
				m, n := 1+r.IntN(60), 1+r.IntN(60)
				tallAgrees(t, s.F64.Tall, r, m, n, 200)
				tallAgrees(t, s.F32.Tall, r, m, n, 200)
			}
		})
	}
}

// Few columns on one side: every number of them that has kernels of its own and one more, and every
// number of vectors on the other.
func TestNarrowProducts(t *testing.T) {
	for _, s := range sets() {
		if s.F64.Pack == nil { // Tall is GemmTN there
			continue
		}
		r := rand.New(rand.NewPCG(23, 24))
		t.Run(s.Name, func(t *testing.T) {
			for _, lanes := range []int{4, 8} { // doubles in a vector of AVX2 and of AVX-512
				for vectors := 1; vectors <= 9; vectors++ {
					for few := 1; few <= 5; few++ {
						many := vectors*lanes - r.IntN(lanes)
						tallAgrees(t, s.F64.Tall, r, many, few, 60)
						tallAgrees(t, s.F64.Tall, r, few, many, 60)
						many = 2*vectors*lanes - r.IntN(2*lanes)
						tallAgrees(t, s.F32.Tall, r, many, few, 60)
						tallAgrees(t, s.F32.Tall, r, few, many, 60)
					}
				}
			}
		})
	}
}

// TestDots: a call continues the chains of all its rows, and writes nothing behind them.
func TestDots(t *testing.T) {
	for _, s := range []*simd{newAVX512(), newAVX2()} {
		if !slices.Contains(Names(), s.name) {
			continue
		}
		r := rand.New(rand.NewPCG(25, 26))
		for k := 1; k < 20; k++ {
			for blocks := 1; blocks < 5; blocks++ {
				m, lda := blocks*dotRows, k+r.IntN(3)
				a, x, c := fenced[float64](t, (m-1)*lda+k), fenced[float64](t, k), fenced[float64](t, m)
				for _, list := range [][]float64{a, x, c} {
					for i := range list {
						list[i] = r.NormFloat64()
					}
				}
				want := slices.Clone(c)
				for i := range want {
					for p := range k {
						want[i] = math.FMA(a[i*lda+p], x[p], want[i])
					}
				}
				s.d.run(s.d.kernels.Dot, &call[float64]{k: k, a: &a[0], rs: lda, b: &x[0], c: &c[0], step: blocks})
				if !slices.Equal(c, want) {
					t.Fatalf("%s: %d rows of %d: %v, want %v", s.name, m, k, c, want)
				}
			}
		}
	}
}

func tallAgrees[T element](t *testing.T, f tall[T], r *rand.Rand, m, n, deepest int) {
	t.Helper()
	k := r.IntN(deepest)
	a, b := fencedRandom[T](t, r, k, m), fencedRandom[T](t, r, k, n)
	lower := r.IntN(3) == 0
	if lower {
		b, n = a, m
	}
	ldc := roundUp(n, TallCols) + r.IntN(3)
	c := make([]T, roundUp(m, TallRows)*ldc)
	want := make([]T, m*n)
	for i := range m {
		for j := range n {
			want[i*n+j] = value[T](r, true)
			c[i*ldc+j] = want[i*n+j]
		}
	}
	refGemm(true, false, false, m, n, k, a.v, a.ld, b.v, b.ld, want, n)
	var ws Workspace
	cut := r.IntN(m/TallRows+1) * TallRows // strips begin where a micro-tile does
	f(&ws, lower, 0, cut, n, k, a.v, a.ld, b.v, b.ld, c, ldc)
	f(&ws, lower, cut, m, n, k, a.v, a.ld, b.v, b.ld, c, ldc)
	for i := range m {
		for j := range n {
			if lower && j > i {
				continue
			}
			if got := c[i*ldc+j]; !sameBits(got, want[i*n+j]) {
				t.Fatalf("%d x %d over %d, rows apart %d and %d, lower %t: element %d %d is %v, want %v", m, n, k, a.ld, b.ld, lower, i, j, got, want[i*n+j])
			}
		}
	}
}

// fencedRandom is k x n numbers of which the last is the last in its memory.
func fencedRandom[T element](t *testing.T, r *rand.Rand, k, n int) matrix[T] {
	a := matrix[T]{k, n, n + r.IntN(3)*r.IntN(20), nil}
	if k == 0 {
		return a
	}
	a.v = fenced[T](t, (k-1)*a.ld+n)
	for i := range a.v {
		a.v[i] = value[T](r, true)
	}
	return a
}

func sameBits[T element](x, y T) bool {
	return fmt.Sprint(x) == fmt.Sprint(y) // shortest decimal forms tell all floats apart, and the signs of zeros
}

// Many rows and few columns: what the loop over panels does.
func BenchmarkTall(b *testing.B) {
	for _, shape := range [][3]int{{50, 50, 32768}, {50, 1, 32768}, {1, 50, 32768}, {50, 4, 32768}, {10, 20, 32768}} {
		m, n, k := shape[0], shape[1], shape[2]
		r := rand.New(rand.NewPCG(1, 1))
		x, y := random[float64](r, k, m, false), random[float64](r, k, n, false)
		if m == n {
			y = x
		}
		c := make([]float64, roundUp(m, TallRows)*roundUp(n, TallCols))
		var ws Workspace
		for _, s := range sets() {
			run := func(name string, f func()) {
				b.Run(fmt.Sprintf("%dx%d/%s", m, n, name), func(b *testing.B) {
					for b.Loop() {
						f()
					}
					b.ReportMetric(2*float64(m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
			run(s.Name+"/packed", func() { s.F64.GemmTN(&ws, false, m, n, k, x.v, x.ld, y.v, y.ld, c, roundUp(n, TallCols)) })
			run(s.Name+"/tall", func() { s.F64.Tall(&ws, m == n, 0, m, n, k, x.v, x.ld, y.v, y.ld, c, roundUp(n, TallCols)) })
		}
	}
}
