package kernels

// This file defines the rows of arithmetic: signs, minimum and maximum, integer division, powers.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/vec"
)

// eg is an example of one expression.
func eg(expr, output string) []op.Example {
	return []op.Example{{Program: "emit " + expr, Output: output}}
}

func arithmetic() []row {
	two := []string{"a", "b"}
	return []row{
		{
			name: "add", infix: "+", args: two, rule: plus, flops: 1, laws: op.Commutes,
			doc: "add is a + b, element by element; of two str it is their concatenation.",
			eg:  eg(`2 + 3`, "5"),
			elt: func(x []value.Scalar) value.Scalar {
				if x[0].S != "" || x[1].S != "" {
					return value.Str(x[0].S + x[1].S)
				}
				return on2(func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b })(x)
			},
			loops: op.Loops{F64x2: vec.AddF64, F32x2: vec.AddF32, I64x2: vec.AddI64}, body: operation(loop.Add),
		},
		{
			name: "sub", infix: "-", args: two, rule: numeric, flops: 1,
			doc:   "sub is a - b, element by element.",
			eg:    eg(`2 - 3.5`, "-1.5"),
			elt:   on2(func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b }),
			loops: op.Loops{F64x2: vec.SubF64, F32x2: vec.SubF32, I64x2: vec.SubI64}, body: operation(loop.Sub),
		},
		{
			name: "mul", infix: "*", args: two, rule: numeric, flops: 1, laws: op.Commutes,
			doc:   "mul is a * b, element by element; the matrix product is @.",
			eg:    eg(`sum(3 * ones(2, 2))`, "12"),
			elt:   on2(func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }),
			loops: op.Loops{F64x2: vec.MulF64, F32x2: vec.MulF32, I64x2: vec.MulI64}, body: operation(loop.Mul),
		},
		{
			name: "div", infix: "/", args: two, rule: asFloat, flops: 4,
			doc:   "div is a / b, always as floats: 1 / 2 is 0.5. Integer division is //.",
			eg:    eg(`1 / 2`, "0.5"),
			elt:   on2(func(a, b float64) float64 { return a / b }, nil),
			loops: op.Loops{F64x2: vec.DivF64, F32x2: vec.DivF32}, body: operation(loop.Div),
		},
		row{
			name: "idiv", infix: "//", args: two, rule: numeric, flops: 8, partial: op.NotByZero, body: byType(applies("floorDiv", "floorDiv"), operation(loop.IDiv)),
			doc: "idiv is a / b rounded towards minus infinity: of floats, too, of the exact quotient, which is rounded once where it has more than " +
				"53 bits; an integer division by zero fails the run.",
			eg: eg(`-7 // 2`, "-4"),
		}.withLoops(func(a, b int64) int64 {
			q := a / b
			if q*b != a && (a < 0) != (b < 0) {
				q--
			}
			return q
		}, vec.IDivI64),
		row{
			name: "mod", infix: "%", args: two, rule: numeric, flops: 10, partial: op.NotByZero, body: byType(applies("mod", "mod"), operation(loop.Mod)),
			doc: "mod is the remainder a - (a // b) b and has the sign of b; of floats it is exact, or that rounded once where a and b differ in sign.",
			eg:  eg(`-7 % 3`, "2"),
		}.withLoops(func(a, b int64) int64 {
			r := a % b
			if r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}, vec.ModI64),
		row{
			name: "pow", infix: "^", args: two, rule: power, flops: 30, body: byType(applies("pow", "pow32"), powerBody),
			doc: "pow is a to the power b; i64 when both are integers and b is a constant that is not negative (a product, which wraps), else float. Of floats " +
				"a ^ 2 is a * a, a ^ 3 is a * a * a, a ^ -1 is 1 / a and, of a that is not negative, a ^ 1.5 is a * sqrt(a) and a ^ 0.5 is sqrt(a), each operation rounded; other powers as follows.",
			eg: eg(`2 ^ 10`, "1024"),
		}.withLoops(vec.PowerI64, vec.PowI64),
		{
			name: "neg", infix: "neg", args: []string{"x"}, rule: numeric, flops: 1, laws: op.Involution,
			doc:   "neg is -x.",
			eg:    eg(`-(1 + 1)`, "-2"),
			elt:   on1(func(a float64) float64 { return -a }, func(a int64) int64 { return -a }),
			loops: op.Loops{F64x1: vec.Neg[float64], F32x1: vec.Neg[float32], I64x1: vec.Neg[int64]}, body: operation(loop.Neg),
		},
		{
			name: "ew.min", word: "min", args: two, rule: ordered, flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			doc: "min of two arguments is the lesser of a and b, element by element; nan wins.",
			eg:  eg(`min(2, 3)`, "2"),
			elt: on2(lesser, func(a, b int64) int64 {
				if b < a {
					return b
				}
				return a
			}),
			loops: op.Loops{F64x2: vec.MinF64, F32x2: vec.MinF32, I64x2: vec.MinI64, Boolx2: vec.And}, body: onBools(loop.Min, loop.And),
		},
		{
			name: "ew.max", word: "max", args: two, rule: ordered, flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			doc: "max of two arguments is the greater of a and b, element by element; nan wins.",
			eg:  eg(`max(2, 3)`, "3"),
			elt: on2(greater, func(a, b int64) int64 {
				if b > a {
					return b
				}
				return a
			}),
			loops: op.Loops{F64x2: vec.MaxF64, F32x2: vec.MaxF32, I64x2: vec.MaxI64, Boolx2: vec.Or}, body: onBools(loop.Max, loop.Or),
		},
		{
			name: "ceildiv", args: two, rule: integral, flops: 8, partial: op.NotByZero,
			doc: "ceildiv is the integer a / b rounded towards plus infinity: how many pieces of b cover a.",
			eg:  eg(`ceildiv(7, 2)`, "4"),
			elt: on2(nil, func(a, b int64) int64 {
				q := a / b
				if q*b != a && (a < 0) == (b < 0) {
					q++
				}
				return q
			}),
			loops: op.Loops{I64x2: vec.CeilDivI64}, body: ceilDivBody,
		},
	}
}
