package kernels

// This file runs maps over square matrices that read an operand transposed (x + t(x)). The index
// space is visited in pairs of blocks that mirror one another, so that a matrix that is read both
// ways is read from memory once.

import "math"

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
