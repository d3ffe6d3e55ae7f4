package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
	"flow/kernels/rowtest"
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
				few, many := measure(name, 200, cols, piped), measure(name, 1000, cols, piped)
				if many > few+30 { // a collection between two runs may take what a pool keeps; 1000 rows are far more
					t.Errorf("%s of %d columns, piped %v: %v allocations for 200 rows, %v for 1000", name, cols, piped, few, many)
				}
			}
		}
	}
}

// Reductions of all elements without a chain give the same as their kernels on a list, alone and as
// loops: for numbers that are far apart, not finite or equal, and for places before and after a nan.
func TestWholesAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	rows := append(reduce.Rows(), reduce.Statistics()...)
	alone := (&engine{}).folded(append(reduce.Rows(), reduce.Statistics()...))
	for try := range 48 {
		e := []types.Elem{types.F64, types.F32, types.I64, types.Bool}[try%4]
		shape := [][2]int{{1 + r.IntN(3), 2000 + r.IntN(40_000)}, {300 + r.IntN(5000), 1 + r.IntN(20)}}[try/4%2]
		x := value.New(e, shape[0]+2, shape[1]+3).View(1, 2, shape[0], shape[1])
		wild := try/8%3 == 2 // else places have many equals
		for i := range x.Rows {
			for j := range x.Cols {
				v := float64(r.IntN(1+try%3*1000)) - 3
				if wild {
					v = math.Ldexp(r.NormFloat64(), r.IntN(200)-100)
				}
				x.Set(i, j, value.F64(v).Convert(e))
			}
		}
		if e.IsFloat() && try%16 > 11 {
			x.Set(r.IntN(x.Rows), r.IntN(x.Cols), define.Number(e, math.Copysign(0, -1)))
			for range try % 3 {
				x.Set(r.IntN(x.Rows), r.IntN(x.Cols), define.Number(e, math.NaN()))
			}
		}
		onNests(t, func() {
			for _, name := range []string{"sum", "mean", "norm", "var", "stddev", "count", "any", "all", "min", "max", "argmin", "argmax"} {
				d := rowtest.RowNamed(t, rows, name)
				typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}})
				if err != nil {
					t.Fatal(err)
				}
				c := &op.Call{Def: d, In: []value.Value{x}, Type: typ}
				rowtest.Lend(c)
				if err := d.Kernel(c); err != nil {
					t.Fatal(err)
				}
				want := c.Out
				c.Def = rowtest.RowNamed(t, alone, name)
				rowtest.Lend(c)
				rowtest.CheckLoop(t, c, want)
			}
		})
	}
}
