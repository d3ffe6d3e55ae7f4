package kernels

// This file executes a chain over an index space: by the loop of its program or, while there is
// little work, element by element.

import (
	"slices"
	"sync"
	"unsafe"

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
	singles      define.Made[singleKey, *op.Program] // that have been run
}

// machine is the state of one worker in one execution.
type machine struct {
	prog   *op.Program // what is run
	strip  []uint64    // the transposed strips' memory
	in     []operand
	values []value.Scalar // of an element: see element
	args   [mostArgs]value.Scalar

	rows, cols int  // of the index space
	dense      bool // every operand is a constant, a row, or lies in memory like the index space, without gaps
	past       bool // results go past the caches
	alias      bool // results may lie in the memory of operands
	piece      bool // the result has no gaps between its rows either
	from       offset
	words      []*value.Dense // of constructors

	nest nestWork // see nest_machine.go

	f     []folder    // of the reductions of a pipeline, which share:
	room  []uint64    // where a block is made before it is reduced
	block value.Dense // over room, or where its elements are stored
}

// operand is an input of one call.
type operand struct {
	mode   op.Mode
	d      *value.Dense // nil for a scalar; of a constructor its words
	scalar value.Scalar
	strip  dense.Slab // Trans with long rows: the current 64 rows
}

func (e *engine) machine() *machine {
	if m, ok := e.idle.Get().(*machine); ok {
		return m
	}
	return &machine{}
}

// prepare binds the operands of an execution whose index space is not empty.
func (m *machine) prepare(x *execution) {
	p, rows, cols := x.p, x.rows, x.cols
	m.prog, m.past, m.alias = p, false, x.alias
	m.rows, m.cols = rows, cols
	m.nest.grid.asked = false
	m.nest.fold.asked = false
	m.nest.columns.asked = false
	m.nest.program = nestsOf(p)
	m.from = x.from
	m.bind(p, x.in)
	m.piece = m.dense && (x.out == nil || x.out.Stride == cols)
}

// release lets go of the call's memory.
func (m *machine) release() {
	clear(m.in[:cap(m.in)])
	m.nest.grid.forget()
	m.nest.fold.forget()
	m.nest.columns.forget()
	m.nest.fold.x, m.nest.columns.x = nil, nil
}

// bind looks at the operands.
func (m *machine) bind(p *op.Program, in []value.Value) {
	m.in, m.dense = m.in[:0], true
	for k, o := range p.In {
		x := operand{mode: o.Mode}
		if o.Mode == op.Drawn {
			words := p.In[k].Words(m.from.row, m.from.col)
			_, flat := words.InOneRow(m.cols)
			x.d, m.dense = m.wordsFor(k, words), m.dense && flat
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
			case x.mode == op.RowVec && m.rows == 1 || x.mode == op.ColVec && v.Cols == m.cols:
				x.mode = op.Full
			}
		}
		switch x.mode {
		case op.Single, op.RowVec:
		case op.Full:
			m.dense = m.dense && (x.d.Stride == m.cols || m.rows == 1)
		default:
			m.dense = false
		}
		m.in = append(m.in, x)
	}
}

// wordsFor copies words to memory number k of the machine, and returns it as a row.
func (m *machine) wordsFor(k int, words op.DrawWords) *value.Dense {
	for len(m.words) <= k {
		m.words = append(m.words, value.New(types.I64, 1, len(words)))
	}
	copy(m.words[k].I64, words[:])
	return m.words[k]
}

// area is rows i0..i1-1 and columns j0..j1-1 of the index space.
type area struct{ i0, i1, j0, j1 int }

func (a area) rows() int { return a.i1 - a.i0 }
func (a area) cols() int { return a.j1 - a.j0 }

// tiles calls f for the parts of an area, of at most so many rows and columns each.
func (a area) tiles(rows, cols int, f func(area) error) error {
	for i := a.i0; i < a.i1; i += rows {
		for j := a.j0; j < a.j1; j += cols {
			if err := f(area{i, min(i+rows, a.i1), j, min(j+cols, a.j1)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// target is where results go: element (i, j) of the index space to element (i-i0, j-j0) of d.
// Without d nothing is stored.
type target struct {
	d      *value.Dense
	i0, j0 int
}

// at is room for n elements from (i, j) on.
func (t *target) at(i, j, n int) dense.Slab {
	return dense.SlabOf(t.d, (i-t.i0)*t.d.Stride+j-t.j0, n)
}

// area runs the program there.
func (m *machine) area(a area, t target) error {
	if m.nestWorker() != nil {
		return m.nestedGrid(&m.nest.grid, a, t)
	}
	return m.defined(a, t)
}

// defined runs the program there by the definitions of its steps, element by element: little work,
// for which a loop would not be worth its making.
func (m *machine) defined(a area, t target) error {
	e := m.prog.Elem()
	for i := a.i0; i < a.i1; i++ {
		to := t.at(i, a.j0, a.cols())
		for j := a.j0; j < a.j1; j++ {
			v, err := m.element(i, j)
			if err != nil {
				return err
			}
			to.Set(e, j-a.j0, v)
		}
	}
	return nil
}

// element is what the program makes at (i, j), by the definitions of its steps.
func (m *machine) element(i, j int) (v value.Scalar, err error) {
	regs := m.values[:0]
	for k := range m.in {
		switch x := &m.in[k]; x.mode {
		case op.Single:
			v = x.scalar
		case op.Trans:
			v = x.d.At(j, i)
		case op.Drawn:
			one, err := drawnBlock(&m.prog.In[k], m.from.row+i, m.from.col+j, 1, 1)
			if err != nil {
				return v, err
			}
			v = one.At(0, 0)
		default:
			v = define.ElementAt(x.d, i, j)
		}
		regs = append(regs, v)
	}
	m.values = slices.Grow(regs, len(m.prog.Steps))
	return stepped(m.prog, nil, m.values, m.args[:])
}

// Transposed operands are turned tile by tile. Maps over square matrices (x + t(x)) visit the index
// space in pairs of mirrored blocks, so a matrix that is read both ways is read from memory once.

const (
	// panelCols is the number of columns of a tile with a transposed operand. panelStride is the distance
	// of its rows; the padding keeps them in different cache sets.
	panelCols   = 256
	panelStride = panelCols + 8
)

// strips gives every transposed operand a strip of 64 padded rows. count is the number of such
// operands.
func (m *machine) strips(count int) {
	const size = dense.Panel * panelStride
	if len(m.strip) < count*size {
		m.strip = make([]uint64, count*size)
	}
	at := 0
	for k := range m.in {
		if x := &m.in[k]; x.mode == op.Trans {
			x.strip = dense.SlabOver(m.strip[at:], m.prog.In[k].Elem, size)
			at += size
		}
	}
}

// turn fills the strips with the operands at rows i0.. and columns j0.. of the index space.
func (m *machine) turn(i0, rows, j0, cols int) {
	for k := range m.in {
		x := &m.in[k]
		if x.mode != op.Trans {
			continue
		}
		for j := 0; j < cols; j += dense.Panel {
			dense.TurnBlock(dense.Cut(x.strip, j, dense.Panel*panelStride-j), panelStride, x.d, j0+j, i0, rows, min(dense.Panel, cols-j))
		}
	}
}

// aligned returns s from its first cache line on.
func aligned(s []uint64) []uint64 {
	for uintptr(unsafe.Pointer(unsafe.SliceData(s)))%64 != 0 {
		s = s[1:]
	}
	return s
}

// pairEdge is the number of rows and columns of a block of a pair: rows of 2 KiB of f64.
const pairEdge = 256

// mirrored reports whether the iterations are pairs of blocks.
func (j *job) mirrored() bool {
	return len(j.ends) == 0 && j.rows == j.cols && j.rows >= 2*pairEdge && j.transposes()
}

// pairs returns the number of pairs. A block on the diagonal counts as a pair.
func (j *job) pairs() int {
	n := (j.rows + pairEdge - 1) / pairEdge
	return n * (n + 1) / 2
}

// pairAt returns the block row i and the block column j <= i of pair u.
func pairAt(u int) (i, j int) {
	for ; u > i; i++ {
		u -= i + 1
	}
	return i, u
}

func (a area) mirror() area { return area{a.j0, a.j1, a.i0, a.i1} }

// pair runs a block and its mirror image.
func (m *machine) pair(x *execution, u int) error {
	bi, bj := pairAt(u)
	edge := func(b int) (int, int) { return b * pairEdge, min((b+1)*pairEdge, x.rows) }
	var a area
	a.i0, a.i1 = edge(bi)
	a.j0, a.j1 = edge(bj)
	err := m.area(a, target{d: x.out})
	if err == nil && bi != bj {
		err = m.area(a.mirror(), target{d: x.out})
	}
	return err
}
