package kernels

// This file defines the statistics beyond sums: var and stddev, which have an accumulator and are cut like sum
// (reduce.go), and nunique, quantile, median, argmin, argmax and the products of lines, which look at a whole list.

import (
	"math"
	"math/big"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
)

// stats is the rows of statistics.
func stats() []*op.Def {
	var out []*op.Def
	for _, w := range variances() {
		out = append(out, w.defs()...)
		for _, byRow := range []bool{true, false} {
			d := axisRow(w, w.name, byRow)
			zero := map[bool]string{true: "0\n0\n0\n", false: "0 0\n"}[byRow]
			d.Eg = eg(d.Name+"(ones(3, 2))", zero)
			out = append(out, d)
		}
	}
	for _, s := range listStatistics() {
		out = append(out, s.defs()...)
	}
	return out
}

// variances is var and stddev. Their accumulator is two exact sums, of the elements and of their squares, so that one
// pass and any cut do; cancellation cannot hurt because nothing is rounded before the end.
func variances() []whole {
	acc := func(types.Elem) types.Type { return types.DenseOf(types.I64, 1, 2*exact.Words) }
	half := func(acc *value.Dense, k int) *value.Dense { return acc.View(0, k*exact.Words, 1, exact.Words) }
	part := func(acc, a *value.Dense) {
		if a.Elem == types.I64 { // as floats, like the squares
			a = widened(a, types.F64)
		}
		addExact(half(acc, 0), a)
		addSquares(half(acc, 1), a)
	}
	join := func(acc, b *value.Dense) {
		joinExact(half(acc, 0), half(b, 0))
		joinExact(half(acc, 1), half(b, 1))
	}
	variance := func(acc *value.Dense, n int) *big.Rat {
		return varianceOf(bigWords(half(acc, 0)), bigWords(half(acc, 1)), n)
	}
	return []whole{
		{
			name: "var", flops: 8, elem: averaged, acc: acc, part: part, join: join, empty: zero,
			doc: "var is the variance of all elements, the mean of the squared distances from the mean (divided by n, not n - 1): exact, " +
				"rounded once, whatever the order, the blocks and the ranks. nan for no elements and where one is not finite; a square " +
				"that f64 cannot hold counts as inf.",
			eg: eg(`var(seq(1, 5))`, "1.25"),
			done: func(acc *value.Dense, e types.Elem, n int) value.Scalar {
				if x, ok := noVariance(half(acc, 0).I64[exact.Words-1], half(acc, 1).I64[exact.Words-1], n); ok {
					return number(e, x)
				}
				return ratScalar(variance(acc, n), e)
			},
			ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				v, special, ok := varianceRef(x)
				if !ok {
					return number(e, special)
				}
				return ratScalar(v, e)
			},
		},
		{
			name: "stddev", shared: "var", flops: 8, elem: averaged, acc: acc, part: part, join: join, empty: zero,
			doc: "stddev is the standard deviation of all elements: the square root of var, which divides by n.",
			eg:  eg(`stddev(2 * seq(0, 2))`, "1"),
			done: func(acc *value.Dense, e types.Elem, n int) value.Scalar {
				if x, ok := noVariance(half(acc, 0).I64[exact.Words-1], half(acc, 1).I64[exact.Words-1], n); ok {
					return number(e, x)
				}
				return number(e, math.Sqrt(ratScalar(variance(acc, n), types.F64).F))
			},
			ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				v, special, ok := varianceRef(x)
				if !ok {
					return number(e, special)
				}
				return number(e, math.Sqrt(ratScalar(v, types.F64).F))
			},
		},
	}
}

// noVariance is the result where the sums are no numbers: flags are those of the sum and of the sum of squares.
func noVariance(sum, squares int64, n int) (float64, bool) {
	switch {
	case n == 0 || sum != 0:
		return math.NaN(), true
	case squares != 0:
		return math.Inf(1), true
	}
	return 0, false
}

// ratScalar is r rounded once to e.
func ratScalar(r *big.Rat, e types.Elem) value.Scalar {
	if e == types.F32 {
		f, _ := r.Float32()
		return number(e, float64(f))
	}
	f, _ := r.Float64()
	return number(e, f)
}

// varianceOf is q/n - (s/n)^2, not below 0: squares too small for f64 are missing in q.
func varianceOf(s, q *big.Rat, n int) *big.Rat {
	count := new(big.Rat).SetInt64(int64(n))
	mean := new(big.Rat).Quo(s, count)
	v := new(big.Rat).Quo(q, count)
	v.Sub(v, mean.Mul(mean, mean))
	if v.Sign() < 0 {
		v.SetInt64(0)
	}
	return v
}

// bigWords is the exact sum in acc, one row of exact.Words words, as a fraction. Only the words from the lowest to the
// highest that matter are made a number, so that fractions of ordinary sums are short.
func bigWords(acc *value.Dense) *big.Rat {
	const least = -1074 // the exponent of the lowest bit, as in package exact
	limb := append([]int64(nil), acc.I64[:exact.Words-1]...)
	negative := limb[len(limb)-1] < 0
	if negative {
		c := int64(0)
		for i := range len(limb) - 1 {
			v := c - limb[i]
			limb[i], c = v&math.MaxUint32, v>>32
		}
		limb[len(limb)-1] = c - limb[len(limb)-1]
	}
	low, high := 0, len(limb)-1
	for low < high && limb[low] == 0 {
		low++
	}
	for high > low && limb[high] == 0 {
		high--
	}
	x := new(big.Int)
	for i := high; i >= low; i-- {
		x.Lsh(x, 32)
		x.Add(x, big.NewInt(limb[i]))
	}
	if x.Sign() == 0 {
		return new(big.Rat)
	}
	if negative {
		x.Neg(x)
	}
	shift := 32*low + least
	if z := int(x.TrailingZeroBits()); z > 0 {
		x.Rsh(x, uint(z))
		shift += z
	}
	if shift >= 0 {
		return new(big.Rat).SetInt(x.Lsh(x, uint(shift)))
	}
	return new(big.Rat).SetFrac(x, new(big.Int).Lsh(big.NewInt(1), uint(-shift)))
}

// varianceRef is the definition on a list: fractions all the way; squares are as norm takes them.
func varianceRef(x []value.Scalar) (v *big.Rat, special float64, ok bool) {
	sum, squares := new(big.Float).SetPrec(4400), new(big.Float).SetPrec(4400)
	odd, big1 := len(x) == 0, false
	for _, s := range x {
		f := s.Float()
		h, l := exact.Square(f)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			odd = true
		case math.IsInf(h, 0):
			big1 = true
		default:
			sum.Add(sum, new(big.Float).SetFloat64(f))
			squares.Add(squares, new(big.Float).SetFloat64(h))
			squares.Add(squares, new(big.Float).SetFloat64(l))
		}
	}
	switch {
	case odd:
		return nil, math.NaN(), false
	case big1:
		return nil, math.Inf(1), false
	}
	s, _ := sum.Rat(nil)
	q, _ := squares.Rat(nil)
	return varianceOf(s, q, len(x)), 0, true
}
