package elementwise

// This file defines elementwise rows that are made of others and common enough to have a name:
// sigmoid, relu, clamp, replace, and the logarithm to any base.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// Shorthands is the rows of this file. clamp and replace have no loop of their own: they run as the
// chain of rows that they stand for.
func Shorthands() []*op.Def {
	log := func(x, b float64) float64 { return vec.Log(x) / vec.Log(b) }
	var out []*op.Def
	for _, r := range []Row{
		function("sigmoid", "1 / (1 + exp(-x)), the logistic function.", 20, "sigmoid(0)", "0.5"),
		{
			Name: "relu", Args: []string{"x"}, Rule: define.Numeric, Flops: 1,
			Doc:   "relu is x where it is above 0, else 0; nan stays nan.",
			eg:    define.Eg("relu(seq(-1, 2))", "0\n0\n1\n"),
			Elt:   define.On1(func(x float64) float64 { return define.Greater(x, 0) }, func(x int64) int64 { return max(x, 0) }),
			Loops: op.Loops{F64x1: rectify[float64], F32x1: rectify[float32], I64x1: rectify[int64]}, body: define.RectifyBody,
		},
		{
			Name: "ew.log", word: "log", Args: []string{"x", "base"}, Rule: define.AsFloat, Flops: 35,
			Doc: "log of two arguments is log(x) / log(base), element by element.",
			eg:  define.Eg("log(8, 2)", "3"),
			Elt: define.On2(log, nil), Loops: op.Loops{F64x2: vec.Map2F64(log), F32x2: vec.Map2F32(log)}, body: define.LogBody,
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

// Expansion is a step of a chain: a row on registers, of which the first are the arguments.
type Expansion struct {
	Def  *op.Def
	Args []int
}

// expansions are the rows that run as others, made once. It has no initial value: rows and what
// runs them refer to it.
var expansions struct {
	once sync.Once
	of   map[string][]Expansion
}

// ExpansionOf is the steps that the row of that name stands for, or none.
func ExpansionOf(name string) []Expansion {
	expansions.once.Do(func() {
		row := map[string]*op.Def{}
		for _, d := range Rows() {
			row[d.Name] = d
		}
		expansions.of = map[string][]Expansion{
			"clamp": {{row["ew.max"], []int{0, 1}}, {row["ew.min"], []int{3, 2}}},
			"replace": {{row["eq"], []int{0, 1}}, {row["isnan"], []int{0}}, {row["isnan"], []int{1}},
				{row["and"], []int{4, 5}}, {row["or"], []int{3, 6}}, {row["ifelse"], []int{7, 2, 0}}},
		}
	})
	return expansions.of[name]
}

// Elem is the element type that the step makes of arguments of e.
func (s Expansion) Elem(e types.Elem) types.Elem {
	if s.Def.Loops.CmpF64 != nil || s.Def.Name == "and" || s.Def.Name == "or" {
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
