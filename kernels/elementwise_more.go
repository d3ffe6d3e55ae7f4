package kernels

// This file defines elementwise rows that are made of others and common enough to have a name: sigmoid, relu, clamp,
// replace, and the logarithm to any base.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// shorthands is the rows of this file. clamp and replace have no loop of their own: they run as the chain of rows that they
// stand for.
func shorthands() []*op.Def {
	run := &engine{}
	log := func(x, b float64) float64 { return vec.Log(x) / vec.Log(b) }
	var out []*op.Def
	for _, r := range []row{
		function("sigmoid", "1 / (1 + exp(-x)), the logistic function.", 20, "sigmoid(0)", "0.5"),
		{
			name: "relu", args: []string{"x"}, rule: numeric, flops: 1,
			doc:   "relu is x where it is above 0, else 0; nan stays nan.",
			eg:    eg("relu(seq(-1, 2))", "0\n0\n1\n"),
			elt:   on1(func(x float64) float64 { return greater(x, 0) }, func(x int64) int64 { return max(x, 0) }),
			loops: op.Loops{F64x1: rectify[float64], F32x1: rectify[float32], I64x1: rectify[int64]}, body: rectifyBody,
		},
		{
			name: "ew.log", word: "log", args: []string{"x", "base"}, rule: asFloat, flops: 35,
			doc: "log of two arguments is log(x) / log(base), element by element.",
			eg:  eg("log(8, 2)", "3"),
			elt: on2(log, nil), loops: op.Loops{F64x2: vec.Map2F64(log), F32x2: vec.Map2F32(log)}, body: logBody,
		},
		{
			name: "clamp", args: []string{"x", "lo", "hi"}, rule: ordered, flops: 4, body: clampBody,
			doc: "clamp is x brought into lo to hi: min(max(x, lo), hi), element by element; nan stays nan.",
			eg:  eg("clamp(seq(0, 4), 1, 2)", "1\n1\n2\n2\n"),
			elt: func(x []value.Scalar) value.Scalar {
				if x[0].Elem.IsFloat() {
					return number(x[0].Elem, lesser(greater(x[0].F, x[1].F), x[2].F))
				}
				return value.Scalar{Elem: x[0].Elem, I: min(max(x[0].I, x[1].I), x[2].I)}
			},
		},
		{
			name: "replace", args: []string{"x", "old", "new"}, flops: 2, body: replaceBody,
			rule: ordered,
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

// expansion is a step of a chain: a row on registers, of which the first are the arguments.
type expansion struct {
	def  *op.Def
	args []int
}

// expansions are the rows that run as others, made once. It has no initial value: rows and what runs them refer to it.
var expansions struct {
	once sync.Once
	of   map[string][]expansion
}

// expansionOf is the steps that the row of that name stands for, or none.
func expansionOf(name string) []expansion {
	expansions.once.Do(func() {
		row := map[string]*op.Def{}
		for _, d := range elementwise() {
			row[d.Name] = d
		}
		expansions.of = map[string][]expansion{
			"clamp": {{row["ew.max"], []int{0, 1}}, {row["ew.min"], []int{3, 2}}},
			"replace": {{row["eq"], []int{0, 1}}, {row["isnan"], []int{0}}, {row["isnan"], []int{1}},
				{row["and"], []int{4, 5}}, {row["or"], []int{3, 6}}, {row["ifelse"], []int{7, 2, 0}}},
		}
	})
	return expansions.of[name]
}

// elem is the element type that the step makes of arguments of e.
func (s expansion) elem(e types.Elem) types.Elem {
	if s.def.Loops.CmpF64 != nil || s.def.Name == "and" || s.def.Name == "or" {
		return types.Bool
	}
	return e
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
