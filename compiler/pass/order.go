package pass

import (
	"math"

	"flow/ir"
	"flow/ir/plan"
)

// Priorities is each task's longest path to the end of the program in predicted
// seconds, scaled to integers: list scheduling by it keeps the critical path busy
// (Hu's and CP scheduling; Adam, Chandy, Dickson, CACM 17(12), 1974). It steers order
// alone. Where the rates are wrong by a constant factor nothing changes.
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

// DropDead drops blocks that no effect needs, in place, keeping the table of places in
// step.
func (p *Partitioned) DropDead() *Partitioned {
	keep := alive(p.Graph)
	if keep == nil {
		return p
	}
	// In place: the graph is the partitioner's own, and may be most of the memory there is.
	live, to := make([]int32, len(keep)), make([]ir.ID, len(keep))
	blocks := p.Block[:0]
	for i, k := range keep {
		if k {
			live[i] = 1
			blocks = append(blocks, p.Block[i])
		}
	}
	p.Graph.Sweep(0, live, to)
	p.Block = blocks
	return p
}
