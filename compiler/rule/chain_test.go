package rule

import (
	"math/rand/v2"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/sparsity"
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
		got, _, _ := cost(Chain(full(ts)), ts)
		for _, s := range all(0, n-1) {
			if w, _, _ := cost(s, ts); w < got {
				t.Fatalf("%v: %v multiplications, %v are enough", ts, got, w)
			}
		}
	}
	square := types.DenseOf(types.F64, 7, 7)
	s := Chain(full([]types.Type{square, square, square, square}))
	for ; s.Left != nil; s = s.Left {
		if s.Right.Left != nil {
			t.Error("equal costs are not taken from left to right")
		}
	}
}

// Of two sparse factors and a full one, the sparse ones come first although their product alone has
// more elements.
func TestChainBySparsity(t *testing.T) {
	sparse := func(n, m int) types.Type {
		x := types.DenseOf(types.F64, n, m)
		x.Repr = types.CSR
		return x
	}
	ts := []types.Type{sparse(1000, 1000), sparse(1000, 1000), types.DenseOf(types.F64, 1000, 900)}
	if s := Chain(full(ts)); s.Right.Left == nil {
		t.Error("full: A @ (B @ C) is cheaper")
	}
	es := []sparsity.Estimate{sparsity.Uniform(1000, 1000, 1000, sparsity.Estimated), sparsity.Uniform(1000, 1000, 1000, sparsity.Estimated), sparsity.Dense(1000, 900)}
	if s := Chain(es); s.Right.Left != nil {
		t.Error("sparse: (A @ B) @ C is cheaper")
	}
	// A hub, all of whose edges come in and go out: the square is full, whatever the density
	// says, so the vector goes first.
	hub, one := make([]float64, 1000), make([]float64, 1000)
	for k := range hub {
		hub[k], one[k] = 0, 1
	}
	hub[7] = 1000
	star := []sparsity.Estimate{sparsity.Counts(one, hub), sparsity.Counts(hub, one), sparsity.Dense(1000, 20)}
	if s := Chain(star); s.Right.Left == nil {
		t.Error("a hub: A @ (B @ C) is cheaper")
	}
	for k := range star[:2] {
		star[k] = sparsity.Uniform(1000, 1000, 1000, sparsity.Estimated)
	}
	if s := Chain(star); s.Right.Left != nil {
		t.Error("no hub: (A @ B) @ C is cheaper")
	}
}

// full is dense factors.
func full(ts []types.Type) (out []sparsity.Estimate) {
	for _, t := range ts {
		out = append(out, sparsity.Dense(t.Rows, t.Cols))
	}
	return out
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
