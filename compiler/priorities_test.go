package compiler_test

import (
	"math"
	"testing"

	"flow/compiler"
	"flow/stdlib"
)

// TestPrioritiesInRounds: tasks of a loop get up to a sixteenth more than the priority of its node,
// which is the longest path of most programs. If these numbers were cut off at the largest one, they
// would be equal, and ready tasks of a round would run last in, first out.
func TestPrioritiesInRounds(t *testing.T) {
	text := "A = rand(300, 300, seed = 1)\niterate x = A, v = A[:, 0] times 20 {\n  next x = (x @ x) @ x / 1e9\n  next v = sort(v + x[:, 0])\n}\nemit sum(x) + sum(v)\n"
	r, ds := compiler.Compile(t.Context(), "x.flow", []byte(text), compiler.Options{Table: tinyTable(t), Ranks: 2, Verify: true, Std: stdlib.Files})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	loops := 0
	for id, n := range r.Plan.Graph.All() {
		if n.Region == nil {
			continue
		}
		p := int64(r.Plan.Prio[id])
		if p+p/16 > math.MaxInt32 {
			t.Errorf("%s has priority %d: no room for those of its tasks", n.Op.Name, p)
		}
		if p > math.MaxInt32/4 {
			loops++
		}
	}
	if loops == 0 {
		t.Error("no loop is urgent: the test looks at nothing")
	}
}
