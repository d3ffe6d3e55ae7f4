package elementwise

// This file defines elementwise rows that are made of others and common enough to have a name:
// sigmoid, relu, clamp, replace, and the logarithm to any base.

import (
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// Shorthands is the rows of this file.
func Shorthands() []*op.Def {
	log := func(x, b float64) float64 { return vec.Log(x) / vec.Log(b) }
	var out []*op.Def
	for _, r := range []Row{
		function("sigmoid", "1 / (1 + exp(-x)), the logistic function.", 20, "sigmoid(0)", "0.5"),
		{
			Name: "relu", Args: []string{"x"}, Rule: define.Numeric, Flops: 1,
			Doc:  "relu is x where it is above 0, else 0; nan stays nan.",
			eg:   define.Eg("relu(seq(-1, 2))", "0\n0\n1\n"),
			Elt:  define.On1(func(x float64) float64 { return define.Greater(x, 0) }, func(x int64) int64 { return max(x, 0) }),
			body: define.RectifyBody,
		},
		{
			Name: "ew.log", word: "log", Args: []string{"x", "base"}, Rule: define.AsFloat, Flops: 35,
			Doc: "log of two arguments is log(x) / log(base), element by element.",
			eg:  define.Eg("log(8, 2)", "3"),
			Elt: define.On2(log, nil), body: define.LogBody,
		},
		{
			Name: "clamp", Args: []string{"x", "lo", "hi"}, Rule: define.Ordered, Flops: 4, body: define.ClampBody,
			Doc: "clamp is x brought into lo to hi: min(max(x, lo), hi), element by element; nan stays nan.",
			eg:  define.Eg("clamp(seq(0, 4), 1, 2)", "1\n1\n2\n2\n"),
			Elt: func(x []value.Scalar) value.Scalar {
				if x[0].Elem.IsFloat() {
					return define.Number(x[0].Elem, define.Lesser(define.Greater(x[0].F, x[1].F), x[2].F))
				}
				return value.Scalar{Elem: x[0].Elem, I: min(max(x[0].I, x[1].I), x[2].I)}
			},
		},
		{
			Name: "replace", Args: []string{"x", "old", "new"}, Flops: 2, body: define.ReplaceBody,
			Rule: define.Ordered,
			Doc:  "replace is new where x equals old, and x elsewhere, element by element; nan equals nan here: replace(x, nan, 0).",
			eg:   define.Eg("replace(seq(0, 3), 1, 7)", "0\n7\n2\n"),
			Elt: func(x []value.Scalar) value.Scalar {
				if define.Contains(x[:1], x[1]) {
					return x[2]
				}
				return x[0]
			},
		},
	} {
		out = append(out, r.Def())
	}
	return out
}
