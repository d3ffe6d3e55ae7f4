package local

// This file runs what ranks do together: a node whose rows they share (plan.Shared) makes this
// rank's, and a gather brings those of the others.
//
// A gather is two tasks. The first, which steers, starts the transfers when the input exists; it
// holds a use of it until they have ended. The second waits for the input and for their end. Its
// result is a view of the input: the rows of the others arrive where they belong, in memory that
// nobody reads or writes there before.

import (
	"fmt"
	"sync/atomic"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
)

// gather is a node of the role Gathers.
type gather struct {
	id     ir.ID
	task   int32
	away   atomic.Bool  // its transfers are under way and have not been given up
	states *value.Dense // of all ranks, one below the other
	parts  []*value.CSR // of a sparse matrix, by rank
}

// starts adds the task that starts the transfers of g.
func (b *numbering) starts(g *gather) { b.steers(steer{role: gathers, gather: g}, g.id) }

// startGather starts the transfers of g, unless an earlier failure makes it dead. Then the other
// ranks do not wait for this one: they are told of the failure.
func (e *Engine) startGather(s *workerState, g *gather) {
	id := g.id
	x := e.at(e.g.In(id)[0])
	e.running().Expect()
	g.away.Store(true)
	if e.place(id) > e.failedAt.Load() {
		e.arrived(g)
		return
	}
	key := e.g.Nodes[id].Attrs.Int("key")
	if m, ok := e.slot[x].(*value.CSR); ok {
		e.o.Remote.GatherSparse(key, m, func(parts []*value.CSR) {
			g.parts = parts
			e.Release(x)
			e.arrived(g)
		})
		if e.place(id) > e.failedAt.Load() {
			e.arrived(g)
		}
		return
	}
	d := e.slot[x].(*value.Dense)
	if n := e.g.Nodes[id].Attrs.Int(plan.Stacked); n > 0 {
		t := d.Type()
		t.Rows *= n
		all, err := e.fresh(s, t)
		if err != nil {
			e.fail(id, err)
			e.arrived(g)
			return
		}
		all.View(e.o.Rank*d.Rows, 0, d.Rows, d.Cols).CopyFrom(d)
		g.states, d = all, all
	}
	e.o.Remote.Gather(key, d, func() {
		e.Release(x) // first: the next round may begin as soon as its rows have arrived
		e.arrived(g)
	})
	if e.place(id) > e.failedAt.Load() { // a failure in between did not see it
		e.arrived(g)
	}
}

// arrived lets the readers of g run: its rows are there, or nobody needs them.
func (e *Engine) arrived(g *gather) {
	if g.away.CompareAndSwap(true, false) {
		e.running().Satisfy(g.task)
	}
}

// wholeOf is the result of gather id of rows: a view of its input.
func (e *Engine) wholeOf(id ir.ID) value.Value {
	d := *e.slot[e.at(e.g.In(id)[0])].(*value.Dense)
	d.Buf = nil
	return &d
}

// statesOf appends the states of all ranks, or what they have of a sparse matrix, that gather id
// joins.
func (e *Engine) statesOf(id ir.ID, in []value.Value) []value.Value {
	if parts := e.gatherOf[id].parts; parts != nil {
		for _, m := range parts {
			in = append(in, m)
		}
		return in
	}
	all := e.gatherOf[id].states
	rows := all.Rows / e.p.Ranks
	for r := range e.p.Ranks {
		in = append(in, all.View(r*rows, 0, rows, all.Cols))
	}
	return in
}

// dropStates gives back the memory of the states.
func (e *Engine) dropStates(id ir.ID) {
	g := e.gatherOf[id]
	if g.states != nil {
		e.discard(g.states)
	}
	g.states, g.parts = nil, nil
}

// shared reports whether this rank makes only its own rows of node id.
func (e *Engine) shared(id ir.ID) bool {
	return e.o.Remote != nil && e.g.Nodes[id].Op.Loop != nil && e.g.Nodes[id].Attrs.Int(plan.SharedRows) > 0
}

// ownRows returns this rank's rows of node id, which makes them without a loop; 0, 0 where there are
// no other ranks.
func (e *Engine) ownRows(id ir.ID) (lo, hi int) {
	if e.o.Remote == nil {
		return 0, 0
	}
	return plan.Window(e.o.Rank, e.p.Ranks, e.g.Nodes[id].Attrs.Int(plan.SharedRows))
}

// window returns this rank's iterations of a loop of n: those of its rows.
func (e *Engine) window(c *op.Call, n int) (base, count int, err error) {
	rows := c.Attrs.Int(plan.SharedRows)
	if rows < e.p.Ranks || n < rows || n%rows != 0 {
		return 0, 0, fmt.Errorf("BUG: %s has %d iterations for %d rows, which ranks share", c.Def.Name, n, rows)
	}
	lo, hi := plan.Window(e.o.Rank, e.p.Ranks, rows)
	return lo * (n / rows), (hi - lo) * (n / rows), nil
}
