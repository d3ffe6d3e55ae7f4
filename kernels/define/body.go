package define

// This file defines the bodies of elementwise rows: what each is in a loop, for one element.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

// Body is an operator on one element: see op.Def.Body.
type Body func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val

// Operation is a body of one scalar operation.
func Operation(c loop.Code) Body {
	return func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return b.Op(c, in...) }
}

// Swapped is a scalar operation on operands that have changed places.
func Swapped(c loop.Code) Body {
	return func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return b.Op(c, in[1], in[0]) }
}

// OnBools is one operation on numbers and another on bools.
func OnBools(numbers, bools loop.Code) Body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out == types.Bool {
			return b.Op(bools, in...)
		}
		return b.Op(numbers, in...)
	}
}

// ByType is one body for floats and another for integers.
func ByType(floats, ints Body) Body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out.IsFloat() {
			return floats(b, out, in)
		}
		return ints(b, out, in)
	}
}

// Applies is a function of the library; of f32 its form for f32 on f64, rounded, or itself where it has
// none.
func Applies(name string) Body {
	return func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
		if out == types.F64 {
			return Apply(b, name, in...)
		}
		x := make([]loop.Val, len(in))
		for k, v := range in {
			x[k] = b.Op(loop.ToF64, v)
		}
		narrow := (loop.Standard{}).Function(name + "32")
		if narrow == nil {
			return b.Op(loop.ToF32, Apply(b, name, x...))
		}
		return b.Op(loop.ToF32, b.Apply(narrow, x...)[0])
	}
}

// Apply calls the function of that name of the library of loops.
func Apply(b *loop.Builder, name string, in ...loop.Val) loop.Val {
	return b.Apply(loop.Standard{}.Function(name), in...)[0]
}

// Numeral is a small whole number as an element of e.
func Numeral(b *loop.Builder, e types.Elem, n int) loop.Val {
	switch e {
	case types.F64:
		return b.Const(e, math.Float64bits(float64(n)))
	case types.F32:
		return b.Const(e, uint64(math.Float32bits(float32(n))))
	}
	return b.Const(e, uint64(int64(n)))
}

// ConvertBody is a number as an element of e.
func ConvertBody(b *loop.Builder, e types.Elem, x loop.Val) loop.Val {
	if b.Type(x) == e {
		return x
	}
	return b.Op(map[types.Elem]loop.Code{types.F64: loop.ToF64, types.F32: loop.ToF32, types.I64: loop.ToI64, types.Bool: loop.ToBool}[e], x)
}

// SignBody is sign: -1, 0 or 1.
func SignBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	zero := Numeral(b, out, 0)
	above, below := b.Op(loop.Lt, zero, in[0]), b.Op(loop.Lt, in[0], zero)
	return b.Op(loop.Select, above, Numeral(b, out, 1), b.Op(loop.Select, below, Numeral(b, out, -1), in[0]))
}

// PowerBody is the power of an integer with an exponent that is not negative, by squaring.
func PowerBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	zero, one := Numeral(b, out, 0), Numeral(b, out, 1)
	x := loop.Index{Name: b.Name("square"), Range: loop.Range{Kind: loop.Forever, By: 1}}
	return b.For(x, []loop.Val{one, in[0], in[1]}, func(c []loop.Val) []loop.Val {
		b.Break(b.Op(loop.Le, c[2], zero))
		odd := b.Op(loop.ToBool, b.Op(loop.And, c[2], one))
		return []loop.Val{b.Op(loop.Select, odd, b.Op(loop.Mul, c[0], c[1]), c[0]), b.Op(loop.Mul, c[1], c[1]), b.Op(loop.Sar, c[2], one)}
	})[0]
}

// CeilDivBody is the quotient rounded towards plus infinity: the negated quotient of -a rounded
// down, but that the least integer has no negation, so that the remainder decides.
func CeilDivBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	q := b.Op(loop.IDiv, in...)
	exact := b.Op(loop.Eq, b.Op(loop.Mul, q, in[1]), in[0])
	return b.Op(loop.Select, exact, q, b.Op(loop.Add, q, Numeral(b, out, 1)))
}

// NanBody is isnan, which is false for integers.
func NanBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
	if !b.Type(in[0]).IsFloat() {
		return b.Const(types.Bool, 0)
	}
	return b.Op(loop.Ne, in[0], in[0])
}

// InfBody is isinf, which is false for integers.
func InfBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
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

// RectifyBody is relu.
func RectifyBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	return b.Op(loop.Max, in[0], Numeral(b, out, 0))
}

// LogBody divides two logarithms; of f32 both are taken, and divided, in f64.
func LogBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	x, y := ConvertBody(b, types.F64, in[0]), ConvertBody(b, types.F64, in[1])
	return ConvertBody(b, out, b.Op(loop.Div, Apply(b, "log", x), Apply(b, "log", y)))
}

// ClampBody is clamp: the maximum with the lower bound, then the minimum with the upper.
func ClampBody(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val {
	least, greatest := OnBools(loop.Min, loop.And), OnBools(loop.Max, loop.Or)
	return least(b, out, []loop.Val{greatest(b, out, in[:2]), in[2]})
}

// ReplaceBody is replace: the new value where x is the old one, or where both are nan.
func ReplaceBody(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
	same := b.Op(loop.Eq, in[0], in[1])
	if b.Type(in[0]).IsFloat() {
		same = b.Op(loop.Or, same, b.Op(loop.And, b.Op(loop.Ne, in[0], in[0]), b.Op(loop.Ne, in[1], in[1])))
	}
	return b.Op(loop.Select, same, in[2], in[0])
}

// Unrolled is the most elements of a matrix that is held, and the most terms of a reduction that is
// written out.
const Unrolled = 64

// WrittenLines is up to how many lines of a matrix a loop over them is written out.
const WrittenLines = 16

// Written is a matrix of the body by its elements, which are numbers of e; nil where it has too
// many of them.
func Written(e *op.Elements, x op.Source, elem types.Elem) [][]loop.Val {
	if !x.Rows.Known() || !x.Cols.Known() || x.Rows.Const*x.Cols.Const > Unrolled {
		return nil
	}
	m := make([][]loop.Val, x.Rows.Const)
	for i := range m {
		m[i] = make([]loop.Val, x.Cols.Const)
		for j := range m[i] {
			m[i][j] = ConvertBody(e.B, dense.Storage(elem), x.At(loop.Num(int64(i)), loop.Num(int64(j))))
		}
	}
	return m
}

// Picked is the elements of a matrix that are listed row by row.
func Picked(e *op.Elements, m [][]loop.Val) op.Element {
	var list []loop.Val
	for _, row := range m {
		list = append(list, row...)
	}
	return e.Held(list)
}
