package elementwise

// This file defines the rows of the special functions: the error function, the gamma function and
// the normal distribution.

import (
	"fmt"

	"flow/ir/loop"
	"flow/kernels/define"
	"flow/kernels/vec"
)

// specials is the rows of this file.
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
