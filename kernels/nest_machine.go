package kernels

// This file runs the nest of a program where its machine is asked for a part of the index space.
// Transposed operands are turned tile by tile and placed for each window, where rows are long.

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// nestWork is what a machine needs to run nests.
type nestWork struct {
	program *programNests
	grid    boundNest
	fold    foldNest // with the reductions of a pipeline
	columns foldNest
	turned  area // the tile of transposed operands that is in strips
	view    value.Dense
}

// boundNest is a nest bound to operands. It stays bound for calls that differ in the places of
// their operands alone.
type boundNest struct {
	asked  bool // whether there is one for the call at work
	prog   *op.Program
	shape  nestShape
	lines  uint64       // a bit an operand: it is a column in one piece
	loop   *launch.Loop // of a chain
	last   bool         // more work does not change it
	run    launch.Run
	worker *launch.Worker // nil: none
	in     []value.Value
	out    []*value.Dense
	heads  []value.Dense // of operands and results whose places change
	rows   int
	cols   int
	// scalars is operands of the call before, which are used again: to make one allocates.
	scalars []value.Value
}

// tallBelow is the number of columns below which vectors go along the rows: they would not be full.
const tallBelow = 16

// failWindow is the most elements of a window of a program that may fail: so many are looked at to
// say what failed.
const failWindow = 1 << 14

// forget lets go of the operands.
func (b *boundNest) forget() {
	clear(b.in)
	clear(b.heads)
	b.asked = false
}

// nestWorker is the worker of the loop that runs on the index space, or nil where elements are to be
// made one by one.
func (m *machine) nestWorker() *launch.Worker {
	b, rows, cols := &m.nest.grid, m.rows, m.cols
	if b.asked && b.rows == rows && b.cols == cols {
		return b.worker
	}
	b.asked = true
	shape, lines, ok := m.nestShape(rows, cols)
	alike := ok && b.alike(m, shape, lines, rows, cols)
	if alike && b.last {
		b.again(m)
		return b.worker
	}
	var loop *launch.Loop
	if ok {
		loop, b.last = m.nest.program.chain(m.prog, shape, rows*cols)
	}
	if alike && b.loop == loop {
		b.again(m)
		return b.worker
	}
	b.renew(m, shape, lines, rows, cols)
	for b.loop = nil; loop != b.loop; {
		b.loop = loop
		b.operands(m, false, rows, cols)
		if b.bind(m, loop) != nil {
			break
		}
		loop, b.last = m.nest.program.chain(m.prog, shape, 0)
	}
	return b.worker
}

// alike reports whether the bound loop serves a call. The operands of the call may be in other memory.
func (b *boundNest) alike(m *machine, shape nestShape, lines uint64, rows, cols int) bool {
	alike := b.worker != nil && b.prog == m.prog && b.run.Past == m.past && b.run.Overwrites == m.alias && b.shape == shape && b.lines == lines && b.rows == rows && b.cols == cols
	for k := 0; alike && k < len(m.in); k++ {
		alike = m.in[k].mode != op.Single || b.run.MadeFor(k, m.in[k].scalar)
	}
	return alike
}

// renew frees the bound loop, before its run is bound again.
func (b *boundNest) renew(m *machine, shape nestShape, lines uint64, rows, cols int) {
	if b.worker != nil {
		b.worker.Free()
		b.worker = nil
	}
	b.prog, b.rows, b.cols, b.shape, b.lines = m.prog, rows, cols, shape, lines
}

// bind binds a loop to the operands. It returns nil if no target runs the loop.
func (b *boundNest) bind(m *machine, l *launch.Loop) *launch.Worker {
	b.run.Stays, b.run.Past, b.run.Overwrites = 1<<len(m.in)-1, m.past, m.alias // see alike
	if l.Bind(&b.run, b.in, b.out) != nil || b.shape.fold != "" && !b.run.Partials() {
		m.nest.program.of(m.prog, b.shape).bad.Store(true)
		return nil
	}
	b.worker = b.run.Worker()
	return b.worker
}

// nestShape is the shape of the nest for an index space, and which operands are columns in one
// piece; ok is false where there is no nest.
func (m *machine) nestShape(rows, cols int) (s nestShape, lines uint64, ok bool) {
	if len(m.in) > mostIn {
		return s, 0, false
	}
	if m.piece {
		lines = 1 << mostIn
	}
	narrow := cols < tallBelow
	s.tall = narrow && rows >= 2*cols && !m.joins(cols)
	for k := range m.in {
		x := &m.in[k]
		mode := x.mode
		switch {
		case mode == op.Trans && !narrow:
			mode = op.Full
		case mode == op.Drawn:
		case mode != op.Single && x.d.Cols == 1 && x.d.Stride == 1:
			lines |= 1 << k
		}
		s.modes[k] = mode
	}
	return s, lines, true
}

// joins reports that rows can go side by side in vectors: their operands lie in one piece, or are a row
// or a scalar (package launch).
func (m *machine) joins(cols int) bool {
	return !slices.ContainsFunc(m.in, func(x operand) bool {
		return x.mode != op.Single && x.mode != op.RowVec && (x.mode != op.Full || x.d.Stride != cols)
	})
}

// placed reports a transposed operand that is turned and placed window by window, since the nest does
// not read it across.
func (b *boundNest) placed(m *machine, k int) bool {
	return m.in[k].mode == op.Trans && b.shape.modes[k] != op.Trans
}

// again places the operands of another call.
func (b *boundNest) again(m *machine) {
	for k := range m.in {
		switch x := &m.in[k]; {
		case x.mode == op.Single:
			b.worker.Scalar(k, x.scalar)
		case !b.placed(m, k):
			b.worker.Place(k, x.d, 0, 0)
		}
	}
}

// operands sets what the nest is bound to. beside: rows of matrices lie side by side.
func (b *boundNest) operands(m *machine, beside bool, rows, cols int) {
	b.in, b.out = b.in[:0], b.out[:0]
	b.heads = dense.Resized(b.heads, len(m.in)+1)
	b.scalars = dense.Resized(b.scalars, len(m.in)+4)
	scalar := func(k int, v value.Scalar) value.Value {
		if old, ok := b.scalars[k].(value.Scalar); !ok || old != v || math.Signbit(old.F) != math.Signbit(v.F) { // -0 == 0
			b.scalars[k] = v
		}
		return b.scalars[k]
	}
	// head is a matrix of the size of the index space whose place is told later; no column in one
	// piece.
	head := func(k int, e types.Elem) *value.Dense {
		b.heads[k] = value.Dense{Elem: dense.Storage(e), Rows: rows, Cols: cols, Stride: cols + 1}
		return &b.heads[k]
	}
	for k := range m.in {
		x, v := &m.in[k], value.Value(nil)
		switch e := m.prog.In[k].Elem; {
		case x.mode == op.Single:
			v = scalar(k, x.scalar)
		case b.placed(m, k):
			v = head(k, e)
		case x.mode == op.Full && beside:
			d := head(k, e)
			*d = *x.d
			d.Rows, d.Cols, d.Stride = rows, cols, cols
			v = d
		default:
			v = x.d
		}
		b.in = append(b.in, v)
	}
	b.in = append(b.in, scalar(len(m.in), value.I64(int64(rows))), scalar(len(m.in)+1, value.I64(int64(cols))))
	result := head(len(m.in), m.prog.Elem())
	if m.piece {
		result.Stride = cols
	}
	b.out = append(b.out, result)
	if b.shape.columns {
		b.in = append(b.in, scalar(len(m.in)+2, value.I64(0)), scalar(len(m.in)+3, value.I64(int64(rows))))
	}
}

// sharesMemory reports that a matrix among some values has memory in common with d.
func sharesMemory(in []value.Value, d *value.Dense) bool {
	return slices.ContainsFunc(in, func(v value.Value) bool {
		x, ok := v.(*value.Dense)
		return ok && shareMemory(x, d)
	})
}

// shareMemory reports that two matrices have memory in common.
func shareMemory(a, b *value.Dense) bool {
	if a.Rows*a.Cols == 0 || b.Rows*b.Cols == 0 {
		return false
	}
	span := func(d *value.Dense) (from, to uintptr) {
		s := dense.SlabOf(d, 0, 1)
		from = uintptr(s.Pointer())
		return from, from + uintptr(((d.Rows-1)*d.Stride+d.Cols)*d.Elem.Size())
	}
	a0, a1 := span(a)
	b0, b1 := span(b)
	return a0 < b1 && b0 < a1
}

// denseOver is a matrix over a slab.
func denseOver(s dense.Slab, e types.Elem, rows, cols, stride int) value.Dense {
	return value.Dense{Elem: e, Rows: rows, Cols: cols, Stride: stride, F64: s.F64, F32: s.F32, I64: s.I64, Bool: s.Bool}
}

// nestedGrid runs an area by a bound nest, row by row.
func (m *machine) nestedGrid(b *boundNest, a area, t target) error {
	if t.d != nil {
		b.worker.Place(len(m.in)+2, t.d, t.i0, t.j0)
	}
	rows, cols, turned := a.rows(), a.cols(), 0
	for k := range m.in {
		if b.placed(m, k) {
			turned++
		}
	}
	switch {
	case turned > 0:
		rows, cols = dense.Panel, min(cols, panelCols)
		m.strips(turned)
	case b.shape.tall:
		rows = launch.NearRows(cols)
	}
	return a.tiles(rows, cols, func(p area) error {
		if turned > 0 {
			m.turn(p.i0, p.rows(), p.j0, p.cols())
			m.nest.turned = p
			m.placeTurned(b)
		}
		return m.nestedTile(b, p)
	})
}

// placeTurned places the tile of the transposed operands that was turned last.
func (m *machine) placeTurned(b *boundNest) {
	for k := range m.in {
		if x := &m.in[k]; b.placed(m, k) {
			m.nest.view = denseOver(x.strip, m.prog.In[k].Elem, dense.Panel, panelCols, panelStride)
			b.worker.Place(k, &m.nest.view, m.nest.turned.i0, m.nest.turned.j0)
		}
	}
}

// nestedTile runs a tile, in parts in which a failure is found soon.
func (m *machine) nestedTile(b *boundNest, p area) error {
	rows, cols := p.rows(), p.cols()
	if m.nest.program.fails {
		cols = min(cols, failWindow)
		rows = min(rows, max(1, failWindow/cols))
	}
	return p.tiles(rows, cols, func(p area) error { return m.nestedWindow(b, p) })
}

// nestedWindow runs a window by a bound nest.
func (m *machine) nestedWindow(b *boundNest, p area) error {
	at := p
	switch {
	case b.shape.columns:
		return m.columnWindow(p)
	case b.shape.tall:
		at = p.mirror()
	}
	flagged, err := b.worker.Window(at.i0, at.i1, at.j0, at.j1, nil)
	if err != nil || !flagged {
		return err
	}
	return m.areaFailure(p)
}

// areaFailure is why the program has no value at the first such element of an area.
func (m *machine) areaFailure(p area) error {
	for i := p.i0; i < p.i1; i++ {
		for j := p.j0; j < p.j1; j++ {
			if _, err := m.element(i, j); err != nil {
				return err
			}
		}
	}
	return errNoFailure
}

// errNoFailure is a bug: a window failed, and by definition no element of it does.
var errNoFailure = op.Failf(define.CodeData, "BUG: a loop has no value of an element of which its row has one")
