package kernels

// This file defines what the linear algebra kernels share: one view of a matrix by element type, the kernels of a
// blas set by element type, and scratch memory that is lent to one call at a time.

import (
	"sync"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
)

// precision is the element types that factorisations compute in.
type precision interface{ float32 | float64 }

// cell is how an element of a dense matrix lies in memory.
type cell interface {
	float32 | float64 | int64 | uint8
}

// grid is a dense matrix as a slice of its elements; it shares the matrix's memory.
type grid[T cell] struct {
	rows, cols, ld int
	x              []T
}

// gridOf is d's elements; d's element type must lie in memory as T.
func gridOf[T cell](d *value.Dense) grid[T] {
	g := grid[T]{rows: d.Rows, cols: d.Cols, ld: d.Stride}
	switch x := any(&g.x).(type) {
	case *[]float64:
		*x = d.F64
	case *[]float32:
		*x = d.F32
	case *[]int64:
		*x = d.I64
	case *[]uint8:
		*x = d.Bool
	}
	return g
}

// row is row i; empty where the grid has no columns, as a view of nothing has no memory at all.
func (g grid[T]) row(i int) []T {
	if g.cols == 0 {
		return nil
	}
	return g.x[i*g.ld:][:g.cols]
}

// clear makes rows lo..hi-1 zero.
func (g grid[T]) clear(lo, hi int) {
	if lo < hi && g.cols == g.ld {
		clear(g.x[lo*g.ld : hi*g.ld])
		return
	}
	for i := lo; i < hi; i++ {
		clear(g.row(i))
	}
}

// part is the window of rows x cols at (i, j).
func (g grid[T]) part(i, j, rows, cols int) grid[T] {
	p := grid[T]{rows: rows, cols: cols, ld: g.ld}
	if rows > 0 && cols > 0 {
		p.x = g.x[i*g.ld+j:][:(rows-1)*g.ld+cols]
	}
	return p
}

// turnedCopy is t(g) on the heap.
func turnedCopy[T cell](g grid[T]) grid[T] {
	c := grid[T]{rows: g.cols, cols: g.rows, ld: g.rows, x: make([]T, g.rows*g.cols)}
	transpose(c, g)
	return c
}

// transposeBlock is the edge of the square that transpose turns at a time: 8 elements are a cache line of f64. Rows a
// power of two apart fall on the same few lines of the first-level cache, so larger squares evict themselves:
// n = 512 moves 18 GB/s with 8, 6 with 32.
const transposeBlock = 8

// transpose stores t(src) in dst.
func transpose[T cell](dst, src grid[T]) {
	for i0 := 0; i0 < src.rows; i0 += transposeBlock {
		i1 := min(i0+transposeBlock, src.rows)
		for j0 := 0; j0 < src.cols; j0 += transposeBlock {
			j1 := min(j0+transposeBlock, src.cols)
			for j := j0; j < j1; j++ {
				to := dst.x[j*dst.ld:][:dst.cols]
				from := i0*src.ld + j
				for i := i0; i < i1; i++ {
					to[i] = src.x[from]
					from += src.ld
				}
			}
		}
	}
}

// solver is the kernels of a set in one precision. The slices are as in blas.Set.
type solver[T precision] struct {
	gemm   func(ws *blas.Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	gemmTN func(ws *blas.Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	syrk   func(ws *blas.Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int)
	trsm   func(ws *blas.Workspace, m, n int, l []T, ldl int, b []T, ldb int)
	potrf  func(ws *blas.Workspace, n int, a []T, lda int) int
	tall   func(ws *blas.Workspace, lower bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int)
	axpy   func(f T, x, y []T) // y = fma(f, x, y), element by element
	// pack and packed are blas.Packing of a set that has it, else nil.
	pack   func(ws *blas.Workspace, tb bool, n, k int, b []T, ldb int) []T
	packed func(ws *blas.Workspace, sub bool, m, n, k int, a []T, lda int, packed []T, c []T, ldc int)
}

func solverF64(s blas.Set) solver[float64] {
	k := solver[float64]{gemm: s.GemmF64, gemmTN: s.GemmTNF64, syrk: s.SyrkF64, trsm: s.TrsmF64, potrf: s.PotrfF64, axpy: blas.Axpy[float64]}
	k.tall = k.stripTN
	if t, ok := s.(blas.Tall); ok {
		k.tall = t.TallF64
	}
	if p, ok := s.(blas.Packing); ok {
		k.pack, k.packed = p.PackF64, p.GemmPackedF64
	}
	return k
}

func solverF32(s blas.Set) solver[float32] {
	k := solver[float32]{gemm: s.GemmF32, gemmTN: s.GemmTNF32, syrk: s.SyrkF32, trsm: s.TrsmF32, potrf: s.PotrfF32, axpy: blas.Axpy[float32]}
	k.tall = k.stripTN
	if t, ok := s.(blas.Tall); ok {
		k.tall = t.TallF32
	}
	if p, ok := s.(blas.Packing); ok {
		k.pack, k.packed = p.PackF32, p.GemmPackedF32
	}
	return k
}

// stripTN is blas.Tall of a set that has no kernel for it.
func (s solver[T]) stripTN(ws *blas.Workspace, _ bool, i0, i1, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	s.gemmTN(ws, false, i1-i0, n, k, a[i0:], lda, b, ldb, c[i0*ldc:], ldc)
}

// scratch is the memory of one running call: what the set packs into, and room for turned and saved operands.
type scratch struct {
	ws  blas.Workspace
	f64 []float64
	f32 []float32
}

// scratchGrid is a contiguous rows x cols grid in s with unspecified contents. The room in use is remembered in
// the slice's length, so a call may ask several times; put forgets them all.
func scratchGrid[T precision](s *scratch, rows, cols int) grid[T] {
	n := rows * cols
	g := grid[T]{rows: rows, cols: cols, ld: cols}
	switch x := any(&g.x).(type) {
	case *[]float64:
		s.f64, *x = room(s.f64, n)
	case *[]float32:
		s.f32, *x = room(s.f32, n)
	}
	return g
}

// room cuts n elements from the free end of buf. Where they do not fit, a larger buffer takes its place; what was
// cut from the old one stays valid.
func room[T any](buf []T, n int) (rest, cut []T) {
	used := len(buf)
	if used+n > cap(buf) {
		buf, used = make([]T, 0, max(2*cap(buf), n)), 0
	}
	buf = buf[:used+n]
	return buf, buf[used : used+n : used+n]
}

// scratchPool lends scratch; there are never more of them than calls at one time. Safe for concurrent use.
type scratchPool struct {
	mu   sync.Mutex
	free []*scratch
}

// get lends a scratch to the caller alone, until put.
func (p *scratchPool) get() *scratch {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return &scratch{}
	}
	s := p.free[n-1]
	p.free = p.free[:n-1]
	return s
}

// put takes s back.
func (p *scratchPool) put(s *scratch) {
	s.f64, s.f32 = s.f64[:0], s.f32[:0]
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// widened is d in element type e: d itself, or a converted copy.
func widened(d *value.Dense, e types.Elem) *value.Dense {
	if d.Elem == e {
		return d
	}
	c := value.New(e, d.Rows, d.Cols)
	for i := range d.Rows {
		at, from := i*c.Stride, i*d.Stride
		for j := range d.Cols {
			switch {
			case d.Elem == types.I64 && e == types.F64:
				c.F64[at+j] = float64(d.I64[from+j])
			case d.Elem == types.Bool && e == types.F64:
				c.F64[at+j] = float64(d.Bool[from+j])
			case d.Elem == types.Bool && e == types.I64:
				c.I64[at+j] = int64(d.Bool[from+j])
			default:
				panic("BUG: no widening of " + d.Elem.String() + " to " + e.String())
			}
		}
	}
	return c
}

// clearDense sets all elements of a contiguous matrix to zero.
func clearDense(d *value.Dense) { clear(d.Bytes()) }

// copyInto copies src into dst, of the same type. Unlike Dense.CopyFrom it takes windows without elements, which
// have no memory to index.
func copyInto(dst, src *value.Dense) {
	if src.Rows > 0 && src.Cols > 0 {
		dst.CopyFrom(src)
	}
}
