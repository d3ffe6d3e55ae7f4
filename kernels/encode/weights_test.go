package encode

import (
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
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

// TestTurns makes tables by windows of rows. Each window continues the table of the one before. The
// test compares the last table with the definition of the whole one. Some windows are empty, and some
// calls have a wrong code.
func TestTurns(t *testing.T) {
	defs := define.Resolved(Rows())
	r := rand.New(rand.NewPCG(7, 8))
	failed := 0
	for k := range 150 {
		rows, windows, by := r.IntN(40), 1+r.IntN(4), 1+r.IntN(9)
		codes := func(n int) *value.Dense {
			x := rowtest.RandomDense(r, []types.Elem{types.F64, types.I64}[r.IntN(2)], rows, 1)
			for i := range rows {
				x.Set(i, 0, value.I64(r.Int64N(int64(n))).Convert(x.Elem))
			}
			return x
		}
		of, in := rowtest.RowNamed(t, defs, "onehot.sums"), []value.Value{codes(4), rowtest.RandomDense(r, types.F64, rows, 1+r.IntN(3))}
		attrs := op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(4)}, op.Attr{Name: "panel", Val: op.Int(0)})
		if k%2 == 0 {
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
		for turn := 1; turn <= windows && err == nil; turn++ {
			x, a := in, attrs.With("windows", op.Int(windows)).With("by", op.Int(by)).With("turn", op.Int(turn))
			if turn > 1 {
				x = append(in[:len(in):len(in)], last)
			}
			c := call(rowtest.RowNamed(t, defs, of.Shard.Chain), a, x...)
			ref, refErr := c.Def.Ref(c)
			if err = c.Def.Kernel(c); (err == nil) != (refErr == nil) || err == nil && rowtest.Differ(c.Out, ref) != "" {
				t.Fatalf("turn %d of %s: %v, %v", turn, of.Name, err, refErr)
			}
			last = c.Out
		}
		if cause != nil || err != nil {
			if failed++; err == nil || cause == nil || err.Error() != cause.Error() {
				t.Errorf("%s in %d windows fails with %v, not %v", of.Name, windows, err, cause)
			}
			continue
		}
		n := want.(*value.Dense).Rows
		if s := rowtest.Differ(last.(*value.Dense).View((windows-1)*n, 0, n, last.(*value.Dense).Cols), want); s != "" {
			t.Errorf("%s of %d rows in %d windows: %s", of.Name, rows, windows, s)
		}
	}
	if failed < 9 {
		t.Errorf("only %d calls failed", failed)
	}
}
