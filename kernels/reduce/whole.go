package reduce

// This file lists the reductions that have an accumulator.

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
				"not matter. Integers wrap, bools are counted.",
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

// part is the reduction of a block that is not empty and needs no exact sum, as an accumulator of one element.
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
