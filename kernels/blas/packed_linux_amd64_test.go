package blas

// This file tests products by a factor that is packed once against the reference, on operands that
// end where memory ends.

import (
	"math/rand/v2"
	"testing"
)

func TestPackedProducts(t *testing.T) {
	for _, s := range sets() {
		if s.F64.Pack == nil {
			continue
		}
		r := rand.New(rand.NewPCG(25, 26))
		t.Run(s.Name, func(t *testing.T) {
			for round := range 60 {
				m, n, inner := size(r, 40), size(r, 70), size(r, 90)
				if round%10 == 0 { // several blocks of k
					m, n, inner = 1+r.IntN(9), 1+r.IntN(30), 700+r.IntN(200)
				}
				packedAgrees(t, s.F64.Pack, s.F64.GemmPacked, r, m, n, inner)
				packedAgrees(t, s.F32.Pack, s.F32.GemmPacked, r, m, n, inner)
			}
		})
	}
}

func packedAgrees[T element](t *testing.T, pack func(ws *Workspace, tb bool, n, k int, b []T, ldb int) []T,
	gemm func(ws *Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int), r *rand.Rand, m, n, k int) {
	t.Helper()
	tb, sub := r.IntN(2) == 0, r.IntN(2) == 0
	a, b := fencedRandom[T](t, r, m, k), fencedRandom[T](t, r, k, n)
	if tb {
		b = fencedRandom[T](t, r, n, k)
	}
	behind := []int{0, TallCols}[r.IntN(2)]
	gap := r.IntN(2) * r.IntN(5)
	c := matrix[T]{m, n, n + gap, fenced[T](t, (m-1)*(n+gap)+n+behind)}
	for i := range c.v {
		c.v[i] = value[T](r, true)
	}
	want := c.clone()
	refGemm(false, tb, sub, m, n, k, a.v, a.ld, b.v, b.ld, want.v, want.ld)
	var shared Workspace
	packed := pack(&shared, tb, n, k, b.v, b.ld)
	var ws Workspace
	cut := r.IntN(m + 1) // blocks of rows begin anywhere
	gemm(&ws, sub, cut, n, k, a.v, a.ld, packed, c.v[:min(len(c.v), max(0, (cut-1)*c.ld+n))], c.ld)
	if cut < m {
		gemm(&ws, sub, m-cut, n, k, a.v[cut*a.ld:], a.ld, packed, c.v[cut*c.ld:], c.ld)
	}
	c.v, want.v = c.v[:(m-1)*c.ld+n], want.v[:(m-1)*c.ld+n]
	same(t, true, c, want, "packed")
}
