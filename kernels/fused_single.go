package kernels

// This file keeps the programs of single operators: one for each way in which their operands may
// lie, so that what is compiled for one call serves the next.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// mostArgs is the most operands of an elementwise row.
const mostArgs = 3

// singleKey is what the program of one operator depends on.
type singleKey struct {
	def  *op.Def
	out  types.Elem
	n    int
	in   [mostArgs]types.Elem
	mode [mostArgs]op.Mode
}

// singles is the programs of single operators that an engine has met.
type singles struct {
	mu sync.RWMutex
	by map[singleKey]*op.Program
}

// program is that of k.
func (s *singles) program(k singleKey) *op.Program {
	s.mu.RLock()
	p := s.by[k]
	s.mu.RUnlock()
	if p != nil {
		return p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.by[k]; p != nil {
		return p
	}
	p = &op.Program{Steps: []op.Step{{Def: k.def, Elem: k.out}}}
	for a := range k.n {
		p.In = append(p.In, op.Operand{Elem: k.in[a], Mode: k.mode[a]})
		p.Steps[0].Args = append(p.Steps[0].Args, a)
	}
	if s.by == nil {
		s.by = map[singleKey]*op.Program{}
	}
	s.by[k] = p
	return p
}

// single is the program of c's operator alone.
func (e *engine) single(c *op.Call) (*op.Program, error) {
	k := singleKey{def: c.Def, out: c.Type.Elem, n: len(c.In)}
	for i, v := range c.In {
		mode, ok := modeOf(v, c.Result())
		if !ok {
			return nil, op.Failf(define.CodeShape, "shapes of `%s` do not agree: %v and %v", define.SourceName(c.Def), v.Type(), c.Type)
		}
		k.in[i], k.mode[i] = v.Type().Elem, mode
	}
	return e.singles.program(k), nil
}

// executes gives elementwise rows the kernel and the loop of their one-step programs. Rows that
// have a kernel keep it.
func (e *engine) executes(rows []*op.Def) []*op.Def {
	for _, d := range rows {
		if d.Kernel == nil {
			d.Kernel, d.Loop = e.runSingle, elementLoop(e, e.programOf)
		}
	}
	return rows
}

// runSingle executes one elementwise operator.
func (e *engine) runSingle(c *op.Call) error {
	if c.Type.Kind == types.Scalar {
		x := make([]value.Scalar, len(c.In))
		for i := range c.In {
			x[i] = c.Scalar(i)
		}
		y, err := define.ApplyElt(c.Def, c.Type.Elem, x)
		c.Out = y
		return err
	}
	p, err := e.single(c)
	if err != nil {
		return err
	}
	return e.execute(p, c.In, c.Result(), offset{})
}
