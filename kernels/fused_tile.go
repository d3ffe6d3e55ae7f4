package kernels

// This file runs maps over square matrices that read an operand transposed (x + t(x)). The index space is visited in
// pairs of blocks that mirror one another, so that a matrix that is read both ways is read from memory once; and tile by
// tile through buffers, because rows of a matrix whose side is a power of two push one another out of every cache.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
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

// tileBuffers is the memory of tiles: of every operand one for a place and one for its mirror image, and the result.
type tileBuffers struct {
	words []uint64
	place [][2][]float64
	out   []float64
	walk  []bool // kept
	of    []int  // of a transposed operand: the operand that reads the same matrix as it lies, or -1
}

const tileElems = vec.Tile * vec.Tile

// pair runs a block and its mirror image.
func (m *machine) pair(x *execution, u int) error {
	bi, bj := pairAt(u)
	edge := func(b int) (int, int) { return b * pairEdge, min((b+1)*pairEdge, x.rows) }
	var a area
	a.i0, a.i1 = edge(bi)
	a.j0, a.j1 = edge(bj)
	if !vec.HaveTiles || !m.pure || x.elem != types.F64 {
		return m.both(x, a)
	}
	m.layTiles()
	for i := a.i0; i < a.i1; i += vec.Tile {
		for j := a.j0; j < a.j1 && (bi != bj || j <= i); j += vec.Tile {
			t := area{i, min(i+vec.Tile, a.i1), j, min(j+vec.Tile, a.j1)}
			if t.rows()*t.cols() < tileElems {
				if err := m.both(x, t); err != nil {
					return err
				}
				continue
			}
			if err := m.tile(x, t); err != nil {
				return err
			}
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

// layTiles prepares the buffers.
func (m *machine) layTiles() {
	b := &m.tiles
	n := len(m.in)
	if need := (2*n+1)*tileElems + 8; len(b.words) < need {
		b.words = aligned(make([]uint64, need+8))
	}
	b.place, b.of = resized(b.place, n), resized(b.of, n)
	for k := range n {
		for s := range 2 {
			b.place[k][s] = slabOver(b.words[(2*k+s)*tileElems:], types.F64, tileElems).f64
		}
		b.of[k] = -1
		for f := range m.in {
			x, y := &m.in[k], &m.in[f]
			if x.mode == op.Trans && y.mode == op.Full && x.d.Stride == y.d.Stride && &x.d.F64[0] == &y.d.F64[0] {
				b.of[k] = f
			}
		}
	}
	b.out = slabOver(b.words[2*n*tileElems:], types.F64, tileElems).f64
}

// tile runs one whole tile and its mirror image.
func (m *machine) tile(x *execution, a area) error {
	images := 2
	if a.i0 == a.j0 {
		images = 1
	}
	b := &m.tiles
	at := [2]area{a, a.mirror()}
	for s := range images {
		for k := range m.in {
			m.loadTile(k, at[s], b.place[k][s])
		}
	}
	for k, f := range b.of {
		if f >= 0 { // from the buffers, where both are
			for s := range images {
				from := b.place[f][(s+images-1)%images]
				vec.TransposeF64(b.place[k][s], vec.Tile, from, vec.Tile, vec.Tile, vec.Tile)
			}
		}
	}
	end := m.end
	m.end = terminal{store: vec.LinkStore}
	b.walk = append(b.walk[:0], m.walk...)
	defer func() {
		m.end = end
		copy(m.walk, b.walk)
	}()
	for s := range images {
		for k := range m.in {
			if m.in[k].mode != op.Single {
				m.regs[k], m.walk[k] = slab{f64: b.place[k][s]}, true
			}
		}
		if err := m.run(slab{f64: b.out}, tileElems); err != nil {
			return err
		}
		to := x.out.F64[at[s].i0*x.out.Stride+at[s].j0:]
		if x.stream {
			vec.StreamTile(to, x.out.Stride, b.out, vec.Tile)
		} else {
			vec.CopyTile(to, x.out.Stride, b.out, vec.Tile)
		}
	}
	for k := range m.in {
		if m.in[k].mode == op.ColVec {
			m.regs[k] = m.ownSlab(k)
		}
	}
	return nil
}

// loadTile brings the elements of operand k on a tile into dst, unless they are made of another operand's.
func (m *machine) loadTile(k int, a area, dst []float64) {
	x := &m.in[k]
	switch x.mode {
	case op.Full:
		vec.CopyTile(dst, vec.Tile, x.d.F64[a.i0*x.d.Stride+a.j0:], x.d.Stride)
	case op.Trans:
		if m.tiles.of[k] < 0 {
			vec.TransposeF64(dst, vec.Tile, x.d.F64[a.j0*x.d.Stride+a.i0:], x.d.Stride, vec.Tile, vec.Tile)
		}
	case op.RowVec:
		for r := range vec.Tile {
			copy(dst[r*vec.Tile:(r+1)*vec.Tile], x.d.F64[a.j0:])
		}
	case op.ColVec:
		for r := range vec.Tile {
			vec.Fill(dst[r*vec.Tile:(r+1)*vec.Tile], x.d.F64[(a.i0+r)*x.d.Stride])
		}
	}
}
