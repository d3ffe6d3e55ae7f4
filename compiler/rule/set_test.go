package rule_test

import (
	"runtime"
	"testing"
	"weak"

	"flow/compiler/rule"
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
