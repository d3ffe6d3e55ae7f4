package compiler_test

import (
	"context"
	"testing"

	"flow/compiler"
	"flow/kernels"
)

// Tables of pairs that several loops read are stored only if their elements take long, or if something
// reads them that is no loop.
func TestTablesOfPairs(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const points = "x = materialize(rand(1000, 1, seed = 1))\ny = materialize(rand(1000, 1, seed = 2))\n"
	for _, c := range []struct {
		name, text string
		stored     int
	}{
		{"forces", "dx = t(x) - x\ndy = t(y) - y\nw = 1 / (dx ^ 2 + dy ^ 2 + 0.01)\n" +
			"emit sum(w)\nemit norm(rowsum(w * dx))\nemit norm(colsum(w * dy))", 0},
		{"a chain", "r = sqrt((t(x) - x) ^ 2 + (y - t(y)) ^ 2)\nemit sum(r * (r < 0.5))\nemit norm(rowsum(r + 1))", 0},
		{"a diagonal", "d = t(x) - x + eye(1000)\nemit sum(1 / d)\nemit norm(rowsum(d * d))", 0},
		{"results", "d = t(x) - x\nemit norm(materialize(d ^ 2))\nemit norm(materialize(abs(d)))", 2},
		{"dear", "e = exp(sin(t(x) - x))\nemit sum(e * e)\nemit norm(rowsum(e + 1))", 1},
		{"read as it is", "d = t(x) - x\nemit norm(sort(d[:, 7]))\nemit d\nemit sum(d ^ 3)", 1},
		{"a branch", "d = t(x) - y\nemit if sum(x) > 1e9 { norm(d * 0.7) } else { norm(d * 0.7) + 1 }\nemit sum(d * d)", 1},
		{"a matrix beside", "d = materialize(rand(1000, 1000, seed = 3)) - x - t(y)\nemit sum(sqrt(abs(d)))\nemit sum(d ^ 3)", 1},
	} {
		p, ds := compiler.Compile(context.Background(), "x.flow", []byte(points+c.text), compiler.Options{Table: table, Ranks: 1})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		g, stored := p.Plan.Graph, 0
		for id := range g.All() {
			if t := g.Type(id); t.IsMatrix() && t.Rows == 1000 && t.Cols == 1000 {
				stored++
			}
		}
		if stored != c.stored {
			t.Errorf("%s: %d tables are stored, not %d", c.name, stored, c.stored)
		}
	}
}
