package reduce

// This file lists the reductions that have an accumulator, var and stddev among them, and the rows of
// statistics.

import (
	"math"
	"math/big"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// Counted is the element type of counts.
func Counted(types.Elem) types.Elem { return types.I64 }

// truth is the element type of verdicts.
func truth(types.Elem) types.Elem { return types.Bool }

// Summed is the type of sums: integers stay, bools are counted.
func Summed(e types.Elem) types.Elem {
	if e == types.Bool {
		return types.I64
	}
	return e
}

// Averaged is the type of means and norms.
func Averaged(e types.Elem) types.Elem {
	if e == types.F32 {
		return e
	}
	return types.F64
}

// Itself is the type of extremes: that of the elements.
func Itself(e types.Elem) types.Elem { return e }

// Wholes lists the reductions that have an accumulator, var and stddev aside (Variances).
func Wholes() []Whole {
	return []Whole{
		{
			Name: "sum", Class: loop.Sum, Flops: 4, Elem: Summed,
			doc: "sum is the sum of all elements. Of floats it is the exact sum, correctly rounded once: the order, the blocks and the ranks do " +
				"not matter. Integers wrap, bools are counted. The sum of a list of numbers, `sum([a, b, c])`, is `a + b + c`.",
			eg: define.Eg(`sum(ones(3, 2))`, "6"),
			Ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				if e == types.I64 {
					s := int64(0)
					for _, v := range x {
						s += v.I
					}
					return value.I64(s)
				}
				return ExactRef(x, e, false)
			},
		},
		{
			Name: "mean", Class: loop.Mean, Flops: 4, Elem: Averaged,
			doc: "mean is the sum of all elements, rounded once, divided by their number; nan for none.",
			eg:  define.Eg(`mean(seq(0, 5))`, "2"),
			Ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				return define.Number(e, ExactRef(x, types.F64, false).F/float64(len(x)))
			},
		},
		{
			Name: "norm", Class: loop.Norm, Flops: 8, Elem: Averaged,
			doc: "norm is the square root of the sum of all squares (Frobenius); the sum is exact and rounded once before the root.",
			eg:  define.Eg(`norm(2 * ones(2, 2))`, "4"),
			Ref: func(x []value.Scalar, e types.Elem) value.Scalar {
				return define.Number(e, math.Sqrt(ExactRef(x, types.F64, true).F))
			},
		},
		{
			Name: "count", Class: loop.Count, Flops: 1, Elem: Counted,
			doc: "count is the number of elements that are not 0; nan counts.",
			eg:  define.Eg(`count(eye(3))`, "3"),
			Ref: func(x []value.Scalar, _ types.Elem) value.Scalar { return value.I64(int64(trues(x))) },
		},
		{
			Name: "any", Class: loop.Any, Flops: 1, Elem: truth,
			doc: "any is true if some element is not 0.",
			eg:  define.Eg(`any(eye(2) > 1)`, "false"),
			Ref: func(x []value.Scalar, _ types.Elem) value.Scalar { return value.Bool(trues(x) > 0) },
		},
		{
			Name: "all", Class: loop.All, Flops: 1, Elem: truth,
			doc: "all is true if no element is 0.",
			eg:  define.Eg(`all(ones(2, 2) == 1)`, "true"),
			Ref: func(x []value.Scalar, _ types.Elem) value.Scalar { return value.Bool(trues(x) == len(x)) },
		},
		extremum("min", "least", "1", true),
		extremum("max", "greatest", "1", false),
	}
}

// trues is how many elements are not 0, for definitions.
func trues(x []value.Scalar) (n int) {
	for _, v := range x {
		if v.True() {
			n++
		}
	}
	return n
}

// Bit is the element of a truth value.
func Bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// NonZeros is the number of elements that are not 0.
func NonZeros(a *value.Dense) int64 {
	n := int64(0)
	dense.EachRun(a, func(s dense.Slab, _ int) {
		n += vec.CountNonZero(s.F64) + vec.CountNonZero(s.F32) + vec.CountNonZero(s.I64) + vec.CountTrue(s.Bool)
	})
	return n
}

// part is the reduction of a block that is not empty and needs no exact sum, as an accumulator of one
// element.
func (w *Whole) part(a *value.Dense) (v value.Scalar) {
	switch w.Class {
	case loop.Sum:
		n := int64(0)
		dense.EachRun(a, func(s dense.Slab, _ int) { n += vec.SumI64(s.I64) + vec.CountTrue(s.Bool) })
		return value.I64(n)
	case loop.Count:
		return value.I64(NonZeros(a))
	case loop.Any:
		return value.Bool(NonZeros(a) > 0)
	case loop.All:
		return value.Bool(NonZeros(a) == int64(a.Rows*a.Cols))
	}
	some, least := false, w.Class == loop.Least
	dense.EachRun(a, func(s dense.Slab, _ int) {
		x := extreme(s, a.Elem, least)
		if some {
			x = define.Extreme(v, x, least)
		}
		v, some = x, true
	})
	return v
}

// ExactRef is the definition of a sum: arbitrary precision, rounded once to e. Values that are no
// real number decide it first, as in IEEE addition.
func ExactRef(x []value.Scalar, e types.Elem, squares bool) value.Scalar {
	sum := new(big.Float).SetPrec(4400)
	special := 0.0
	for _, s := range x {
		parts := []float64{s.Float()}
		if squares {
			h, l := exact.Square(s.Float())
			parts = []float64{h, l}
		}
		for _, v := range parts {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				special += v
				continue
			}
			b := new(big.Float).SetFloat64(v)
			if !s.Elem.IsFloat() && !squares {
				b = new(big.Float).SetInt64(s.I)
			}
			sum.Add(sum, b)
		}
	}
	switch {
	case special != 0: // NaN too
		return define.Canonical(define.Number(e, special))
	case sum.Sign() == 0:
		return define.Number(e, 0)
	case e == types.F32:
		f, _ := sum.Float32()
		return define.Number(e, float64(f))
	}
	f, _ := sum.Float64()
	return define.Number(e, f)
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
