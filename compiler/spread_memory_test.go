package compiler_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/memory"
	"flow/runtime/dist"
)

// A matrix whose rows ranks share may be larger than the memory of each rank. One that is brought
// together may not.
func TestSpreadMemory(t *testing.T) {
	const shared = `x = materialize(parfor i in 0..1200000 { exp(-1e-6 * i) })
emit sum(x * x)
emit max(abs(x - 0.5))`
	for _, c := range []struct {
		name, text string
		limit      int64
		fits       bool
	}{
		{"rows stay where they are", shared, 4800 << 10, true},
		{"too little for the rows of a rank", shared, 1200 << 10, false},
		{"all rows are read", shared + "\nemit sum(parfor i in 0..1200000 { x[1199999 - i, 0] + x[i, 0] })", 4800 << 10, false},
		{"all rows are read, and fit", shared + "\nemit sum(parfor i in 0..1200000 { x[1199999 - i, 0] + x[i, 0] })", 80 << 20, true},
	} {
		r, err := compileTiny(tinyTable(t), c.text, 4, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.fits {
			want = evaluated(c.name, r.Program).out
		}
		p := &printer{}
		_, err = dist.RunInProcess(context.Background(), r.Plan, 1, func(int) dist.Options {
			return dist.Options{Env: p, Memory: memory.Limit{Bytes: c.limit, By: "this test"}, Agree: true}
		})
		const refused = "more than there is ("
		switch {
		case c.fits && (err != nil || p.out.String() != want):
			t.Errorf("%s: %v, %s", c.name, err, difference(want, p.out.String()))
		case !c.fits && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestLentInBranches: a node of a region has nothing to do with the node of the plan that has the same
// number. The plan may even have fewer nodes.
func TestLentInBranches(t *testing.T) {
	text := "x = rand(40, 3, seed = 1)\nif i64(max(x)) == 0 { emit " + strings.Repeat("cumsum(sort(", 12) + "x" + strings.Repeat("))", 12) + " }"
	r, err := compileTiny(tinyTable(t), text, 2, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := evaluated("branches", r.Program), ran(r, 1); got.err != nil || got.out != want.out {
		t.Error(got.err, difference(want.out, got.out))
	}
}

// TestMemoryOfWhatRanksKeep compares predictions of memory with those of plans whose ranks keep nothing
// of messages and of files. Half of what a rank keeps of a file, it has again in the matrix that it
// gets.
func TestMemoryOfWhatRanksKeep(t *testing.T) {
	var edges strings.Builder
	const n = 60000
	for i := range n {
		fmt.Fprintf(&edges, "%d %d\n", i%500, (i/500*7+i*i)%500)
	}
	path := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(path, []byte(edges.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		less func(n *ir.Node) bool // changes a node whose rank keeps something
		want func(n *ir.Node) int64
	}{
		{"S = rand_graph(3000, 9000, seed = 4)\nG = f64(S or t(S))\niterate X = rand(3000, 40, seed = 1) times 9 {\n  next X = G @ X / 9\n}\nemit sum(X)",
			func(n *ir.Node) bool {
				rows := n.Attrs.Int(plan.Fetch) - 1
				if n.Op.Role != op.Gathers || rows < 1 {
					return false
				}
				n.Attrs = n.Attrs.With(plan.Fetch, op.Int(1))
				return true
			}, func(n *ir.Node) int64 { return 2 * 8 * 40 * int64(n.Attrs.Int(plan.Fetch)-1) / 3 }},
		{fmt.Sprintf("G = read_graph(%q)\nemit nnz(G)", path),
			func(n *ir.Node) bool {
				if n.Op.Strewn == nil {
					return false
				}
				d := *n.Op
				d.Strewn, n.Op = nil, &d
				return true
			}, func(*ir.Node) int64 { return 8 * n / 3 / 2 }},
	} {
		r, err := compileTiny(tinyTable(t), c.text, 3, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, kept := plan.LeastMemory(r.Plan), int64(0)
		var within func(g *ir.Graph)
		within = func(g *ir.Graph) {
			for i := range g.Nodes {
				old := g.Nodes[i]
				if c.less(&g.Nodes[i]) {
					kept += c.want(&old)
				}
				for r := g.Nodes[i].Region; r != nil; r = r.Next {
					within(r.Graph)
				}
			}
		}
		within(r.Plan.Graph)
		after := plan.LeastMemory(r.Plan)
		if less := before.Most() - after.Most(); kept == 0 || less < kept*9/10 || less > kept*11/10 {
			t.Errorf("ranks keep %d bytes, of which %d are counted (%d, %d):\n%s", kept, less, before.Most(), after.Most(), c.text)
		}
	}
}

// A reshape whose rows ranks share is no view, because a rank gets rows that its operand has not. One
// that each rank makes alone is.
func TestSharedRowsAreNoView(t *testing.T) {
	table := tinyTable(t)
	for _, shared := range []bool{false, true} {
		g, attrs := ir.New(), op.MakeAttrs(op.Attr{Name: "m", Val: op.Int(2)}, op.Attr{Name: "n", Val: op.Int(120)})
		if shared {
			attrs = attrs.With(plan.Shared, op.Int(3))
		}
		x := g.Add(table.Must("materialize"), nil, types.DenseOf(types.F64, 60, 4), ir.Origin{})
		if id := g.Add(table.Must("reshape"), attrs, types.DenseOf(types.F64, 120, 2), ir.Origin{}, x); plan.MayView(g, id) == shared {
			t.Errorf("shared rows: %v, a view: %v", shared, plan.MayView(g, id))
		}
	}
}

// A part of a view is a view while it is a large part of the memory that it keeps alive.
func TestPartsOfViews(t *testing.T) {
	table := tinyTable(t)
	g := ir.New()
	cut := func(x ir.ID, cols int) ir.ID {
		at := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, 1, 60, cols)})
		return g.Add(table.Must("slice"), at, types.DenseOf(types.F64, 60, cols), ir.Origin{}, x)
	}
	x := g.Add(table.Must("materialize"), nil, types.DenseOf(types.F64, 120, 20), ir.Origin{})
	shaped := g.Add(table.Must("reshape"), op.MakeAttrs(op.Attr{Name: "m", Val: op.Int(40)}, op.Attr{Name: "n", Val: op.Int(60)}), types.DenseOf(types.F64, 60, 40), ir.Origin{}, x)
	half := cut(shaped, 20)
	for id, want := range map[ir.ID]bool{shaped: true, half: true, cut(half, 10): true, cut(half, 9): false} {
		if plan.MayView(g, id) != want {
			t.Errorf("node %d: a view: %v", id, !want)
		}
	}
}

// Of a matrix up to plan.WholeUpTo a rank has all memory, and the results of one loop in a round are
// there together. Rank 0 has the rows that it gets for a branch with an effect.
func TestMemoryOfSmallParts(t *testing.T) {
	for _, text := range []string{`s = f64(abs(seq(0, 300) - 150) < 20) @ t(f64(abs(seq(0, 300) - 150) < 20))
iterate U = 1 - 0.5 * s, V = 0.25 * s times 20 {
  r = U * V ^ 2
  next U = U + 0.1 * (roll(U, 1) + roll(U, -1) - 2 * U) - r
  next V = V + 0.1 * (roll(V, 1) + roll(V, -1) - 2 * V) + r
}
emit mean(V)`, `x = parfor i in 0..400000 { exp(-1e-6 * i) }
if sum(x) > 1 { emit sum(tanh(x) * x) }`} {
		r, err := compileTiny(tinyTable(t), text, 3, false, []string{"rounds"})
		if err != nil {
			t.Fatal(err)
		}
		rep, err := dist.RunInProcess(context.Background(), r.Plan, 1, func(int) dist.Options { return dist.Options{Env: &printer{}, Stats: true, Agree: true} })
		if err != nil {
			t.Fatal(err)
		}
		for k, told := range plan.LeastMemory(r.Plan).Peak {
			if got := rep.Ranks[k].BytesPeak; 10*got < 7*told || 10*got > 13*told {
				t.Errorf("rank %d takes %d bytes, %d are predicted:\n%s", k, got, told, text)
			}
		}
	}
}
