package kernels

import (
	"math"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestByRowsWorkers: what is of all rows is there when several workers have run parts, also where
// sums of two words lose something.
func TestByRowsWorkers(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	before := loopsFrom.Load()
	LoopsFrom(0)
	defer LoopsFrom(before)
	for _, cols := range []int{5, 200} {
		for _, far := range []bool{false, true} {
			const rows = 12
			full, column := types.DenseOf(types.F64, rows, cols), types.DenseOf(types.F64, rows, 1)
			x := value.New(types.F64, rows, cols)
			for i := range rows {
				for j := range cols {
					v := math.Sin(float64(7*i + j))
					if far {
						v = math.Ldexp(v, 150*(j%5)-300)
					}
					x.Set(i, j, value.F64(v))
				}
			}
			chain := &op.Program{In: []op.Operand{{Elem: types.F64, Mode: op.Full}, {Elem: types.F64, Mode: op.ColVec}},
				Steps: []op.Step{{Def: table.Must("sub"), Args: []int{0, 1}, Elem: types.F64}}}
			one := types.ScalarOf(types.F64)
			both := types.TupleOf(full, one)
			attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)},
				op.Attr{Name: "fold", Val: op.Str("store sum")}, op.Attr{Name: "modes", Val: op.Ints(int(op.Full), int(op.ColVec))})
			part := func(k int, t types.Type) op.Action {
				return op.Action{Def: table.Must("part"), Attrs: op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)}), Type: t, Args: []int{2}}
			}
			body := &op.Body{Args: []types.Type{full}, Yields: []int{3, 4}, Acts: []op.Action{
				{Def: table.Must("rowsum"), Type: column, Args: []int{0}},
				{Def: table.Must("pipe"), Attrs: attrs, Type: both, Args: []int{0, 1}, Chain: chain},
				part(0, full), part(1, one)}}
			d := table.Must("byrows")
			call := func() *op.Call {
				return &op.Call{Def: d, Type: both, In: []value.Value{x}, Bodies: []*op.Body{body},
					Attrs: op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "cols", Val: op.Int(cols)}, op.Attr{Name: "block", Val: op.Int(3)})}
			}
			ref, err := d.Ref(call())
			if err != nil {
				t.Fatal(err)
			}
			want := ref.(value.Tuple)
			for range 3 { // later ones may run in another way
				c := call()
				l, err := d.Loop.Begin(c, 3)
				if err != nil {
					t.Fatal(err)
				}
				for k := range 4 {
					if err := l.Chunk(k%2, 3*k, 3*k+3); err != nil {
						t.Fatal(err)
					}
				}
				if err := l.End(); err != nil {
					t.Fatal(err)
				}
				got := c.Out.(value.Tuple)
				if !got[1].(value.Scalar).Same(want[1].(value.Scalar)) {
					t.Errorf("%d columns, far %v: the sum is %v, want %v", cols, far, got[1], want[1])
				}
				for i := range rows {
					for j := range cols {
						if a, b := got[0].(*value.Dense).At(i, j), want[0].(*value.Dense).At(i, j); !a.Same(b) {
							t.Fatalf("%d columns, far %v: element (%d, %d) is %v, want %v", cols, far, i, j, a, b)
						}
					}
				}
			}
		}
	}
}
