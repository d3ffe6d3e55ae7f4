package kernels

// This file defines the bodies of elementwise rows: what each is in a loop, for one element.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// body is an operator on one element: see op.Def.Body.
type body func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val

// operation is a body of one scalar operation.
func operation(c loop.Code) body {
	return func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return b.Op(c, in...) }
}

// swapped is a scalar operation on operands that have changed places.
func swapped(c loop.Code) body {
	return func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return b.Op(c, in[1], in[0]) }
}

// onBools is one operation on numbers and another on bools.
func onBools(numbers, bools loop.Code) body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out == types.Bool {
			return b.Op(bools, in...)
		}
		return b.Op(numbers, in...)
	}
}

// byType is one body for floats and another for integers.
func byType(floats, ints body) body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out.IsFloat() {
			return floats(b, out, in)
		}
		return ints(b, out, in)
	}
}

// applies is a function of the library; of f32 the function narrow on f64, rounded.
func applies(wide, narrow string) body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out == types.F64 {
			return apply(b, wide, in...)
		}
		x := make([]loop.Val, len(in))
		for k, v := range in {
			x[k] = b.Op(loop.ToF64, v)
		}
		return b.Op(loop.ToF32, apply(b, narrow, x...))
	}
}

func apply(b *loop.Builder, name string, in ...loop.Val) loop.Val {
	return b.Apply(loop.Standard{}.Function(name), in...)[0]
}

// narrowFunction is the name of a function's form for f32: its own where there is none.
func narrowFunction(name string) string {
	if n := name + "32"; (loop.Standard{}).Function(n) != nil {
		return n
	}
	return name
}

// numeral is a small whole number as an element of e.
func numeral(b *loop.Builder, e types.Elem, n int) loop.Val {
	switch e {
	case types.F64:
		return b.Const(e, math.Float64bits(float64(n)))
	case types.F32:
		return b.Const(e, uint64(math.Float32bits(float32(n))))
	}
	return b.Const(e, uint64(int64(n)))
}

// convertBody is a number as an element of e.
func convertBody(b *loop.Builder, e types.Elem, x loop.Val) loop.Val {
	if b.Type(x) == e {
		return x
	}
	return b.Op(map[types.Elem]loop.Code{types.F64: loop.ToF64, types.F32: loop.ToF32, types.I64: loop.ToI64, types.Bool: loop.ToBool}[e], x)
}

func signBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	zero := numeral(b, out, 0)
	above, below := b.Op(loop.Lt, zero, in[0]), b.Op(loop.Lt, in[0], zero)
	return b.Op(loop.Select, above, numeral(b, out, 1), b.Op(loop.Select, below, numeral(b, out, -1), in[0]))
}

// powerBody is the power of an integer with an exponent that is not negative, by squaring.
func powerBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	zero, one := numeral(b, out, 0), numeral(b, out, 1)
	x := loop.Index{Name: b.Name("square"), Range: loop.Range{Kind: loop.Forever, By: 1}}
	return b.For(x, []loop.Val{one, in[0], in[1]}, func(c []loop.Val) []loop.Val {
		b.Break(b.Op(loop.Le, c[2], zero))
		odd := b.Op(loop.ToBool, b.Op(loop.And, c[2], one))
		return []loop.Val{b.Op(loop.Select, odd, b.Op(loop.Mul, c[0], c[1]), c[0]), b.Op(loop.Mul, c[1], c[1]), b.Op(loop.Sar, c[2], one)}
	})[0]
}

// ceilDivBody is the quotient rounded towards plus infinity: the negated quotient of -a rounded down, but that the least integer has no
// negation, so that the remainder decides.
func ceilDivBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	q := b.Op(loop.IDiv, in...)
	exact := b.Op(loop.Eq, b.Op(loop.Mul, q, in[1]), in[0])
	return b.Op(loop.Select, exact, q, b.Op(loop.Add, q, numeral(b, out, 1)))
}

func nanBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
	if !b.Type(in[0]).IsFloat() {
		return b.Const(types.Bool, 0)
	}
	return b.Op(loop.Ne, in[0], in[0])
}

func infBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
	inf := uint64(0)
	switch b.Type(in[0]) {
	case types.F64:
		inf = math.Float64bits(math.Inf(1))
	case types.F32:
		inf = uint64(math.Float32bits(float32(math.Inf(1))))
	default:
		return b.Const(types.Bool, 0)
	}
	return b.Op(loop.Eq, b.Op(loop.Abs, in[0]), b.Const(b.Type(in[0]), inf))
}

func rectifyBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	return b.Op(loop.Max, in[0], numeral(b, out, 0))
}

// logBody divides two logarithms; of f32 both are taken, and divided, in f64.
func logBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	x, y := convertBody(b, types.F64, in[0]), convertBody(b, types.F64, in[1])
	return convertBody(b, out, b.Op(loop.Div, apply(b, "log", x), apply(b, "log", y)))
}

func clampBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	least, greatest := onBools(loop.Min, loop.And), onBools(loop.Max, loop.Or)
	return least(b, out, []loop.Val{greatest(b, out, in[:2]), in[2]})
}

func replaceBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
	same := b.Op(loop.Eq, in[0], in[1])
	if b.Type(in[0]).IsFloat() {
		same = b.Op(loop.Or, same, b.Op(loop.And, b.Op(loop.Ne, in[0], in[0]), b.Op(loop.Ne, in[1], in[1])))
	}
	return b.Op(loop.Select, same, in[2], in[0])
}
