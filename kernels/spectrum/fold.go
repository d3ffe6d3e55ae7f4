package spectrum

// This file factorises tall matrices (tall-skinny QR): it reduces each block of rows to triangular
// form, stacks the triangles, and repeats this until the stack is not tall any more (J. Demmel, L.
// Grigori, M. Hoemmen, J. Langou, Communication-optimal parallel and sequential QR and LU
// factorizations, SIAM J. Sci. Comput. 34, 2012).

import (
	"math"
	"slices"

	"flow/kernels/blas"
)

// leastBlock is the least number of rows of a block. A block also has at least leastHigh times as many
// rows as columns, so a fold leaves at most a quarter of the rows. Other values change the bits of
// results.
const leastBlock, leastHigh = 256, 4

// Fold describes how a matrix is folded once: into Count blocks of Block rows. The rows that are
// left over are a block, too, if they are at least as many as the columns; otherwise the last block
// has them. Both numbers follow from the shape of the matrix. Block is a multiple of the number of
// columns, so a block of stacked triangles holds whole triangles.
type Fold struct{ Count, Block int }

// FoldOf returns the fold of a matrix with so many rows and columns. Its Count is 0 if the matrix is
// not tall.
func FoldOf(rows, n int) (f Fold) {
	if n == 0 {
		return Fold{}
	}
	f.Block = n * max(leastHigh, (leastBlock+n-1)/n)
	if rows > 2*f.Block {
		f.Count = (rows + f.Block - n) / f.Block
	}
	return f
}

// Of returns the rows from..to-1 of block i of a matrix with so many rows.
func (f Fold) Of(i, rows int) (from, to int) {
	if from, to = i*f.Block, (i+1)*f.Block; i == f.Count-1 {
		to = rows
	}
	return from, to
}

// StateLen returns the length of the state of a block of n columns: the exponent of a power of two,
// followed by the upper triangle, row by row, divided by that power.
func StateLen(n int) int { return 1 + n*(n+1)/2 }

// Len returns the length of a block's state with its reflectors behind it, for blocks of n columns. A
// shorter block leaves some elements at the end.
func (f Fold) Len(n int) int { return StateLen(n) + n*(f.Block+n-1) }

// Columns returns the number of columns of a block whose state has this length, as StateLen returns it.
func Columns(length int) int { return int(math.Sqrt(float64(2 * (length - 1)))) }

// Folder reduces blocks to triangular form. Each worker has its own.
type Folder struct {
	last *bidiagonal // the next block of the same shape reuses its memory
	room []float64   // for the stacked triangles of States
}

// triangle reduces a, rows x n with elements of size 1 at most, to triangular form. a is overwritten.
// The next call overwrites the result.
func (f *Folder) triangle(set *blas.Set, rows, n int, a []float64) *bidiagonal {
	b := f.last
	if b == nil || b.rows != rows || b.n != n {
		b = newMachine(set, 1).newBidiagonal(rows, n, true, func(*bidiagonal) {})
		b.at = make([]float64, rows*n)
		f.last = b
	}
	b.a = a
	transpose(b.at, rows, a, n, rows, n)
	b.m.pass(0, nil, b.begin)
	_ = b.m.Run() // there is nothing to iterate
	return b
}

// Rows writes the state of a block to state, StateLen(n) elements, and if state is longer, the
// reflectors behind it (see Unfold). The block is a, rows x n, finite and without gaps, which is
// overwritten.
func (f *Folder) Rows(set *blas.Set, state []float64, rows, n int, a []float64) {
	f.pack(set, state, rows, n, a, nil)
}

// States writes the state of a block of stacked triangles to state, as Rows does. from(i) returns the
// state of triangle i of count, each of n columns.
func (f *Folder) States(set *blas.Set, state []float64, count, n int, from func(i int) []float64) {
	if len(f.room) < count*n*n {
		f.room = make([]float64, count*n*n)
	}
	a, powers := unpacked(f.room[:count*n*n], count, n, from)
	f.pack(set, state, count*n, n, a, powers)
}

// pack writes the state of a, rows x n, to state. powers is as in level.
func (f *Folder) pack(set *blas.Set, state []float64, rows, n int, a []float64, powers []int) {
	state[0] = float64(level(a, n, powers))
	b, at := f.triangle(set, rows, n, a), 1
	for i := range n {
		at += copy(state[at:], b.r[i*n+i:(i+1)*n])
	}
	if len(state) > at {
		clear(state[at+copy(state[at:], b.left.vt):])
	}
}

// Unfold turns k left singular vectors of a triangle of n columns into those of its block, which has so
// many rows. Each row of z, k x rows, is a vector: its first n elements on entry, and all of them on
// return. kept is the reflectors that Rows or States has written for the block.
func Unfold(set *blas.Set, rows, n int, kept []float64, k int, z []float64) {
	m, r := newMachine(set, 1), newReflectors(kept[:n*rows], rows, n, 0)
	defer m.Free()
	for i := range r.blocks {
		r.close(m, &m.workers[0], i)
	}
	r.apply(m, &m.workers[0], k, z, rows)
}

// unpacked stacks count triangles of n columns, from(i) being the state of triangle i, in a, which has
// count*n*n elements. It returns a, and the exponents of the powers of two that divided the triangles.
func unpacked(a []float64, count, n int, from func(i int) []float64) ([]float64, []int) {
	clear(a)
	powers := make([]int, count)
	for k := range count {
		state := from(k)
		powers[k] = int(state[0])
		for i, at := 0, 1; i < n; i++ {
			at += copy(a[(k*n+i)*n+i:(k*n+i+1)*n], state[at:])
		}
	}
	return a, powers
}

// noPower is the exponent of a block of zeros: less than that of any number.
const noPower = -1 << 20

// level divides a by a power of two, so that no element is much larger than 1, and returns the
// exponent. If powers is not nil, rows k*n..(k+1)*n-1 of a have been divided by 2^powers[k] before.
// It would be wrong to multiply by that power first, since the product may overflow.
func level(a []float64, n int, powers []int) (power int) {
	if powers == nil {
		if power = scaleToOne(a); power == 0 && greatest(a) == 0 {
			power = noPower
		}
		return power
	}
	power = slices.Max(powers)
	for k, p := range powers {
		if p == power {
			continue
		}
		f := math.Ldexp(1, p-power)
		for i := range a[k*n*n : (k+1)*n*n] {
			a[k*n*n+i] *= f
		}
	}
	return power
}

// unfolding turns left singular vectors of what a fold has left, one a row, into those of the matrix
// that was folded.
type unfolding func(left []float64, then func(left []float64))

// folding is the folds of one matrix of n columns. vectors says that its left singular vectors are
// wanted, so the reflectors of all blocks are kept.
type folding struct {
	m       *Machine
	n       int
	vectors bool
	folders []Folder // by worker
}

// newFolding returns the folding of a matrix of n columns on m.
func newFolding(m *Machine, n int, vectors bool) *folding {
	return &folding{m, n, vectors, make([]Folder, len(m.workers))}
}

// fold folds a, rows x n, until it is not tall. a is overwritten, and powers is as in level. then gets
// what is left, and the exponent of the power of two that has divided it.
func (x *folding) fold(rows int, a []float64, powers []int, then func(rows int, a []float64, power int, unfold unfolding)) {
	m, n, f := x.m, x.n, FoldOf(rows, x.n)
	if f.Count == 0 {
		then(rows, a, level(a, n, powers), func(left []float64, then func([]float64)) { then(left) })
		return
	}
	short, scales := make([]float64, f.Count*n*n), make([]int, f.Count)
	kept := make([]*reflectors, f.Count)
	m.pass(f.Count, func(w *worker, i int) {
		from, to := f.Of(i, rows)
		var divided []int
		if powers != nil {
			divided = powers[from/n : to/n]
		}
		scales[i] = level(a[from*n:to*n], n, divided)
		folder := &x.folders[w.number]
		b := folder.triangle(m.set, to-from, n, a[from*n:to*n])
		copy(short[i*n*n:], b.r)
		if x.vectors {
			folder.last, kept[i] = nil, b.left // the next block must not reuse them
			for k := range b.left.blocks {
				b.left.close(b.m, &b.m.workers[0], k)
			}
		}
	}, func() {
		x.fold(f.Count*n, short, scales, func(left int, a []float64, power int, unfold unfolding) {
			then(left, a, power, func(v []float64, then func([]float64)) {
				unfold(v, func(v []float64) {
					k := len(v) / (f.Count * n)
					long := make([]float64, k*rows)
					m.pass(f.Count, func(w *worker, i int) {
						for r := range k {
							copy(long[r*rows+i*f.Block:], v[r*f.Count*n+i*n:][:n])
						}
						kept[i].apply(m, w, k, long[i*f.Block:], rows)
					}, func() { then(long) })
				})
			})
		})
	})
}
