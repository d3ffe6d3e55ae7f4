package pass

import (
	"math"

	"flow/ir"
	"flow/ir/plan"
)

// Priorities returns each task's longest path to the end of the program in predicted seconds,
// scaled to integers: list scheduling by it keeps the critical path busy (Hu's and CP scheduling;
// Adam, Chandy, Dickson, CACM 17(12), 1974). It affects only the order. A constant factor in the
// rates changes nothing.
func Priorities(g *ir.Graph, rates plan.Rates) []int32 {
	tail := plan.Critical(g, plan.Costs(g, rates))
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
	return out
}
