package blas

// This file tests that every set with Chain follows the chain bit for bit, and the others to
// rounding, on random shapes around the sizes of the micro-tiles, with leading dimensions beyond
// the row length.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is random data with room around it: the columns beyond n and the row after the last must
// survive.
type matrix[T element] struct {
	m, n, ld int
	v        []T
}

// value draws a number of one of several characters: small, huge, tiny, subnormal, zero of either sign.
func value[T element](r *rand.Rand, ill bool) T {
	x := T(r.Float64()*2 - 1)
	if !ill {
		return x
	}
	switch r.IntN(8) {
	case 0:
		return T(math.Copysign(0, float64(x)))
	case 1, 2:
		return T(math.Ldexp(float64(x), r.IntN(60)-30))
	case 3:
		return T(math.Ldexp(float64(x), -70)) // products are subnormal in f32
	case 4:
		return T(r.IntN(3) - 1)
	}
	return x
}

func random[T element](r *rand.Rand, m, n int, ill bool) matrix[T] {
	ld := n + r.IntN(4)
	a := matrix[T]{m, n, max(ld, 1), make([]T, m*max(ld, 1))}
	for i := range a.v {
		a.v[i] = value[T](r, ill)
	}
	if m > 0 {
		// No padding after the last row: a kernel that reads or writes there is out of its slice.
		a.v = a.v[: (m-1)*a.ld+n : (m-1)*a.ld+n]
	}
	return a
}

func (a matrix[T]) clone() matrix[T] {
	a.v = append([]T(nil), a.v...)
	return a
}

// lower makes a usable triangle: ones and more on the diagonal, what lies above poisoned, as it
// must not be read.
func (a matrix[T]) lower() matrix[T] {
	for i := range a.n {
		for j := range a.n {
			switch {
			case i == j:
				a.v[i*a.ld+j] = T(1.1 + math.Abs(float64(a.v[i*a.ld+j])))
			case j > i:
				a.v[i*a.ld+j] = T(math.NaN())
			}
		}
	}
	return a
}

// positive makes a diagonally dominant matrix, hence positive definite, poisoned above the diagonal.
func (a matrix[T]) positive() matrix[T] {
	a.lower()
	for i := range a.n {
		a.v[i*a.ld+i] += T(a.n)
	}
	return a
}

// same compares bit for bit (any NaN equals any NaN), or to tolerance for a set without the chain.
func same[T element](t *testing.T, chain bool, got, want matrix[T], what string) {
	t.Helper()
	scale := 1.0
	for _, v := range want.v {
		if x := math.Abs(float64(v)); x > scale && !math.IsInf(x, 0) {
			scale = x
		}
	}
	eps := 1e-12
	if any(T(0)) == any(float32(0)) {
		eps = 1e-4
	}
	for p, w := range want.v {
		g := got.v[p]
		if g == w && math.Signbit(float64(g)) == math.Signbit(float64(w)) || g != g && w != w {
			continue
		}
		if !chain && math.Abs(float64(g)-float64(w)) <= eps*scale {
			continue
		}
		t.Fatalf("%s: at row %d column %d of %d x %d: got %v, want %v", what, p/want.ld, p%want.ld, want.m, want.n, g, w)
	}
}

// size draws a dimension: often near a multiple of the micro-tile, sometimes tiny.
func size(r *rand.Rand, limit int) int {
	switch r.IntN(4) {
	case 0:
		return 1 + r.IntN(min(limit, 9))
	case 1:
		return min(limit, max(1, 8*(1+r.IntN(limit/8))+r.IntN(3)-1))
	case 2:
		return min(limit, max(1, 12*(1+r.IntN(limit/12))+r.IntN(3)-1))
	}
	return 1 + r.IntN(limit)
}

// check runs rounds random calls of every kernel against the reference, with sizes up to limit.
func check[T element](t *testing.T, k Kernels[T], chain bool, r *rand.Rand, rounds, limit int) {
	ws := new(Workspace)
	for round := range rounds {
		ill := chain && round%2 == 1
		m, n, d := size(r, limit), size(r, limit), size(r, limit)
		sub, tb := r.IntN(2) == 0, r.IntN(2) == 0
		what := fmt.Sprintf("round %d m %d n %d k %d sub %v tb %v ill %v", round, m, n, d, sub, tb, ill)

		a, c := random[T](r, m, d, ill), random[T](r, m, n, ill)
		b := random[T](r, d, n, ill)
		if tb {
			b = random[T](r, n, d, ill)
		}
		want := c.clone()
		refGemm(false, tb, sub, m, n, d, a.v, a.ld, b.v, b.ld, want.v, want.ld)
		k.Gemm(ws, tb, sub, m, n, d, a.v, a.ld, b.v, b.ld, c.v, c.ld)
		same(t, chain, c, want, "gemm "+what)

		a, b, c = random[T](r, d, m, ill), random[T](r, d, n, ill), random[T](r, m, n, ill)
		want = c.clone()
		refGemm(true, false, sub, m, n, d, a.v, a.ld, b.v, b.ld, want.v, want.ld)
		k.GemmTN(ws, sub, m, n, d, a.v, a.ld, b.v, b.ld, c.v, c.ld)
		same(t, chain, c, want, "gemmTN "+what)

		a, c = random[T](r, n, d, ill), random[T](r, n, n, ill)
		want = c.clone()
		refSyrk(sub, n, d, a.v, a.ld, want.v, want.ld)
		k.Syrk(ws, sub, n, d, a.v, a.ld, c.v, c.ld)
		same(t, chain, c, want, "syrk "+what)

		// Off-diagonal entries of a triangle stay small, or the solution overflows and nothing is
		// compared.
		l, x := random[T](r, n, n, false).lower(), random[T](r, m, n, ill)
		want = x.clone()
		for i := range n {
			for j := range i {
				l.v[i*l.ld+j] /= T(n)
			}
		}
		refTrsm(m, n, l.v, l.ld, want.v, want.ld)
		k.Trsm(ws, m, n, l.v, l.ld, x.v, x.ld)
		same(t, chain, x, want, "trsm "+what)

		p := random[T](r, n, n, false).positive()
		want = p.clone()
		if round%4 == 3 {
			bad := r.IntN(n)
			p.v[bad*p.ld+bad] = []T{0, -1, T(math.NaN())}[r.IntN(3)]
			want = p.clone()
		}
		wantMinor := refPotrf(n, want.v, want.ld)
		if minor := k.Potrf(ws, n, p.v, p.ld); minor != wantMinor {
			t.Fatalf("potrf %s: minor %d, want %d", what, minor, wantMinor)
		}
		if wantMinor == 0 {
			same(t, chain, p, want, "potrf "+what)
		}
	}
}

func TestSetsAgreeWithReference(t *testing.T) {
	rounds := 100
	if raced {
		rounds = 12
	}
	for _, s := range sets() {
		t.Run(s.Name+"/f64", func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			check(t, s.F64, s.Chain, r, rounds, 80)
			check(t, s.F64, s.Chain, r, rounds/50, 420)
		})
		t.Run(s.Name+"/f32", func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			check(t, s.F32, s.Chain, r, rounds/4, 50)
		})
	}
}

// TestBlocksAgreeWithPortable takes shapes beyond one cache block, where drivers cut k, n and the
// order, to the portable set instead of the reference, which would take too long in single
// precision.
func TestBlocksAgreeWithPortable(t *testing.T) {
	if raced {
		t.Skip("one goroutine, long loops: nothing for the race detector")
	}
	for _, s := range sets() {
		if s.Chain && s.Name != "portable" {
			t.Run(s.Name+"/f64", func(t *testing.T) { blocksAgree(t, s.F64, portable().F64) })
			t.Run(s.Name+"/f32", func(t *testing.T) { blocksAgree(t, s.F32, portable().F32) })
		}
	}
}

func blocksAgree[T element](t *testing.T, k, p Kernels[T]) {
	r := rand.New(rand.NewPCG(13, 14))
	ws := new(Workspace)
	for _, tb := range []bool{false, true} {
		const m, n, d = 37, 310, 530
		a, b, c := random[T](r, m, d, true), random[T](r, d, n, true), random[T](r, m, n, true)
		if tb {
			b = random[T](r, n, d, true)
		}
		want := c.clone()
		p.Gemm(ws, tb, true, m, n, d, a.v, a.ld, b.v, b.ld, want.v, want.ld)
		k.Gemm(ws, tb, true, m, n, d, a.v, a.ld, b.v, b.ld, c.v, c.ld)
		same(t, true, c, want, fmt.Sprintf("gemm tb %v", tb))
	}
	a, b, c := random[T](r, 530, 21, true), random[T](r, 530, 310, true), random[T](r, 21, 310, true)
	want := c.clone()
	p.GemmTN(ws, false, 21, 310, 530, a.v, a.ld, b.v, b.ld, want.v, want.ld)
	k.GemmTN(ws, false, 21, 310, 530, a.v, a.ld, b.v, b.ld, c.v, c.ld)
	same(t, true, c, want, "gemmTN")

	for _, d := range []int{70, 401} { // one block of columns, several
		a, c = random[T](r, 310, d, true), random[T](r, 310, 310, true)
		want = c.clone()
		p.Syrk(ws, true, 310, d, a.v, a.ld, want.v, want.ld)
		k.Syrk(ws, true, 310, d, a.v, a.ld, c.v, c.ld)
		same(t, true, c, want, fmt.Sprintf("syrk k %d", d))
	}

	const n = 331
	l, x := random[T](r, n, n, false).positive(), random[T](r, 30, n, true)
	want = x.clone()
	p.Trsm(ws, 30, n, l.v, l.ld, want.v, want.ld)
	k.Trsm(ws, 30, n, l.v, l.ld, x.v, x.ld)
	same(t, true, x, want, "trsm")

	want = l.clone()
	p.Potrf(ws, n, want.v, want.ld)
	k.Potrf(ws, n, l.v, l.ld)
	same(t, true, l, want, "potrf")

	// A pivot that fails late in the second half: its order counts from the start of the whole matrix.
	l = random[T](r, n, n, false).positive()
	l.v[300*l.ld+300] = -1
	if minor := k.Potrf(ws, n, l.v, l.ld); minor != 301 {
		t.Errorf("potrf: minor %d, want 301", minor)
	}
}

// TestEmptyShapes checks that a zero dimension touches nothing.
func TestEmptyShapes(t *testing.T) {
	for _, s := range sets() {
		ws := new(Workspace)
		c := []float64{1, 2, 3, 4}
		s.F64.Gemm(ws, false, false, 2, 2, 0, nil, 1, nil, 2, c, 2)
		s.F64.Gemm(ws, true, false, 0, 2, 2, nil, 2, c, 2, nil, 2)
		s.F64.Gemm(ws, true, false, 2, 0, 2, c, 2, nil, 2, nil, 2)
		s.F64.Syrk(ws, true, 2, 0, nil, 1, c, 2)
		s.F64.Syrk(ws, true, 0, 2, nil, 2, nil, 1)
		s.F64.Trsm(ws, 0, 2, c, 2, nil, 2)
		s.F64.Trsm(ws, 2, 0, nil, 1, nil, 1)
		if minor := s.F64.Potrf(ws, 0, nil, 1); minor != 0 {
			t.Errorf("%s: potrf of order 0 returns %d", s.Name, minor)
		}
		for i, v := range []float64{1, 2, 3, 4} {
			if c[i] != v {
				t.Errorf("%s: element %d became %v", s.Name, i, c[i])
			}
		}
	}
}
