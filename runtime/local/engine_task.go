package local

// This file runs one task: inputs from slots, memory for the result, the kernel, and releasing what
// it no longer needs.

import (
	"fmt"
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/value"
)

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
	if e.o.Remote != nil && e.elsewhere(id) {
		return *out, false, nil
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
