package rule_test

import (
	"runtime"
	"testing"
	"weak"

	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/types"
	"flow/kernels"
)

// What is compiled of rules is kept by the table that it is for, and goes with it: a process that
// compiles many programs makes a table for each.
func TestRulesLiveAsLongAsTheirTable(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	rules := rule.New(table, rule.Exact, nil)
	kept := weak.Make(table)
	runtime.KeepAlive(rules)
	rules, table = nil, nil
	for range 20 {
		if runtime.GC(); kept.Value() == nil {
			return
		}
	}
	t.Error("a table is kept that nothing uses")
}

// A tiled program has a million products to which no rule applies. Matching one allocates nothing.
func TestWhatDoesNotMatchAllocatesNothing(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	products := func(n int) float64 {
		g, tile := ir.New(), types.DenseOf(types.F64, 4, 4)
		a := g.Add(table.Must("arg"), nil, tile, ir.Origin{})
		for range n {
			g.Add(table.Must("gemm"), nil, tile, ir.Origin{}, a, a, a)
		}
		rules := rule.New(table, rule.Exact, nil)
		return testing.AllocsPerRun(10, func() {
			if out, _ := rules.Simplify(g); out != g {
				t.Fatal("a rule applies")
			}
		})
	}
	if few, many := products(10), products(1000); many > few+10 {
		t.Errorf("%v allocations for 1000 products, %v for 10", many, few)
	}
}
