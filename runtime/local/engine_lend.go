package local

// This file lends a task the memory for its result: an operand that nobody reads again, a buffer that
// has been given back, or new memory.

import (
	"fmt"
	"sync/atomic"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// lendAll lends the memory of a result of type t: a dense matrix, or each dense matrix of several
// results.
func (e *Engine) lendAll(s *workerState, n *ir.Node, id ir.ID, t types.Type) (value.Value, error) {
	if t.Kind != types.Tuple {
		return nilIfFailed(e.lend(s, n, id, t))
	}
	out := make(value.Tuple, len(t.Ext.Fields))
	for k, f := range t.Ext.Fields {
		if !f.Type.Sized() {
			continue
		}
		d, err := e.lend(s, n, id, f.Type)
		if err != nil {
			e.discard(out)
			return nil, err
		}
		out[k] = d
	}
	return out, nil
}

// nilIfFailed keeps a nil matrix from becoming a value.
func nilIfFailed(d *value.Dense, err error) (value.Value, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// lend gives a result of n its memory: that of an input whose last reader n is, if the row allows
// it, or fresh memory, with the contents of the accumulated-into input.
//
// An input is taken when one use is left, which is n's: no use can be added, and all other readers
// have ended, since they count down after their last read. An input that n reads twice counts
// twice, so it is never taken. Views of columns that n alone reads do not count (onlyColumns).
func (e *Engine) lend(s *workerState, n *ir.Node, id ir.ID, t types.Type) (out *value.Dense, err error) {
	in := e.g.In(id)
	if a := n.Op.Accum; a > 0 {
		x := e.at(in[a-1])
		from, ok := s.in[a-1].(*value.Dense)
		if !ok || from.Elem != t.Elem || from.Rows != t.Rows || from.Cols != t.Cols {
			return nil, fmt.Errorf("BUG: %s accumulates into a %v, its result is a %v", n.Op.Name, s.in[a-1].Type(), t)
		}
		if e.takeable(x, from) {
			return e.take(s, x, from), nil
		}
		lo, hi := e.needed(id, t)
		if n.Attrs.Int(plan.Helped) > 0 { // rows of other ranks may be made here
			lo, hi = 0, t.Rows
		}
		if out, err = e.touching(s, t, lo, hi); err == nil {
			out.View(lo, 0, hi-lo, t.Cols).CopyFrom(from.View(lo, 0, hi-lo, t.Cols))
		}
		return out, err
	}
	for j, x := range in {
		if !e.takesOver(n, id, j) {
			continue
		}
		if d, ok := s.in[j].(*value.Dense); ok && d.Elem == t.Elem && d.Rows == t.Rows && d.Cols == t.Cols {
			// nil: another result of n has it
			if x = e.at(x); e.slot[x] != nil && (e.takeable(x, d) || len(d.Buf) > 0 && e.onlyColumns(id, x)) {
				return e.take(s, x, d), nil
			}
		}
	}
	return e.freshFor(s, id, t)
}

// takesOver is plan.TakesOver. That walks through the body of a loop or a chain, so the answer for
// those that notesOver reports was noted when they became tasks.
func (e *Engine) takesOver(n *ir.Node, id ir.ID, j int) bool {
	if e.notesOver(n, id) {
		return j < 64 && e.takes[id]>>j&1 == 1
	}
	return plan.TakesOver(e.g, id, j)
}

// notesOver reports whether noteOver has been called for a node: a parfor, a group of operators that
// are one loop, or a chain in a region, which runs in every round.
func (e *Engine) notesOver(n *ir.Node, id ir.ID) bool {
	return n.Op.Role == op.Points || n.Op.Role == op.Grouped || n.Op.Role == op.Maps && int(id) >= e.p.Graph.Len()
}

// noteOver notes the inputs whose memory the result of node id may take.
func (e *Engine) noteOver(id ir.ID) {
	of := uint64(0)
	for j := range e.g.In(id)[:min(len(e.g.In(id)), 64)] {
		if plan.TakesOver(e.g, id, j) {
			of |= 1 << j
		}
	}
	if of != 0 && e.takes == nil {
		e.takes = map[ir.ID]uint64{}
	}
	if of != 0 {
		e.takes[id] = of
	}
}

// takeable reports whether the caller, a reader of x, is its last one and x is in memory of the
// pool.
func (e *Engine) takeable(x ir.ID, d *value.Dense) bool {
	return len(d.Buf) > 0 && atomic.LoadInt32(&e.uses[x]) == 1
}

// onlyColumns reports whether all other uses of x are views of columns that n, the last reader of x, is
// the only one to read. No use can be added then.
func (e *Engine) onlyColumns(id, x ir.ID) bool {
	uses := int32(1)
	for k, y := range e.g.In(id) {
		if e.isView(y, e.slot[y]) && e.at(e.g.In(y)[0]) == x && plan.TakesColumn(e.g, id, k, x) && atomic.LoadInt32(&e.uses[y]) == 1 {
			uses++
		}
	}
	return uses > 1 && atomic.LoadInt32(&e.uses[x]) == uses
}

// viewColumns makes views of the columns that onlyColumns is about. A copy would be made by one worker,
// and the rows of a matrix that changes round by round lie in the caches of all. On two cores of an
// Emerald Rapids such a copy of 500 rows made a round of 60 us of 40.
func (e *Engine) viewColumns() {
	if e.o.Remote != nil {
		return // each rank takes the rows that it needs
	}
	for task, id := range e.task {
		in := e.reads(int32(task))
		if len(in) < 2 || !e.g.Nodes[id].Op.Alias {
			continue
		}
		for k, y := range in {
			t := e.index[y]
			if t < 0 || e.task[t] != y || e.uses[y] != 1 || len(e.g.In(y)) == 0 {
				continue
			}
			for j, x := range in {
				if e.at(x) == e.at(e.g.In(y)[0]) && plan.TakesOver(e.g, id, j) && plan.TakesColumn(e.g, id, k, x) {
					e.flags[t] |= looks
				}
			}
		}
	}
}

// take moves the memory of x, with its header, to a result.
func (e *Engine) take(s *workerState, x ir.ID, d *value.Dense) *value.Dense {
	e.slot[x] = nil
	s.reused += int64(len(d.Buf))
	if e.received(x) {
		e.o.Remote.Freed(x)
	}
	return d
}

// freshFor lends memory for a result of node id of type t. Of one whose rows ranks share, this rank
// touches its own rows.
func (e *Engine) freshFor(s *workerState, id ir.ID, t types.Type) (*value.Dense, error) {
	lo, hi := e.needed(id, t)
	return e.touching(s, t, lo, hi)
}

// needed returns the rows lo..hi-1 of a result of node id of type t that this rank makes: its own of
// one whose rows ranks share.
func (e *Engine) needed(id ir.ID, t types.Type) (lo, hi int) {
	if e.o.Remote == nil || t.Rows == 0 || e.g.Nodes[id].Attrs.Int(plan.SharedRows) != t.Rows {
		return 0, t.Rows
	}
	return e.ownRows(id)
}

// fresh lends memory for a t.
func (e *Engine) fresh(s *workerState, t types.Type) (*value.Dense, error) {
	return e.touching(s, t, 0, t.Rows)
}

// touching lends memory for a t and touches its rows lo..hi-1.
func (e *Engine) touching(s *workerState, t types.Type, lo, hi int) (*value.Dense, error) {
	b, err := e.buffers.GetPart(t.Bytes(), (hi-lo)*(t.Bytes()/max(1, t.Rows)))
	if err != nil {
		return nil, op.NoMemory(err)
	}
	s.lent += int64(len(b))
	return value.Over(b, t.Elem, t.Rows, t.Cols), nil
}
