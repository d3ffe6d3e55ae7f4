package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// Products in panels equal their definition in every set, and so do their loops.
func TestPanelsEqualTheirDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for _, set := range chainSets(t) {
		d := rowtest.RowNamed(t, denseProducts(set), "matmul.panels")
		for range 60 {
			e := elemsUnderTest[r.IntN(4)]
			m, n, k := someSize(r), someSize(r), r.IntN(300)
			ta, tb := r.IntN(4) > 0, r.IntN(4) == 0
			attrs := op.MakeAttrs(rowtest.Attr("ta", op.Bool(ta)), rowtest.Attr("tb", op.Bool(tb)), rowtest.Attr("panel", op.Int(1+r.IntN(120))))
			a, b := rowtest.RandomDense(r, e, m, k), rowtest.RandomDense(r, e, k, n)
			if ta {
				a = rowtest.RandomDense(r, e, k, m)
			}
			if tb {
				b = rowtest.RandomDense(r, e, n, k)
			}
			if a.Elem == types.F64 && k > 0 && m > 0 && r.IntN(5) == 0 {
				a.Set(r.IntN(a.Rows), r.IntN(a.Cols), value.F64([]float64{math.Inf(1), math.NaN(), math.Copysign(0, -1)}[r.IntN(3)]))
			}
			if _, ok := rowtest.Check(t, d, attrs, []value.Value{a, b}); !ok {
				t.Fatalf("refused: %v @ %v", a.Type(), b.Type())
			}
			if ta && !tb {
				rowtest.Check(t, d, attrs, []value.Value{a, a}) // symmetric
			}
		}
	}
}

// Products of tall matrices as loops give the bits of their kernels, from any start.
func TestTallProductsAsLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(63, 64))
	for _, set := range chainSets(t) {
		rows := denseProducts(set)
		for _, name := range []string{"matmul", "gemm"} {
			d := rowtest.RowNamed(t, rows, name)
			for trial := range 7 {
				e := []types.Elem{types.F64, types.F32, types.I64}[r.IntN(3)]
				n, k := 1+r.IntN(30), 1+r.IntN(30)
				m := 20000 + r.IntN(2000)
				tb, ta := r.IntN(2) == 0, trial == 6
				switch {
				case ta: // by a column
					m, k, n, tb = 900+r.IntN(70), 300, 1, false
				case trial == 5: // few columns
					m, k, n = 600, 500, 1+r.IntN(16)
				case trial == 4: // few terms
					m, k, n = 600, 1+r.IntN(16), 500
				}
				a, b := rowtest.RandomDense(r, e, m, k), rowtest.RandomDense(r, e, k, n)
				if ta {
					a = rowtest.RandomDense(r, e, k, m)
				}
				if tb {
					b = rowtest.RandomDense(r, e, n, k)
				}
				in := []value.Value{a, b}
				if name == "gemm" {
					in = []value.Value{rowtest.RandomDense(r, e, m, n), a, b}
				}
				c := &op.Call{Def: d, In: in, Attrs: op.MakeAttrs(rowtest.Attr("ta", op.Bool(ta)), rowtest.Attr("tb", op.Bool(tb))), Type: types.DenseOf(e, m, n)}
				space, leaf := d.Loop.Space(c)
				if space != m || leaf >= m {
					t.Fatalf("%s of %d x %d by %d x %d is no loop: %d by %d", name, m, k, k, n, space, leaf)
				}
				started := func() value.Value {
					own := *c
					rowtest.Lend(&own)
					if d.Accum > 0 {
						own.Result().CopyFrom(c.Dense(d.Accum - 1))
					}
					return own.Out
				}
				c.Out = started()
				if err := d.Kernel(c); err != nil {
					t.Fatal(err)
				}
				want := c.Out
				c.Out = started()
				got, err := rowtest.Chunked(r, c, space, leaf, 3)
				if err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(got, want); msg != "" {
					t.Fatalf("%s as a loop: %s", name, msg)
				}
			}
		}
	}
}

// Panels that are made of some terms after the others are those that are made at once.
func TestPanelsInSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(65, 66))
	for _, set := range chainSets(t) {
		rows := denseProducts(set)
		chain, stack := rowtest.RowNamed(t, rows, "matmul.panels.chain"), rowtest.RowNamed(t, rows, "matmul.stack")
		for range 40 {
			e := []types.Elem{types.F64, types.F32}[r.IntN(2)]
			m, n, k, steps := 1+r.IntN(40), 1+r.IntN(40), 1+r.IntN(300), 1+r.IntN(4)
			a := rowtest.RandomDense(r, e, k, m)
			in := []value.Value{a, rowtest.RandomDense(r, e, k, n)}
			if r.IntN(3) == 0 {
				in[1], n = a, m // symmetric
			}
			panel := 1 + r.IntN(2*k)
			attrs := op.MakeAttrs(rowtest.Attr("ta", op.Bool(true)), rowtest.Attr("panel", op.Int(panel)))
			want, _ := rowtest.Check(t, stack, attrs, in)
			var from []int
			for at := 0; at < k; at += panel {
				from = append(from, at)
			}
			for step := range steps {
				to := slices.Clone(from)
				for p := range to { // some steps add nothing to a panel
					if end := min(k, (p+1)*panel); step == steps-1 {
						to[p] = end
					} else if r.IntN(3) > 0 {
						to[p] += r.IntN(end - to[p] + 1)
					}
				}
				made, ref, err := rowtest.RunRow(t, chain, attrs.With("from", op.Ints(from...)).With("to", op.Ints(to...)).With("on", op.Int(min(step, 1))), in...)
				if err != nil {
					t.Fatal(err)
				}
				in, from = append(in[:2:2], made), to
				if why := rowtest.Differ(made, ref); why != "" {
					t.Fatalf("step %d of %d of %d terms: %s (kernel, definition)", step, steps, k, why)
				}
			}
			if why := rowtest.Differ(in[2], want); why != "" {
				t.Fatalf("%d steps of %d terms: %s (in steps, at once)", steps, k, why)
			}
		}
	}
}
