package kernels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/construct"
	"flow/kernels/linalg"
	"flow/kernels/rowtest"
)

// epilogue is a call of map.product: an n x m product over k, alone or added to a matrix, and a
// chain that reads it and an operand beside it.
type epilogue struct {
	e            types.Elem
	n, k, m      int
	acc, sub     bool
	ta, tb       bool
	beside       op.Mode // of the other operand of the chain
	compares     bool    // the result is of bools
	drawn, first bool    // a third operand is drawn; the product is the first operand
}

// call is the call, of the row d.
func (x epilogue) call(r *rand.Rand, d *op.Def) *op.Call {
	a, b := rowtest.RandomDense(r, x.e, x.n, x.k), rowtest.RandomDense(r, x.e, x.k, x.m)
	if x.ta {
		a = rowtest.RandomDense(r, x.e, x.k, x.n)
	}
	if x.tb {
		b = rowtest.RandomDense(r, x.e, x.m, x.k)
	}
	var beside value.Value = value.Scalar{Elem: x.e, F: 0.5}
	if shape, is := map[op.Mode][2]int{op.Full: {x.n, x.m}, op.Trans: {x.m, x.n}, op.RowVec: {1, x.m}, op.ColVec: {x.n, 1}}[x.beside]; is {
		beside = rowtest.RandomDense(r, x.e, shape[0], shape[1])
	}
	defs := map[string]*op.Def{}
	for _, d := range append(elementwiseRows(), construct.Rows()...) {
		defs[d.Name] = d
	}
	at := 1
	if x.first {
		at = 0
	}
	p := &op.Program{In: []op.Operand{{Elem: x.e, Mode: x.beside}, {Elem: x.e, Mode: x.beside}}}
	p.In[at].Mode = op.Full
	modes := []int{int(p.In[0].Mode), int(p.In[1].Mode)}
	if x.drawn {
		seed := op.MakeAttrs(rowtest.Attr("n", op.Int(x.n)), rowtest.Attr("m", op.Int(x.m)), rowtest.Attr("seed", op.Int(7)))
		p.In = append(p.In, op.Operand{Elem: types.F64, Mode: op.Drawn, Gen: defs["rand"], Attrs: seed})
	}
	reg := len(p.In)
	p.Steps = []op.Step{{Def: defs["sub"], Args: []int{0, 1}, Elem: x.e}, {Def: defs["exp"], Args: []int{reg}, Elem: x.e}}
	switch last := reg + 1; {
	case x.drawn:
		p.Steps = append(p.Steps, op.Step{Def: defs["mul"], Args: []int{last, 2}, Elem: types.F64})
	case x.compares:
		p.Steps = append(p.Steps, op.Step{Def: defs["gt"], Args: []int{last, at}, Elem: types.Bool})
	}
	in := []value.Value{beside, beside}
	if in[at] = a; x.acc {
		in[at] = rowtest.RandomDense(r, x.e, x.n, x.m)
		in = append(in, a)
	}
	in = append(in, b)
	attrs := op.MakeAttrs(rowtest.Attr("modes", op.Ints(modes...)), rowtest.Attr("place", op.Int(at)), rowtest.Attr("acc", op.Bool(x.acc)), rowtest.Attr("sub", op.Bool(x.sub)),
		rowtest.Attr("ta", op.Bool(x.ta)), rowtest.Attr("tb", op.Bool(x.tb)))
	return &op.Call{Def: d, Attrs: attrs, Body: p, Type: types.DenseOf(p.Elem(), x.n, x.m), In: in}
}

func drawEpilogue(r *rand.Rand) epilogue {
	coin := func(of int) bool { return r.IntN(of) == 0 }
	x := epilogue{e: []types.Elem{types.F64, types.F32}[r.IntN(2)], n: r.IntN(400), k: r.IntN(40), m: r.IntN(60), acc: coin(2), sub: coin(2),
		ta: coin(4), tb: coin(2), beside: []op.Mode{op.Full, op.Trans, op.RowVec, op.ColVec, op.Single}[r.IntN(5)], compares: coin(5), first: coin(2)}
	x.sub = x.sub && x.acc
	x.drawn = x.e == types.F64 && !x.compares && coin(5)
	switch r.IntN(6) {
	case 0: // strips of many rows
		x.n, x.m = 3000+r.IntN(3000), 1+r.IntN(5)
	case 1: // beyond what is made by strips
		x.k, x.m = 1+r.IntN(300), linalg.MostRight/200
		x.n = r.IntN(30)
	case 2: // several blocks of k
		x.k, x.n, x.m = 500+r.IntN(500), r.IntN(30), r.IntN(20)
	}
	return x
}

// A chain on a product equals its definition, and the product and the map one after the other, as a
// kernel and as a loop.
func TestEpilogues(t *testing.T) {
	r := rand.New(rand.NewPCG(91, 92))
	for _, set := range chainSets(t) {
		rows := denseProducts(set)
		d := rowtest.RowNamed(t, rows, "map.product")
		strips := 0
		for trial := range cases(128) {
			x := drawEpilogue(r)
			if trial%16 == 15 { // strips of columns of the left factor
				x.m, x.k, x.n, x.ta = 1, 80+r.IntN(100), 3000+r.IntN(3000), true
			}
			c := x.call(r, d)
			if a := c.Dense(c.Attrs.Int("place")); x.e == types.F64 && a.Rows > 0 && a.Cols > 0 && r.IntN(5) == 0 {
				a.Set(r.IntN(a.Rows), r.IntN(a.Cols), value.F64([]float64{math.NaN(), math.Inf(1), math.Copysign(0, -1)}[r.IntN(3)]))
			}
			want := rowtest.Defined(t, c)
			onNests(t, func() {
				if msg := rowtest.Differ(unfused(t, rows, c), want); msg != "" {
					t.Fatalf("%s: %+v: one after the other: %s", set.Name, x, msg)
				}
				rowtest.Lend(c)
				if err := d.Kernel(c); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(c.Out, want); msg != "" {
					t.Fatalf("%s: %+v: %s", set.Name, x, msg)
				}
				rowtest.CheckLoop(t, c, want)
			})
			if n, _ := d.Loop.Space(c); n > 0 {
				strips++
			}
		}
		if strips < cases(30) || strips > cases(110) {
			t.Errorf("%s: %d of %d by strips", set.Name, strips, cases(128))
		}
	}
}

// unfused runs the kernels of the product and of the map.
func unfused(t *testing.T, rows []*op.Def, c *op.Call) value.Value {
	t.Helper()
	at, acc := c.Attrs.Int("place"), c.Attrs.Bool("acc")
	n := len(c.In)
	p := &op.Call{Def: rowtest.RowNamed(t, rows, "matmul"), Attrs: c.Attrs, In: []value.Value{c.In[at], c.In[n-1]}, Type: types.DenseOf(c.Body.In[at].Elem, c.Type.Rows, c.Type.Cols)}
	if acc {
		p.Def, p.In = rowtest.RowNamed(t, rows, "gemm"), []value.Value{c.In[at], c.In[n-2], c.In[n-1]}
	}
	if rowtest.Lend(p); acc {
		p.Result().CopyFrom(c.Dense(at))
	}
	if err := p.Def.Kernel(p); err != nil {
		t.Fatal(err)
	}
	m := &op.Call{Def: fused()[0], Attrs: c.Attrs, Body: c.Body, Type: c.Type, In: chainIn(c)}
	m.In[at] = p.Out
	rowtest.Lend(m)
	if err := m.Def.Kernel(m); err != nil {
		t.Fatal(err)
	}
	return m.Out
}

// The result may lie in the memory of an input as the compiler says: by strips in that of
// everything that is read along the rows, else in that of what the product is added to.
func TestEpiloguesInPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(93, 94))
	d := rowtest.RowNamed(t, denseProducts(chainSets(t)[0]), "map.product")
	for range 60 {
		x := drawEpilogue(r)
		x.n, x.compares, x.beside, x.acc = 1+r.IntN(300), false, op.Full, r.IntN(2) == 0
		x.m = 1 + r.IntN(60)
		if x.drawn = false; r.IntN(2) == 0 {
			x.k, x.ta = x.m, false // the left factor is as large as the result
		}
		c := x.call(r, d)
		for k, v := range c.In {
			c.In[k] = v.(*value.Dense).Clone() // without gaps
		}
		strips, _ := d.Loop.Space(c)
		want := rowtest.Defined(t, c)
		for k, v := range c.In[:len(c.In)-1] {
			if strips == 0 && !(x.acc && k == c.Attrs.Int("place")) || v.Type() != c.Type {
				continue
			}
			onNests(t, func() {
				own := *c
				own.In = append([]value.Value(nil), c.In...)
				own.In[k] = v.(*value.Dense).Clone()
				own.Out = own.In[k]
				if err := d.Kernel(&own); err != nil {
					t.Fatal(err)
				}
				if msg := rowtest.Differ(own.Out, want); msg != "" {
					t.Fatalf("%+v in place of input %d: %s", x, k, msg)
				}
			})
		}
	}
}

// BenchmarkEpilogues is a chain on a product beside the product and the map one after the other, on
// one core.
func BenchmarkEpilogues(b *testing.B) {
	table, err := Table("")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{200_000, 64, 64}, {200_000, 8, 64}, {200_000, 64, 8}, {200_000, 64, 1}, {20_000, 64, 500}, {512, 512, 512}, {256, 256, 256}} {
		x := epilogue{e: types.F64, n: s[0], k: s[1], m: s[2], beside: op.RowVec}
		c := x.call(r, table.Must("map.product"))
		c.Body.Steps[1] = op.Step{Def: table.Must("abs"), Args: []int{2}, Elem: types.F64}
		in := []value.Value{c.Dense(1).Clone(), c.Dense(2).Clone()}
		c.In[1], c.In[2] = in[0], in[1]
		p := &op.Call{Def: table.Must("matmul"), In: in, Type: c.Type}
		m := &op.Call{Def: table.Must("map"), Attrs: c.Attrs, Body: c.Body, Type: c.Type, In: chainIn(c)}
		rowtest.Lend(c)
		rowtest.Lend(p)
		m.In[1], m.Out = p.Out, p.Out
		run := func(name string, calls ...*op.Call) {
			b.Run(fmt.Sprintf("%dx%dx%d/%s", s[0], s[1], s[2], name), func(b *testing.B) {
				for b.Loop() {
					for _, c := range calls {
						if err := c.Def.Kernel(c); err != nil {
							b.Fatal(err)
						}
					}
				}
				b.ReportMetric(2*float64(s[0])*float64(s[1])*float64(s[2])*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
		run("fused", c)
		run("apart", p, m)
	}
}

// TestEvenStrips: the strips are as few as they may be. All but the last are of one height.
func TestEvenStrips(t *testing.T) {
	for n := 1; n < 5000; n += 7 {
		for _, most := range []int{8, 64, 1664} {
			h := evenStrips(n, most)
			strips := (n + h - 1) / h
			if last := n - (strips-1)*h; h > most || strips != (n+most-1)/most || strips > 1 && h%blas.TallRows != 0 || last <= 0 || h-last > blas.TallRows*strips {
				t.Errorf("%d rows with at most %d: %d strips of %d, the last of %d", n, most, strips, h, last)
			}
		}
	}
}
