package kernels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/linalg"
	"flow/kernels/order"
	"flow/kernels/rowtest"
)

// loopShapes are larger than a leaf in every way that a loop can be cut: many rows, rows of many
// leaves, rows cut in segments, one column.
var loopShapes = [][2]int{{700, 60}, {40000, 1}, {3, 40000}, {1, 150000}, {2, 140000}, {900, 70}}

func TestElementwiseLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	ran := 0
	for _, d := range rows(t) {
		if d.Elt == nil || d.Loop == nil {
			continue
		}
		for try := 0; try < 12; try++ {
			shape := loopShapes[r.IntN(len(loopShapes))]
			e := elemsUnderTest[r.IntN(4)]
			in := []value.Value{anyDense(r, e, shape[0], shape[1])}
			for range len(d.Args) - 1 {
				in = append(in, operands(r, e, shape[0], shape[1]))
			}
			if d.Operands == op.AsChosen {
				in[0] = anyDense(r, types.Bool, shape[0], shape[1])
			}
			if _, ok := rowtest.Check(t, d, nil, in); ok {
				ran++
				break
			}
		}
	}
	if ran < 40 {
		t.Errorf("only %d rows ran", ran)
	}
}

// largeCalls are calls of a row that is no elementwise one, on operands larger than a leaf; nil if
// the test knows none.
func largeCalls(r *rand.Rand, d *op.Def, e types.Elem, shape [2]int) (attrs *op.Attrs, in []value.Value) {
	n, m := shape[0], shape[1]
	rows, cols := op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "m", Val: op.Int(m)}
	big := func() *value.Dense {
		a := anyDense(r, e, n, m)
		if r.IntN(3) > 0 {
			calm(a)
		}
		return a
	}
	if name, is := strings.CutSuffix(d.Name, ".seeded"); is {
		plain := *d
		plain.Name = name
		attrs, _ = largeCalls(r, &plain, e, shape)
		return attrs, []value.Value{value.I64(r.Int64())}
	}
	if name, is := strings.CutSuffix(d.Name, ".chain"); is { // TestPanelsInSteps and TestTurns have several steps
		plain := *d
		if plain.Name = name; !e.IsFloat() {
			e = types.F32
		}
		if attrs, in = largeCalls(r, &plain, e, shape); in == nil {
			in = []value.Value{big()}
		}
		rows := in[0].Type().Rows
		panel := attrs.Int("panel")
		if panel == 0 {
			panel = rows/2 + 1
		}
		var from, to []int
		for at := 0; at < rows; at += panel {
			from, to = append(from, at+r.IntN(2)), append(to, min(rows, at+panel-r.IntN(9)))
		}
		return attrs.With("from", op.Ints(from...)).With("to", op.Ints(to...)), in
	}
	switch d.Name {
	case "eigvals", "eigvecs":
		return nil, []value.Value{rowtest.RandomDense(r, types.F64, linalg.LeastShared+10, linalg.LeastShared+10)}
	case "fft", "ifft": // by factors, with a remainder of columns, and as a convolution
		return nil, []value.Value{rowtest.RandomDense(r, e, []int{1 << 14, 3 * 5 * 7 * 11 * 17, 17011}[r.IntN(3)], 1+r.IntN(2))}
	case "svdvals", "svdu", "svdv", "rank", "pinv":
		return nil, []value.Value{rowtest.RandomDense(r, types.F64, linalg.LeastShared+10, 90)}
	case "svd.fold":
		return op.MakeAttrs(op.Attr{Name: "of", Val: op.Str("svdvals")}, op.Attr{Name: "vectors", Val: op.Bool(r.IntN(2) > 0)}),
			[]value.Value{rowtest.RandomDense(r, types.F64, 3000+n, 5)}
	case "svd.unfold", "svd.heads", "svdu.folded", "svdv.folded", "pinv.folded":
		// 11 blocks of 260 rows and more of 5 columns. A row has a state of 16 elements, and 5 reflectors of
		// at most 264.
		z, top := rowtest.RandomDense(r, types.F64, 11*260+3, 5), rowtest.RandomDense(r, types.F64, 1+5+5*11, 5)
		in := []value.Value{z, top, rowtest.RandomDense(r, types.F64, 11, 5)}
		switch d.Name {
		case "svd.unfold":
			in = []value.Value{rowtest.RandomDense(r, types.F64, 11, 16+5*264), top}
		case "svd.heads":
			in = in[:1]
		case "svdv.folded":
			in = in[1:]
		}
		if !e.IsFloat() {
			e = types.F32
		}
		rows, turned := op.Int(z.Rows), r.IntN(2) > 0
		if last := len(in) - 1; turned && last > 0 && d.Name != "svd.unfold" {
			in[last] = top // which has the signs
		}
		return op.MakeAttrs(op.Attr{Name: "rows", Val: rows}, op.Attr{Name: "n", Val: rows}, op.Attr{Name: "elem", Val: op.Str(e.String())},
			op.Attr{Name: "turned", Val: op.Bool(turned)}), in
	case "svd.refold", "svdvals.folded", "rank.folded", "svd.top":
		x := rowtest.RandomDense(r, types.F64, 900, 4) // states of two columns: an exponent, and a triangle of three elements
		for i := range x.Rows {
			x.Set(i, 0, value.F64(float64(r.IntN(4)))) // the power of two
		}
		return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(900 * 256)}, op.Attr{Name: "elem", Val: op.Str("f64")}), []value.Value{x}
	case "prod.runs":
		return nil, []value.Value{anyDense(r, e, 40000+n, 1+m%3)}
	case "identical", "identical.runs":
		a := big()
		b := a.Clone()
		if r.IntN(2) == 0 {
			i, j := r.IntN(n), r.IntN(m)
			b.Set(i, j, value.F64(77).Convert(e))
		}
		return nil, []value.Value{a, b}
	case "slice":
		return op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(n/9, m/7, n-n/9, m-m/7)}), []value.Value{big()}
	case "t.blocks": // two of unequal length, and an empty one
		return op.MakeAttrs(op.Attr{Name: "cuts", Val: op.Ints(0, n/3, n/3, n)}), []value.Value{big()}
	case "lay": // beside each other, with zeros below the second
		return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(n)}, op.Attr{Name: "cols", Val: op.Int(2 * m)},
			op.Attr{Name: "boxes", Val: op.Ints(0, 0, n, m, 0, 0, n/3, 1, n-n/3, m-1, 0, m)}), []value.Value{big(), big()}
	case "cbind":
		return nil, []value.Value{big(), anyDense(r, types.F64, n, 3), big()}
	case "rbind":
		return nil, []value.Value{big(), anyDense(r, types.I64, 2, m), big()}
	case "sample":
		return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(90000)}, op.Attr{Name: "k", Val: op.Int(40000)}, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "bin.even":
		return op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(9)}), []value.Value{big(), value.F64(-2), value.F64(5)}
	case "randint":
		return op.MakeAttrs(rows, cols, op.Attr{Name: "lo", Val: op.Int(-3)}, op.Attr{Name: "hi", Val: op.Int(1 << 40)}, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "zeros", "ones", "rand", "randn", "randexp":
		return op.MakeAttrs(rows, cols, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "fill":
		return op.MakeAttrs(rows, cols, op.Attr{Name: "x", Val: op.Int(5)}), nil
	case "eye", "rand_spd":
		return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(300)}, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "seq":
		return op.MakeAttrs(op.Attr{Name: "a", Val: op.Float(.5)}, op.Attr{Name: "b", Val: op.Int(60000)}, op.Attr{Name: "step", Val: op.Int(1)}), nil
	case "synth_linear":
		return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(9000)}, op.Attr{Name: "d", Val: op.Int(5)}, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "rand_sparse":
		return op.MakeAttrs(rows, cols, op.Attr{Name: "density", Val: op.Float(.01)}, op.Attr{Name: "seed", Val: op.Int(5)}), nil
	case "onehot.take":
		codes := value.New(types.I64, 40000, 1)
		for i := range codes.I64 {
			codes.I64[i] = r.Int64N(9) - 2
		}
		return nil, []value.Value{anyDense(r, types.F64, 6, 1+m%3), codes}
	case "group.sum", "group.sum.part", "group.min", "group.min.part", "group.max", "group.max.part",
		"group.var", "group.var.part", "group.stddev", "group.stddev.part":
		keys := value.New(types.I64, 40000, 2)
		for i := range keys.I64 {
			keys.I64[i] = r.Int64N(9) - 2
		}
		attrs = op.MakeAttrs(rowtest.Attr("by", op.Ints(2, -1)), rowtest.Attr("lo", op.Ints(-1, 5)), rowtest.Attr("n", op.Ints(3, 4)))
		x := []types.Elem{types.F64, types.I64}[r.IntN(2)]
		if strings.Contains(d.Name, "var") || strings.Contains(d.Name, "stddev") {
			x = types.F64
		}
		return attrs, []value.Value{rowtest.RandomDense(r, x, 40000, 1), keys.View(0, 0, 40000, 1), keys.View(0, 1, 40000, 1)}
	case "order.inverse":
		p := value.New(types.I64, 60000+n, 1)
		for i, q := range r.Perm(p.Rows) {
			p.I64[i] = int64(q)
		}
		return nil, []value.Value{p}
	case "onehot", "onehot.code", "onehot.of", "onehot.counts", "onehot.sums", "onehot.stack":
		attrs = op.MakeAttrs(op.Attr{Name: "k", Val: op.Int(5)}, op.Attr{Name: "panel", Val: op.Int(9000)})
		if d.Name == "onehot" && r.IntN(2) == 0 {
			attrs = attrs.With("sparse", op.Bool(true))
		}
		in = []value.Value{value.New(types.I64, 40000, 1)}
		for i := range in[0].(*value.Dense).I64 {
			in[0].(*value.Dense).I64[i] = r.Int64N(5)
		}
		if d.Name == "onehot.sums" || d.Name == "onehot.stack" {
			in = append(in, anyDense(r, types.F64, 40000, 1+m%9))
		}
		return attrs, in
	case "matmul":
		return nil, []value.Value{anyDense(r, e, 5000, 1+m%70), anyDense(r, e, 1+m%70, 9)}
	case "gemm":
		return nil, []value.Value{anyDense(r, e, 5000, 9), anyDense(r, e, 5000, 1+m%70), anyDense(r, e, 1+m%70, 9)}
	case "trsm", "trsm_upper": // tall
		if !e.IsFloat() {
			e = types.F32
		}
		return nil, []value.Value{dominant(r, e, 20+m%50), anyDense(r, e, 3000, 20+m%50)}
	case "matmul.panels", "matmul.stack":
		a := anyDense(r, e, 3000, 1+m%70)
		return op.MakeAttrs(op.Attr{Name: "panel", Val: op.Int(256)}, op.Attr{Name: "ta", Val: op.Bool(true)}), []value.Value{a, anyDense(r, e, 3000, 7)}
	case "stride":
		step := func() int { return (1 + r.IntN(3)) * (1 - 2*r.IntN(2)) }
		return op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(step())}, op.Attr{Name: "cols", Val: op.Int(step())}), []value.Value{big()}
	case "cumsum.from", "cumprod.from", "cummin.from", "cummax.from":
		x := big()
		t, _ := d.Type(&op.Sig{Def: d, In: []types.Type{x.Type()}})
		return op.MakeAttrs(op.Attr{Name: "ranks", Val: op.Int(2)}), []value.Value{x, anyDense(r, t.Elem, 2, x.Cols)}
	case "select.near":
		sample := anyDense(r, types.I64, 3, 2001)
		for i := range sample.I64 {
			sample.I64[i] = int64(order.OrderKey(value.F64(r.NormFloat64())))
		}
		for i := range sample.Rows {
			sample.Set(i, 2000, value.I64(2000))
		}
		return op.MakeAttrs(op.Attr{Name: "places", Val: op.Ints(7, 900)}), []value.Value{big(), sample} // of three ranks
	case "pairs": // some rows have none, and one has most
		a, total := value.New(types.I64, n, 3), 0
		for i := range n {
			count := []int{0, r.IntN(9), 70}[r.IntN(3)]
			if i == n/2 {
				count = 20000
			}
			row := a.I64[i*a.Stride:]
			row[0], row[1], total = int64(i), r.Int64N(5), total+count
			row[2] = row[1] + int64(3*count)
		}
		return op.MakeAttrs(op.Attr{Name: "by", Val: op.Int(3)}, op.Attr{Name: "rows", Val: op.Int(total)}), []value.Value{a}
	case "distinct.list": // a rank's own rows, and windows of several
		attrs, in = op.MakeAttrs(op.Attr{Name: "ranks", Val: op.Int(1)}), []value.Value{anyDense(r, e, 40_000, 2)}
		if r.IntN(2) > 0 {
			attrs = attrs.With("step", op.Int(7))
		}
		return attrs, in
	case "take", "pick.rows", "pick.cols", "pick.turned", "take.turned", "sort", "argsort", "sort.part", "argsort.part", "unique", "nunique", "quantile", "median", "rowquantile", "colquantile":
		return largeLists(r, d, e, n, m)
	case "colmedian", "colnunique": // tall, and a part of the columns of a matrix
		a := anyDense(r, e, 70000, 5)
		return nil, []value.Value{a.View(0, r.IntN(2), a.Rows, 4)}
	case "lower", "upper":
		name := []string{"strict", "unit"}[r.IntN(2)]
		if d.Name == "upper" {
			name = "strict"
		}
		return op.MakeAttrs(op.Attr{Name: name, Val: op.Bool(r.IntN(2) == 0)}), []value.Value{big()}
	case "reshape":
		a, k := big(), 1
		for _, f := range []int{2, 3, 5, 7} { // to other rows, wide or narrow
			if a.Rows*a.Cols%(k*f) == 0 && r.IntN(3) > 0 {
				k *= f
			}
		}
		switch r.IntN(3) {
		case 0:
			k = a.Rows * a.Cols / k
		case 1: // a column
			k = a.Rows * a.Cols
		}
		return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(k)}, op.Attr{Name: "m", Val: op.Int(a.Rows * a.Cols / k)}), []value.Value{a}
	case "reverse":
		by := []string{"rows", "cols", "both"}[r.IntN(3)]
		return op.MakeAttrs(op.Attr{Name: "by", Val: op.Str(by)}), []value.Value{big()}
	case "ctable", "ctable.weights":
		a, b := value.New([]types.Elem{types.I64, types.F64, types.F32}[r.IntN(3)], 40000+n, 1), value.New(types.I64, 40000+n, 1)
		for i := range a.Rows {
			a.Set(i, 0, value.F64(float64(r.IntN(5))).Convert(a.Elem))
			b.Set(i, 0, value.I64(r.Int64N(7)))
		}
		attrs, in := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(5)}, op.Attr{Name: "m", Val: op.Int(7 + m%2)}), []value.Value{a, b}
		if d.Name != "ctable" { // sums of floats have an order, and no loop
			attrs, in = attrs.With("n", op.Int(4)).With("crop", op.Bool(true)), append(in, anyDense(r, types.I64, a.Rows, 1))
		}
		return attrs, in
	case "recode":
		x, from := big(), value.New(e, 30, 1)
		for i := range 30 {
			from.Set(i, 0, x.At(r.IntN(n), r.IntN(m)))
		}
		return nil, []value.Value{x, from, anyDense(r, e, 30, 1)}
	case "argmin", "argmax", "prod", "t", "dense", "materialize", "sparse", "cumsum", "cumprod", "cummin", "cummax", "rowcumsum", "rowcumprod", "rowcummin", "rowcummax":
		return nil, []value.Value{big()}
	case "bin":
		return nil, []value.Value{big(), &value.Dense{Elem: types.F64, Rows: 4, Cols: 1, Stride: 1, F64: []float64{-3, 0, 0.5, 1e3}}}
	case "bin.within": // of the same edges, found by halving
		nan := math.NaN()
		table := []float64{0, 0, 0, 4, -3, 0, 0.5, 1e3, nan, nan, nan, nan}
		return nil, []value.Value{big(), &value.Dense{Elem: types.F64, Rows: len(table), Cols: 1, Stride: 1, F64: table}}
	case "kron":
		return nil, []value.Value{anyDense(r, e, 1+n/5, 1+m/3), anyDense(r, types.F64, 5, 3)}
	}
	switch kind := d.Shard.Kind; {
	case kind == op.ShardReduce, kind == op.ShardRows, kind == op.ShardCols, d.Fold == op.FoldCols:
		return nil, []value.Value{big()}
	}
	return nil, nil
}

// Every row with a loop, on operands of every shape that loops are cut by, gives the bits of its
// kernel.
func TestLargeLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, d := range rows(t) {
		if d.Name == "parfor" || d.Name == "byrows" || d.Name == "nest" || d.Name == "rounds" || d.Name == "panels.along" || strings.HasPrefix(d.Name, "inparts") || d.Reads != nil { // tested by packages compiler and flow (their body is a region), and inout
			continue
		}
		if d.Loop == nil || d.Loop.Own || d.Elt != nil || d.Name == "map" || d.Name == "pipe" || d.Name == "pipe.product" || d.Name == "map.product" || strings.HasPrefix(d.Name, "sp.") || d.Name == "semiring" { // tested by order_ranks_test.go, sparse_test.go and pipe_test.go
			continue
		}
		ran, several := 0, 0
		shapes := append(loopShapes, [2]int{60, 700}, [2]int{700, 600})
		for i, k := range r.Perm(len(shapes)) {
			if i >= cases(6) && several > 0 {
				break
			}
			shape := shapes[k]
			e := elemsUnderTest[r.IntN(4)]
			attrs, in := largeCalls(r, d, e, shape)
			if attrs == nil && in == nil {
				break
			}
			c := &op.Call{Def: d, Attrs: attrs, In: in}
			sig := &op.Sig{Def: d, Attrs: attrs}
			for _, v := range in {
				sig.In = append(sig.In, v.Type())
			}
			var err error
			if c.Type, err = d.Type(sig); err != nil {
				continue
			}
			rowtest.Lend(c)
			if d.Accum > 0 {
				c.Result().CopyFrom(c.Dense(d.Accum - 1))
			}
			if err := d.Kernel(c); err != nil {
				t.Fatalf("%s: %v", d.Name, err)
			}
			if n, leaf := d.Loop.Space(c); n > leaf {
				several++
			}
			rowtest.CheckLoop(t, c, c.Out)
			ran++
		}
		if ran == 0 || several == 0 {
			t.Errorf("%s: %d calls, %d in several chunks", d.Name, ran, several)
		}
	}
}

// Fused chains as loops, with operands of every mode, in place too.
func TestMapLoops(t *testing.T) {
	defs := elementwiseRows()
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(33, 34))
	for round := range cases(40) {
		shape := loopShapes[round%len(loopShapes)]
		p, in, e := randomProgram(r, defs, shape[0], shape[1])
		c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, shape[0], shape[1])}
		rowtest.Lend(c)
		if err := mapRow.Kernel(c); err != nil {
			t.Fatal(err)
		}
		want := c.Out
		rowtest.CheckLoop(t, c, want)
		n, leaf := mapRow.Loop.Space(c)
		for k, o := range p.In {
			d, ok := in[k].(*value.Dense)
			if !ok || o.Mode != op.Full || d.Elem != e {
				continue
			}
			own := *c
			out := d.Clone()
			own.In = append([]value.Value(nil), in...)
			own.In[k], own.Out = out, out
			got, err := rowtest.Chunked(r, &own, n, leaf, 3)
			if err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(got, want); msg != "" {
				t.Fatalf("in place of operand %d, %s: %s", k, describe(p), msg)
			}
		}
	}
}

// A loop that runs again and again must not allocate.
func TestMapLoopAllocatesNothing(t *testing.T) {
	defs := elementwiseRows()
	mapRow := fused()[0]
	r := rand.New(rand.NewPCG(35, 41))
	p, in, e := randomProgram(r, defs, 2000, 60)
	c := &op.Call{Def: mapRow, In: in, Body: p, Type: types.DenseOf(e, 2000, 60)}
	rowtest.Lend(c)
	n, leaf := mapRow.Loop.Space(c)
	if n <= leaf {
		t.Fatal("one chunk")
	}
	run := func() {
		body, err := mapRow.Loop.Begin(c, 2)
		if err != nil {
			t.Fatal(err)
		}
		for lo := 0; lo < n; lo += leaf {
			if err := body.Chunk(lo/leaf%2, lo, min(lo+leaf, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := body.End(); err != nil {
			t.Fatal(err)
		}
	}
	for range 30 { // until the chain has been compiled
		run()
	}
	allocs := testing.AllocsPerRun(20, run)
	if allocs > 2 { // a garbage collection may empty the pools
		t.Errorf("%v allocations of %s", allocs, describe(p))
	}
}
