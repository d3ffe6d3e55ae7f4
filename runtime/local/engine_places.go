package local

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// This file answers questions about nodes: which task and slot they have, where they are in program
// order, which rows of them are this rank's.

// over reports that the result of node id is dead: the run is ending, or an earlier task has
// failed.
func (e *Engine) over(id ir.ID) bool {
	return e.place(id) > e.failedAt.Load() || e.running().stopping()
}

// at returns the node whose slot holds the value of id on this rank.
func (e *Engine) at(id ir.ID) ir.ID {
	if e.root == nil {
		return id
	}
	return e.root[id]
}

// place returns the place of node id in program order.
func (e *Engine) place(id ir.ID) int64 {
	if e.order == nil {
		return int64(id)
	}
	return e.order[id]
}

// planned returns the plan's node that is or contains id.
func (e *Engine) planned(id ir.ID) ir.ID {
	n := e.p.Graph.Len()
	for int(id) >= n {
		id = e.home[int(id)-n].loop.node
	}
	return id
}

// controlOf returns the loop or branch that a node is, or nil.
func (e *Engine) controlOf(id ir.ID) *control {
	for _, lp := range e.controls {
		if lp.node == id {
			return lp
		}
	}
	return nil
}

// path leads from planned(id) to id.
func (e *Engine) path(id ir.ID) []ir.Step {
	n := e.p.Graph.Len()
	var out []ir.Step
	for int(id) >= n {
		h := e.home[int(id)-n]
		out = append([]ir.Step{{Region: h.region, Node: h.id, Round: h.loop.round}}, out...)
		id = h.loop.node
	}
	return out
}

// runs returns how often the task of node id ran.
func (e *Engine) runs(id ir.ID) float64 {
	n := e.p.Graph.Len()
	if int(id) < n {
		return 1
	}
	if p := e.repeats[id]; p != nil {
		return float64(p.runs)
	}
	h := e.home[int(id)-n]
	return float64(h.loop.regions[h.region].runs)
}

// reads returns what task t waits for: the inputs of its node, or of the loop that it enters.
func (e *Engine) reads(t int32) []ir.ID {
	if e.flags[t]&steers != 0 {
		if s, ok := e.steer[t]; !ok || s.role != enters && s.role != gathers {
			return nil
		}
	}
	return e.g.In(e.task[t])
}

// ownRows returns this rank's rows lo..hi-1 of node id, which makes them without a loop. They are 0, 0
// if there are no other ranks.
func (e *Engine) ownRows(id ir.ID) (lo, hi int) {
	if e.o.Remote == nil {
		return 0, 0
	}
	a := e.g.Nodes[id].Attrs
	return plan.WindowOf(e.o.Rank, e.p.Ranks, a.Int(plan.SharedRows), a.Val(plan.Unit))
}

// window returns the iterations base..base+count-1 that a rank has of a loop of n iterations. They make
// the rank's own rows.
func (e *Engine) window(c *op.Call, rank, n int) (base, count int, err error) {
	rows, by := c.Attrs.Int(plan.SharedRows), c.Attrs.Val(plan.Unit)
	of := rows // iterations are those of rows, or of units
	if unit := max(1, int(by.I)); n%rows != 0 {
		of, by = (rows+unit-1)/unit, op.Val{}
	}
	if rows < e.p.Ranks && len(by.L) == 0 || n < of || n%of != 0 {
		return 0, 0, fmt.Errorf("BUG: %s has %d iterations for %d rows, which ranks share", c.Def.Name, n, rows)
	}
	lo, hi := plan.WindowOf(rank, e.p.Ranks, of, by)
	return lo * (n / of), (hi - lo) * (n / of), nil
}

// elsewhere reports whether another rank alone runs node id.
func (e *Engine) elsewhere(id ir.ID) bool {
	own := e.g.Nodes[id].Attrs.Int(plan.Owner)
	return own > 0 && own != e.o.Rank+1 && !plan.IsGather(&e.g.Nodes[id])
}

// shared reports whether this rank makes only its own rows of node id.
func (e *Engine) shared(id ir.ID) bool {
	loop := e.g.Nodes[id].Op.Loop
	return e.o.Remote != nil && loop != nil && !loop.Own && !e.g.Type(id).IsSparse() && e.g.Nodes[id].Attrs.Int(plan.SharedRows) > 0 && e.g.Nodes[id].Attrs.Int(plan.Owner) == 0
}
