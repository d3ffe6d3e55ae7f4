package kernels

// This file brings operands into registers, and holds the instructions that are no loop of a row.

import (
	"unsafe"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// load points register k at elements (i, j0..j0+n) of its operand, or copies them; row is i within
// the strip.
func (m *machine) load(k, i, j0, n, row int) {
	x := &m.in[k]
	switch x.mode {
	case op.Full:
		m.regs[k] = dense.SlabOf(x.d, i*x.d.Stride+j0, n)
	case op.RowVec:
		m.regs[k] = dense.SlabOf(x.d, j0, n)
	case op.ColVec:
		dense.Fill(&m.regs[k], m.elems[k], x.d.At(i, 0), 0, min(n, batch))
	case op.Drawn:
		m.drawBlock(k, i, 1, j0, n)
	case op.Trans:
		m.regs[k] = dense.Cut(x.strip, row*panelStride, n)
	}
}

// pack brings n rows from row i0 on, and their columns from j0 on, into register k.
func (m *machine) pack(k, i0, n, j0, cols int) {
	x := &m.in[k]
	switch x.mode {
	case op.Full:
		if x.d.Stride == cols {
			m.regs[k] = dense.SlabOf(x.d, i0*cols, n*cols)
			return
		}
		m.regs[k] = m.ownSlab(k)
		for r := range n {
			dense.CopySlab(&m.regs[k], m.elems[k], r*cols, dense.SlabOf(x.d, (i0+r)*x.d.Stride+j0, cols))
		}
	case op.ColVec:
		for r := range n {
			dense.Fill(&m.regs[k], m.elems[k], x.d.At(i0+r, 0), r*cols, cols)
		}
	case op.Drawn:
		m.drawBlock(k, i0, n, j0, cols)
	case op.Trans:
		m.regs[k] = m.ownSlab(k)
		dense.TurnBlock(m.regs[k], cols, x.d, j0, i0, n, cols)
	}
}

// ownSlab is the slab of register k, which may have been pointed to memory.
func (m *machine) ownSlab(k int) dense.Slab {
	return dense.SlabOver(m.words[m.slot[k]*batch:], m.elems[k], batch)
}

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

// element is an instruction without a loop: the definition, element by element.
func (m *machine) element(i *instr, n int) bool {
	for e := range n {
		for a, r := range i.arg[:i.n] {
			m.x[a] = m.regs[r].At(m.elems[r], e)
		}
		if i.guard && define.NoValue(i.def, i.out, m.x[:i.n]) != nil {
			return false
		}
		m.regs[i.dst].Set(i.out, e, i.def.Elt(m.x[:i.n]))
	}
	return true
}

// aligned is s from its first cache line on.
func aligned(s []uint64) []uint64 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 != 0 {
		s = s[1:]
	}
	return s
}

// setConstants fills the registers that hold scalar input k.
func (m *machine) setConstants(k int, v value.Scalar, n int) {
	dense.Fill(&m.regs[k], m.elems[k], v, 0, n)
	for _, c := range m.constants {
		if c.in == k {
			dense.Fill(&m.regs[c.reg], m.elems[c.reg], v.Convert(m.elems[c.reg]), 0, n)
		}
	}
}
