package define

// This file defines the element rules of the elementwise rows and the constructors of their
// definitions on scalars.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Numeric is the common type of arithmetic; bools become i64.
func Numeric(in []types.Elem, _ *op.Sig) (types.Elem, bool) {
	e, ok := meets(in)
	if e == types.Bool {
		e = types.I64
	}
	return e, ok && e.IsNumeric()
}

// Ordered is the common type of minimum and maximum: numeric types and bool stay what they are.
func Ordered(in []types.Elem, _ *op.Sig) (types.Elem, bool) {
	e, ok := meets(in)
	return e, ok && e.IsNumeric()
}

// AsFloat is the common float type; bool and i64 become f64.
func AsFloat(in []types.Elem, s *op.Sig) (types.Elem, bool) {
	e, ok := Numeric(in, s)
	if e == types.I64 {
		e = types.F64
	}
	return e, ok
}

// Plus is numeric, and str with str.
func Plus(in []types.Elem, s *op.Sig) (types.Elem, bool) {
	if in[0] == types.Str && in[1] == types.Str {
		return types.Str, true
	}
	return Numeric(in, s)
}

// Power is i64 for integers whose exponent is a constant that is not negative, else real.
func Power(in []types.Elem, s *op.Sig) (types.Elem, bool) {
	e, ok := Numeric(in, s)
	if e != types.I64 {
		return e, ok
	}
	if s != nil && len(s.Consts) > 1 {
		if n, is := s.Consts[1].(value.Scalar); is && n.I >= 0 {
			return types.I64, true
		}
	}
	return types.F64, ok
}

// Comparison is bool for anything two elements of which can be compared.
func Comparison(in []types.Elem, _ *op.Sig) (types.Elem, bool) {
	e, ok := meets(in)
	return types.Bool, ok && e != types.Picture
}

// Predicate is bool for one number.
func Predicate(in []types.Elem, _ *op.Sig) (types.Elem, bool) { return types.Bool, in[0].IsNumeric() }

// Logical is bool for bools.
func Logical(in []types.Elem, _ *op.Sig) (types.Elem, bool) {
	for _, e := range in {
		if e != types.Bool {
			return types.Bool, false
		}
	}
	return types.Bool, true
}

// Integral is i64 for integers.
func Integral(in []types.Elem, s *op.Sig) (types.Elem, bool) {
	e, ok := Numeric(in, s)
	return e, ok && e == types.I64
}

// Selection is the common type of the two choices, after a bool.
func Selection(in []types.Elem, _ *op.Sig) (types.Elem, bool) {
	e, ok := meets(in[1:])
	return e, ok && in[0] == types.Bool
}

// Converts is e for any number.
func Converts(e types.Elem) ElementRule {
	return func(in []types.Elem, _ *op.Sig) (types.Elem, bool) { return e, in[0].IsNumeric() }
}

func meets(in []types.Elem) (types.Elem, bool) {
	e := in[0]
	for _, f := range in[1:] {
		w, ok := types.Widen(e, f)
		if !ok {
			return e, false
		}
		e = w
	}
	return e, true
}

// Number is x in element type e, rounded to f32 where that is asked.
func Number(e types.Elem, x float64) value.Scalar {
	if e == types.F32 {
		x = float64(float32(x))
	}
	return value.Scalar{Elem: e, F: x}
}

// On1 is the definition of a function of one number from those on f64 and i64; integers may have
// none.
func On1(f func(float64) float64, i func(int64) int64) func([]value.Scalar) value.Scalar {
	return func(x []value.Scalar) value.Scalar {
		if x[0].Elem.IsFloat() {
			return Number(x[0].Elem, f(x[0].F))
		}
		return value.Scalar{Elem: x[0].Elem, I: i(x[0].I)}
	}
}

// On2 is the definition of a function of two numbers.
func On2(f func(a, b float64) float64, i func(a, b int64) int64) func([]value.Scalar) value.Scalar {
	return func(x []value.Scalar) value.Scalar {
		if x[0].Elem.IsFloat() {
			return Number(x[0].Elem, f(x[0].F, x[1].F))
		}
		return value.Scalar{Elem: x[0].Elem, I: i(x[0].I, x[1].I)}
	}
}

// Compares is the definition of a comparison from what it says of less, equal and greater;
// unordered (NaN) is false but for !=.
func Compares(less, equal, greater, unordered bool) func([]value.Scalar) value.Scalar {
	return func(x []value.Scalar) value.Scalar {
		a, b := x[0], x[1]
		switch {
		case a.Elem.IsFloat() && (math.IsNaN(a.F) || math.IsNaN(b.F)):
			return value.Bool(unordered)
		case a.Elem.IsFloat() && a.F < b.F, a.I < b.I, a.S < b.S:
			return value.Bool(less)
		case a.F == b.F && a.I == b.I && a.S == b.S:
			return value.Bool(equal)
		}
		return value.Bool(greater)
	}
}

// Lesser is the definition of the minimum: NaN wins (over -inf too, unlike math.Min), and -0 is
// less than 0.
func Lesser(a, b float64) float64 {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return math.NaN()
	case a < b || a == b && math.Signbit(a):
		return a
	}
	return b
}

// Greater is the definition of the maximum.
func Greater(a, b float64) float64 { return -Lesser(-a, -b) }

// Extreme is the definition of the minimum (least) or the maximum of two numbers of one type.
func Extreme(a, b value.Scalar, least bool) value.Scalar {
	switch {
	case a.Elem.IsFloat() && least:
		return value.Scalar{Elem: a.Elem, F: Lesser(a.F, b.F)}
	case a.Elem.IsFloat():
		return value.Scalar{Elem: a.Elem, F: Greater(a.F, b.F)}
	case a.I < b.I == least:
		return a
	}
	return b
}
