package local

import (
	"fmt"
	"unsafe"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file ends tasks: it checks results, hands them to their readers and messages, and counts.

// finish accounts for a task that began at start, and hands on its result.
func (e *Engine) finish(s *workerState, t int32, id ir.ID, v value.Value, start int64) {
	end := start
	if e.clock {
		if s.track != nil {
			end = s.track.Task(int32(e.planned(id)), e.names[e.kind[t]], start)
		} else {
			end = e.Now()
		}
		k := &s.kinds[e.kind[t]]
		k.busy += end - start
		if s.calls != nil && e.flags[t]&constant == 0 {
			s.calls[e.g.Nodes[id].Call].add(start, end)
		}
	}
	s.kinds[e.kind[t]].tasks++
	// in a loop's or branch's body: neither counted nor observed
	if int(id) >= e.p.Graph.Len() {
		e.settle(s, t, id, v)
		s.current.Store(0)
		if e.o.Remote != nil {
			e.o.Remote.Between(end)
		}
		return
	}
	if e.o.Observe != nil {
		e.o.Observe(id, v)
	}
	e.settle(s, t, id, v)
	e.ended(s, t, end)
}

// settle stores the result, starts what waits for it elsewhere, and frees inputs after their last
// read.
func (e *Engine) settle(s *workerState, t int32, id ir.ID, v value.Value) {
	kept := ir.None
	// no message carries a view, so the count is ours to read
	if e.isView(id, v) && e.uses[id] != 0 {
		kept = e.g.In(id)[0] // until the view has had its last reader
	}
	if e.flags[t]&several != 0 {
		e.spread(id, v.(value.Tuple))
	} else if e.uses[id] == 0 { // nothing else writes it before the value exists
		e.discard(v)
	} else {
		e.slot[id] = v
		if t := e.g.Type(id); t.IsSparse() || t.IsDense() && !t.Known() && !e.isView(id, v) {
			e.buffers.Hold(v)
		}
		if e.flags[t]&sent != 0 {
			e.o.Remote.Produced(id, v)
		}
	}
	for _, x := range e.g.In(id) {
		if x == kept {
			kept = ir.None // one use
			continue
		}
		e.Release(e.at(x))
	}
}

// spread stores the results of node id, each in the slot of its node.
func (e *Engine) spread(id ir.ID, results value.Tuple) {
	for k, part := range e.several[id] {
		v := results[k]
		if part == ir.None || e.uses[part] == 0 {
			e.discard(v)
			continue
		}
		own := int(part) < e.p.Graph.Len()
		if own && e.o.Observe != nil {
			e.o.Observe(part, v)
		}
		e.slot[part] = v
		if e.g.Type(part).IsSparse() {
			e.buffers.Hold(v)
		}
		if own && e.o.Remote != nil && e.o.Remote.Sends(part) > 0 {
			e.o.Remote.Produced(part, v)
		}
	}
}

// ended counts task t, which ended at a time of Engine.Now.
func (e *Engine) ended(s *workerState, t int32, end int64) {
	if e.done != nil {
		e.done[t/32].Or(1 << (t % 32))
		if e.flags[t]&clears != 0 {
			e.cleared(t)
		}
	}
	s.current.Store(0)
	s.finished.Store(s.finished.Load() + 1) // one writer
	if e.o.Remote != nil {
		e.o.Remote.Between(end)
	}
}

// checked returns the result v of a call as it may be stored. out is the memory that was lent for
// it.
func (e *Engine) checked(c *op.Call, t int32, out, v value.Value) (value.Value, error) {
	switch {
	case e.flags[t]&several != 0:
		return v, e.checkedAll(c, out.(value.Tuple), v)
	case v == nil && e.flags[t]&effect == 0:
		return nil, fmt.Errorf("BUG: %s has set no result", c.Def.Name)
	case out != nil && v != out:
		return nil, fmt.Errorf("BUG: %s has replaced the memory lent for its result", c.Def.Name)
	case out == nil:
		return unshare(v, c.In), nil
	}
	return v, nil
}

// checkedAll reports malformed multiple results. out is what was lent for them.
func (e *Engine) checkedAll(c *op.Call, out value.Tuple, v value.Value) error {
	made, ok := v.(value.Tuple)
	if !ok || len(made) != len(out) {
		return fmt.Errorf("BUG: %s has not set its %d results", c.Def.Name, len(out))
	}
	for k, x := range made {
		switch {
		case x == nil && c.Type.Ext.Fields[k].Type.Kind != types.Effect:
			return fmt.Errorf("BUG: %s has not set result %d", c.Def.Name, k)
		case out[k] != nil && x != out[k]:
			return fmt.Errorf("BUG: %s has replaced the memory lent for result %d", c.Def.Name, k)
		}
	}
	return nil
}

// unshare copies a result that a kernel allocated itself if it shares memory with an input, which
// is lent again after the input's last reader. Lent results need no check.
func unshare(v value.Value, in []value.Value) value.Value {
	d, ok := v.(*value.Dense)
	if !ok {
		return v
	}
	at := address(d)
	for _, x := range in {
		i, ok := x.(*value.Dense)
		if !ok {
			continue
		}
		// a view, or heap memory, for which a copy is harmless
		from, size := address(i), span(i)
		if len(i.Buf) > 0 {
			from, size = uintptr(unsafe.Pointer(unsafe.SliceData(i.Buf))), uintptr(cap(i.Buf))
		}
		if d == i || size > 0 && at >= from && at < from+size {
			return d.Clone()
		}
	}
	if len(d.Buf) > 0 { // not memory of our pool
		own := *d
		own.Buf = nil
		return &own
	}
	return v
}
