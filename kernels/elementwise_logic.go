package kernels

// This file defines the rows of comparison, logic, selection and conversion, and the list of all elementwise rows.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// elementwise is the rows of the elementwise family.
func elementwise() []*op.Def {
	run := &engine{}
	var out []*op.Def
	for _, family := range [][]row{arithmetic(), functions(), specials(), comparisons(), logic(), conversions()} {
		for _, r := range family {
			out = append(out, r.def(run))
		}
	}
	return append(out, formatting())
}

func comparisons() []row {
	two := []string{"a", "b"}
	rows := []row{
		{
			name: "eq", infix: "==", doc: "eq is a == b, element by element; nan equals nothing. identical compares whole values.",
			eg: eg(`2 == 2.0`, "true"), laws: op.Commutes, elt: compares(false, true, false, false),
			loops: op.Loops{CmpF64: vec.EqF64, CmpF32: vec.Eq[float32], CmpI64: vec.EqI64, Boolx2: vec.EqBool}, body: operation(loop.Eq),
		},
		{
			name: "ne", infix: "!=", doc: "ne is a != b, element by element; nan differs from everything.",
			eg: eg(`2 != 3`, "true"), laws: op.Commutes, elt: compares(true, false, true, true),
			loops: op.Loops{CmpF64: vec.NeF64, CmpF32: vec.Ne[float32], CmpI64: vec.NeI64, Boolx2: vec.NeBool}, body: operation(loop.Ne),
		},
		{
			name: "lt", infix: "<", doc: "lt is a < b, element by element.", eg: eg(`2 < 3`, "true"),
			elt:   compares(true, false, false, false),
			loops: op.Loops{CmpF64: vec.LtF64, CmpF32: vec.Lt[float32], CmpI64: vec.LtI64, Boolx2: vec.LtBool}, body: operation(loop.Lt),
		},
		{
			name: "le", infix: "<=", doc: "le is a <= b, element by element.", eg: eg(`"a" <= "b"`, "true"),
			elt:   compares(true, true, false, false),
			loops: op.Loops{CmpF64: vec.LeF64, CmpF32: vec.Le[float32], CmpI64: vec.LeI64, Boolx2: vec.LeBool}, body: operation(loop.Le),
		},
		{
			name: "gt", infix: ">", doc: "gt is a > b, element by element.", eg: eg(`2 > 3`, "false"),
			elt:   compares(false, false, true, false),
			loops: op.Loops{CmpF64: vec.GtF64, CmpF32: vec.Gt[float32], CmpI64: vec.GtI64, Boolx2: vec.GtBool}, body: swapped(loop.Lt),
		},
		{
			name: "ge", infix: ">=", doc: "ge is a >= b, element by element.", eg: eg(`3 >= 3`, "true"),
			elt:   compares(false, true, true, false),
			loops: op.Loops{CmpF64: vec.GeF64, CmpF32: vec.Ge[float32], CmpI64: vec.GeI64, Boolx2: vec.GeBool}, body: swapped(loop.Le),
		},
	}
	for i := range rows {
		rows[i].args, rows[i].rule, rows[i].flops = two, comparison, 1
	}
	return rows
}

func logic() []row {
	return []row{
		{
			name: "and", infix: "and", args: []string{"a", "b"}, rule: logical, flops: 1,
			laws: op.Commutes | op.Associates | op.Idempotent,
			doc:  "and is true where both are.", eg: eg(`1 < 2 and 2 < 3`, "true"),
			elt:   func(x []value.Scalar) value.Scalar { return value.Bool(x[0].True() && x[1].True()) },
			loops: op.Loops{Boolx2: vec.And}, body: operation(loop.And),
		},
		{
			name: "or", infix: "or", args: []string{"a", "b"}, rule: logical, flops: 1,
			laws: op.Commutes | op.Associates | op.Idempotent,
			doc:  "or is true where one of both is.", eg: eg(`1 > 2 or 2 < 3`, "true"),
			elt:   func(x []value.Scalar) value.Scalar { return value.Bool(x[0].True() || x[1].True()) },
			loops: op.Loops{Boolx2: vec.Or}, body: operation(loop.Or),
		},
		{
			name: "not", infix: "not", args: []string{"x"}, rule: logical, flops: 1, laws: op.Involution,
			doc: "not is true where x is false.", eg: eg(`not 1 > 2`, "true"),
			elt:   func(x []value.Scalar) value.Scalar { return value.Bool(!x[0].True()) },
			loops: op.Loops{Boolx1: vec.Not}, body: operation(loop.Not),
		},
		{
			name: "ifelse", args: []string{"c", "a", "b"}, rule: selection, flops: 1,
			doc: "ifelse is a where c is true and b elsewhere, element by element; both are computed.",
			eg:  eg(`ifelse(1 < 2, 10, 20)`, "10"),
			elt: func(x []value.Scalar) value.Scalar {
				if x[0].True() {
					return x[1]
				}
				return x[2]
			},
			loops: op.Loops{SelF64: vec.SelectF64, SelF32: vec.SelectF32, SelI64: vec.SelectI64}, body: operation(loop.Select),
		},
	}
}

func conversions() []row {
	rows := []row{
		{name: "f64", doc: "f64 is x as 64-bit floats.", eg: eg(`f64(3)`, "3")},
		{name: "f32", doc: "f32 is x as 32-bit floats, rounded to nearest, ties to even.", eg: eg(`f32(0.1)`, "0.1")},
		{name: "i64", doc: "i64 is x as integers; floats lose their fraction, and nan, or a float outside of -2^63 to 2^63 - 1, fails the run.",
			eg: eg(`i64(-2.7)`, "-2"), partial: op.InWords},
		{name: "bool", doc: "bool is x != 0.", eg: eg(`bool(3)`, "true")},
	}
	for i := range rows {
		e, _ := types.ElemNamed(rows[i].name)
		rows[i].args, rows[i].flops, rows[i].rule = []string{"x"}, 1, converts(e)
		rows[i].elt = func(x []value.Scalar) value.Scalar { return x[0].Convert(e) }
		rows[i].body = func(b *loop.Builder, _ types.Elem, in []loop.Val) loop.Val { return convertBody(b, e, in[0]) }
	}
	return rows
}
