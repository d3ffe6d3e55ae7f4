package local

// This file runs nodes that ranks share: a node with plan.Shared makes the rows of this rank, and a
// gather brings those of the others.
//
// A gather is two tasks. The first one, which steers, starts the transfers when the input exists. It
// holds a use of the input until they have ended. The second one waits for the input and for the end
// of the transfers. Its result is a view of the input: the rows of others arrive in their place,
// which no task of this rank has read or written before.

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/value"
)

// startGather starts the transfers of g, unless an earlier failure makes it dead. The other ranks
// learn of that failure, so they do not wait for this one.
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
		e.o.Remote.GatherSparse(key, e.partsFor(id, m), func(parts []*value.CSR) {
			g.parts = parts
			for _, x := range e.g.In(id) {
				e.Release(e.at(x))
			}
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
	} else if err := e.buffers.Touch(d.Buf, e.gatheredBytes(id, d)); err != nil {
		e.fail(id, op.NoMemory(err))
		e.arrived(g)
		return
	}
	finished := func() {
		for _, x := range e.g.In(id) { // first: the next round may begin as soon as its rows have arrived
			e.Release(e.at(x))
		}
		e.arrived(g)
	}
	if e.byList(id) {
		e.startFetch(g, d, finished)
	} else if a := e.g.Nodes[id].Attrs; a.Int(plan.Pick)+a.Int(plan.Fetch) > 0 {
		e.startRanges(g, d, finished)
	} else {
		e.o.Remote.Gather(key, d, finished)
	}
	if e.place(id) > e.failedAt.Load() { // giveUp of a failure in between may not have seen the transfers
		e.arrived(g)
	}
}

// gatheredBytes returns how much of d gather id touches at most: the rank's own rows, and those that it
// brings.
func (e *Engine) gatheredBytes(id ir.ID, d *value.Dense) int {
	a := e.g.Nodes[id].Attrs
	pick := a.Int(plan.Pick)
	needs, some := plan.Needs(a)
	runs := a.Int(plan.Fetch) > 0 && !e.byList(id)
	if !some && pick == 0 && !runs || some && pick > 0 || d.Rows == 0 {
		return len(d.Bytes())
	}
	lo, hi := plan.WindowOf(e.o.Rank, e.p.Ranks, d.Rows, a.Val(plan.Unit))
	if runs { // as many rows as it has
		pick = hi - lo
	}
	rows := hi - lo + pick
	if some {
		for _, r := range needs[e.o.Rank] { // which may have own rows
			rows += r.To - r.From - max(0, min(r.To, hi)-max(r.From, lo))
		}
	}
	return min(rows, d.Rows) * (len(d.Bytes()) / d.Rows)
}

// partsFor returns, by rank, the part of m that gather id sends there. Where ranks have entries in all
// rows (plan.SharedRows), it is the entries in the receiver's rows. Otherwise it is this rank's rows:
// all, those that a list names (plan.Fetch), or none (plan.Only).
func (e *Engine) partsFor(id ir.ID, m *value.CSR) []*value.CSR {
	a, n := e.g.Nodes[id].Attrs, e.p.Ranks
	lo, hi := plan.WindowOf(e.o.Rank, n, m.Rows, a.Val(plan.Unit))
	mine, parts := m.View(lo, hi-lo), make([]*value.CSR, n)
	listed, only := a.Int(plan.Fetch) > 0, a.Int(plan.Only)
	for r := range parts {
		switch {
		case a.Int(plan.SharedRows) > 0:
			from, to := plan.WindowOf(r, n, m.Rows, a.Val(plan.Unit))
			parts[r] = m.View(from, to-from)
		case r != e.o.Rank && listed:
			rows, _ := e.slot[e.at(e.g.In(id)[1])].(*value.CSR).Row(r)
			parts[r] = mine.Only(rows, lo)
		case r != e.o.Rank && only > 0 && only != r+1:
			parts[r] = mine.Only(nil, lo)
		default:
			parts[r] = mine
		}
	}
	return parts
}

// wholeOf returns the result of gather id of rows: a view of its input.
func (e *Engine) wholeOf(id ir.ID) value.Value {
	d := *e.slot[e.at(e.g.In(id)[0])].(*value.Dense)
	if e.byList(id) {
		e.land(e.gatherOf[id], &d)
	}
	d.Buf = nil
	return &d
}

// statesOf appends what gather id joins, by rank: states, or parts of a sparse matrix.
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

// dropStates gives back what statesOf appends.
func (e *Engine) dropStates(id ir.ID) {
	g := e.gatherOf[id]
	if g.states != nil {
		e.discard(g.states)
	}
	g.states, g.parts = nil, nil
}
