package compiler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir/op"
)

// A chain that reads more values than a compiled loop has room for becomes several chains.
func TestWideChains(t *testing.T) {
	const n = 70
	var text, sum, other strings.Builder // what two sums share would be one nest with them
	for i := range n {
		fmt.Fprintf(&text, "x%d = materialize(rand(50, 1, seed = %d))\n", i, i+1)
		fmt.Fprintf(&sum, " + x%d * %d.5", i, i+1)
		fmt.Fprintf(&other, " + x%d * %d.25", i, i+1)
	}
	fmt.Fprintf(&text, "emit materialize(0.0%s)\nemit sum(1.0%s)", sum.String(), other.String())
	c, ds := compiler.Compile(context.Background(), "x.flow", []byte(text.String()), compiler.Options{Table: tinyTable(t), Ranks: 1})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	chains, widest := 0, 0
	g := c.Plan.Graph
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Region != nil {
			chains++
			widest = max(widest, len(n.Region.Args))
		}
	}
	if chains < 4 || chains > 12 || widest > op.MostOperands || widest < op.MostOperands/2 {
		t.Errorf("%d chains, of which the widest reads %d values", chains, widest)
	}
	if a, b := evaluated("the meaning", c.Program), evaluated("the plan", g); a.out != b.out || a.failed {
		t.Errorf("the plan prints %s", difference(a.out, b.out))
	}
}
