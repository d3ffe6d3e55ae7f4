package rule

import (
	"math/rand/v2"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// cost is the multiplications of an order, and the shape of the result.
func cost(s *Split, ts []types.Type) (work float64, rows, cols int) {
	if s.Left == nil {
		return 0, ts[s.Factor].Rows, ts[s.Factor].Cols
	}
	a, n, k := cost(s.Left, ts)
	b, _, m := cost(s.Right, ts)
	return a + b + float64(n)*float64(k)*float64(m), n, m
}

// all is every order of the factors i..j.
func all(i, j int) (out []*Split) {
	if i == j {
		return []*Split{{Factor: i}}
	}
	for cut := i; cut < j; cut++ {
		for _, l := range all(i, cut) {
			for _, r := range all(cut+1, j) {
				out = append(out, &Split{Left: l, Right: r})
			}
		}
	}
	return out
}

// Chain is the cheapest of all orders; of chains without a better one, left to right.
func TestChain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 2 + rng.IntN(5)
		ts := make([]types.Type, n)
		rows := 1 + rng.IntN(9)
		for i := range ts {
			cols := 1 + rng.IntN(9)
			ts[i] = types.DenseOf(types.F64, rows, cols)
			rows = cols
		}
		got, _, _ := cost(Chain(ts, Dense), ts)
		for _, s := range all(0, n-1) {
			if w, _, _ := cost(s, ts); w < got {
				t.Fatalf("%v: %v multiplications, %v are enough", ts, got, w)
			}
		}
	}
	square := types.DenseOf(types.F64, 7, 7)
	s := Chain([]types.Type{square, square, square, square}, Dense)
	for ; s.Left != nil; s = s.Left {
		if s.Right.Left != nil {
			t.Error("equal costs are not taken from left to right")
		}
	}
}

// Of two sparse factors and a full one, the sparse ones come first although their product alone has more elements.
func TestChainBySparsity(t *testing.T) {
	sparse := func(n, m int) types.Type {
		x := types.DenseOf(types.F64, n, m)
		x.Repr = types.CSR
		return x
	}
	density := func(k int) float64 {
		if k < 2 {
			return 0.001
		}
		return 1
	}
	ts := []types.Type{sparse(1000, 1000), sparse(1000, 1000), types.DenseOf(types.F64, 1000, 900)}
	if s := Chain(ts, Dense); s.Right.Left == nil {
		t.Error("full: A @ (B @ C) is cheaper")
	}
	if s := Chain(ts, density); s.Right.Left != nil {
		t.Error("sparse: (A @ B) @ C is cheaper")
	}
	if f := filled(0.5, 3); f != 0.875 {
		t.Errorf("3 products, each there half of the time: %v of the elements are filled", f)
	}
}

// A graph to which no rule applies costs little: see the goal in the package's benchmark.
func BenchmarkNothingApplies(b *testing.B) {
	table := tableUnderTest(b)
	g := ir.New()
	data := func() ir.ID {
		return g.Add(table.Must("zeros"), op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(8)}, op.Attr{Name: "m", Val: op.Int(8)}), types.DenseOf(types.F64, 8, 8), ir.Origin{})
	}
	x, y := data(), data()
	typ := g.Type(x)
	at := op.MakeAttrs(op.Attr{Name: "tb", Val: op.Bool(true)}, op.Attr{Name: "sub", Val: op.Bool(true)})
	for g.Len() < 1_000_000 {
		a := g.Add(table.Must("potrf"), nil, typ, ir.Origin{}, x)
		c := g.Add(table.Must("trsm"), nil, typ, ir.Origin{}, a, y)
		for range 6 {
			x = g.Add(table.Must("gemm"), at, typ, ir.Origin{}, x, c, y)
		}
		x = g.Add(table.Must("add"), nil, typ, ir.Origin{}, x, c)
		y = c
	}
	set := New(table, Exact, nil)
	b.ResetTimer()
	for range b.N {
		if out, _ := set.Simplify(g); out != g {
			b.Fatal("something applies")
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1000/float64(b.N), "ms/Mnodes")
}
