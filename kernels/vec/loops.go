package vec

// This file defines the loops that processors run as vectors (package machine): AVX-512 or AVX2
// where the CPU has it, for whole vectors, and the plain loop for what is left. IEEE arithmetic is
// the same in all of them, so the choice shows in no bit.

import (
	"bytes"
	"math"
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"

	"flow/kernels/vec/machine"
)

//go:generate go run flow/kernels/vec/gen -out .

// What this machine can run; fixed for the life of the process.
var (
	haveAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA && machine.Possible()
	haveAVX512 = haveAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ
	haveGather = haveAVX512 && cpu.X86.HasAVX512VL && cpu.X86.HasBMI2
)

// set is the instruction set of kernels, where there is one.
func set() machine.Set {
	if haveAVX512 {
		return machine.AVX512
	}
	return machine.AVX2
}

// whole is the part of n elements that fills whole vectors, 0 where there are none.
func whole[T Element](n int) int {
	var x T
	switch {
	case haveAVX512:
		return n &^ (64/int(unsafe.Sizeof(x)) - 1)
	case haveAVX2:
		return n &^ (32/int(unsafe.Sizeof(x)) - 1)
	}
	return 0
}

// Terms is room for the terms of a cascade and its vector of lost errors.
type Terms [72]float64

// exact reports that the w lost errors after n terms are all zero; a NaN anywhere in a cascade ends
// up there.
func (t *Terms) exact(n, w int) bool {
	var bad uint64
	for _, v := range t[n : n+w] {
		bad |= math.Float64bits(v) << 1
	}
	return bad == 0
}

// cascade is the shape of a cascade of vectors: lanes elements a vector, chains vectors a round,
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
	args := struct {
		x            *float64
		rounds, step int
		acc          *float64
	}{&x[0], rounds, 8 * round, &terms[0]}
	set, f := machine.AVX2, machine.SumF64
	if c.lanes == 8 {
		set = machine.AVX512
	}
	if squares {
		f = machine.SquaresF64
	}
	f.Call(set, unsafe.Pointer(&args))
	n = round * c.levels
	return n, rounds * round, terms.exact(n, c.lanes)
}

// What follows reduces a slice: to its least and its greatest element, its sum, and the number of
// elements that are not zero. Plain loops reduce a slice that is shorter than a vector.

// CountNonZero is the number of elements that are not 0.
func CountNonZero[S Element](a []S) (n int64) {
	for _, v := range a {
		n += int64(bit(v != 0))
	}
	return n
}

// SumI64 is the sum of x, which wraps.
func SumI64(x []int64) int64 {
	var a, b, c, d int64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
	}
	for _, v := range x {
		a += v
	}
	return a + b + c + d
}

// ordinal returns the number of an element type in machine.Extremes and machine.Form: f64, f32, i64.
func ordinal[T Element]() int {
	switch any(*new(T)).(type) {
	case float64:
		return 0
	case float32:
		return 1
	}
	return 2
}

// ExtremeRows sets out[i] to the least (lesser) or greatest element of row i of x. The row begins at
// x[i*ld] and has cols elements, at least one. The extreme of a row with a NaN is NaN, and -0 is less
// than 0.
func ExtremeRows[T Number](out, x []T, ld, cols int, lesser bool) {
	if len(out) == 0 {
		return
	}
	x = x[:(len(out)-1)*ld+cols]
	if whole[T](cols) == 0 {
		for i := range out {
			if row := x[i*ld:][:cols]; lesser {
				out[i] = slices.Min(row)
			} else {
				out[i] = slices.Max(row)
			}
		}
		return
	}
	k := machine.Extremes[ordinal[T]()][1-bit(lesser)]
	size := int(unsafe.Sizeof(x[0]))
	for i, n := 0, 0; i < len(out); i += n {
		n = min(len(out)-i, max(1, atOnce/cols))
		args := struct {
			x          *T
			bytes      int
			best       *T
			rows, step int
		}{&x[i*ld], cols * size, &out[i], n, ld * size}
		k.Call(set(), unsafe.Pointer(&args))
	}
}

// atOnce is about how many elements of several rows a kernel takes: the runtime cannot stop it.
const atOnce = 1 << 16

// Extreme returns the least (lesser) or greatest element of x, which is not empty. See ExtremeRows.
func Extreme[T Number](x []T, lesser bool) T {
	var out [1]T
	ExtremeRows(out[:], x, len(x), len(x), lesser)
	return out[0]
}

// Index returns the first place of x that equals v, or -1. No place equals NaN.
func Index[S Element](x []S, v S) int {
	if b, is := any(x).([]uint8); is {
		return bytes.IndexByte(b, any(v).(uint8))
	}
	n := whole[S](len(x))
	if n > 0 {
		args := struct {
			x     *S
			bytes int
			v     *S
			at    int
		}{&x[0], n * int(unsafe.Sizeof(v)), &v, 0}
		if machine.Find[ordinal[S]()].Call(set(), unsafe.Pointer(&args)); args.at >= 0 {
			return args.at
		}
	}
	if at := slices.Index(x[n:], v); at >= 0 {
		return n + at
	}
	return -1
}
