package kernels

// This file runs maps over square matrices that read an operand transposed (x + t(x)). The index
// space is visited in pairs of blocks that mirror one another, so that a matrix that is read both
// ways is read from memory once. The chain machine goes from memory to memory, eight rows of a
// cache line at a time in registers: rows of a matrix whose side is a power of two push one another
// out of every cache, so nothing may have to stay there but the sixteen lines of a pair.

import (
	"math"
	"unsafe"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// pairEdge is the edge of the blocks of a pair: rows of 2 KiB of f64.
const pairEdge = 256

// mirrored reports that the iterations are pairs of blocks.
func (j *job) mirrored() bool {
	return len(j.ends) == 0 && j.rows == j.cols && j.rows >= 2*pairEdge && j.transposes()
}

// pairs is how many pairs there are, blocks on the diagonal included.
func (j *job) pairs() int {
	n := (j.rows + pairEdge - 1) / pairEdge
	return n * (n + 1) / 2
}

// pairAt is pair u: block row i, block column j <= i.
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

// squareEdge is the edge of the squares in which the blocks of a pair are visited. Measured at n =
// 8192: 64 and 256 are slower.
const squareEdge = 128

// pair runs a block and its mirror image.
func (m *machine) pair(x *execution, u int) error {
	bi, bj := pairAt(u)
	edge := func(b int) (int, int) { return b * pairEdge, min((b+1)*pairEdge, x.rows) }
	var a area
	a.i0, a.i1 = edge(bi)
	a.j0, a.j1 = edge(bj)
	if !m.inBlocks(x) {
		return m.both(x, a)
	}
	for i := a.i0; i < a.i1; i += squareEdge {
		for j := a.j0; j < a.j1 && (bi != bj || j <= i); j += squareEdge {
			s := area{i, min(i+squareEdge, a.i1), j, min(j+squareEdge, a.j1)}
			if s.rows()%vec.Block != 0 || s.cols()%vec.Block != 0 {
				if err := m.both(x, s); err != nil {
					return err
				}
				continue
			}
			m.square(x, s)
		}
	}
	return nil
}

// both runs an area and its mirror image without tiles.
func (m *machine) both(x *execution, a area) error {
	err := m.area(a, target{d: x.out})
	if err == nil && a != a.mirror() {
		err = m.area(a.mirror(), target{d: x.out})
	}
	return err
}

// inBlocks reports that the chain machine can run the program on blocks.
func (m *machine) inBlocks(x *execution) bool {
	if !vec.HaveBlocks || m.drawn > 0 || x.elem != types.F64 || !m.isPure() {
		return false
	}
	for _, p := range m.segs[0].protos {
		if p.op >= vec.LinkTurn || p.kind == inSlab && p.reg >= len(m.in) && m.walk[p.reg] {
			return false
		}
	}
	return true
}

// blockCode is the links of the blocks of a square, each followed by its mirror image.
type blockCode struct {
	links  []vec.BlockLink
	rise   []uintptr // of every link: the bytes to its operand in the row of blocks below
	lone   []vec.BlockLink
	slabs  []uint64 // of transposed operands the block at work, of columns their elements eight times each
	used   int      // of slabs
	at     []lie    // of every operand
	turned []int    // how often a link reads a transposed operand
}

// lie is where an operand lies, and how many bytes it is from block to block down and to the right,
// and from row to row.
type lie struct {
	base                unsafe.Pointer
	down, right, stride uintptr
}

// A slab is a block's elements one after the other.
const (
	slabWords = vec.Block * vec.Block
	slabBytes = 8 * slabWords
	lineBytes = 8 * vec.Block
)

// release lets go of the call's memory.
func (b *blockCode) release() {
	clear(b.links[:cap(b.links)])
	clear(b.lone[:cap(b.lone)])
	clear(b.at[:cap(b.at)])
}

// square runs a square and its mirror image, or one on the diagonal.
func (m *machine) square(x *execution, s area) {
	b := &m.blocks
	b.links, b.rise, b.used = b.links[:0], b.rise[:0], 0
	if need := 2 * len(m.in) * (squareEdge / vec.Block) * slabWords; len(b.slabs) < need {
		b.slabs = aligned(make([]uint64, need+8))
	}
	m.image(x, s, false)
	own := len(b.links)
	if m.symmetric() {
		l := lieIn(x.out, s.j0, s.i0)
		l.down, l.right = l.right, l.down
		b.add(vec.LinkTurnBack, lie{})
		b.add(m.end.store, l)
	} else {
		m.image(x, s.mirror(), true)
	}
	b.links = append(b.links, vec.BlockLink{Op: vec.LinkEnd})
	rows, cols := s.rows()/vec.Block, s.cols()/vec.Block
	for i := range rows {
		if s.i0 == s.j0 { // what is left of the diagonal, and what is on it
			vec.Blocks(b.links, i)
			vec.Blocks(b.alone(own, i), 1)
		} else {
			vec.Blocks(b.links, cols)
		}
		if i < rows-1 {
			for l, r := range b.rise {
				b.links[l].Base = unsafe.Add(b.links[l].Base, r)
			}
		}
	}
}

// symmetric reports that the result is its own transpose: the sum or product of a matrix and its
// transpose, and what is done with that by numbers that are the same for all elements. Then a
// block's mirror image is the block turned.
func (m *machine) symmetric() bool {
	protos := m.segs[0].protos
	matrix := func(p *proto) *operand {
		if p.kind != inSlab || p.reg >= len(m.in) {
			return nil
		}
		return &m.in[p.reg]
	}
	if len(protos) < 2 || protos[0].op != vec.LinkLoad || protos[1].op != vec.LinkAdd && protos[1].op != vec.LinkMul {
		return false
	}
	a, b := matrix(&protos[0]), matrix(&protos[1])
	if a == nil || b == nil || a.d == nil || b.d == nil || a.mode == b.mode || a.mode != op.Full && a.mode != op.Trans || b.mode != op.Full && b.mode != op.Trans ||
		&a.d.F64[0] != &b.d.F64[0] || a.d.Stride != b.d.Stride {
		return false
	}
	for k := range protos[2:] {
		p := &protos[2+k]
		if x := matrix(p); p.kind == inTemp || x != nil && x.mode != op.Single {
			return false
		}
	}
	return true
}

// alone is the first n links for block j.
func (b *blockCode) alone(n, j int) []vec.BlockLink {
	b.lone = append(b.lone[:0], b.links[:n]...)
	for l := range b.lone {
		b.lone[l].Base = unsafe.Add(b.lone[l].Base, uintptr(j)*b.lone[l].Step)
	}
	b.lone = append(b.lone, vec.BlockLink{Op: vec.LinkEnd})
	return b.lone
}

// add adds a link.
func (b *blockCode) add(op uint64, l lie) {
	b.links = append(b.links, vec.BlockLink{Op: op, Base: l.base, Step: l.right, Stride: l.stride})
	b.rise = append(b.rise, l.down)
}

// image adds the links of an area. Those of a mirrored one go down where its image goes to the
// right.
func (m *machine) image(x *execution, a area, mirrored bool) {
	b := &m.blocks
	add := func(op uint64, l lie) {
		if mirrored {
			l.down, l.right = l.right, l.down
		}
		b.add(op, l)
	}
	b.at, b.turned = dense.Resized(b.at, len(m.in)), dense.Resized(b.turned, len(m.in))
	clear(b.turned)
	for k := range m.in {
		b.at[k] = m.lieOf(k, a)
	}
	protos := append(make([]proto, 0, 16), m.segs[0].protos...)
	turns := func(p *proto) bool { return p.kind == inSlab && p.reg < len(m.in) && m.in[p.reg].mode == op.Trans }
	if len(protos) > 1 && protos[0].op == vec.LinkLoad && !turns(&protos[0]) && turns(&protos[1]) &&
		(protos[1].op == vec.LinkAdd || protos[1].op == vec.LinkMul) { // what is turned is best loaded: it is in registers then
		protos[0].reg, protos[1].reg = protos[1].reg, protos[0].reg
		protos[0].kind, protos[1].kind = protos[1].kind, protos[0].kind
	}
	for k := range protos {
		if turns(&protos[k]) {
			b.turned[protos[k].reg]++
		}
	}
	direct := turns(&protos[0]) && protos[0].op == vec.LinkLoad && b.turned[protos[0].reg] == 1
	for k, uses := range b.turned {
		if uses > 0 && !(direct && k == protos[0].reg) {
			add(vec.LinkTurn, b.at[k])
			b.at[k] = b.slab(1)
			add(vec.LinkStore, b.at[k])
		}
	}
	for k := range protos {
		switch p := &protos[k]; {
		case k == 0 && direct:
			add(vec.LinkTurn, b.at[p.reg])
		case p.kind == inTemp:
			add(p.op, lie{base: unsafe.Pointer(&m.temps[p.reg*tempWords]), stride: lineBytes})
		case p.kind == nowhere:
			add(p.op, lie{})
		case p.reg < len(m.in):
			add(p.op, b.at[p.reg])
		default:
			add(p.op, lie{base: m.regs[p.reg].Pointer(), stride: lineBytes})
		}
	}
	add(m.end.store, lieIn(x.out, a.i0, a.j0))
}

// lieIn is where a matrix lies from element (i, j) on.
func lieIn(d *value.Dense, i, j int) lie {
	row := uintptr(8 * d.Stride)
	return lie{unsafe.Pointer(&d.F64[i*d.Stride+j]), vec.Block * row, lineBytes, row}
}

// lieOf is where operand k lies on an area.
func (m *machine) lieOf(k int, a area) lie {
	switch x := &m.in[k]; x.mode {
	case op.Full:
		return lieIn(x.d, a.i0, a.j0)
	case op.Trans:
		l := lieIn(x.d, a.j0, a.i0)
		l.down, l.right = l.right, l.down
		return l
	case op.RowVec:
		return lie{base: unsafe.Pointer(&x.d.F64[a.j0]), right: lineBytes}
	case op.ColVec:
		n := a.rows() / vec.Block
		at := m.blocks.used
		l := m.blocks.slab(n)
		l.down = slabBytes
		s := dense.SlabOver(m.blocks.slabs[at:], types.F64, n*slabWords).F64
		for i := range a.rows() {
			vec.Fill(s[i*vec.Block:][:vec.Block], x.d.F64[(a.i0+i)*x.d.Stride])
		}
		return l
	}
	return lie{base: m.regs[k].Pointer(), stride: lineBytes}
}

// slab takes n slabs.
func (b *blockCode) slab(n int) lie {
	l := lie{base: unsafe.Pointer(&b.slabs[b.used]), stride: lineBytes}
	b.used += n * slabWords
	return l
}
