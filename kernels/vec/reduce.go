package vec

// This file defines reductions of a slice: its least and its greatest element, and how many
// elements are not zero. A slice that is shorter than a vector is left to the plain loops.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// Least is the least element of x, which is not empty. NaN wins, and -0 is less than 0.
func Least[T Number](x []T) T {
	best := x[0]
	for _, v := range x[1:] {
		best = min(best, v)
	}
	return best
}

// Greatest is the greatest element of x, which is not empty. NaN wins, and 0 is greater than -0.
func Greatest[T Number](x []T) T {
	best := x[0]
	for _, v := range x[1:] {
		best = max(best, v)
	}
	return best
}

// CountNonZero is the number of elements that are not 0.
func CountNonZero[S Element](a []S) int64 {
	done, zeros := countZeros(a)
	n := int64(done - zeros)
	for _, v := range a[done:] {
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

// best sets out to the results of a kernel on rows of x, or to those of the plain loop where they do
// not fill a vector. Row i begins at x[i*ld] and has so many elements, one at least.
func best[T Number](k *machine.Kernel, greatest bool, out, x []T, ld, cols int) {
	if len(out) == 0 {
		return
	}
	x = x[:(len(out)-1)*ld+cols]
	if whole[T](cols) == 0 {
		for i := range out {
			if row := x[i*ld:][:cols]; greatest {
				out[i] = Greatest(row)
			} else {
				out[i] = Least(row)
			}
		}
		return
	}
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

// LeastRowsF64 and its like set out to the least or greatest element of each row of x.
func LeastRowsF64(out, x []float64, ld, cols int) {
	best(machine.LeastF64, false, out, x, ld, cols)
}

func GreatestRowsF64(out, x []float64, ld, cols int) {
	best(machine.GreatestF64, true, out, x, ld, cols)
}

func LeastRowsF32(out, x []float32, ld, cols int) {
	best(machine.LeastF32, false, out, x, ld, cols)
}

func GreatestRowsF32(out, x []float32, ld, cols int) {
	best(machine.GreatestF32, true, out, x, ld, cols)
}

func LeastRowsI64(out, x []int64, ld, cols int) {
	best(machine.LeastI64, false, out, x, ld, cols)
}

func GreatestRowsI64(out, x []int64, ld, cols int) {
	best(machine.GreatestI64, true, out, x, ld, cols)
}

// LeastF64 and its like are Least, GreatestF64 and its like Greatest.
func LeastF64(x []float64) float64    { return one(machine.LeastF64, false, x) }
func GreatestF64(x []float64) float64 { return one(machine.GreatestF64, true, x) }
func LeastF32(x []float32) float32    { return one(machine.LeastF32, false, x) }
func GreatestF32(x []float32) float32 { return one(machine.GreatestF32, true, x) }
func LeastI64(x []int64) int64        { return one(machine.LeastI64, false, x) }
func GreatestI64(x []int64) int64     { return one(machine.GreatestI64, true, x) }

// one is the result of one row.
func one[T Number](k *machine.Kernel, greatest bool, x []T) T {
	var out [1]T
	best(k, greatest, out[:], x, len(x), len(x))
	return out[0]
}

// NonZeroRows sets out to how many elements of each row of x are not 0. Row i begins at x[i*ld].
func NonZeroRows[S Element](out []int64, x []S, ld, cols int) {
	n := 0
	if cols <= maxCounted && len(out) > 0 {
		n = zerosOf(out, x, ld, cols)
	}
	for i := range out {
		zeros := 0
		if n > 0 {
			zeros = int(out[i])
		}
		c := int64(n - zeros)
		for _, v := range x[i*ld:][n:cols] {
			c += int64(bit(v != 0))
		}
		out[i] = c
	}
}

// maxCounted bounds the elements of one count: a lane of it is 32 bits of float32.
const maxCounted = 1 << 31

// countZeros counts the zeros of the first done elements.
func countZeros[T Element](a []T) (done, zeros int) {
	for {
		rest := a[done:]
		rest = rest[:min(len(rest), maxCounted)]
		var count [1]int64
		n := zerosOf(count[:], rest, 0, len(rest))
		if n == 0 {
			return done, zeros
		}
		done, zeros = done+n, zeros+int(count[0])
	}
}

// zerosOf sets out to how many of the first done elements of rows are 0, at most maxCounted.
func zerosOf[T Element](out []int64, x []T, ld, cols int) (done int) {
	var k *machine.Kernel
	switch any(x).(type) {
	case []float64:
		k = machine.ZerosF64
	case []float32:
		k = machine.ZerosF32
	case []int64:
		k = machine.ZerosI64
	default:
		return 0
	}
	n := whole[T](cols)
	if n == 0 {
		return 0
	}
	x = x[:(len(out)-1)*ld+cols]
	size := int(unsafe.Sizeof(x[0]))
	for i, some := 0, 0; i < len(out); i += some {
		some = min(len(out)-i, max(1, atOnce/n))
		args := struct {
			x          *T
			bytes      int
			count      *int64
			rows, step int
		}{&x[i*ld], n * size, &out[i], some, ld * size}
		k.Call(set(), unsafe.Pointer(&args))
	}
	return n
}
