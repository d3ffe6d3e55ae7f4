package kernels

// This file runs a body one iteration after the other, for bodies that compute matrices. Every
// action is a call of its kernel.

import (
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/nest"
)

// eachCode is a compiled body. It is read-only.
type eachCode struct {
	body *op.Body
	acts []int // those that are not the same in every iteration
}

func compileEach(b *op.Body, varies []bool) *eachCode {
	c := &eachCode{body: b, acts: []int{}}
	for k := range b.Acts {
		if varies[len(b.Args)+k] {
			c.acts = append(c.acts, k)
		}
	}
	return c
}

// eachWorker is one worker's registers and memory.
type eachWorker struct {
	*nest.Interpreter
	r *parforRun
	// within is the call as actions see it.
	within op.Call
	row    value.Dense
}

func (c *eachCode) worker(r *parforRun, number int) iterations {
	w := &eachWorker{r: r, within: op.Call{Env: r.c.Env, Read: r.c.Read, Stopped: func() bool { return r.stopped(number) }}}
	w.Interpreter = nest.NewInterpreter(c.body, c.acts, false, &w.within, &r.kept, r.code.keep)
	copy(w.Reg, r.values)
	return w
}

func (w *eachWorker) run(from, to int, out *value.Dense) error {
	s := &w.r.space
	for p := from; p < to; p++ {
		if w.within.Ended() {
			return op.ErrStopped
		}
		w.Reg[0] = value.I64(s.at(0, p/s.width()))
		if s.dims == 2 {
			w.Reg[1] = value.I64(s.at(1, p%s.width()))
		}
		if err := w.Interpreter.Run(); err != nil {
			return err
		}
		if out == nil {
			continue
		}
		switch y := w.Out[0].(type) {
		case *value.Dense:
			out.Window(&w.row, p, 0, 1, out.Cols)
			w.row.CopyFrom(y)
		case value.Scalar:
			out.Set(p/s.width(), p%s.width(), y)
		}
	}
	return nil
}
