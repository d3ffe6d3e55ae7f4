package kernels

// This file executes a compiled chain over an index space: which elements make a batch, and how
// each operand is brought into its register.
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
	"flow/kernels/define"
	"flow/kernels/dense"
)

// engine executes chains. It keeps machines for reuse, so that a call allocates nothing once it is
// warm. It is safe for concurrent use.
type engine struct {
	idle, bodies sync.Pool
	singles      singles
}

// machine is the state of one worker in one execution.
type machine struct {
	prog *op.Program // what is run
	laid bool        // the registers are those of prog and of the call
	// compiled is the program of what follows.
	compiled *op.Program
	elems    []types.Elem // of every register
	code     []instr
	slot     []int // of every register
	last     []int // the last instruction that reads it
	spare    []int
	sizes    []int // of every slot: the bytes of an element
	slots    int
	regs     []dense.Slab
	walk     []bool   // of every register: element k of a batch lies at k; false: one value serves all
	words    []uint64 // the slabs' memory
	strip    []uint64 // the transposed strips' memory
	draws    []uint64 // the drawn operands' memory
	in       []operand
	x        [mostArgs]value.Scalar

	constants []constant

	rows, cols int  // of the index space
	drawn      int  // elements that are drawn at a time; 0: none are
	dense      bool // every operand is a constant or lies in memory like the index space, without gaps
	past       bool // results go past the caches

	nest nestWork // see nest_machine.go

	f    []folder // of the reductions of a pipeline, which share:
	made blockRoom
}

// constant is a register that holds a scalar input as elements of another type.
type constant struct{ reg, in int }

// operand is an input of one call.
type operand struct {
	mode   op.Mode
	d      *value.Dense // nil for a scalar
	scalar value.Scalar
	strip  dense.Slab // Trans with long rows: the current 64 rows
	source source
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
func (e *engine) execute(p *op.Program, in []value.Value, out *value.Dense, from offset) error {
	m := e.machine()
	defer e.idle.Put(m)
	return m.execute(p, in, out, from)
}

func (m *machine) execute(p *op.Program, in []value.Value, out *value.Dense, from offset) error {
	if out.Rows == 0 || out.Cols == 0 {
		return nil
	}
	m.prepare(p, in, out.Rows, out.Cols)
	m.draw(p, from)
	defer m.release()
	return m.area(area{0, out.Rows, 0, out.Cols}, target{d: out})
}

// prepare binds the operands of an index space that is not empty.
func (m *machine) prepare(p *op.Program, in []value.Value, rows, cols int) {
	m.prog, m.laid, m.past = p, false, false
	m.rows, m.cols = rows, cols
	m.nest.line.asked, m.nest.grid.asked = false, false
	m.nest.fold.begin()
	m.nest.columns.begin()
	m.nest.program = nestsOf(p)
	m.bind(p, in)
	m.drawn = 0
}

// release lets go of the call's memory.
func (m *machine) release() {
	clear(m.in[:cap(m.in)])
	clear(m.regs[:cap(m.regs)])
	m.nest.line.forget()
	m.nest.grid.forget()
	m.nest.fold.forget()
	m.nest.columns.forget()
}

// lay compiles the program, if it was another before, and lays the registers over slabs. It is put
// off until the machine runs something itself.
func (m *machine) lay() {
	if m.laid {
		return
	}
	m.laid = true
	if m.compiled != m.prog {
		m.compile(m.prog)
		m.assign(len(m.prog.In))
		m.compiled = m.prog
	}
	if need := m.slots*batch + 8; len(m.words) < need {
		m.words = aligned(make([]uint64, need+8))
	}
	n := len(m.elems)
	m.regs, m.walk = dense.Resized(m.regs, n), dense.Resized(m.walk, n)
	for r, s := range m.slot {
		m.walk[r] = true
		if s >= 0 {
			m.regs[r] = dense.SlabOver(m.words[s*batch:], m.elems[r], batch)
		}
	}
	for _, c := range m.constants {
		m.walk[c.reg] = false
	}
	for k := range m.in {
		switch x := &m.in[k]; x.mode {
		case op.Single:
			m.walk[k] = false
			m.setConstants(k, x.scalar, batch)
		case op.ColVec:
			m.walk[k] = false
		}
	}
}

// bind looks at the operands.
func (m *machine) bind(p *op.Program, in []value.Value) {
	m.regs = dense.Resized(m.regs, max(len(p.In), len(m.regs)))
	m.in, m.dense = m.in[:0], true
	for k, o := range p.In {
		x := operand{mode: o.Mode}
		if o.Mode == op.Drawn { // the machine's draw says where
			m.in = append(m.in, x)
			continue
		}
		switch v := in[k].(type) {
		case value.Scalar:
			x.scalar, x.mode = v, op.Single
		case *value.Dense:
			x.d = v
			switch {
			case v.Rows == 1 && v.Cols == 1:
				x.mode, x.scalar = op.Single, v.At(0, 0)
			case x.mode == op.Trans && (v.Rows == 1 || v.Cols == 1):
				x.mode, x.d = op.Full, dense.TurnedVector(v)
			case x.mode == op.RowVec && m.rows == 1 || x.mode == op.ColVec && m.cols == 1:
				x.mode = op.Full
			}
		}
		switch x.mode {
		case op.Single:
		case op.Full:
			m.dense = m.dense && (x.d.Stride == m.cols || m.rows == 1)
		default:
			m.dense = false
		}
		m.in = append(m.in, x)
	}
}

// area is rows i0..i1-1 and columns j0..j1-1 of the index space.
type area struct{ i0, i1, j0, j1 int }

func (a area) rows() int { return a.i1 - a.i0 }
func (a area) cols() int { return a.j1 - a.j0 }

// target is where results go: element (i, j) of the index space to element (i-i0, j-j0) of d.
// Without d nothing is stored. They may go to element (i, j) of another matrix besides.
type target struct {
	d      *value.Dense
	i0, j0 int
	beside *value.Dense
}

// at is room for n elements from (i, j) on.
func (t *target) at(i, j, n int) dense.Slab {
	if t.d == nil {
		return dense.Slab{}
	}
	return dense.SlabOf(t.d, (i-t.i0)*t.d.Stride+j-t.j0, n)
}

// aside is room for n elements from (i, j) on in the other matrix.
func (t *target) aside(i, j, n int) dense.Slab {
	if t.beside == nil {
		return dense.Slab{}
	}
	return dense.SlabOf(t.beside, i*t.beside.Stride+j, n)
}

// contiguous reports that rows of that many elements follow on one another.
func (t *target) contiguous(cols int) bool {
	return (t.d == nil || t.d.Stride == cols) && (t.beside == nil || t.beside.Stride == cols)
}

// longPiece is how many elements a program of one instruction handles at a time: it has no slabs
// that must stay in a cache.
const longPiece = 1 << 16

// alone reports a program of one instruction whose operands are all in memory: there is nothing to
// keep in a cache.
func (m *machine) alone() bool {
	if len(m.code) > 1 || m.drawn > 0 {
		return false
	}
	for k := range m.in {
		if m.in[k].mode != op.Full {
			return false
		}
	}
	return true
}

// area runs the program there.
func (m *machine) area(a area, t target) error {
	if done, err := m.nested(a, t); done {
		return err
	}
	m.lay()
	if err := m.batches(a, t); err != nil || t.beside == nil {
		return err
	}
	for i := a.i0; i < a.i1; i++ {
		to := t.aside(i, a.j0, a.cols())
		dense.CopySlab(&to, m.prog.Elem(), 0, t.at(i, a.j0, a.cols()))
	}
	return nil
}

// batches runs the instructions there, a batch at a time.
func (m *machine) batches(a area, t target) error {
	width := batch
	if m.drawn > 0 {
		width = min(width, m.drawn)
	}
	if m.dense && (a.rows() == 1 || a.cols() == m.cols && t.contiguous(m.cols)) {
		if m.alone() {
			width = longPiece
		}
		return m.line(a, t, width)
	}
	trans := 0
	for k := range m.in {
		if m.in[k].mode == op.Trans {
			trans++
		}
	}
	if trans > 0 {
		width = panelCols
	}
	if a.cols() <= width/2 && t.contiguous(a.cols()) {
		return m.packed(a, t, min(width, batch)/a.cols())
	}
	group := 1
	if trans > 0 {
		group = dense.Panel
		m.strips(trans)
	}
	for i0 := a.i0; i0 < a.i1; i0 += group {
		for j0 := a.j0; j0 < a.j1; j0 += width {
			n := min(width, a.j1-j0)
			m.turn(i0, min(group, a.i1-i0), j0, n)
			for i := i0; i < min(i0+group, a.i1); i++ {
				for k := range m.in {
					m.load(k, i, j0, n, i-i0)
				}
				if err := m.run(t.at(i, j0, n), n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// line runs an area whose elements follow on one another, in every operand and in the target.
func (m *machine) line(a area, t target, width int) error {
	at, end := a.i0*m.cols+a.j0, (a.i1-1)*m.cols+a.j1
	to := (a.i0-t.i0)*m.cols + a.j0 - t.j0
	if a.rows() == 1 && t.d != nil {
		to = (a.i0-t.i0)*t.d.Stride + a.j0 - t.j0
	}
	for ; at < end; at, to = at+width, to+width {
		n := min(width, end-at)
		for k := range m.in {
			switch m.in[k].mode {
			case op.Full:
				m.regs[k] = dense.SlabOf(m.in[k].d, at, n)
			case op.Drawn:
				m.drawRun(k, at, n)
			}
		}
		dst := dense.Slab{}
		if t.d != nil {
			dst = dense.SlabOf(t.d, to, n)
		}
		if err := m.run(dst, n); err != nil {
			return err
		}
	}
	return nil
}

// packed runs batches of several whole rows of the area.
func (m *machine) packed(a area, t target, per int) error {
	cols := a.cols()
	for k := range m.in {
		switch x := &m.in[k]; x.mode {
		case op.RowVec:
			m.regs[k] = m.ownSlab(k)
			for r := range min(per, a.rows()) {
				dense.CopySlab(&m.regs[k], m.elems[k], r*cols, dense.SlabOf(x.d, a.j0, cols))
			}
		case op.ColVec: // a batch has several of its elements
			m.walk[k] = true
			defer func() { m.walk[k] = false }()
		}
	}
	for i0 := a.i0; i0 < a.i1; i0 += per {
		n := min(per, a.i1-i0)
		for k := range m.in {
			m.pack(k, i0, n, a.j0, cols)
		}
		if err := m.run(t.at(i0, a.j0, n*cols), n*cols); err != nil {
			return err
		}
	}
	return nil
}

// run executes the instructions on one batch; the last writes to dst.
func (m *machine) run(dst dense.Slab, n int) error {
	end := len(m.code) - 1
	m.regs[m.code[end].dst] = dst
	for k := range m.code {
		if !m.step(&m.code[k], n) {
			return m.failure(&m.code[k], n)
		}
	}
	return nil
}

// failure is the failure of i at the first of n elements that it has no value for.
func (m *machine) failure(i *instr, n int) error {
	for e := range n {
		for a, r := range i.arg[:i.n] {
			m.x[a] = m.regs[r].At(m.elems[r], e)
		}
		if err := define.NoValue(i.def, i.out, m.x[:i.n]); err != nil {
			return err
		}
	}
	return op.Failf(define.CodeData, "BUG: a loop has no value of an element of which its row has one")
}
