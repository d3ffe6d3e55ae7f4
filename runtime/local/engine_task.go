package local

// This file runs one task: inputs from slots, memory for the result, the kernel, and releasing what
// it no longer needs.

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/trace"
)

// workerState is the private state of one worker of a run.
type workerState struct {
	_        [cacheLine]byte
	call     op.Call // of the task in its kernel
	in       []value.Value
	finished atomic.Int64  // tasks
	current  atomic.Int64  // 1 + node in its kernel; 0: none
	rounds   op.RoundCount // of an iterate that is one task
	idle     []*nodeLoop   // unused; see engine_idle.go
	track    *trace.Track
	helped   int64 // chunks of other ranks
	waited   int64 // ns that it has waited for answers
	kinds    []kindCount
	calls    []callCount
	lent     int64 // bytes
	reused   int64 // bytes of results that reused an input's memory
	_        [cacheLine]byte
}

func (s *workerState) init(e *Engine, i int) {
	s.track = e.o.Trace.Worker(i)
	s.call.Env, s.call.Read, s.call.Stopped = e.o.Env, e.o.Read, func() bool { return e.over(ir.ID(s.current.Load() - 1)) }
	if e.o.OnProgress != nil {
		s.call.Rounds = &s.rounds
	}
	s.kinds = make([]kindCount, len(e.kinds))
	if e.clock && len(e.g.Calls) > 1 {
		s.calls = make([]callCount, len(e.g.Calls))
	}
}

// body is the Body of the run. It never returns an error: a failed task fails the engine, which
// skips later tasks, so the run ends by itself after the tasks before the failed one.
func (e *Engine) body(w *Worker, t int32) error {
	if e.flags[t]&steers != 0 {
		return e.steerTask(w, t)
	}
	id := e.task[t]
	if e.place(id) > e.failedAt.Load() {
		e.passOver(id)
		return nil
	}
	s := &e.scratch[w.index]
	s.current.Store(int64(id) + 1)
	var start int64
	if e.clock {
		start = e.Now()
	}
	if e.flags[t]&(gathered|looks) == gathered|looks {
		e.finish(s, t, id, e.wholeOf(id), start)
		return nil
	}
	if e.flags[t]&kept != 0 && e.repeats[id].again {
		e.settle(s, t, id, e.slot[id])
		s.current.Store(0)
		return nil
	}
	v, opened, err := e.execute(w, s, t, id, start)
	if err != nil {
		s.current.Store(0)
		e.failOrGiveUp(id, err)
		return nil
	}
	if opened {
		return nil
	}
	e.finish(s, t, id, v, start)
	return nil
}

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

// execute makes the result of node id, or opens a loop that will. A panic in a kernel becomes an
// error.
func (e *Engine) execute(w *Worker, s *workerState, t int32, id ir.ID, start int64) (v value.Value, opened bool, err error) {
	g := e.g
	n := &g.Nodes[id]
	c := &s.call
	c.Def, c.Attrs, c.Type = n.Op, n.Attrs, g.Type(id)
	c.Lo, c.Hi = 0, 0
	if e.flags[t]&windowed != 0 {
		c.Lo, c.Hi = e.ownRows(id)
	}
	s.in = s.in[:0]
	for _, x := range g.In(id) {
		s.in = append(s.in, e.slot[e.at(x)])
	}
	if e.flags[t]&gathered != 0 {
		s.in = e.statesOf(id, s.in[:0])
		defer e.dropStates(id)
	}
	c.In = s.in
	if e.flags[t]&fused != 0 {
		if err = n.Enter(c); err != nil { // made by NewEngine
			return nil, false, fmt.Errorf("BUG: %w", err)
		}
	}
	var out value.Value
	completed := false
	defer func() {
		if !completed {
			err = panicked(recover())
		}
		if err != nil && out != nil {
			e.discard(out)
		}
		c.In, c.Out, c.Body, c.Bodies = nil, nil, nil, nil // keeps no value alive
		clear(s.in)
	}()
	v, opened, err = e.perform(w, s, t, id, start, &out)
	completed = true
	return v, opened, err
}

// perform makes the call of execute. If it fails or panics it gives back out, the memory lent for
// its result.
func (e *Engine) perform(w *Worker, s *workerState, t int32, id ir.ID, start int64, out *value.Value) (v value.Value, opened bool, err error) {
	n, c, f := &e.g.Nodes[id], &s.call, e.flags[t]
	if f&looks != 0 {
		if d, err := n.Op.Look(c); d != nil || err != nil {
			return d, false, err
		}
	}
	if f&(lent|several) != 0 {
		if *out, err = e.lendAll(s, n, id, c.Type); err != nil {
			return nil, false, err
		}
		if c.Out = *out; f&several != 0 {
			// to be compared with what was lent
			c.Out = slices.Clone((*out).(value.Tuple))
		}
	}
	if f&asks != 0 {
		if err = c.Settle(); err != nil {
			return nil, false, err
		}
	}
	if n.Op.Loop != nil {
		if opened, err = e.open(w, s, t, id, start, *out); opened || err != nil {
			return nil, opened, err
		}
	}
	if v, err = called(c); err != nil {
		return nil, false, err
	}
	if n.Op.Kernel == nil && f&lent != 0 {
		d, ok := v.(*value.Dense)
		if !ok {
			return nil, false, fmt.Errorf("BUG: %s defined %T, not a dense matrix", n.Op.Name, v)
		}
		(*out).(*value.Dense).CopyFrom(d)
		v = *out
	}
	v, err = e.checked(c, t, *out, v)
	return v, false, err
}

// called returns the result of a call's kernel. For a row without one its definition computes the
// value, slowly.
func called(c *op.Call) (value.Value, error) {
	switch {
	case c.Def.Kernel != nil:
		err := c.Def.Kernel(c)
		return c.Out, err
	case c.Def.Ref != nil:
		return c.Def.Ref(c)
	}
	return nil, fmt.Errorf("BUG: %s has neither kernel nor definition", c.Def.Name)
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

// span returns the bytes from the first element to the end of the last.
func span(d *value.Dense) uintptr {
	return uintptr(len(d.F64)*8 + len(d.F32)*4 + len(d.I64)*8 + len(d.Bool))
}

// address returns the address of the first element, or 0.
func address(d *value.Dense) uintptr {
	switch {
	case len(d.F64) > 0:
		return uintptr(unsafe.Pointer(&d.F64[0]))
	case len(d.F32) > 0:
		return uintptr(unsafe.Pointer(&d.F32[0]))
	case len(d.I64) > 0:
		return uintptr(unsafe.Pointer(&d.I64[0]))
	case len(d.Bool) > 0:
		return uintptr(unsafe.Pointer(&d.Bool[0]))
	}
	return 0
}
