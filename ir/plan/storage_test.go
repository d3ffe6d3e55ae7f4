package plan_test

import (
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// A result takes the memory of an operand, unless the operand tells which element has no value: of integers
// that are divided, alone or in a chain, and not of floats.
func TestTakesOverUnlessAnElementFails(t *testing.T) {
	table, err := op.NewTable([]*op.Def{
		{Name: "x"}, {Name: "arg", Role: op.Argument},
		{Name: "add", Alias: true, Laws: op.Total}, {Name: "mod", Alias: true, Partial: op.NotByZero}, {Name: "map", Alias: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	chain := func(of string) string {
		return "\n  region {\n    %0 = arg() : i64\n    %1 = " + of + "(%0, %0) : i64\n    args %0\n    yield %1\n  }"
	}
	for _, c := range []struct {
		node string
		want bool
	}{
		{"add(%0, %0) : i64[4,4]", true},
		{"mod(%0, %0) : i64[4,4]", false},
		{"mod(%0, %0) : f64[4,4]", true},
		{"map(%0) {modes=[0]} : i64[4,4]" + chain("add"), true},
		{"map(%0) {modes=[0]} : i64[4,4]" + chain("mod"), false},
	} {
		g, err := ir.Parse("%0 = x() : i64[4,4]\n%1 = "+c.node+"\n", table)
		if err != nil {
			t.Fatalf("%s: %v", c.node, err)
		}
		if got := plan.TakesOver(g, 1, 0); got != c.want {
			t.Errorf("%s: %v", c.node, got)
		}
	}
}
