package kernels

// This file defines elementwise rows that are made of others and common enough to have a name: sigmoid, relu, clamp,
// replace, and the logarithm to any base.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// shorthands is the rows of this file.
func shorthands() []*op.Def {
	run := &engine{}
	log := func(x, b float64) float64 { return math.Log(x) / math.Log(b) }
	var out []*op.Def
	for _, r := range []row{
		unary("sigmoid", "1 / (1 + exp(-x)), the logistic function.", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 20,
			"sigmoid(0)", "0.5"),
		{
			name: "relu", args: []string{"x"}, rule: numeric, flops: 1,
			doc:   "relu is x where it is above 0, else 0; nan stays nan.",
			eg:    eg("relu(seq(-1, 2))", "0\n0\n1\n"),
			elt:   on1(func(x float64) float64 { return greater(x, 0) }, func(x int64) int64 { return max(x, 0) }),
			loops: op.Loops{F64x1: rectify[float64], F32x1: rectify[float32], I64x1: rectify[int64]},
		},
		{
			name: "ew.log", word: "log", args: []string{"x", "base"}, rule: asFloat, flops: 35,
			doc: "log of two arguments is log(x) / log(base), element by element.",
			eg:  eg("log(8, 2)", "3"),
			elt: on2(log, nil), loops: op.Loops{F64x2: vec.Map2F64(log), F32x2: vec.Map2F32(log)},
		},
		{
			name: "clamp", args: []string{"x", "lo", "hi"}, rule: ordered, flops: 4,
			doc: "clamp is x brought into lo to hi: min(max(x, lo), hi), element by element; nan stays nan.",
			eg:  eg("clamp(seq(0, 4), 1, 2)", "1\n1\n2\n2\n"),
			elt: func(x []value.Scalar) value.Scalar {
				y := on2(greater, func(a, b int64) int64 { return max(a, b) })(x[:2])
				return on2(lesser, func(a, b int64) int64 { return min(a, b) })([]value.Scalar{y, x[2]})
			},
		},
		{
			name: "replace", args: []string{"x", "old", "new"}, flops: 2,
			rule: func(in []types.Elem, s *op.Sig) (types.Elem, bool) { return ordered(in, s) },
			doc:  "replace is new where x equals old, and x elsewhere, element by element; nan equals nan here: replace(x, nan, 0).",
			eg:   eg("replace(seq(0, 3), 1, 7)", "0\n7\n2\n"),
			elt: func(x []value.Scalar) value.Scalar {
				if contains(x[:1], x[1]) {
					return x[2]
				}
				return x[0]
			},
		},
	} {
		out = append(out, r.def(run))
	}
	return out
}

// rectify is the loop of relu.
func rectify[T vec.Number](dst, a []T) {
	for i, v := range a[:len(dst)] {
		if v <= 0 { // -0 too
			v = 0
		}
		dst[i] = v
	}
}
