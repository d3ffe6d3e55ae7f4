package kernels

// This file runs `byrows` on some rows by the kernels of its operators: on a rank that makes only its
// own rows, where no loop can run or one has no value of some rows.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/nest"
)

// rowsMade returns the rows that ranks may share: all, if every result has a row for each.
func rowsMade(s *op.Sig, out types.Type) int {
	rows := s.Attrs.Int("rows")
	results := []types.Type{out}
	if out.Kind == types.Tuple {
		results = results[:0]
		for _, f := range out.Ext.Fields {
			results = append(results, f.Type)
		}
	}
	for _, t := range results {
		if !t.IsDense() || t.Rows != rows || s.Attrs.Int("panel") > 0 {
			return 0
		}
	}
	return rows
}

// rowsOneByOne makes rows lo..hi-1 of the results by the kernels of the operators.
func (x *byRowsRun) rowsOneByOne(lo, hi int) error {
	rows := x.code.rows
	part := func(v value.Value) value.Value {
		if d, ok := v.(*value.Dense); ok && d.Rows == rows {
			return d.View(lo, 0, hi-lo, d.Cols)
		}
		return v
	}
	in := make([]value.Value, len(x.c.In))
	for k, v := range x.c.In {
		in[k] = part(v)
	}
	out, err := nest.NewInterpreter(bodyOfRows(x.code.body, rows, hi-lo), nil, false, x.c, nil, nil).On(in)
	if err != nil {
		return err
	}
	for k, v := range out {
		d, _ := x.lent(k)
		part(d).(*value.Dense).CopyFrom(v.(*value.Dense))
	}
	return nil
}

// bodyOfRows returns a body on matrices of so many rows as that on n of them.
func bodyOfRows(b *op.Body, rows, n int) *op.Body {
	fewer := func(t types.Type) types.Type {
		if t.IsDense() && t.Rows == rows {
			t.Rows = n
		}
		return t
	}
	out := &op.Body{Yields: b.Yields}
	for _, t := range b.Args {
		out.Args = append(out.Args, fewer(t))
	}
	for _, a := range b.Acts {
		if a.Type.Kind != types.Tuple {
			a.Type = fewer(a.Type)
		} else {
			var list []types.Type
			for _, f := range a.Type.Ext.Fields {
				list = append(list, fewer(f.Type))
			}
			a.Type = types.TupleOf(list...)
		}
		if a.Attrs.Int("rows") == rows {
			a.Attrs = a.Attrs.With("rows", op.Int(n))
		}
		out.Acts = append(out.Acts, a)
	}
	return out
}
