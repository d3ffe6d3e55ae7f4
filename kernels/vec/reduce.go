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

// best is the result of a kernel on x, which fills a vector at least, or that of the plain loop.
func best[T Number](k *machine.Kernel, x []T, plain func([]T) T) (best T) {
	if whole[T](len(x)) == 0 {
		return plain(x)
	}
	args := struct {
		x     *T
		bytes int
		best  *T
	}{&x[0], len(x) * int(unsafe.Sizeof(x[0])), &best}
	k.Call(set(), unsafe.Pointer(&args))
	return best
}

// LeastF64 and its like are Least, GreatestF64 and its like Greatest.
func LeastF64(x []float64) float64    { return best(machine.LeastF64, x, Least) }
func GreatestF64(x []float64) float64 { return best(machine.GreatestF64, x, Greatest) }
func LeastF32(x []float32) float32    { return best(machine.LeastF32, x, Least) }
func GreatestF32(x []float32) float32 { return best(machine.GreatestF32, x, Greatest) }
func LeastI64(x []int64) int64        { return best(machine.LeastI64, x, Least) }
func GreatestI64(x []int64) int64     { return best(machine.GreatestI64, x, Greatest) }

// maxCounted bounds the elements of one count: a lane of it is 32 bits of float32.
const maxCounted = 1 << 31

// countZeros counts the zeros of the first done elements.
func countZeros[T Element](a []T) (done, zeros int) {
	for {
		rest := a[done:]
		rest = rest[:min(len(rest), maxCounted)]
		n, z := zerosOf(rest)
		if n == 0 {
			return done, zeros
		}
		done, zeros = done+n, zeros+z
	}
}

// zerosOf is countZeros of at most maxCounted elements.
func zerosOf[T Element](a []T) (done, zeros int) {
	var k *machine.Kernel
	switch any(a).(type) {
	case []float64:
		k = machine.ZerosF64
	case []float32:
		k = machine.ZerosF32
	case []int64:
		k = machine.ZerosI64
	default:
		return 0, 0
	}
	n := whole[T](len(a))
	if n == 0 {
		return 0, 0
	}
	args := struct {
		x            *T
		bytes, zeros int
	}{&a[0], n * int(unsafe.Sizeof(a[0])), 0}
	k.Call(set(), unsafe.Pointer(&args))
	return n, args.zeros
}
