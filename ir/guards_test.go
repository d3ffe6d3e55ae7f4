package ir_test

import (
	"slices"
	"testing"

	"flow/ir"
	"flow/ir/op"
)

// What is shown waits for what may fail above it, but not for what it reads, nor for what another
// guard reads; the effect before it counts as a node that may fail.
func TestGuards(t *testing.T) {
	total, partial := op.Pure|op.Total, op.Pure
	always := func(*op.Attrs) bool { return true }
	named := func(a *op.Attrs) bool { return a.Str("to") == "" }
	table, err := op.NewTable([]*op.Def{
		{Name: "const", Role: op.Constant, Laws: total}, {Name: "safe", Laws: total}, {Name: "may", Laws: partial}, {Name: "exchange", Role: op.Exchange, Laws: total},
		{Name: "show", Laws: op.Effectful, Shows: always}, {Name: "emit", Laws: op.Effectful, Shows: named}, {Name: "assert", Laws: op.Effectful},
		{Name: "arg", Role: op.Argument, Laws: total}, {Name: "select", Laws: op.Pure, Control: op.Select}, {Name: "part", Laws: op.Pure, Control: op.Part},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []ir.Guard
	}{
		{"%0 = may() : f64\n%1 = show(%0) : effect\n", nil},
		{"%0 = const() : f64\n%1 = may() : f64\n%2 = show(%0) : effect\n%3 = show(%1, %2) : effect\n", []ir.Guard{{By: 1, Shown: 2}}},
		// A chain: its last node alone. What cannot fail is no guard, but what it reads is.
		{"%0 = may() : f64\n%1 = may(%0) : f64\n%2 = safe(%1) : f64\n%3 = const() : f64\n%4 = show(%3) : effect\n", []ir.Guard{{By: 1, Shown: 4}}},
		// An exchange and a file are waited for by nothing; writing the file is waited for,
		// since it may fail.
		{"%0 = may() : f64\n%1 = exchange(%0) : f64\n%2 = emit(%1) {to=\"f.csv\"} : effect\n%3 = assert(%0) : effect\n%4 = emit() : effect\n",
			[]ir.Guard{{By: 2, Shown: 4}, {By: 3, Shown: 4}}},
		// Two chains of effects are in the order of the program.
		{"%0 = const() : f64\n%1 = show(%0) : effect\n%2 = emit(%0) : effect\n%3 = may() : f64\n%4 = show(%0, %1) : effect\n",
			[]ir.Guard{{By: 1, Shown: 2}, {By: 2, Shown: 4}, {By: 3, Shown: 4}}},
	} {
		g, err := ir.Parse(c.text, table)
		if err != nil {
			t.Fatal(err)
		}
		got := ir.Guards(g, 0, ir.ID(g.Len()))
		slices.SortFunc(got, func(a, b ir.Guard) int { return int(a.Shown-b.Shown)*100 + int(a.By-b.By) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v, want %v, in\n%s", got, c.want, c.text)
		}
	}
}
