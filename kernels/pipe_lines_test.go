package kernels

import (
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/reduce"
)

// Reductions of lines allocate what a call needs, and nothing for a row or for a column: alone, and
// of what a pipeline makes and stores.
func TestLinesDoNotAllocate(t *testing.T) {
	measure := func(name string, rows, cols int, piped bool) float64 {
		c := sqrtChain(rows, cols)
		c.Type = types.DenseOf(types.F64, rows, cols)
		d := reduce.Named(name).Def
		rt, err := d.Type(&op.Sig{Def: d, In: []types.Type{c.Type}})
		if err != nil {
			t.Fatal(err)
		}
		out := value.New(rt.Elem, rt.Rows, rt.Cols)
		one := &op.Call{Def: d, In: c.In[:1], Type: rt, Out: out}
		if piped {
			names := []string{stores, name}
			one = &op.Call{Def: fused()[1], Body: c.Body, In: c.In, Type: types.TupleOf(c.Type, rt), Out: value.Tuple{c.Out, out}}
			one.Attrs = op.MakeAttrs(op.Attr{Name: "fold", Val: op.Str(strings.Join(names, " "))},
				op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)})
		}
		run := func() {
			if err := one.Def.Kernel(one); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 { // until the chain has been compiled
			run()
		}
		return testing.AllocsPerRun(5, run)
	}
	for _, name := range []string{"rowsum", "rownorm", "rowvar", "rowstddev", "rowmax", "rowargmax", "colsum", "colvar", "colmax", "colargmax"} {
		for _, piped := range []bool{false, true} {
			for _, cols := range []int{50, 700} {
				few, many := measure(name, 400, cols, piped), measure(name, 2000, cols, piped)
				if many > few+30 { // a collection between two runs may take what a pool keeps; 2000 rows are far more
					t.Errorf("%s of %d columns, piped %v: %v allocations for 400 rows, %v for 2000", name, cols, piped, few, many)
				}
			}
		}
	}
}
