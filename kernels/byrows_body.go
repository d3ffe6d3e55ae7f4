package kernels

// This file writes the body of `byrows` as the body of a loop over rows.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/nest"
	"flow/kernels/reduce"
)

// oneRow is a body on matrices of so many rows as the body for one of them. Its first argument is
// the number of the row. A pipe becomes the chain and its reductions. nil where something has no
// such form.
func oneRow(b *op.Body, rows int) *nest.RowsBody {
	one := func(t types.Type) types.Type {
		if t.IsDense() && t.Rows == rows {
			t.Rows = 1
		}
		return t
	}
	out := &nest.RowsBody{Body: &op.Body{Args: []types.Type{types.ScalarOf(types.I64)}}, Varies: []bool{true}, ByRow: []bool{false}}
	to := make([]int, len(b.Args)+len(b.Acts)) // of a register: its number in out
	several := map[int][]int{}                 // of a register that is several results
	totals := map[int]nest.RowResult{}         // of a register that is of all elements
	for r, t := range b.Args {
		own := t.IsDense() && t.Rows == rows
		to[r] = len(out.Args)
		out.Args = append(out.Args, one(t))
		out.ByRow, out.Varies = append(out.ByRow, own), append(out.Varies, own)
	}
	add := func(a op.Action) int {
		out.Acts = append(out.Acts, a)
		varies := false
		for _, x := range a.Args {
			varies = varies || out.Varies[x]
		}
		out.Varies = append(out.Varies, varies)
		return len(out.Args) + len(out.Acts) - 1
	}
	for k := range b.Acts {
		a, r := &b.Acts[k], len(b.Args)+k
		args := make([]int, len(a.Args))
		for k, x := range a.Args {
			args[k] = to[x]
		}
		if a.Def.Control == op.Part {
			x, at := a.Args[0], a.Attrs.Int("at")
			if to[r] = several[x][at]; to[r] < 0 {
				totals[r] = totals[^to[r]]
			}
			continue
		}
		folds, is := foldsNamed(a.Attrs.Str("fold"))
		if a.Chain == nil || !is {
			to[r] = add(op.Action{Def: a.Def, Attrs: a.Attrs, Type: one(a.Type), Args: args, Chain: a.Chain})
			continue
		}
		chain := add(op.Action{Def: a.Def, Type: types.DenseOf(a.Chain.Elem(), 1, a.Attrs.Int("cols")), Args: args, Chain: a.Chain})
		results := []types.Type{a.Type}
		if a.Type.Kind == types.Tuple {
			results = results[:0]
			for _, f := range a.Type.Ext.Fields {
				results = append(results, f.Type)
			}
		}
		var list []int
		for k, f := range folds {
			switch {
			case f == nil:
				list = append(list, chain)
			case f.Axis == reduce.OverRows:
				list = append(list, add(op.Action{Def: f.Def, Type: one(results[k]), Args: []int{chain}}))
			case f.Def.Class == loop.NoClass:
				return nil
			default: // ^i of several stands for total i
				i := len(totals) + len(to)
				totals[i] = nest.RowResult{Register: chain, Total: f.Def, Type: results[k]}
				list = append(list, ^i)
			}
		}
		if several[r] = list; a.Type.Kind != types.Tuple {
			if to[r] = list[0]; to[r] < 0 {
				totals[r] = totals[^to[r]]
			}
		}
	}
	for _, y := range b.Yields {
		res, total := totals[y]
		if !total {
			res = nest.RowResult{Register: to[y], Type: b.Register(y)}
		}
		out.Results = append(out.Results, res)
		out.Yields = append(out.Yields, res.Register)
	}
	if slices.ContainsFunc(out.Results, func(r nest.RowResult) bool { return !out.Varies[r.Register] }) {
		return nil
	}
	return out
}
