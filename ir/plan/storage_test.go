package plan_test

import (
	"strings"
	"testing"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// A result takes the memory of an operand, unless the operand tells which element has no value: of
// integers that are divided, alone or in a chain, and not of floats.
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

// TestLoopsTakeOver: a loop takes the memory of an operand that it reads, for each element, at the
// place of that element alone.
func TestLoopsTakeOver(t *testing.T) {
	table, err := op.NewTable([]*op.Def{
		{Name: "x"}, {Name: "arg", Role: op.Argument}, {Name: "const", Role: op.Constant}, {Name: "element", Role: op.Picks, Laws: op.Pure},
		{Name: "add", Laws: op.Pure | op.Elementwise | op.Total}, {Name: "total", Laws: op.Pure | op.Total}, {Name: "map", Role: op.Maps, Laws: op.Pure},
		{Name: "parfor", Role: op.Points, Laws: op.Pure}, {Name: "nest", Role: op.Grouped, Laws: op.Pure},
	})
	if err != nil {
		t.Fatal(err)
	}
	const whole = "by=[1,1], lo=[0,0], n=[4,4], names=\"i j\""
	loop := func(attrs, at, then string) string {
		return "parfor(%0) {" + attrs + "} : f64[4,4]\n  region {\n    %0 = arg() : i64\n    %1 = arg() : i64\n    %2 = arg() : f64[4,4]\n" +
			"    %3 = const() {value=0} : i64\n    %4 = element(%2, " + at + ") : f64\n    " + then + "\n    args %0 %1 %2\n    yield %5\n  }\n"
	}
	group := func(modes, reads string) string {
		return "nest(%0) : f64[4,4]\n  region {\n    %0 = arg() : f64[4,4]\n    %1 = map(%0) {modes=[" + modes + "]} : f64[4,4]\n      region {\n" +
			"        %0 = arg() : f64\n        %1 = add(%0, %0) : f64\n        args %0\n        yield %1\n      }\n    %2 = " +
			reads + "\n    args %0\n    yield %2\n  }\n"
	}
	const sum = "%5 = add(%4, %4) : f64"
	inner := func(at string) string {
		text := loop(whole, at, sum)
		return strings.ReplaceAll(strings.TrimSuffix(strings.Replace(text, "parfor(%0)", "parfor(%1)", 1), "\n"), "\n", "\n    ")
	}
	for _, c := range []struct {
		why, node string
		want      bool
	}{
		{"its place", loop(whole, "%0, %1", sum), true},
		{"the other place", loop(whole, "%1, %0", sum), false},
		{"one place for all", loop(whole, "%0, %3", sum), false},
		{"from 1", loop("by=[1,1], lo=[0,1], n=[4,3], names=\"i j\"", "%0, %1", sum), false},
		{"each second", loop("by=[1,2], lo=[0,0], n=[4,2], names=\"i j\"", "%0, %1", sum), false},
		{"an operator that may begin again", loop(whole, "%0, %1", "%5 = total(%4) : f64"), false},
		{"a group at its place", group("0", inner("%0, %1")), true},
		{"a group of which the chain reads across", group("1", inner("%0, %1")), false},
		{"a group of which the loop reads across", group("0", inner("%1, %0")), false},
		{"a group with an operator that reads elsewhere", group("0", "total(%1) : f64[4,4]"), false},
	} {
		g, err := ir.Parse("%0 = x() : f64[4,4]\n%1 = "+c.node, table)
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.why, err, c.node)
		}
		if got := plan.TakesOver(g, 1, 0); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}
