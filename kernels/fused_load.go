package kernels

// This file brings operands into registers, and holds the instructions that are no loop of a row.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// load points register k at elements (i, j0..j0+n) of its operand, or copies them; row is i within the strip.
func (m *machine) load(k, i, j0, n, row int) {
	x := &m.in[k]
	switch x.mode {
	case op.Full:
		m.regs[k] = slabOf(x.d, i*x.d.Stride+j0, n)
	case op.RowVec:
		m.regs[k] = slabOf(x.d, j0, n)
	case op.ColVec:
		fill(&m.regs[k], m.elems[k], x.d.At(i, 0), 0, min(n, batch))
	case op.Drawn:
		m.drawBlock(k, i, 1, j0, n)
	case op.Trans:
		m.regs[k] = cut(x.strip, row*panelStride, n)
	}
}

// pack brings n rows from row i0 on, and their columns from j0 on, into register k.
func (m *machine) pack(k, i0, n, j0, cols int) {
	x := &m.in[k]
	switch x.mode {
	case op.Full:
		if x.d.Stride == cols {
			m.regs[k] = slabOf(x.d, i0*cols, n*cols)
			return
		}
		m.regs[k] = m.ownSlab(k)
		for r := range n {
			copySlab(&m.regs[k], m.elems[k], r*cols, slabOf(x.d, (i0+r)*x.d.Stride+j0, cols))
		}
	case op.ColVec:
		for r := range n {
			fill(&m.regs[k], m.elems[k], x.d.At(i0+r, 0), r*cols, cols)
		}
	case op.Drawn:
		m.drawBlock(k, i0, n, j0, cols)
	case op.Trans:
		m.regs[k] = m.ownSlab(k)
		turnBlock(m.regs[k], cols, x.d, j0, i0, n, cols)
	}
}

// ownSlab is the slab of register k, which may have been pointed to memory.
func (m *machine) ownSlab(k int) slab {
	return slabOver(m.words[m.slot[k]*batch:], m.elems[k], batch)
}

// strips lends every transposed operand a strip of 64 padded rows.
func (m *machine) strips(count int) {
	const size = panel * panelStride
	if len(m.strip) < count*size {
		m.strip = make([]uint64, count*size)
	}
	at := 0
	for k := range m.in {
		if x := &m.in[k]; x.mode == op.Trans {
			x.strip = slabOver(m.strip[at:], m.prog.In[k].Elem, size)
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
		for j := 0; j < cols; j += panel {
			turnBlock(cut(x.strip, j, panel*panelStride-j), panelStride, x.d, j0+j, i0, rows, min(panel, cols-j))
		}
	}
}

// turnBlock writes elements (j0+j, i0+i) of d to dst[i*ld+j], i < rows, j < cols.
func turnBlock(dst slab, ld int, d *value.Dense, j0, i0, rows, cols int) {
	at := j0*d.Stride + i0
	switch d.Elem {
	case types.F64:
		vec.TransposeF64(dst.f64, ld, d.F64[at:], d.Stride, rows, cols)
	case types.F32:
		vec.Transpose(dst.f32, ld, d.F32[at:], d.Stride, rows, cols)
	case types.Bool:
		vec.Transpose(dst.b, ld, d.Bool[at:], d.Stride, rows, cols)
	default:
		vec.Transpose(dst.i64, ld, d.I64[at:], d.Stride, rows, cols)
	}
}

// cut is n elements of s from at on.
func cut(s slab, at, n int) slab {
	switch {
	case s.f64 != nil:
		return slab{f64: s.f64[at : at+n]}
	case s.f32 != nil:
		return slab{f32: s.f32[at : at+n]}
	case s.b != nil:
		return slab{b: s.b[at : at+n]}
	}
	return slab{i64: s.i64[at : at+n]}
}

// copySlab copies src to the elements of dst from at on.
func copySlab(dst *slab, e types.Elem, at int, src slab) {
	switch storage(e) {
	case types.F64:
		copy(dst.f64[at:], src.f64)
	case types.F32:
		copy(dst.f32[at:], src.f32)
	case types.Bool:
		copy(dst.b[at:], src.b)
	default:
		copy(dst.i64[at:], src.i64)
	}
}

// fill sets n elements of s from at on to v, which is of type e.
func fill(s *slab, e types.Elem, v value.Scalar, at, n int) {
	switch storage(e) {
	case types.F64:
		vec.Fill(s.f64[at:at+n], v.F)
	case types.F32:
		vec.Fill(s.f32[at:at+n], float32(v.F))
	case types.Bool:
		vec.Fill(s.b[at:at+n], uint8(v.I))
	default:
		vec.Fill(s.i64[at:at+n], v.I)
	}
}

// convert is the conversion of n elements from type from to type to.
func convert(d *slab, to types.Elem, a *slab, from types.Elem, n int) {
	switch storage(from) {
	case types.F64:
		convertFrom(d, to, a.f64[:n])
	case types.F32:
		convertFrom(d, to, a.f32[:n])
	case types.Bool:
		convertFrom(d, to, a.b[:n])
	case types.I64:
		if to == types.F64 {
			vec.F64OfI64(d.f64[:n], a.i64[:n])
			return
		}
		convertFrom(d, to, a.i64[:n])
	}
}

// toWords is dst = a, floats of type from, as integers; false says that some of them is none.
func toWords(dst []int64, a *slab, from types.Elem) bool {
	if from == types.F32 {
		return vec.Words(dst, a.f32[:len(dst)])
	}
	return vec.Words(dst, a.f64[:len(dst)])
}

func convertFrom[S vec.Element](d *slab, to types.Elem, a []S) {
	switch storage(to) {
	case types.F64:
		vec.Convert(d.f64[:len(a)], a)
	case types.F32:
		vec.Convert(d.f32[:len(a)], a)
	case types.Bool:
		vec.NonZero(d.b[:len(a)], a)
	default:
		vec.Convert(d.i64[:len(a)], a)
	}
}

// element is an instruction without a loop: the definition, element by element.
func (m *machine) element(i *instr, n int) bool {
	for e := range n {
		for a, r := range i.arg[:i.n] {
			m.x[a] = m.regs[r].at(m.elems[r], e)
		}
		if i.guard && noValue(i.def, i.out, m.x[:i.n]) != nil {
			return false
		}
		m.regs[i.dst].set(i.out, e, i.def.Elt(m.x[:i.n]))
	}
	return true
}

func (s *slab) at(e types.Elem, i int) value.Scalar {
	switch storage(e) {
	case types.F64:
		return value.F64(s.f64[i])
	case types.F32:
		return value.Scalar{Elem: e, F: float64(s.f32[i])}
	case types.Bool:
		return value.Scalar{Elem: e, I: int64(s.b[i])}
	}
	return value.Scalar{Elem: e, I: s.i64[i]}
}

func (s *slab) set(e types.Elem, i int, v value.Scalar) {
	switch storage(e) {
	case types.F64:
		s.f64[i] = v.F
	case types.F32:
		s.f32[i] = float32(v.F)
	case types.Bool:
		s.b[i] = uint8(v.I)
	default:
		s.i64[i] = v.I
	}
}
