package kernels

// This file runs a body one iteration after the other, for bodies that compute matrices. Every action is a call of its
// kernel, with memory for its result that a worker keeps from one iteration to the next.

import (
	"flow/ir/op"
	"flow/ir/value"
)

// eachCode is a compiled body. It is read-only.
type eachCode struct {
	body   *op.Body
	varies []bool
}

func compileEach(b *op.Body, varies []bool) *eachCode { return &eachCode{b, varies} }

// eachWorker is one worker's registers.
type eachWorker struct {
	code *eachCode
	r    *parforRun
	reg  []value.Value
	mem  []*value.Dense // results of known shape
	// within is the call as actions see it.
	within op.Call
}

func (c *eachCode) worker(r *parforRun, number int) iterations {
	w := &eachWorker{code: c, r: r, reg: append([]value.Value(nil), r.values...), mem: make([]*value.Dense, len(c.body.Acts))}
	for k := range c.body.Acts {
		if t := c.body.Acts[k].Type; c.varies[len(c.body.Args)+k] && t.Sized() {
			w.mem[k] = value.New(t.Elem, t.Rows, t.Cols)
		}
	}
	w.within = op.Call{Env: r.c.Env, Stopped: func() bool { return r.stopped(number) }}
	return w
}

func (w *eachWorker) run(from, to int, out *value.Dense) error {
	s, b := &w.r.space, w.code.body
	for p := from; p < to; p++ {
		if w.within.Ended() {
			return op.ErrStopped
		}
		w.reg[0] = value.I64(s.at(0, p/s.width()))
		if s.dims == 2 {
			w.reg[1] = value.I64(s.at(1, p%s.width()))
		}
		for k := range b.Acts {
			if !w.code.varies[len(b.Args)+k] {
				continue
			}
			v, err := perform(&b.Acts[k], w.reg, w.mem[k], &w.within)
			if err != nil {
				return err
			}
			w.reg[len(b.Args)+k] = v
		}
		if out == nil {
			continue
		}
		switch y := w.reg[b.Yields[0]].(type) {
		case *value.Dense:
			out.View(p, 0, 1, out.Cols).CopyFrom(y)
		case value.Scalar:
			out.Set(p/s.width(), p%s.width(), y)
		}
	}
	return nil
}
