package kernels

// This file executes a compiled chain over an index space: which elements make a batch, and how each operand is
// brought into its register.
//
//   - Rows longer than half a batch are cut into pieces of at most a batch. Shorter ones are packed, several whole
//     rows to a batch, so that a column of a million elements is not a million batches.
//   - An operand that lies in memory as the index space wants it is read in place; others are copied into their slab.
//   - With a transposed operand the rows go in groups of 64, and its 64-row strip is turned over first, sub-block by
//     sub-block, so that memory is read in whole lines.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// engine executes chains. It keeps machines for reuse, so that a call allocates nothing once it is warm. It is safe
// for concurrent use.
type engine struct{ idle sync.Pool }

// machine is the state of one execution.
type machine struct {
	elems []types.Elem // of every register
	code  []instr
	slot  []int // of every register
	last  []int // the last instruction that reads it
	spare []int
	slots int
	regs  []slab
	words []uint64 // the slabs' memory
	strip []uint64 // the transposed strips' memory
	in    []operand
	one   op.Program // of a single operator
	x     [3]value.Scalar
}

// operand is an input of one call.
type operand struct {
	mode   op.Mode
	d      *value.Dense // nil for a scalar
	scalar value.Scalar
	strip  slab // Trans with long rows: the current 64 rows
}

// single executes one elementwise operator.
func (e *engine) single(d *op.Def, c *op.Call) error {
	if c.Type.Kind == types.Scalar {
		x := make([]value.Scalar, len(c.In))
		for i := range c.In {
			x[i] = c.Scalar(i)
		}
		y, err := applyElt(d, c.Type.Elem, x)
		c.Out = y
		return err
	}
	out := c.Result()
	m := e.machine()
	defer e.idle.Put(m)
	p := &m.one
	p.In = p.In[:0]
	if p.Steps == nil {
		p.Steps = []op.Step{{Args: make([]int, 0, 3)}}
	}
	s := &p.Steps[0]
	s.Def, s.Elem, s.Args = d, c.Type.Elem, s.Args[:0]
	for i, v := range c.In {
		mode, ok := modeOf(v, out)
		if !ok {
			return op.Failf(codeShape, "shapes of `%s` do not agree: %v and %v", sourceName(d), v.Type(), out.Type())
		}
		p.In = append(p.In, op.Operand{Elem: v.Type().Elem, Mode: mode})
		s.Args = append(s.Args, i)
	}
	return m.execute(p, c.In, out)
}

// modeOf is how v lies in the index space of out.
func modeOf(v value.Value, out *value.Dense) (op.Mode, bool) {
	d, ok := v.(*value.Dense)
	switch {
	case !ok:
		return op.Single, true
	case d.Rows == out.Rows && d.Cols == out.Cols:
		return op.Full, true
	case d.Rows == 1 && d.Cols == 1:
		return op.Single, true
	case d.Rows == 1 && d.Cols == out.Cols:
		return op.RowVec, true
	case d.Cols == 1 && d.Rows == out.Rows:
		return op.ColVec, true
	}
	return 0, false
}

func (e *engine) machine() *machine {
	if m, ok := e.idle.Get().(*machine); ok {
		return m
	}
	return &machine{}
}

// execute runs p over the index space of out.
func (e *engine) execute(p *op.Program, in []value.Value, out *value.Dense) error {
	m := e.machine()
	defer e.idle.Put(m)
	return m.execute(p, in, out)
}

func (m *machine) execute(p *op.Program, in []value.Value, out *value.Dense) error {
	if out.Rows == 0 || out.Cols == 0 {
		return nil
	}
	m.compile(p)
	m.assign(len(p.In))
	m.bind(p, in, out)
	err := m.loop(out)
	for k := range m.in { // the machine must not keep the call's memory alive
		m.in[k] = operand{}
	}
	clear(m.regs)
	return err
}

// bind lays the registers over slabs and looks at the operands.
func (m *machine) bind(p *op.Program, in []value.Value, out *value.Dense) {
	if need := m.slots * batch; len(m.words) < need {
		m.words = make([]uint64, need)
	}
	n := len(m.elems)
	if cap(m.regs) < n {
		m.regs = make([]slab, n)
	}
	m.regs = m.regs[:n]
	for r, s := range m.slot {
		if s >= 0 {
			m.regs[r] = slabOver(m.words[s*batch:], m.elems[r], batch)
		}
	}
	m.in = m.in[:0]
	for k, o := range p.In {
		x := operand{mode: o.Mode}
		switch v := in[k].(type) {
		case value.Scalar:
			x.scalar, x.mode = v, op.Single
		case *value.Dense:
			x.d = v
			switch {
			case v.Rows == 1 && v.Cols == 1:
				x.mode, x.scalar = op.Single, v.At(0, 0)
			case x.mode == op.Trans && (v.Rows == 1 || v.Cols == 1):
				x.mode, x.d = op.Full, turnedVector(v)
			case x.mode == op.RowVec && out.Rows == 1 || x.mode == op.ColVec && out.Cols == 1:
				x.mode = op.Full
			}
		}
		if x.mode == op.Single {
			fill(&m.regs[k], m.elems[k], x.scalar, 0, batch)
		}
		m.in = append(m.in, x)
	}
}

// turnedVector is a vector seen the other way round, in the same memory.
func turnedVector(v *value.Dense) *value.Dense {
	t := *v
	if v.Cols == 1 && v.Stride != 1 { // a column with gaps becomes a row only by a copy
		t = *v.Clone()
	}
	t.Rows, t.Cols, t.Stride = v.Cols, v.Rows, v.Rows
	return &t
}

// loop visits the index space.
func (m *machine) loop(out *value.Dense) error {
	rows, cols := out.Rows, out.Cols
	if out.Stride == cols && m.flat(rows, cols) { // one long row
		rows, cols = 1, rows*cols
	}
	trans := 0
	for k := range m.in {
		if m.in[k].mode == op.Trans {
			trans++
		}
	}
	width, group := batch, 1
	if trans > 0 {
		width = panelCols
	}
	if cols <= width/2 && out.Stride == out.Cols {
		return m.packed(out, rows, cols, width/cols)
	}
	if trans > 0 {
		group = panel
		m.strips(trans)
	}
	for i0 := 0; i0 < rows; i0 += group {
		for j0 := 0; j0 < cols; j0 += width {
			n := min(width, cols-j0)
			m.turn(i0, min(group, rows-i0), j0, n)
			for i := i0; i < min(i0+group, rows); i++ {
				for k := range m.in {
					m.load(k, i, j0, n, i-i0)
				}
				if err := m.run(slabOf(out, i*out.Stride+j0, n), n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// flat reports that every operand is a constant or lies contiguously like the index space.
func (m *machine) flat(rows, cols int) bool {
	for _, x := range m.in {
		if x.mode != op.Single && (x.mode != op.Full || x.d.Stride != cols && rows > 1) {
			return false
		}
	}
	return true
}

// packed runs batches of several whole rows.
func (m *machine) packed(out *value.Dense, rows, cols, per int) error {
	for k := range m.in {
		if x := &m.in[k]; x.mode == op.RowVec {
			for r := range min(per, rows) {
				copySlab(&m.regs[k], m.elems[k], r*cols, slabOf(x.d, 0, cols))
			}
		}
	}
	for i0 := 0; i0 < rows; i0 += per {
		n := min(per, rows-i0)
		for k := range m.in {
			m.pack(k, i0, n, cols)
		}
		if err := m.run(slabOf(out, i0*out.Stride, n*cols), n*cols); err != nil {
			return err
		}
	}
	return nil
}

// run executes the instructions on one batch; the last writes to dst.
func (m *machine) run(dst slab, n int) error {
	end := len(m.code) - 1
	m.regs[m.code[end].dst] = dst
	for k := range m.code {
		if !m.step(&m.code[k], n) {
			return divisionByZero(m.code[k].def)
		}
	}
	return nil
}
