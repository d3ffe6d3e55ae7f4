package vec

// This file defines reductions of a slice: its least and its greatest element, and how many
// elements are not zero.

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
