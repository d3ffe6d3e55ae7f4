package encode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/linalg"
	"flow/kernels/rowtest"
)

// TestWeights compares ctable with weights or crop with its definition. Codes and weights take several
// blocks, lie in a column of a matrix, or are invalid.
func TestWeights(t *testing.T) {
	row := rowtest.RowNamed(t, define.Resolved(Rows()), "ctable.weights")
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []types.Elem{types.F64, types.F32, types.I64, types.Bool}
	done := 0
	for k := range 200 {
		rows, n, m := r.IntN(1500), 1+r.IntN(9), 1+r.IntN(9)
		column := func(k int) *value.Dense {
			x := rowtest.RandomDense(r, numbers[r.IntN(3)], rows, 3).View(0, 1, rows, 1)
			for i := range rows {
				x.Set(i, 0, value.I64(r.Int64N(int64(k))).Convert(x.Elem))
			}
			return x
		}
		in := []value.Value{column(n), column(m)}
		attrs := []op.Attr{rowtest.Attr("n", op.Int(n)), rowtest.Attr("m", op.Int(m))}
		switch k % 4 {
		case 0:
			attrs = append(attrs, rowtest.Attr("sparse", op.Bool(true)))
		case 1:
			attrs = nil
		case 2: // codes beyond the table, negative ones too
			in[0] = column(2*n + 1)
			for i := range rows {
				if a := in[0].(*value.Dense); a.Elem == types.I64 && r.IntN(5) == 0 {
					a.Set(i, 0, value.I64(-1))
				}
			}
			attrs = append(attrs, rowtest.Attr("crop", op.Bool(r.IntN(4) > 0)))
		}
		if k%4 != 2 || r.IntN(2) == 0 {
			w := rowtest.RandomDense(r, numbers[r.IntN(4)], rows, 2)
			in = append(in, w.View(0, r.IntN(2), rows, 1))
		}
		if rows > 0 && r.IntN(9) == 0 {
			x := in[r.IntN(2)].(*value.Dense)
			x.Set(r.IntN(rows), 0, value.F64([]float64{-2, 0.5, 100}[r.IntN(3)]).Convert(x.Elem))
		}
		if _, ok := rowtest.Check(t, row, op.MakeAttrs(attrs...), in); ok {
			done++
		}
	}
	if done < 120 {
		t.Errorf("only %d calls succeeded", done)
	}
}

// TestTurns makes tables in steps of some rows of each panel, in which the table of the step before is
// continued. The test compares the last tables with the definition. Some steps add nothing to a panel,
// some calls have a wrong code, and some numbers are infinite.
func TestTurns(t *testing.T) {
	defs := define.Resolved(Rows())
	r := rand.New(rand.NewPCG(7, 8))
	failed := 0
	for k := range 150 {
		rows, steps, panel := r.IntN(40), 1+r.IntN(4), 0
		codes := func(n int) *value.Dense {
			x := rowtest.RandomDense(r, []types.Elem{types.F64, types.I64}[r.IntN(2)], rows, 1)
			for i := range rows {
				x.Set(i, 0, value.I64(r.Int64N(int64(n))).Convert(x.Elem))
			}
			return x
		}
		of, in := rowtest.RowNamed(t, defs, "onehot.sums"), []value.Value{codes(4), rowtest.RandomDense(r, types.F64, rows, 1+r.IntN(3))}
		if x := in[1].(*value.Dense); r.IntN(4) == 0 && rows > 0 {
			x.Set(r.IntN(rows), 0, value.F64(math.Inf(1)))
		}
		if r.IntN(2) == 0 {
			panel = 1 + r.IntN(20)
		}
		attrs := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(4)}, op.Attr{Name: "panel", Val: op.Int(panel)})
		if k%2 == 0 {
			panel = 0
			of, in = rowtest.RowNamed(t, defs, "ctable.weights"), []value.Value{codes(4), codes(3)}
			attrs = op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(4)}, op.Attr{Name: "m", Val: op.Int(3)}, op.Attr{Name: "crop", Val: op.Bool(k%4 == 0)})
			if k%3 > 0 {
				in = append(in, rowtest.RandomDense(r, []types.Elem{types.F64, types.F32, types.I64, types.Bool}[r.IntN(4)], rows, 1))
			}
		}
		if rows > 0 && r.IntN(5) == 0 {
			x := in[0].(*value.Dense)
			x.Set(r.IntN(rows), 0, value.I64(4))
			x.Set(r.IntN(rows), 0, value.I64(6))
		}
		call := func(d *op.Def, attrs *op.Attrs, in ...value.Value) *op.Call {
			s := &op.Sig{Def: d, Attrs: attrs}
			for _, v := range in {
				s.In = append(s.In, v.Type())
			}
			c := &op.Call{Def: d, In: in, Attrs: attrs}
			var err error
			if c.Type, err = d.Type(s); err != nil {
				t.Fatal(err)
			}
			c.Out = value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			return c
		}
		want, cause := of.Ref(call(of, attrs, in...))
		var last value.Value
		var err error
		from := []int{0}
		for at := panel; panel > 0 && at < rows; at += panel {
			from = append(from, at)
		}
		for step := 0; step < steps && err == nil; step++ {
			to := slices.Clone(from)
			for p := range to {
				end := rows
				if panel > 0 {
					end = min(rows, (p+1)*panel)
				}
				if step == steps-1 {
					to[p] = end
				} else if r.IntN(3) > 0 {
					to[p] += r.IntN(end - to[p] + 1)
				}
			}
			x, a := in, attrs.With("from", op.Ints(from...)).With("to", op.Ints(to...)).With("on", op.Int(min(step, 1)))
			if step > 0 {
				x = append(in[:len(in):len(in)], last)
			}
			c := call(rowtest.RowNamed(t, defs, of.Shard.Chain), a, x...)
			ref, refErr := c.Def.Ref(c)
			if err = c.Def.Kernel(c); (err == nil) != (refErr == nil) || err == nil && rowtest.Differ(c.Out, ref) != "" {
				t.Fatalf("step %d of %s: %v, %v", step, of.Name, err, refErr)
			}
			last, from = c.Out, to
		}
		if cause != nil || err != nil {
			if failed++; err == nil || cause == nil || err.Error() != cause.Error() {
				t.Errorf("%s in %d steps fails with %v, not %v", of.Name, steps, err, cause)
			}
			continue
		}
		if panel > 0 && rows > 0 {
			add := rowtest.RowNamed(t, define.Resolved((&linalg.Linear{}).Rows()), "panels.add")
			last, err = add.Ref(call(add, op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(4)}), last))
		}
		if s := rowtest.Differ(last, want); s != "" || err != nil {
			t.Errorf("%s of %d rows in %d steps, panels of %d: %s, %v", of.Name, rows, steps, panel, s, err)
		}
	}
	if failed < 9 {
		t.Errorf("only %d calls failed", failed)
	}
}
