package reduce

// This file defines the statistics beyond sums: var and stddev, which have an accumulator and are
// cut like sum (reduce.go), and nunique, quantile, median, argmin, argmax and the products of
// lines, which look at a whole list.

import (
	"math"
	"math/big"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/exact"
)

// Statistics is the rows of statistics.
func Statistics() []*op.Def {
	var out []*op.Def
	for _, w := range Variances() {
		out = append(out, w.Defs()...)
		out = append(out, w.columnRows()...)
		for _, byRow := range []bool{true, false} {
			d := AxisRow(w, w.Name, byRow)
			zero := map[bool]string{true: "0\n0\n0\n", false: "0 0\n"}[byRow]
			d.Eg = define.Eg(d.Name+"(ones(3, 2))", zero)
			out = append(out, d)
		}
	}
	for _, s := range listStatistics() {
		out = append(out, s.defs()...)
	}
	return out
}

// Variances is var and stddev. Their accumulator is two exact sums, of the elements and of their
// squares, so that one pass and any cut do; cancellation cannot hurt because nothing is rounded
// before the end.
func Variances() []Whole {
	return []Whole{
		{
			Name: "var", Class: loop.Var, Flops: 8, Elem: Averaged,
			doc: "var is the variance of all elements, the mean of the squared distances from the mean (divided by n, not n - 1): exact, " +
				"rounded once, whatever the order, the blocks and the ranks. nan for no elements and where one is not finite; a square " +
				"that f64 cannot hold counts as inf.",
			eg: define.Eg(`var(seq(1, 5))`, "1.25"),
			Ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				v, special, ok := varianceRef(x)
				if !ok {
					return define.Number(e, special)
				}
				return ratRounds(v, e)
			},
		},
		{
			Name: "stddev", shared: "var", Class: loop.Stddev, Flops: 8, Elem: Averaged,
			doc: "stddev is the standard deviation of all elements: the square root of var, which divides by n.",
			eg:  define.Eg(`stddev(2 * seq(0, 2))`, "1"),
			Ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				v, special, ok := varianceRef(x)
				if !ok {
					return define.Number(e, special)
				}
				return define.Number(e, math.Sqrt(ratRounds(v, types.F64).F))
			},
		},
	}
}

// ratRounds is x rounded once to e.
func ratRounds(x *big.Rat, e types.Elem) value.Scalar {
	if e == types.F32 {
		f, _ := x.Float32()
		return define.Number(e, float64(f))
	}
	f, _ := x.Float64()
	return define.Number(e, f)
}

// varianceRef is the definition on a list: fractions all the way; squares are as norm takes them.
func varianceRef(x []value.Scalar) (v *big.Rat, special float64, ok bool) {
	sum, squares := new(big.Float).SetPrec(4400), new(big.Float).SetPrec(4400)
	odd, huge := len(x) == 0, false
	for _, s := range x {
		f := s.Float()
		h, l := exact.Square(f)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			odd = true
		case math.IsInf(h, 0):
			huge = true
		default:
			sum.Add(sum, new(big.Float).SetFloat64(f))
			squares.Add(squares, new(big.Float).SetFloat64(h))
			squares.Add(squares, new(big.Float).SetFloat64(l))
		}
	}
	switch {
	case odd:
		return nil, math.NaN(), false
	case huge:
		return nil, math.Inf(1), false
	}
	count := new(big.Rat).SetInt64(int64(len(x)))
	mean, _ := sum.Rat(nil)
	v, _ = squares.Rat(nil)
	mean.Quo(mean, count)
	v.Quo(v, count).Sub(v, mean.Mul(mean, mean))
	if v.Sign() < 0 {
		v.SetInt64(0)
	}
	return v, 0, true
}
