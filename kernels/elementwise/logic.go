package elementwise

// This file defines the rows of comparison, logic, selection and conversion, and the list of all
// elementwise rows.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

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
