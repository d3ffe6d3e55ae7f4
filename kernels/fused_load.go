package kernels

// This file turns transposed operands tile by tile.

import (
	"unsafe"

	"flow/ir/op"
	"flow/kernels/dense"
)

const (
	// batch is the most elements of a tile whose operands or results are kept apart: 4 KiB of f64.
	batch = 512
	// panelCols is the columns of a tile with a transposed operand, and panelStride the distance of
	// panel rows: the padding keeps rows off one another's cache sets.
	panelCols   = 256
	panelStride = panelCols + 8
)

// strips lends every transposed operand a strip of 64 padded rows.
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

// turn fills the strips with rows i0.. and columns j0.. of the index space.
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

// aligned is s from its first cache line on.
func aligned(s []uint64) []uint64 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 != 0 {
		s = s[1:]
	}
	return s
}
