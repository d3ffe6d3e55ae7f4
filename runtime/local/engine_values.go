package local

import (
	"sync/atomic"

	"flow/ir"
	"flow/ir/value"
)

// This file holds values until their last reader and gives their memory back.

// discard gives the memory of a value back.
func (e *Engine) discard(v value.Value) {
	if t, ok := v.(value.Tuple); ok {
		for _, x := range t {
			e.discard(x)
		}
		return
	}
	if d, ok := v.(*value.Dense); ok && len(d.Buf) > 0 {
		b := d.Buf
		*d = value.Dense{} // a late reader finds nothing rather than another's data
		e.buffers.Put(b)
		return
	}
	e.buffers.Leave(v)
}

// Release ends one use of the value of node id: by a task that read it, or a message that carried
// it.
func (e *Engine) Release(id ir.ID) {
	if atomic.AddInt32(&e.uses[id], -1) != 0 {
		return
	}
	if v := e.slot[id]; v != nil { // nil: taken over, or an effect
		e.slot[id] = nil
		if e.isView(id, v) {
			e.Release(e.at(e.g.In(id)[0]))
			return
		}
		e.discard(v)
		if e.received(id) {
			e.o.Remote.Freed(id)
		}
	}
}

// received reports whether x came from another rank.
func (e *Engine) received(x ir.ID) bool {
	return e.o.Remote != nil && int(x) < e.p.Graph.Len() && e.index[x] < 0
}

// isView reports whether v, the result of id, shares the memory of id's first input. Other results
// of tasks that may look are in memory of the pool.
func (e *Engine) isView(id ir.ID, v value.Value) bool {
	t := e.index[id]
	if t < 0 || e.flags[t]&looks == 0 || e.task[t] != id || len(e.g.In(id)) == 0 {
		return false
	}
	d, ok := v.(*value.Dense)
	return ok && len(d.Buf) == 0
}
