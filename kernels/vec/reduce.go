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
