package spectrum

// This file makes a tall matrix short: blocks of its rows are each taken to triangular form, and the
// triangles are what is left, until that is not tall any more (J. Demmel, L. Grigori, M. Hoemmen,
// J. Langou, Communication-optimal parallel and sequential QR and LU factorizations, SIAM J. Sci.
// Comput. 34, 2012).

import (
	"math"
	"slices"

	"flow/kernels/blas"
)

// leastBlock is the least number of rows of a block.
const leastBlock = 256

// Fold describes how a matrix is folded once: Count blocks of Block rows each. The last block also has
// the rows that are left over. Both follow from the shape. Block is a multiple of the number of columns,
// so blocks of triangles have whole triangles.
type Fold struct{ Count, Block int }

// FoldOf returns the fold of a matrix with so many rows and columns. Its Count is 0 if the matrix is
// not tall.
func FoldOf(rows, n int) (f Fold) {
	if n == 0 {
		return Fold{}
	}
	f.Block = n * max(4, (leastBlock+n-1)/n)
	if rows > 2*f.Block {
		f.Count = rows / f.Block
	}
	return f
}

// of returns which of so many rows block i has.
func (f Fold) of(i, rows int) (from, to int) {
	if from, to = i*f.Block, (i+1)*f.Block; i == f.Count-1 {
		to = rows
	}
	return from, to
}

// StateLen is the length of the state of a block of n columns: a power of two, and the upper triangle,
// row by row, divided by it.
func StateLen(n int) int { return 1 + n*(n+1)/2 }

// Columns returns the number of columns of a block whose state has that length.
func Columns(length int) int { return int(math.Sqrt(float64(2 * (length - 1)))) }

// Folder takes blocks to triangular form, for one worker.
type Folder struct {
	last *bidiagonal // whose memory the next block of the same shape takes
	room []float64
}

// triangle takes a, rows x n with elements of size 1 at most, to triangular form. a is overwritten. The
// next call overwrites the result.
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

// Rows makes state that of a block: a, rows x n, which is overwritten.
func (f *Folder) Rows(set *blas.Set, state []float64, rows, n int, a []float64) {
	f.pack(set, state, rows, n, a, nil)
}

// States makes state that of a block of triangles of n columns. from(i) returns the state of triangle i
// of count.
func (f *Folder) States(set *blas.Set, state []float64, count, n int, from func(i int) []float64) {
	if len(f.room) < count*n*n {
		f.room = make([]float64, count*n*n)
	}
	a, powers := unpacked(f.room[:count*n*n], count, n, from)
	f.pack(set, state, count*n, n, a, powers)
}

// pack makes state that of a, rows x n (see level).
func (f *Folder) pack(set *blas.Set, state []float64, rows, n int, a []float64, powers []int) {
	state[0] = float64(level(a, n, powers))
	r := f.triangle(set, rows, n, a).r
	for i, at := 0, 1; i < n; i++ {
		at += copy(state[at:], r[i*n+i:(i+1)*n])
	}
}

// unpacked writes triangles into a, one below the other, and returns a and the powers of two by which they
// were divided.
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

// noPower is the power of two of zeros: less than that of any number.
const noPower = -1 << 20

// level divides a by a power of two, so that its elements are of size 1 or a little more, and returns the
// exponent. With powers, each n rows of a have been divided by a power of two already. It would be wrong
// to multiply by these powers again, since the results may be no numbers.
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

// unfolding makes of vectors of what fold has left those of what it began with.
type unfolding func(left []float64, then func(left []float64))

// fold folds a, rows x n, until it is not tall (see level for powers). then gets what is left, and the
// exponent of the power of two by which it has been divided.
func (m *Machine) fold(rows, n int, a []float64, powers []int, vectors bool, then func(rows int, a []float64, power int, unfold unfolding)) {
	f := FoldOf(rows, n)
	if f.Count == 0 {
		then(rows, a, level(a, n, powers), func(left []float64, then func([]float64)) { then(left) })
		return
	}
	short, scales := make([]float64, f.Count*n*n), make([]int, f.Count)
	kept := make([]*reflectors, f.Count)
	m.pass(f.Count, func(w *worker, i int) {
		from, to := f.of(i, rows)
		var divided []int
		if powers != nil {
			divided = powers[from/n : to/n]
		}
		scales[i] = level(a[from*n:to*n], n, divided)
		b := w.folder.triangle(m.set, to-from, n, a[from*n:to*n])
		copy(short[i*n*n:], b.r)
		if vectors {
			w.folder.last, kept[i] = nil, b.left // its reflectors are kept
			for k := range b.left.blocks {
				b.left.close(b.m, &b.m.workers[0], k)
			}
		}
	}, func() {
		m.fold(f.Count*n, n, short, scales, vectors, func(left int, a []float64, power int, unfold unfolding) {
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
