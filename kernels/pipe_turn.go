package kernels

// This file transposes operands tile by tile. Maps over square matrices (x + t(x)) visit the index space
// in pairs of mirrored blocks. So a matrix that is read both ways is read from memory once.

import (
	"math"
	"unsafe"

	"flow/ir/op"
	"flow/kernels/dense"
)

const (
	// panelCols is the number of columns of a tile with a transposed operand. panelStride is the distance
	// of its rows; the padding keeps them in different cache sets.
	panelCols   = 256
	panelStride = panelCols + 8
)

// strips gives every transposed operand a strip of 64 padded rows. count is the number of such operands.
func (m *machine) strips(count int) {
	const size = dense.Panel * panelStride
	if len(m.strip) < count*size {
		m.strip = make([]uint64, count*size)
	}
	at := 0
	for k := range m.in {
		if x := &m.in[k]; x.mode == op.Trans {
			x.strip = dense.SlabOver(m.strip[at:], m.prog.In[k].Elem, size)
			at += size
		}
	}
}

// turn fills the strips with the operands at rows i0.. and columns j0.. of the index space.
func (m *machine) turn(i0, rows, j0, cols int) {
	for k := range m.in {
		x := &m.in[k]
		if x.mode != op.Trans {
			continue
		}
		for j := 0; j < cols; j += dense.Panel {
			dense.TurnBlock(dense.Cut(x.strip, j, dense.Panel*panelStride-j), panelStride, x.d, j0+j, i0, rows, min(dense.Panel, cols-j))
		}
	}
}

// aligned returns s from its first cache line on.
func aligned(s []uint64) []uint64 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 != 0 {
		s = s[1:]
	}
	return s
}

// pairEdge is the number of rows and columns of a block of a pair: rows of 2 KiB of f64.
const pairEdge = 256

// mirrored reports whether the iterations are pairs of blocks.
func (j *job) mirrored() bool {
	return len(j.ends) == 0 && j.rows == j.cols && j.rows >= 2*pairEdge && j.transposes()
}

// pairs returns the number of pairs. A block on the diagonal counts as a pair.
func (j *job) pairs() int {
	n := (j.rows + pairEdge - 1) / pairEdge
	return n * (n + 1) / 2
}

// pairAt returns the block row i and the block column j <= i of pair u.
func pairAt(u int) (i, j int) {
	i = int((math.Sqrt(float64(8*u+1)) - 1) / 2)
	for i*(i+1)/2 > u { // the root may be rounded either way
		i--
	}
	for (i+1)*(i+2)/2 <= u {
		i++
	}
	return i, u - i*(i+1)/2
}

func (a area) mirror() area { return area{a.j0, a.j1, a.i0, a.i1} }

// pair runs a block and its mirror image.
func (m *machine) pair(x *execution, u int) error {
	bi, bj := pairAt(u)
	edge := func(b int) (int, int) { return b * pairEdge, min((b+1)*pairEdge, x.rows) }
	var a area
	a.i0, a.i1 = edge(bi)
	a.j0, a.j1 = edge(bj)
	err := m.area(a, target{d: x.out})
	if err == nil && bi != bj {
		err = m.area(a.mirror(), target{d: x.out})
	}
	return err
}
