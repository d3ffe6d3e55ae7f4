package linalg

// This file defines the scratch memory of linear algebra, which is lent to one call at a time.

import (
	"sync"

	"flow/kernels/blas"
	"flow/kernels/dense"
)

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
