package vec

// This file defines the loops that have assembly: AVX-512 or AVX2 where the CPU has it, for whole vectors, and the
// plain loop for what is left. IEEE arithmetic is the same in all of them, so the choice shows in no bit.

//go:generate go run flow/kernels/vec/gen -out .

import "golang.org/x/sys/cpu"

// What this machine can run; fixed for the life of the process.
var (
	haveAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasFMA && cpu.X86.HasAVX2
	haveAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// The masks round a number of elements down to whole vectors.
const (
	whole512f64, whole256f64 = ^7, ^3
	whole512f32, whole256f32 = ^15, ^7
)

// f64x2 runs one of two assembly loops on whole vectors and returns how many elements that were.
func f64x2(dst, a, b []float64, wide, narrow func(dst, a, b *float64, bytes int)) int {
	_, _ = a[:len(dst)], b[:len(dst)]
	if n := len(dst) & whole512f64; haveAVX512 && n > 0 {
		wide(&dst[0], &a[0], &b[0], 8*n)
		return n
	}
	if n := len(dst) & whole256f64; haveAVX2 && n > 0 {
		narrow(&dst[0], &a[0], &b[0], 8*n)
		return n
	}
	return 0
}

func f32x2(dst, a, b []float32, wide, narrow func(dst, a, b *float32, bytes int)) int {
	_, _ = a[:len(dst)], b[:len(dst)]
	if n := len(dst) & whole512f32; haveAVX512 && n > 0 {
		wide(&dst[0], &a[0], &b[0], 4*n)
		return n
	}
	if n := len(dst) & whole256f32; haveAVX2 && n > 0 {
		narrow(&dst[0], &a[0], &b[0], 4*n)
		return n
	}
	return 0
}

// AddF64 is dst = a + b.
func AddF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, addF64AVX512, addF64AVX2)
	Add(dst[n:], a[n:], b[n:])
}

// SubF64 is dst = a - b.
func SubF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, subF64AVX512, subF64AVX2)
	Sub(dst[n:], a[n:], b[n:])
}

// MulF64 is dst = a * b.
func MulF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, mulF64AVX512, mulF64AVX2)
	Mul(dst[n:], a[n:], b[n:])
}

// DivF64 is dst = a / b.
func DivF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, divF64AVX512, divF64AVX2)
	Div(dst[n:], a[n:], b[n:])
}

// AddF32 is dst = a + b.
func AddF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, addF32AVX512, addF32AVX2)
	Add(dst[n:], a[n:], b[n:])
}

// SubF32 is dst = a - b.
func SubF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, subF32AVX512, subF32AVX2)
	Sub(dst[n:], a[n:], b[n:])
}

// MulF32 is dst = a * b.
func MulF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, mulF32AVX512, mulF32AVX2)
	Mul(dst[n:], a[n:], b[n:])
}

// DivF32 is dst = a / b.
func DivF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, divF32AVX512, divF32AVX2)
	Div(dst[n:], a[n:], b[n:])
}

// MinF64 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, minF64AVX512, minF64AVX2)
	Min(dst[n:], a[n:], b[n:])
}

// MaxF64 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF64(dst, a, b []float64) {
	n := f64x2(dst, a, b, maxF64AVX512, maxF64AVX2)
	Max(dst[n:], a[n:], b[n:])
}

// MinF32 is the elementwise minimum; NaN wins, and -0 is less than 0.
func MinF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, minF32AVX512, minF32AVX2)
	Min(dst[n:], a[n:], b[n:])
}

// MaxF32 is the elementwise maximum; NaN wins, and 0 is greater than -0.
func MaxF32(dst, a, b []float32) {
	n := f32x2(dst, a, b, maxF32AVX512, maxF32AVX2)
	Max(dst[n:], a[n:], b[n:])
}

// SqrtF64 is the correctly rounded square root.
func SqrtF64(dst, a []float64) {
	a = a[:len(dst)]
	n := 0
	if m := len(dst) & whole512f64; haveAVX512 && m > 0 {
		sqrtF64AVX512(&dst[0], &a[0], 8*m)
		n = m
	} else if m := len(dst) & whole256f64; haveAVX2 && m > 0 {
		sqrtF64AVX2(&dst[0], &a[0], 8*m)
		n = m
	}
	rootF64(dst[n:], a[n:])
}

// SqrtF32 is the correctly rounded square root.
func SqrtF32(dst, a []float32) {
	a = a[:len(dst)]
	n := 0
	if m := len(dst) & whole512f32; haveAVX512 && m > 0 {
		sqrtF32AVX512(&dst[0], &a[0], 4*m)
		n = m
	} else if m := len(dst) & whole256f32; haveAVX2 && m > 0 {
		sqrtF32AVX2(&dst[0], &a[0], 4*m)
		n = m
	}
	rootF32(dst[n:], a[n:])
}

// cascade is one assembly cascade of float64 or float32: lanes elements a vector, chains vectors a round, levels of
// sums.
type cascade[T Float] struct {
	run           func(x *T, rounds, step int, acc *float64)
	lanes, chains int
	levels        int
}

// pick is the cascade for this machine; run is nil if it has none.
func pick[T Float](wide, narrow func(x *T, rounds, step int, acc *float64), chains, levels int) cascade[T] {
	switch {
	case haveAVX512:
		return cascade[T]{wide, 8, chains, levels}
	case haveAVX2:
		return cascade[T]{narrow, 4, chains, levels}
	}
	return cascade[T]{}
}

// slice sums the elements at the front of x.
func (c cascade[T]) slice(x []T, size int, terms *Terms) (n, done int, ok bool) {
	if c.run == nil {
		return 0, 0, false
	}
	round := c.lanes * c.chains
	rounds := len(x) / round
	if rounds == 0 {
		return 0, 0, false
	}
	c.run(&x[0], rounds, round*size, &terms[0])
	n = round * c.levels
	return n, rounds * round, terms.exact(n, c.lanes)
}

// CascadeF64 sums elements of x from the front, or their squares h + l (h = x*x rounded, l its error), without
// rounding: if ok, the exact sum of terms[:n] is that of the first done elements. Without vector hardware, or for
// a short x, done is 0. ok is false when an error was lost or a number was not finite.
func CascadeF64(x []float64, squares bool, terms *Terms) (n, done int, ok bool) {
	if squares {
		return pick(squaresF64AVX512, squaresF64AVX2, 2, 3).slice(x, 8, terms)
	}
	return pick(sumF64AVX512, sumF64AVX2, 4, 2).slice(x, 8, terms)
}

// CascadeF32 is the same for float32 elements, summed as float64; their squares are exact.
func CascadeF32(x []float32, squares bool, terms *Terms) (n, done int, ok bool) {
	if squares {
		return pick(squaresF32AVX512, squaresF32AVX2, 4, 2).slice(x, 4, terms)
	}
	return pick(sumF32AVX512, sumF32AVX2, 4, 2).slice(x, 4, terms)
}

// CascadeColumns sums the first columns of rows whose distance is ld elements, or their squares: if ok, the exact sum
// of column j over the first done rows is that of terms[l*cols+j], l < levels. Only the first width columns mean
// anything: with fewer than cols, what stands behind them in x is read and summed along, for as long as there is
// something. cols is 0 without vector hardware.
func CascadeColumns(x []float64, ld, rows, width int, squares bool, terms *Terms) (cols, levels, done int, ok bool) {
	c := pick(sumF64AVX512, sumF64AVX2, 4, 2)
	if squares {
		c = pick(squaresF64AVX512, squaresF64AVX2, 2, 3)
	}
	cols = c.lanes * c.chains
	if c.run == nil || len(x) < cols || ld == 0 {
		return 0, 0, 0, false
	}
	done = min(rows, (len(x)-cols)/ld+1)
	if done <= 0 {
		return 0, 0, 0, false
	}
	c.run(&x[0], done, 8*ld, &terms[0])
	return cols, c.levels, done, terms.exact(cols*c.levels, c.lanes)
}
