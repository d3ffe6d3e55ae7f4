package pass

import (
	"math"

	"flow/ir"
	"flow/ir/plan"
	"flow/ir/types"
)

// Priorities returns each task's longest path to the end of the program in predicted seconds,
// scaled to integers: list scheduling by it keeps the critical path busy (Hu's and CP scheduling;
// Adam, Chandy, Dickson, CACM 17(12), 1974). It affects only the order. A constant factor in the
// rates changes nothing. Short effects come first: somebody waits for what they print, and a failed
// assertion spares the rest.
func Priorities(g *ir.Graph, rates plan.Rates) []int32 {
	costs := plan.Costs(g, rates)
	tail := plan.Critical(g, costs)
	longest := 0.0
	for _, t := range tail {
		longest = max(longest, t)
	}
	out := make([]int32, len(tail))
	if longest == 0 {
		return out
	}
	scale := float64(math.MaxInt32-1) / longest
	for i, t := range tail {
		out[i] = int32(t * scale)
	}
	short := func(id ir.ID) bool { return costs[id] < longest/shortEffect }
	for i := range tail {
		id := ir.ID(i)
		if g.Type(id).Kind != types.Effect || !short(id) {
			continue
		}
		out[i] = math.MaxInt32
		for _, x := range g.In(id) {
			if len(g.In(x)) == 0 && short(x) { // a text
				out[x] = math.MaxInt32
			}
		}
	}
	return out
}

// shortEffect is how many times the time of an effect the longest path takes at least, if the effect is short.
const shortEffect = 100
