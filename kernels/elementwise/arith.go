package elementwise

// This file defines the rows of arithmetic: signs, minimum and maximum, integer division, powers.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/vec"
)

func arithmetic() []Row {
	two := []string{"a", "b"}
	return []Row{
		{
			Name: "add", infix: "+", Args: two, Rule: define.Plus, Flops: 1, laws: op.Commutes,
			Doc: "add is a + b, element by element; of two str it is their concatenation.",
			eg:  define.Eg(`2 + 3`, "5"),
			Elt: func(x []value.Scalar) value.Scalar {
				if x[0].S != "" || x[1].S != "" {
					return value.Str(x[0].S + x[1].S)
				}
				return define.On2(func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b })(x)
			},
			Loops: op.Loops{F64x2: vec.Add[float64], F32x2: vec.Add[float32], I64x2: vec.AddI64}, body: define.Operation(loop.Add),
		},
		{
			Name: "sub", infix: "-", Args: two, Rule: define.Numeric, Flops: 1,
			Doc:   "sub is a - b, element by element.",
			eg:    define.Eg(`2 - 3.5`, "-1.5"),
			Elt:   define.On2(func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b }),
			Loops: op.Loops{F64x2: vec.Sub[float64], F32x2: vec.Sub[float32], I64x2: vec.Sub[int64]}, body: define.Operation(loop.Sub),
		},
		{
			Name: "mul", infix: "*", Args: two, absorbs: op.EachZero, Rule: define.Numeric, Flops: 1, laws: op.Commutes,
			Doc:   "mul is a * b, element by element; the matrix product is @.",
			eg:    define.Eg(`sum(3 * ones(2, 2))`, "12"),
			Elt:   define.On2(func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }),
			Loops: op.Loops{F64x2: vec.MulF64, F32x2: vec.MulF32, I64x2: vec.MulI64}, body: define.Operation(loop.Mul),
		},
		{
			Name: "div", infix: "/", Args: two, absorbs: op.FirstZero, Rule: define.AsFloat, Flops: 4,
			Doc:   "div is a / b, always as floats: 1 / 2 is 0.5. Integer division is //.",
			eg:    define.Eg(`1 / 2`, "0.5"),
			Elt:   define.On2(func(a, b float64) float64 { return a / b }, nil),
			Loops: op.Loops{F64x2: vec.Div[float64], F32x2: vec.Div[float32]}, body: define.Operation(loop.Div),
		},
		Row{
			Name: "idiv", infix: "//", Args: two, absorbs: op.FirstZero, Rule: define.Numeric, Flops: 8, partial: op.NotByZero, body: define.ByType(define.Applies("floorDiv", "floorDiv"), define.Operation(loop.IDiv)),
			Doc: "idiv is a / b rounded towards minus infinity: of floats, too, of the exact quotient, which is rounded once where it has more than " +
				"53 bits; an integer division by zero fails the run.",
			eg: define.Eg(`-7 // 2`, "-4"),
		}.withLoops(func(a, b int64) int64 {
			q := a / b
			if q*b != a && (a < 0) != (b < 0) {
				q--
			}
			return q
		}, vec.IDivI64),
		Row{
			Name: "mod", infix: "%", Args: two, absorbs: op.FirstZero, Rule: define.Numeric, Flops: 10, partial: op.NotByZero, body: define.ByType(define.Applies("mod", "mod"), define.Operation(loop.Mod)),
			Doc: "mod is the remainder a - (a // b) b and has the sign of b; of floats it is exact, or that rounded once where a and b differ in sign.",
			eg:  define.Eg(`-7 % 3`, "2"),
		}.withLoops(func(a, b int64) int64 {
			r := a % b
			if r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}, vec.ModI64),
		Row{
			Name: "pow", infix: "^", Args: two, Rule: define.Power, Flops: 30, body: define.ByType(define.Applies("pow", "pow32"), define.PowerBody),
			Doc: "pow is a to the power b; i64 when both are integers and b is a constant that is not negative (a product, which wraps), else float. Of floats " +
				"a ^ 2 is a * a, a ^ 3 is a * a * a, a ^ -1 is 1 / a and, of a that is not negative, a ^ 1.5 is a * sqrt(a) and a ^ 0.5 is sqrt(a), each operation rounded; other powers as follows.",
			eg: define.Eg(`2 ^ 10`, "1024"),
		}.withLoops(vec.PowerI64, vec.PowI64),
		{
			Name: "neg", infix: "neg", Args: []string{"x"}, Rule: define.Numeric, Flops: 1, laws: op.Involution,
			Doc:   "neg is -x.",
			eg:    define.Eg(`-(1 + 1)`, "-2"),
			Elt:   define.On1(func(a float64) float64 { return -a }, func(a int64) int64 { return -a }),
			Loops: op.Loops{F64x1: vec.Neg[float64], F32x1: vec.Neg[float32], I64x1: vec.Neg[int64]}, body: define.Operation(loop.Neg),
		},
		{
			Name: "ew.min", word: "min", Args: two, Rule: define.Ordered, Flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			Doc: "min of two arguments is the lesser of a and b, element by element; nan wins.",
			eg:  define.Eg(`min(2, 3)`, "2"),
			Elt: define.On2(define.Lesser, func(a, b int64) int64 {
				if b < a {
					return b
				}
				return a
			}),
			Loops: op.Loops{F64x2: vec.MinF64, F32x2: vec.MinF32, I64x2: vec.MinI64, Boolx2: vec.And}, body: define.OnBools(loop.Min, loop.And),
		},
		{
			Name: "ew.max", word: "max", Args: two, Rule: define.Ordered, Flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			Doc: "max of two arguments is the greater of a and b, element by element; nan wins.",
			eg:  define.Eg(`max(2, 3)`, "3"),
			Elt: define.On2(define.Greater, func(a, b int64) int64 {
				if b > a {
					return b
				}
				return a
			}),
			Loops: op.Loops{F64x2: vec.MaxF64, F32x2: vec.MaxF32, I64x2: vec.MaxI64, Boolx2: vec.Or}, body: define.OnBools(loop.Max, loop.Or),
		},
		{
			Name: "ceildiv", Args: two, Rule: define.Integral, Flops: 8, partial: op.NotByZero,
			Doc: "ceildiv is the integer a / b rounded towards plus infinity: how many pieces of b cover a.",
			eg:  define.Eg(`ceildiv(7, 2)`, "4"),
			Elt: define.On2(nil, func(a, b int64) int64 {
				q := a / b
				if q*b != a && (a < 0) == (b < 0) {
					q++
				}
				return q
			}),
			Loops: op.Loops{I64x2: vec.CeilDivI64}, body: define.CeilDivBody,
		},
	}
}
