package spectrum

// This file defines reflectors: how one is made, and how many of them are applied at once.

import "math"

// negligible is the size below which the elements of a vector count as zeros, where those of the
// matrix are of size 1: their squares would be subnormal, and the reflector not orthogonal. What is
// neglected is less than rounding by hundreds of digits.
const negligible = 0x1p-480

// reflect makes of x the vector v of the reflector that takes x to (beta, 0, 0, ...), and returns
// beta. Elements are of size 1 at most, and so is beta but for a factor of sqrt(len(x)).
func reflect(x []float64) (beta float64) {
	if len(x) == 0 {
		return 0
	}
	alpha := x[0]
	if greatest(x[1:]) < negligible {
		clear(x)
		return alpha
	}
	// v = (alpha - beta, rest) / sqrt(beta * (beta - alpha)), which has length sqrt(2).
	beta = -math.Copysign(math.Sqrt(dot(x, x)), alpha)
	x[0] = alpha - beta
	f := 1 / math.Sqrt(-beta*x[0])
	for i := range x {
		x[i] *= f
	}
	return beta
}

// greatest is the size of the element of x that is greatest in size.
func greatest(x []float64) float64 {
	best := 0.0
	for _, v := range x {
		if v = math.Abs(v); v > best {
			best = v
		}
	}
	return best
}

// dot is the inner product of x and y in eight chains, one for each residue of the index, that are
// added in pairs.
func dot(x, y []float64) float64 {
	var s [8]float64
	y = y[:len(x)]
	for len(x) >= 8 {
		a, b := (*[8]float64)(x), (*[8]float64)(y)
		s[0] = math.FMA(a[0], b[0], s[0])
		s[1] = math.FMA(a[1], b[1], s[1])
		s[2] = math.FMA(a[2], b[2], s[2])
		s[3] = math.FMA(a[3], b[3], s[3])
		s[4] = math.FMA(a[4], b[4], s[4])
		s[5] = math.FMA(a[5], b[5], s[5])
		s[6] = math.FMA(a[6], b[6], s[6])
		s[7] = math.FMA(a[7], b[7], s[7])
		x, y = x[8:], y[8:]
	}
	for i := range x {
		s[i] = math.FMA(x[i], y[i], s[i])
	}
	return (s[0] + s[4]) + (s[2] + s[6]) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// addScaled adds f times x to y.
func addScaled(y []float64, f float64, x []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] = math.FMA(f, v, y[i])
	}
}

// reflectors is the product H(0) H(1) ... of n reflectors on vectors of length m, of which number i
// leaves the first i + shift elements as they are.
type reflectors struct {
	m, n, shift int
	vt          []float64 // n x m: row i is the vector of H(i)
	blocks      []reflectorBlock
}

// reflectorBlock is some that are applied at once: I - v s t(v).
type reflectorBlock struct {
	from, n int
	v       []float64 // t(vt) of these, from the first row that is not 0 on; n columns
	s       []float64 // n x n, upper triangular
}

// together is how many reflectors are applied at once: two panels of columns of the micro-kernels
// of blas.
const together = 48

// reflectors returns room for n reflectors on vectors of length rows.
func (m *Machine) reflectors(rows, n, shift int) *reflectors {
	return newReflectors(m.zeros(rows*n), rows, n, shift)
}

// newReflectors returns n reflectors on vectors of length rows. The rows of vt are their vectors.
func newReflectors(vt []float64, rows, n, shift int) *reflectors {
	r := &reflectors{m: rows, n: n, shift: shift, vt: vt}
	for j := 0; j < n; j += together {
		r.blocks = append(r.blocks, reflectorBlock{from: j, n: min(together, n-j)})
	}
	return r
}

// set stores the vector of H(i), v from its first element that is not 0 on.
func (r *reflectors) set(i int, v []float64) {
	copy(r.vt[i*r.m+i+r.shift:(i+1)*r.m], v)
}

// close makes block b ready to be applied.
//
// H(0) H(1) ... = I - v inverse(u) t(v), where u is the strict upper triangle of t(v) v with halves
// of its diagonal, that is 1 (C. Puglisi, Modification of the Householder method based on the
// compact WY representation, SIAM J. Sci. Stat. Comput. 13, 1992). It is 1 also for the reflector
// that does nothing.
func (r *reflectors) close(m *Machine, w *worker, b int) {
	k := &r.blocks[b]
	first := k.from + r.shift
	if first >= r.m {
		return
	}
	k.s, k.v = make([]float64, k.n*k.n), make([]float64, (r.m-first)*k.n)
	gram := w.scratch(k.n * k.n)
	clear(gram)
	vt := r.vt[k.from*r.m+first:]
	transpose(k.v, k.n, vt, r.m, k.n, r.m-first)
	m.set.F64.Syrk(&w.ws, false, k.n, r.m-first, vt, r.m, gram, k.n)
	for i := range k.n {
		gram[i*k.n+i], k.s[i*k.n+i] = 1, 1 // the lower triangle of gram is t(u)
	}
	m.set.F64.Trsm(&w.ws, k.n, k.n, gram, k.n, k.s, k.n)
}

// apply makes every one of count rows of z, ld apart, the product of r with it.
func (r *reflectors) apply(m *Machine, w *worker, count int, z []float64, ld int) {
	for b := len(r.blocks) - 1; b >= 0; b-- {
		k := &r.blocks[b]
		r.applyBlock(m, w, k, count, z, ld)
	}
}

func (r *reflectors) applyBlock(m *Machine, w *worker, k *reflectorBlock, count int, z []float64, ld int) {
	first := k.from + r.shift
	if first >= r.m || count == 0 {
		return
	}
	room := w.scratch(2 * count * k.n)
	clear(room)
	x, y := room[:count*k.n], room[count*k.n:]
	z = z[first:]
	m.set.F64.Gemm(&w.ws, false, false, count, k.n, r.m-first, z, ld, k.v, k.n, x, k.n)
	m.set.F64.Gemm(&w.ws, true, false, count, k.n, k.n, x, k.n, k.s, k.n, y, k.n)
	m.set.F64.Gemm(&w.ws, false, true, count, r.m-first, k.n, y, k.n, r.vt[k.from*r.m+first:], r.m, z, ld)
}

// square is the edge of the squares that transpose turns at a time: elements of a line of the cache.
const square = 8

// transpose makes dst, cols x rows, the transpose of src, rows x cols.
func transpose(dst []float64, ldd int, src []float64, lds, rows, cols int) {
	for i0 := 0; i0 < rows; i0 += square {
		i1 := min(i0+square, rows)
		for j0 := 0; j0 < cols; j0 += square {
			for j := j0; j < min(j0+square, cols); j++ {
				to := dst[j*ldd+i0 : j*ldd+i1]
				for i := range to {
					to[i] = src[(i0+i)*lds+j]
				}
			}
		}
	}
}
