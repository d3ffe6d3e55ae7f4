package elementwise

// This file defines the rows of functions of one or two floats.

import (
	"fmt"
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// unary is a row of a function of one float; bool and i64 arguments become f64.
func unary(name, doc string, f func(float64) float64, flops float64, example, output string) Row {
	return Row{
		Name: name, Args: []string{"x"}, Rule: define.AsFloat, Flops: flops,
		Doc: name + " is " + doc, eg: define.Eg(example, output),
		Elt: define.On1(f, nil),
	}
}

// function is a row of one of the functions of package vec.
func function(name, doc string, flops float64, example, output string) Row {
	f, ok := vec.FunctionNamed(name)
	if !ok {
		panic("BUG: package vec has no function " + name)
	}
	r := unary(name, doc, f.F, flops, example, output)
	r.Doc += accuracy(f.Ulps, f.Tiny)
	r.body = define.Applies(name)
	r.Elt = byWidth(define.On1(f.F, nil), define.On1(f.F32, nil))
	return r
}

// byWidth is a definition that has one form for f32 and another one for all other numbers.
func byWidth(wide, narrow func(x []value.Scalar) value.Scalar) func(x []value.Scalar) value.Scalar {
	return func(x []value.Scalar) value.Scalar {
		if x[0].Elem == types.F32 {
			return narrow(x)
		}
		return wide(x)
	}
}

// accuracy says how far a function of package vec may be from the exact value.
func accuracy(ulps, below float64) string {
	tiny := ""
	if below > 0 {
		tiny = fmt.Sprintf(" (%v below 2.2e-308, where numbers have fewer bits)", below)
	}
	return fmt.Sprintf(" In f64 it is within %v ulp of the exact value%s, in f32 within %v ulp, and the same bits on every CPU.", ulps, tiny, vec.Ulps32)
}

// defined gives r, of floats, the definition of the function of two numbers that has its name; on is
// its definition on integers.
func (r Row) defined(on func(a, b int64) int64) Row {
	f, ok := vec.Function2Named(r.Name)
	if !ok {
		panic("BUG: package vec has no function " + r.Name)
	}
	r.Elt = byWidth(define.On2(f.F, on), define.On2(f.F32, on))
	if f.Ulps > 0 {
		r.Doc += accuracy(f.Ulps, f.Tiny)
	}
	return r
}

// rounding is a row that makes floats integral and leaves integers alone.
func rounding(name, doc string, f func(float64) float64, code loop.Code, example, output string) Row {
	return Row{
		Name: name, Args: []string{"x"}, Rule: define.Numeric, Flops: 2,
		Doc: name + " is " + doc, eg: define.Eg(example, output),
		Elt:  define.On1(f, func(x int64) int64 { return x }),
		body: define.ByType(define.Operation(code), func(_ *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return in[0] }),
	}
}

func functions() []Row {
	rows := []Row{
		{
			Name: "abs", Args: []string{"x"}, Rule: define.Numeric, Flops: 1,
			Doc: "abs is the absolute value, element by element.",
			eg:  define.Eg(`abs(-2)`, "2"),
			Elt: define.On1(math.Abs, func(x int64) int64 {
				if x < 0 {
					return -x
				}
				return x
			}),
			body: define.Operation(loop.Abs),
		},
		{
			Name: "sign", Args: []string{"x"}, Rule: define.Numeric, Flops: 2,
			Doc: "sign is -1, 0 or 1 as x is negative, zero or positive; a zero keeps its sign and nan stays nan.",
			eg:  define.Eg(`sign(-2.5)`, "-1"),
			Elt: define.On1(vec.Sign, func(x int64) int64 {
				switch {
				case x < 0:
					return -1
				case x > 0:
					return 1
				}
				return 0
			}),
			body: define.SignBody,
		},
		{
			Name: "sqrt", Args: []string{"x"}, Rule: define.AsFloat, Flops: 5,
			Doc:  "sqrt is the square root, correctly rounded; nan below zero.",
			eg:   define.Eg(`sqrt(16)`, "4"),
			Elt:  define.On1(math.Sqrt, nil),
			body: define.Operation(loop.Sqrt),
		},
		Row{
			Name: "atan2", Args: []string{"y", "x"}, Rule: define.AsFloat, Flops: 30, body: define.Applies("atan2"),
			Doc: "atan2 is the angle of the point (x, y) in radians, in -pi to pi.",
			eg:  define.Eg(`atan2(0, 1)`, "0"),
		}.defined(nil),
		rounding("round", "the nearest integral number, halves to the even one.", math.RoundToEven, loop.Nearest, `round(2.5)`, "2"),
		rounding("floor", "the greatest integral number that is not above x.", math.Floor, loop.Floor, `floor(-2.5)`, "-3"),
		rounding("ceil", "the least integral number that is not below x.", math.Ceil, loop.Ceil, `ceil(2.5)`, "3"),
	}
	rows = append(rows,
		function("exp", "e to the power x.", 15, `exp(0)`, "1"),
		function("expm1", "e to the power x, less 1, accurate near zero.", 20, `expm1(0)`, "0"),
		function("log", "the natural logarithm; nan below zero.", 15, `log(1)`, "0"),
		function("log2", "the logarithm to base 2.", 20, `log2(8)`, "3"),
		function("log10", "the logarithm to base 10.", 20, `log10(1)`, "0"),
		function("log1p", "the natural logarithm of 1 + x, accurate near zero.", 20, `log1p(0)`, "0"),
		function("sin", "the sine of x radians.", 15, `sin(0)`, "0"),
		function("cos", "the cosine of x radians.", 15, `cos(0)`, "1"),
		function("tan", "the tangent of x radians.", 20, `tan(0)`, "0"),
		function("asin", "the angle whose sine is x, in radians; nan beyond -1 to 1.", 20, `asin(0)`, "0"),
		function("acos", "the angle whose cosine is x, in radians; nan beyond -1 to 1.", 20, `acos(1)`, "0"),
		function("atan", "the angle whose tangent is x, in radians.", 20, `atan(0)`, "0"),
		function("cbrt", "the cube root.", 20, `cbrt(27)`, "3"),
		function("sinh", "the hyperbolic sine.", 20, `sinh(0)`, "0"),
		function("cosh", "the hyperbolic cosine.", 20, `cosh(0)`, "1"),
		function("rsqrt", "1 over the square root: infinity with its sign at a zero, nan below.", 15, `rsqrt(16)`, "0.25"),
		function("tanh", "the hyperbolic tangent.", 20, `tanh(0)`, "0"),
	)
	return append(rows,
		Row{
			Name: "isnan", Args: []string{"x"}, Rule: define.Predicate, Flops: 1, body: define.NanBody,
			Doc:      "isnan is true where x is not a number.",
			eg:       define.Eg(`isnan(0 / 0)`, "true"),
			Elt:      func(x []value.Scalar) value.Scalar { return value.Bool(math.IsNaN(x[0].Float())) },
			operands: op.AsCommon,
		},
		Row{
			Name: "isinf", Args: []string{"x"}, Rule: define.Predicate, Flops: 1, body: define.InfBody,
			Doc:      "isinf is true where x is inf or -inf.",
			eg:       define.Eg(`isinf(1 / 0)`, "true"),
			Elt:      func(x []value.Scalar) value.Scalar { return value.Bool(math.IsInf(x[0].Float(), 0)) },
			operands: op.AsCommon,
		})
}

func specials() []Row {
	docs := map[string]struct{ doc, example, value, arg string }{
		"erf":  {"the error function, 2 / sqrt(pi) times the integral of exp(-t^2) over t from 0 to x.", "erf(0)", "0", "x"},
		"erfc": {"1 - erf(x), which keeps its digits where erf(x) is near 1.", "erfc(0)", "1", "x"},
		"gamma": {"the gamma function, (x - 1)! of whole x; inf or -inf at a zero, as its sign says, and nan at the negative integers, where the " +
			"sides have different signs.", "gamma(5)", "24", "x"},
		"lgamma":       {"the natural logarithm of the absolute value of gamma(x), which does not overflow; inf at 0, -1, -2, ..", "lgamma(1)", "0", "x"},
		"normcdf":      {"the probability that a standard normal number is at most x.", "normcdf(0)", "0.5", "x"},
		"normquantile": {"the x with normcdf(x) = p, for p from 0 to 1: -inf at 0, inf at 1, nan outside.", "normquantile(0.5)", "0", "p"},
	}
	var rows []Row
	for _, f := range vec.Special {
		d := docs[f.Name]
		r := unary(f.Name, d.doc, f.F, 40, d.example, d.value)
		r.Args = []string{d.arg}
		if (loop.Standard{}).Function(f.Name) != nil {
			r.body = define.Applies(f.Name)
		} else { // its rounds differ from number to number
			r.Native = func(x []float64) float64 { return f.F(x[0]) }
		}
		r.Doc += fmt.Sprintf(" In f64 it is within %v ulp of the exact value where that is above 2.2e-308 in size", f.Ulps)
		if f.Near > 0 {
			r.Doc += fmt.Sprintf(" (below 0, where it crosses zero, within %v ulp of the greater of its size and %v)", f.Ulps, f.Near)
		}
		r.Doc += ", and the same bits on every CPU; in f32 that is rounded."
		rows = append(rows, r)
	}
	return rows
}

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
