package compiler_test

import (
	"math"
	"testing"

	"flow/ir"
	"flow/ir/types"
)

// TestShortEffectsFirst: a short emit and its text are more urgent than a loop below them, and what else an emit
// reads keeps its place on the path. If the emit is much of the program, it waits.
func TestShortEffectsFirst(t *testing.T) {
	for _, p := range []struct {
		text string
		most int // nodes of the greatest priority
	}{
		{"emit \"begin\"\nz = parfor i in 0..500000 { sin(i) }\nemit sum(z)\n", 3}, // two emits and a text
		{"assert 1 < 2, \"no\"\nemit \"begin\"\n", 0},
	} {
		c, err := compileTiny(tinyTable(t), p.text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, most := c.Plan.Graph, 0
		for i, prio := range c.Plan.Prio {
			if prio < math.MaxInt32 {
				continue
			}
			most++
			if id := ir.ID(i); g.Type(id).Kind != types.Effect && len(g.In(id)) > 0 {
				t.Errorf("%s is urgent\n%s", g.Line(id), g)
			}
		}
		if most != p.most {
			t.Errorf("%d urgent nodes, want %d\n%s%v", most, p.most, g, c.Plan.Prio)
		}
	}
}
