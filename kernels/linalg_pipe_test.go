package kernels

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// productCall is fold(r - s * a @ op(b)) of an n x k matrix a with m columns of products, r a row
// (or a column, or a matrix).
func productCall(r *rand.Rand, d *op.Def, e types.Elem, fold string, mode op.Mode, n, k, m int, tb bool) *op.Call {
	a, b := rowtest.RandomDense(r, e, n, k), rowtest.RandomDense(r, e, k, m)
	if tb {
		b = rowtest.RandomDense(r, e, m, k)
	}
	shape := map[op.Mode][2]int{op.Full: {n, m}, op.RowVec: {1, m}, op.ColVec: {n, 1}}[mode]
	row := rowtest.RandomDense(r, e, shape[0], shape[1])
	defs := map[string]*op.Def{}
	for _, d := range elementwiseRows() {
		defs[d.Name] = d
	}
	p := &op.Program{
		In:    []op.Operand{{Elem: types.F64, Mode: op.Single}, {Elem: e, Mode: op.Full}, {Elem: e, Mode: mode}},
		Steps: []op.Step{{Def: defs["mul"], Args: []int{0, 1}, Elem: e}, {Def: defs["sub"], Args: []int{2, 3}, Elem: e}},
	}
	if e == types.F32 {
		p.In[0].Elem = types.F32
	}
	attrs := op.MakeAttrs(rowtest.Attr("modes", op.Ints(int(op.Single), int(op.Full), int(mode))), rowtest.Attr("fold", op.Str(fold)), rowtest.Attr("rows", op.Int(n)),
		rowtest.Attr("cols", op.Int(m)), rowtest.Attr("place", op.Int(1)), rowtest.Attr("tb", op.Bool(tb)))
	out := types.DenseOf(e, n, 1)
	if fold == "rowargmin" {
		out = types.DenseOf(types.I64, n, 1)
	}
	return &op.Call{Def: d, Attrs: attrs, Body: p, Type: out, In: []value.Value{value.Scalar{Elem: p.In[0].Elem, F: 2}, a, row, b}}
}

// A pipe that makes its product equals the product and the pipe one after the other, as a kernel
// and as a loop.
func TestPipesOfProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, set := range chainSets(t) {
		d := rowtest.RowNamed(t, denseProducts(set), "pipe.product")
		for round := range 30 {
			e := []types.Elem{types.F64, types.F32}[r.IntN(2)]
			fold := []string{"rowargmin", "rowmin", "rowsum", "rowmax", "rownorm"}[round%5]
			mode := []op.Mode{op.RowVec, op.Full, op.ColVec}[r.IntN(3)]
			m := 1 + r.IntN(30)
			c := productCall(r, d, e, fold, mode, 1+r.IntN(2000), 1+r.IntN(30), m, r.IntN(2) == 0)
			if r.IntN(4) == 0 {
				c.Dense(1).Set(r.IntN(c.Dense(1).Rows), 0, value.F64(math.NaN()))
			}
			want := rowtest.Defined(t, c)
			onNests(t, func() {
				rowtest.Lend(c)
				if err := d.Kernel(c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(c.Out, want); msg != "" {
					t.Fatalf("%s of %d columns (mode %d): %s", fold, m, mode, msg)
				}
				rowtest.CheckLoop(t, c, want)
			})
		}
	}
}

// What a round of k-means does with 1e5 rows of 20 columns and 10 centroids.
func BenchmarkKmeansSteps(b *testing.B) {
	table, err := Table("")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	const n = 100_000
	run := func(c *op.Call) {
		b.Run(c.Def.Name, func(b *testing.B) {
			rowtest.Lend(c)
			for b.Loop() {
				if err := c.Def.Kernel(c); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/row")
		})
	}
	near := productCall(r, table.Must("pipe.product"), types.F64, "rowargmin", op.RowVec, n, 20, 10, true)
	run(near)
	run(&op.Call{Def: table.Must("matmul"), Attrs: op.MakeAttrs(rowtest.Attr("tb", op.Bool(true))), In: []value.Value{near.In[1], near.In[3]}, Type: types.DenseOf(types.F64, n, 10)})
	codes := op.MakeAttrs(rowtest.Attr("k", op.Int(10)), rowtest.Attr("panel", op.Int(1<<15)))
	run(&op.Call{Def: table.Must("onehot.sums"), Attrs: codes, In: []value.Value{near.Out, near.In[1]}, Type: types.DenseOf(types.F64, 10, 20)})
	run(&op.Call{Def: table.Must("onehot.counts"), Attrs: codes, In: []value.Value{near.Out}, Type: types.DenseOf(types.F64, 1, 10)})
}
