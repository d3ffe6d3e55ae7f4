package elementwise

// This file defines the rows of arithmetic (signs, minimum and maximum, integer division, powers), of
// comparison, logic, selection and conversion, and the list of all elementwise rows.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
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
			body: define.Operation(loop.Add),
		},
		{
			Name: "sub", infix: "-", Args: two, Rule: define.Numeric, Flops: 1,
			Doc:  "sub is a - b, element by element.",
			eg:   define.Eg(`2 - 3.5`, "-1.5"),
			Elt:  define.On2(func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b }),
			body: define.Operation(loop.Sub),
		},
		{
			Name: "mul", infix: "*", Args: two, absorbs: op.EachZero, Rule: define.Numeric, Flops: 1, laws: op.Commutes,
			Doc:  "mul is a * b, element by element; the matrix product is @.",
			eg:   define.Eg(`sum(3 * ones(2, 2))`, "12"),
			Elt:  define.On2(func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }),
			body: define.Operation(loop.Mul),
		},
		{
			Name: "div", infix: "/", Args: two, absorbs: op.FirstZero, Rule: define.AsFloat, Flops: 4,
			Doc:  "div is a / b, always as floats: 1 / 2 is 0.5. Integer division is //.",
			eg:   define.Eg(`1 / 2`, "0.5"),
			Elt:  define.On2(func(a, b float64) float64 { return a / b }, nil),
			body: define.Operation(loop.Div),
		},
		Row{
			Name: "idiv", infix: "//", Args: two, absorbs: op.FirstZero, Rule: define.Numeric, Flops: 8, partial: op.NotByZero, body: define.ByType(define.Applies("floorDiv"), define.Operation(loop.IDiv)),
			Doc: "idiv is a / b rounded towards minus infinity: of floats, too, of the exact quotient, which is rounded once where it has more than " +
				"53 bits; an integer division by zero fails the run.",
			eg: define.Eg(`-7 // 2`, "-4"),
		}.defined(func(a, b int64) int64 {
			q := a / b
			if q*b != a && (a < 0) != (b < 0) {
				q--
			}
			return q
		}),
		Row{
			Name: "mod", infix: "%", Args: two, absorbs: op.FirstZero, Rule: define.Numeric, Flops: 10, partial: op.NotByZero, body: define.ByType(define.Applies("mod"), define.Operation(loop.Mod)),
			Doc: "mod is the remainder a - (a // b) b and has the sign of b; of floats it is exact, or that rounded once where a and b differ in sign.",
			eg:  define.Eg(`-7 % 3`, "2"),
		}.defined(func(a, b int64) int64 {
			r := a % b
			if r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}),
		Row{
			Name: "pow", infix: "^", Args: two, Rule: define.Power, Flops: 30, body: define.ByType(define.Applies("pow"), define.PowerBody),
			Doc: "pow is a to the power b; i64 when both are integers and b is a constant that is not negative (a product, which wraps), else float. Of floats " +
				"a ^ 2 is a * a, a ^ 3 is a * a * a, a ^ -1 is 1 / a and, of a that is not negative, a ^ 1.5 is a * sqrt(a) and a ^ 0.5 is sqrt(a), each operation rounded; of f32 they are computed in f64 and rounded once more. Other multiples of 0.5 of size below 16 are good to 2^-100 before they are rounded once, in f64 if the result lies from 2^-480 to 2^480; other powers as follows.",
			eg: define.Eg(`2 ^ 10`, "1024"),
		}.defined(vec.PowerI64),
		{
			Name: "neg", infix: "neg", Args: []string{"x"}, Rule: define.Numeric, Flops: 1, laws: op.Involution,
			Doc:  "neg is -x.",
			eg:   define.Eg(`-(1 + 1)`, "-2"),
			Elt:  define.On1(func(a float64) float64 { return -a }, func(a int64) int64 { return -a }),
			body: define.Operation(loop.Neg),
		},
		{
			Name: "ew.min", word: "min", Args: two, Rule: define.Ordered, Flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			Doc:  "min of two arguments is the lesser of a and b, element by element; nan wins.",
			eg:   define.Eg(`min(2, 3)`, "2"),
			Elt:  define.On2(define.Lesser, func(a, b int64) int64 { return min(a, b) }),
			body: define.OnBools(loop.Min, loop.And),
		},
		{
			Name: "ew.max", word: "max", Args: two, Rule: define.Ordered, Flops: 1, laws: op.Commutes | op.Associates | op.Idempotent,
			Doc:  "max of two arguments is the greater of a and b, element by element; nan wins.",
			eg:   define.Eg(`max(2, 3)`, "3"),
			Elt:  define.On2(define.Greater, func(a, b int64) int64 { return max(a, b) }),
			body: define.OnBools(loop.Max, loop.Or),
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
			body: define.CeilDivBody,
		},
		{
			Name: "madd", hidden: true, Args: []string{"c", "a", "b"}, Flops: 2,
			Rule: func(in []types.Elem, s *op.Sig) (types.Elem, bool) {
				e, ok := define.AsFloat(in, s)
				return e, ok && e == types.F64
			},
			Doc: "madd is c + a * b of f64, rounded once: an element of a product of a column and a row.",
			Elt: func(x []value.Scalar) value.Scalar { return value.F64(math.FMA(x[1].F, x[2].F, x[0].F)) },
			body: func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val {
				return b.Op(loop.FMA, in[1], in[2], in[0])
			},
		},
	}
}

func Rows() []*op.Def {
	var out []*op.Def
	for _, family := range [][]Row{arithmetic(), functions(), specials(), comparisons(), logic(), conversions()} {
		for _, r := range family {
			out = append(out, r.Def())
		}
	}
	return append(out, formatting())
}

func comparisons() []Row {
	two := []string{"a", "b"}
	rows := []Row{
		{
			Name: "eq", infix: "==", Doc: "eq is a == b, element by element; nan equals nothing. identical compares whole values.",
			eg: define.Eg(`2 == 2.0`, "true"), laws: op.Commutes, Elt: define.Compares(false, true, false, false),
			body: define.Operation(loop.Eq),
		},
		{
			Name: "ne", infix: "!=", Doc: "ne is a != b, element by element; nan differs from everything.",
			eg: define.Eg(`2 != 3`, "true"), laws: op.Commutes, Elt: define.Compares(true, false, true, true),
			body: define.Operation(loop.Ne),
		},
		{
			Name: "lt", infix: "<", Doc: "lt is a < b, element by element.", eg: define.Eg(`2 < 3`, "true"),
			Elt:  define.Compares(true, false, false, false),
			body: define.Operation(loop.Lt),
		},
		{
			Name: "le", infix: "<=", Doc: "le is a <= b, element by element.", eg: define.Eg(`"a" <= "b"`, "true"),
			Elt:  define.Compares(true, true, false, false),
			body: define.Operation(loop.Le),
		},
		{
			Name: "gt", infix: ">", Doc: "gt is a > b, element by element.", eg: define.Eg(`2 > 3`, "false"),
			Elt:  define.Compares(false, false, true, false),
			body: define.Swapped(loop.Lt),
		},
		{
			Name: "ge", infix: ">=", Doc: "ge is a >= b, element by element.", eg: define.Eg(`3 >= 3`, "true"),
			Elt:  define.Compares(false, true, true, false),
			body: define.Swapped(loop.Le),
		},
	}
	for i := range rows {
		rows[i].Args, rows[i].Rule, rows[i].Flops, rows[i].operands = two, define.Comparison, 1, op.AsCommon
	}
	return rows
}

func logic() []Row {
	return []Row{
		{
			Name: "and", infix: "and", Args: []string{"a", "b"}, absorbs: op.EachZero, Rule: define.Logical, Flops: 1,
			laws: op.Commutes | op.Associates | op.Idempotent,
			Doc:  "and is true where both are.", eg: define.Eg(`1 < 2 and 2 < 3`, "true"),
			Elt:  func(x []value.Scalar) value.Scalar { return value.Bool(x[0].True() && x[1].True()) },
			body: define.Operation(loop.And),
		},
		{
			Name: "or", infix: "or", Args: []string{"a", "b"}, Rule: define.Logical, Flops: 1,
			laws: op.Commutes | op.Associates | op.Idempotent,
			Doc:  "or is true where one of both is.", eg: define.Eg(`1 > 2 or 2 < 3`, "true"),
			Elt:  func(x []value.Scalar) value.Scalar { return value.Bool(x[0].True() || x[1].True()) },
			body: define.Operation(loop.Or),
		},
		{
			Name: "not", infix: "not", Args: []string{"x"}, Rule: define.Logical, Flops: 1, laws: op.Involution,
			Doc: "not is true where x is false.", eg: define.Eg(`not 1 > 2`, "true"),
			Elt:  func(x []value.Scalar) value.Scalar { return value.Bool(!x[0].True()) },
			body: define.Operation(loop.Not),
		},
		{
			Name: "ifelse", Args: []string{"c", "a", "b"}, Rule: define.Selection, Flops: 1,
			Doc: "ifelse is a where c is true and b elsewhere, element by element; both are computed.",
			eg:  define.Eg(`ifelse(1 < 2, 10, 20)`, "10"),
			Elt: func(x []value.Scalar) value.Scalar {
				if x[0].True() {
					return x[1]
				}
				return x[2]
			},
			operands: op.AsChosen, body: define.Operation(loop.Select),
		},
	}
}

func conversions() []Row {
	rows := []Row{
		{Name: "f64", Doc: "f64 is x as 64-bit floats.", eg: define.Eg(`f64(3)`, "3")},
		{Name: "f32", Doc: "f32 is x as 32-bit floats, rounded to nearest, ties to even.", eg: define.Eg(`f32(0.1)`, "0.1")},
		{Name: "i64", Doc: "i64 is x as integers; floats lose their fraction, and nan, or a float outside of -2^63 to 2^63 - 1, fails the run.",
			eg: define.Eg(`i64(-2.7)`, "-2"), partial: op.InWords},
		{Name: "bool", Doc: "bool is x != 0.", eg: define.Eg(`bool(3)`, "true")},
	}
	for i := range rows {
		e, _ := types.ElemNamed(rows[i].Name)
		rows[i].Args, rows[i].Flops, rows[i].Rule, rows[i].operands = []string{"x"}, 1, define.Converts(e), op.AsGiven
		rows[i].Elt = func(x []value.Scalar) value.Scalar { return x[0].Convert(e) }
		rows[i].body = func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return define.ConvertBody(b, e, in[0]) }
	}
	return rows
}
