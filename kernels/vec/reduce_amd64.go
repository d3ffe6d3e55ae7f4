package vec

// This file chooses the reductions for this CPU. A slice that is shorter than a vector is left to
// the plain loops.

// LeastF64 is Least.
func LeastF64(x []float64) float64 {
	var best float64
	switch {
	case haveAVX512 && len(x) >= 8:
		leastF64AVX512(&x[0], 8*len(x), &best)
	case haveAVX2 && len(x) >= 4:
		leastF64AVX2(&x[0], 8*len(x), &best)
	default:
		best = Least(x)
	}
	return best
}

// GreatestF64 is Greatest.
func GreatestF64(x []float64) float64 {
	var best float64
	switch {
	case haveAVX512 && len(x) >= 8:
		greatestF64AVX512(&x[0], 8*len(x), &best)
	case haveAVX2 && len(x) >= 4:
		greatestF64AVX2(&x[0], 8*len(x), &best)
	default:
		best = Greatest(x)
	}
	return best
}

// LeastF32 is Least.
func LeastF32(x []float32) float32 {
	var best float32
	switch {
	case haveAVX512 && len(x) >= 16:
		leastF32AVX512(&x[0], 4*len(x), &best)
	case haveAVX2 && len(x) >= 8:
		leastF32AVX2(&x[0], 4*len(x), &best)
	default:
		best = Least(x)
	}
	return best
}

// GreatestF32 is Greatest.
func GreatestF32(x []float32) float32 {
	var best float32
	switch {
	case haveAVX512 && len(x) >= 16:
		greatestF32AVX512(&x[0], 4*len(x), &best)
	case haveAVX2 && len(x) >= 8:
		greatestF32AVX2(&x[0], 4*len(x), &best)
	default:
		best = Greatest(x)
	}
	return best
}

// LeastI64 is Least.
func LeastI64(x []int64) int64 {
	var best int64
	switch {
	case haveAVX512 && len(x) >= 8:
		leastI64AVX512(&x[0], 8*len(x), &best)
	case haveAVX2 && len(x) >= 4:
		leastI64AVX2(&x[0], 8*len(x), &best)
	default:
		best = Least(x)
	}
	return best
}

// GreatestI64 is Greatest.
func GreatestI64(x []int64) int64 {
	var best int64
	switch {
	case haveAVX512 && len(x) >= 8:
		greatestI64AVX512(&x[0], 8*len(x), &best)
	case haveAVX2 && len(x) >= 4:
		greatestI64AVX2(&x[0], 8*len(x), &best)
	default:
		best = Greatest(x)
	}
	return best
}

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
	switch x := any(a).(type) {
	case []float64:
		switch n := wholeF64(len(x)); {
		case n == 0:
		case haveAVX512:
			return n, zerosF64AVX512(&x[0], 8*n)
		default:
			return n, zerosF64AVX2(&x[0], 8*n)
		}
	case []float32:
		switch n := wholeF32(len(x)); {
		case n == 0:
		case haveAVX512:
			return n, zerosF32AVX512(&x[0], 4*n)
		default:
			return n, zerosF32AVX2(&x[0], 4*n)
		}
	case []int64:
		switch n := wholeF64(len(x)); {
		case n == 0:
		case haveAVX512:
			return n, zerosI64AVX512(&x[0], 8*n)
		default:
			return n, zerosI64AVX2(&x[0], 8*n)
		}
	}
	return 0, 0
}
