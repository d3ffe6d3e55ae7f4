package linalg

// This file defines what the linear algebra kernels share: one view of a matrix by element type,
// the kernels of a blas set by element type, and scratch memory that is lent to one call at a time.

import (
	"sync"

	"flow/kernels/blas"
	"flow/kernels/dense"
)

// Solver is the kernels of a set in one precision. The slices are as in blas.Set.
type Solver[T dense.Factor] struct {
	gemm   func(ws *blas.Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	gemmTN func(ws *blas.Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	syrk   func(ws *blas.Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int)
	trsm   func(ws *blas.Workspace, m, n int, l []T, ldl int, b []T, ldb int)
	potrf  func(ws *blas.Workspace, n int, a []T, lda int) int
	tall   func(ws *blas.Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	axpy   func(f T, x, y []T) // y = fma(f, x, y), element by element
	// Pack and packed are blas.Packing of a set that has it, else nil.
	Pack   func(ws *blas.Workspace, tb bool, n, k int, b []T, ldb int) []T
	Packed func(ws *blas.Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int)
}

func solverF64(s blas.Set) Solver[float64] {
	k := Solver[float64]{gemm: s.GemmF64, gemmTN: s.GemmTNF64, syrk: s.SyrkF64, trsm: s.TrsmF64, potrf: s.PotrfF64, axpy: blas.Axpy[float64]}
	k.tall = k.stripTN
	if t, ok := s.(blas.Tall); ok {
		k.tall = t.TallF64
	}
	if p, ok := s.(blas.Packing); ok {
		k.Pack, k.Packed = p.PackF64, p.GemmPackedF64
	}
	return k
}

func solverF32(s blas.Set) Solver[float32] {
	k := Solver[float32]{gemm: s.GemmF32, gemmTN: s.GemmTNF32, syrk: s.SyrkF32, trsm: s.TrsmF32, potrf: s.PotrfF32, axpy: blas.Axpy[float32]}
	k.tall = k.stripTN
	if t, ok := s.(blas.Tall); ok {
		k.tall = t.TallF32
	}
	if p, ok := s.(blas.Packing); ok {
		k.Pack, k.Packed = p.PackF32, p.GemmPackedF32
	}
	return k
}

// stripTN is blas.Tall of a set that has no kernel for it.
func (s Solver[T]) stripTN(ws *blas.Workspace, _ bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	s.gemmTN(ws, false, i1-i0, n, k, a[i0:], lda, b, ldb, c[i0*ldc:], ldc)
}

// Scratch is the memory of one running call: what the set packs into, and room for turned and saved
// operands.
type Scratch struct {
	Ws  blas.Workspace
	f64 []float64
	f32 []float32
	i64 []int64
}

// ScratchGrid is a contiguous rows x cols grid in s with unspecified contents. The room in use is
// remembered in the slice's length, so a call may ask several times; put forgets them all.
func ScratchGrid[T dense.Factor](s *Scratch, rows, cols int) dense.Grid[T] {
	n := rows * cols
	g := dense.Grid[T]{Rows: rows, Cols: cols, LD: cols}
	switch x := any(&g.X).(type) {
	case *[]float64:
		s.f64, *x = room(s.f64, n)
	case *[]float32:
		s.f32, *x = room(s.f32, n)
	case *[]int64:
		s.i64, *x = room(s.i64, n)
	}
	return g
}

// reset forgets what ScratchGrid has cut.
func (s *Scratch) reset() { s.f64, s.f32, s.i64 = s.f64[:0], s.f32[:0], s.i64[:0] }

// room cuts n elements from the free end of buf. Where they do not fit, a larger buffer takes its
// place; what was cut from the old one stays valid.
func room[T any](buf []T, n int) (rest, cut []T) {
	used := len(buf)
	if used+n > cap(buf) {
		buf, used = make([]T, 0, max(2*cap(buf), n)), 0
	}
	buf = buf[:used+n]
	return buf, buf[used : used+n : used+n]
}

// scratchPool lends scratch; there are never more of them than calls at one time. Safe for
// concurrent use.
type scratchPool struct {
	mu   sync.Mutex
	free []*Scratch
}

// Get lends a scratch to the caller alone, until put.
func (p *scratchPool) Get() *Scratch {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return &Scratch{}
	}
	s := p.free[n-1]
	p.free = p.free[:n-1]
	return s
}

// Put takes s back.
func (p *scratchPool) Put(s *Scratch) {
	s.reset()
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}
