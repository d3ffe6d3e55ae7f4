package vec

// This file defines the loops that have assembly: AVX-512 or AVX2 where the CPU has it, for whole
// vectors, and the plain loop for what is left. IEEE arithmetic is the same in all of them, so the
// choice shows in no bit.

//go:generate go run flow/kernels/vec/gen -out .

import "golang.org/x/sys/cpu"

// What this machine can run; fixed for the life of the process.
var (
	haveAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasFMA && cpu.X86.HasAVX2
	haveAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// The assembly is called directly, not through function values, so that callers may keep their
// buffers on the stack.

// wholeF64 is the part of n elements that fills whole vectors, 0 where there are none.
func wholeF64(n int) int {
	switch {
	case haveAVX512:
		return n &^ 7
	case haveAVX2:
		return n &^ 3
	}
	return 0
}

func wholeF32(n int) int {
	switch {
	case haveAVX512:
		return n &^ 15
	case haveAVX2:
		return n &^ 7
	}
	return 0
}

// MulF64 is dst = a * b.
func MulF64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		mulF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		mulF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Mul(dst[n:], a[n:], b[n:])
}

// MulF32 is dst = a * b.
func MulF32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF32(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		mulF32AVX512(&dst[0], &a[0], &b[0], 4*n)
	default:
		mulF32AVX2(&dst[0], &a[0], &b[0], 4*n)
	}
	Mul(dst[n:], a[n:], b[n:])
}

// MinF64 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		minF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		minF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Min(dst[n:], a[n:], b[n:])
}

// MaxF64 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF64(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF64(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		maxF64AVX512(&dst[0], &a[0], &b[0], 8*n)
	default:
		maxF64AVX2(&dst[0], &a[0], &b[0], 8*n)
	}
	Max(dst[n:], a[n:], b[n:])
}

// MinF32 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF32(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		minF32AVX512(&dst[0], &a[0], &b[0], 4*n)
	default:
		minF32AVX2(&dst[0], &a[0], &b[0], 4*n)
	}
	Min(dst[n:], a[n:], b[n:])
}

// MaxF32 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF32(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	n := wholeF32(len(dst))
	switch {
	case n == 0:
	case haveAVX512:
		maxF32AVX512(&dst[0], &a[0], &b[0], 4*n)
	default:
		maxF32AVX2(&dst[0], &a[0], &b[0], 4*n)
	}
	Max(dst[n:], a[n:], b[n:])
}

// cascade is the shape of an assembly cascade: lanes elements a vector, chains vectors a round,
// levels of sums.
type cascade struct{ lanes, chains, levels int }

// plan is the cascade for this machine; lanes is 0 if it has none. Squares of float64 have long low
// halves.
func plan(longSquares bool) cascade {
	c := cascade{chains: 4, levels: 2}
	if longSquares {
		c.chains, c.levels = 2, 3
	}
	switch {
	case haveAVX512:
		c.lanes = 8
	case haveAVX2:
		c.lanes = 4
	}
	return c
}

// rounds is how many rounds n elements make.
func (c cascade) rounds(n int) int {
	if c.lanes == 0 {
		return 0
	}
	return n / (c.lanes * c.chains)
}

// runF64 runs the cascade of that many lanes.
func runF64(lanes int, squares bool, x *float64, rounds, step int, terms *Terms) {
	switch {
	case lanes == 8 && squares:
		squaresF64AVX512(x, rounds, step, &terms[0])
	case lanes == 8:
		sumF64AVX512(x, rounds, step, &terms[0])
	case squares:
		squaresF64AVX2(x, rounds, step, &terms[0])
	default:
		sumF64AVX2(x, rounds, step, &terms[0])
	}
}

func runF32(lanes int, squares bool, x *float32, rounds, step int, terms *Terms) {
	switch {
	case lanes == 8 && squares:
		squaresF32AVX512(x, rounds, step, &terms[0])
	case lanes == 8:
		sumF32AVX512(x, rounds, step, &terms[0])
	case squares:
		squaresF32AVX2(x, rounds, step, &terms[0])
	default:
		sumF32AVX2(x, rounds, step, &terms[0])
	}
}

// CascadeF64 sums elements of x from the front, or their squares h + l (h = x*x rounded, l its
// error), without rounding: if ok, the exact sum of terms[:n] is that of the first done elements.
// Without vector hardware, or for a short x, ok is false, as when an error was lost or a number was
// not finite.
func CascadeF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) {
	return plan(squares).sliceF64(x, squares, terms)
}

func (c cascade) sliceF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) {
	rounds := c.rounds(len(x))
	if rounds == 0 {
		return 0, 0, false
	}
	round := c.lanes * c.chains
	runF64(c.lanes, squares, &x[0], rounds, 8*round, terms)
	n = round * c.levels
	return n, rounds * round, terms.exact(n, c.lanes)
}

// CascadeF32 is the same for float32 elements, summed as float64; their squares are exact.
func CascadeF32(x []float32, squares bool, terms *Terms) (n, done int, ok bool) {
	c := plan(false)
	rounds := c.rounds(len(x))
	if rounds == 0 {
		return 0, 0, false
	}
	round := c.lanes * c.chains
	runF32(c.lanes, squares, &x[0], rounds, 4*round, terms)
	n = round * c.levels
	return n, rounds * round, terms.exact(n, c.lanes)
}

// CascadeColumns sums the first columns of rows whose distance is ld elements, or their squares: if
// ok, the exact sum of column j over the first done rows is that of terms[l*cols+j], l < levels.
// The matrix may have fewer columns than cols: what stands behind them in x is read and summed
// along, for as long as there is something. cols is 0 without vector hardware.
func CascadeColumns(x []float64, ld, rows int, squares bool, terms *Terms) (cols, levels, done int, ok bool) {
	c := plan(squares)
	cols = c.lanes * c.chains
	if cols == 0 || len(x) < cols || ld == 0 {
		return 0, 0, 0, false
	}
	done = min(rows, (len(x)-cols)/ld+1)
	if done <= 0 {
		return 0, 0, 0, false
	}
	runF64(c.lanes, squares, &x[0], done, 8*ld, terms)
	return cols, c.levels, done, terms.exact(cols*c.levels, c.lanes)
}

// uniformWhole makes the numbers of states z, z+d, ... as far as whole rounds go, and returns how
// many they are.
func uniformWhole(dst []float64, z, d uint64) int {
	n := len(dst) &^ 31
	if !haveAVX512 || n == 0 {
		return 0
	}
	var state [32]uint64
	for i := range state {
		state[i] = z + uint64(i)*d
	}
	uniformAVX512(&dst[0], n/32, &state[0], 32*d)
	return n
}
