package kernels

// This file reduces columns of a pipeline. Memory is read by rows: the loop goes over some rows of
// some columns at a time, and the states of all columns in work stay in memory. Matrices of few
// columns whose elements follow on one another are read as matrices of several rows side by side,
// so that vectors are full.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/reduce"
)

const (
	// columnElems is the largest block of columns, half of what a second-level cache of 512 KiB
	// holds.
	columnElems = 32 << 10
	// sideBySide is about how many elements the rows of the loop have at most where rows lie side by
	// side: no power of two, so that rows lie apart in a cache. sideRows is about how many such rows
	// there are at least.
	sideBySide = 2064
	sideRows   = 64
)

// columnNest is the loop that reduces columns, bound to its operands.
type columnNest struct {
	boundNest
	x      *execution
	parts  []foldPart
	planes int
	stored bool
	side   int // rows side by side in a row of the loop; 0: it is the index space's own
	first  int // the row of the index space where row 0 of the loop begins, if rows are side by side
	// What follows is of the columns in work, from column j0 on.
	j0, width int
	cols      int      // of the index space
	words     []uint64 // of the states, plane by plane
	next      []uint64
	begun     bool   // the states are in use
	lost      []area // see doubts
	depth     int    // the place in loop.Levels of the levels of the loop
	deepest   bool   // there is no loop with more levels
	row       *value.Dense
	repeated  []*value.Dense // see repeat
}

// begin forgets what a worker knows.
func (n *columnNest) begin() {
	n.asked, n.x, n.begun, n.deepest = false, nil, false, false
}

// columns reduces all rows of a group of columns and writes the results.
func (m *machine) columns(x *execution, a area) error {
	m.nest.columns.begun = false
	for k := range m.f {
		if f := &m.f[k]; f.Axis == reduce.OverCols {
			f.open(x.elem, a.j0, a.j1)
		}
	}
	if err := m.reduceColumns(x, a); err != nil {
		return err
	}
	m.finishColumns(x)
	return nil
}

// finishColumns writes the results of the columns in work.
func (m *machine) finishColumns(x *execution) {
	m.takeColumns()
	for k := range m.f {
		if f := &m.f[k]; f.Axis == reduce.OverCols {
			f.Finish(f.out, x.rows)
		}
	}
}

// reduceColumns adds an area of whole columns' pieces to the state of the columns in work.
func (m *machine) reduceColumns(x *execution, a area) error {
	n := &m.nest.columns
	if m.columnWorker(x) == nil {
		return m.addBlocks(x, a)
	}
	if !n.begun {
		n.j0, n.width, n.cols = a.j0, a.cols(), a.cols()
		if n.side > 0 {
			n.width *= n.side
		}
	}
	whole, rest := a, area{}
	if n.side > 0 {
		rows := a.rows() / n.side
		whole, rest = area{0, rows, 0, n.width}, area{rows, rows + 1, 0, a.rows() % n.side * x.cols}
	}
	m.placeColumns(x, a.i0)
	n.x = x
	var err error
	for _, part := range [...]area{whole, rest} { // of the space of the loop
		if err == nil && part.cols() > 0 {
			err = part.tiles(max(leastRows, windowElems/part.cols()), part.cols(), func(p area) error {
				n.empty()
				return m.nestedGrid(&n.boundNest, p, target{})
			})
		}
	}
	n.x = nil
	if n.side > 0 && n.places() { // the next area counts its rows from elsewhere
		m.takeColumns()
	}
	return err
}

const (
	// windowElems is about how many elements a window has, and leastRows the least rows: with their
	// states they stay in a second-level cache.
	windowElems = 16 << 10
	leastRows   = 8
)

// columnWorker is the worker of the loop that reduces the columns of an execution, or nil where
// they are to be reduced block by block.
func (m *machine) columnWorker(x *execution) *launch.Worker {
	n := &m.nest.columns
	if n.asked {
		return n.worker
	}
	n.asked, n.side, n.depth = true, 0, m.nest.program.depth.Next()
	rows, cols := m.rows, m.cols
	if m.dense && cols < launch.FewColumns && (x.out == nil || x.out.Stride == cols) {
		n.side = max(1, min(sideBySide, rows*cols/sideRows)/cols)
		rows, cols = rows/n.side+1, cols*n.side
		n.repeat(m)
	}
	shape, lines, ok := m.nestShape(rows, cols)
	shape.tall, shape.fold, shape.levels = false, x.fold, loop.Levels[n.depth]
	if n.side > 0 {
		lines = 0
	}
	if !ok || rows == 0 {
		n.renew(m, shape, lines, rows, cols)
		return nil
	}
	return m.bindColumns(x, shape, lines, rows, cols)
}

// bindColumns binds the loop of a shape. Rows may lie side by side.
func (m *machine) bindColumns(x *execution, shape nestShape, lines uint64, rows, cols int) *launch.Worker {
	n := &m.nest.columns
	b := &n.boundNest
	if b.alike(m, shape, lines, rows, cols) {
		b.again(m)
		return b.worker
	}
	b.renew(m, shape, lines, rows, cols)
	if n.parts, n.planes, n.stored = foldParts(x.fold, x.elem, shape.levels); len(n.parts) == 0 {
		return nil
	}
	l := m.nest.program.nest(m.prog, shape, x.rows*x.cols)
	if l == nil {
		return nil
	}
	b.operands(m, n.side > 0, rows, cols)
	if !n.stored {
		b.out = b.out[1:]
	}
	return b.bind(m, l)
}

// deepen takes what the states hold and binds the loop with more levels to the same operands. If there
// is no such loop, it binds the old one. It reports that the states are empty. Otherwise they have the
// most levels.
func (m *machine) deepen() bool {
	n := &m.nest.columns
	if n.deepest || n.depth+1 == len(loop.Levels) {
		return false
	}
	m.takeColumns()
	shape, lines, rows, cols := n.shape, n.lines, n.rows, n.boundNest.cols
	deeper := shape
	deeper.levels = loop.Levels[n.depth+1]
	if m.bindColumns(n.x, deeper, lines, rows, cols) != nil {
		n.depth++
		m.nest.program.depth.Raise(n.depth)
	} else {
		n.deepest = true
		m.bindColumns(n.x, shape, lines, rows, cols)
	}
	m.placeColumns(n.x, n.first)
	m.placeTurned(&n.boundNest)
	n.empty()
	return true
}

// repeat makes operands that are a row as long as rows side by side.
func (n *columnNest) repeat(m *machine) {
	n.repeated = append(n.repeated, make([]*value.Dense, max(0, len(m.in)-len(n.repeated)))...)
	for k := range m.in {
		x := &m.in[k]
		if x.mode != op.RowVec {
			continue
		}
		d := n.repeated[k]
		if d == nil || d.Elem != x.d.Elem || d.Cols != n.side*m.cols {
			d = value.New(x.d.Elem, 1, n.side*m.cols)
			n.repeated[k] = d
		}
		for j := 0; j < d.Cols; j += m.cols {
			d.Window(&m.nest.view, 0, j, 1, m.cols)
			m.nest.view.CopyFrom(x.d)
		}
		x.d = d
	}
}

// placeColumns says where the elements are stored. If rows lie side by side, row i of the index space
// becomes the first of the loop.
func (m *machine) placeColumns(x *execution, i int) {
	n := &m.nest.columns
	n.first = i
	if n.side == 0 {
		if n.stored {
			n.worker.Place(n.result(m), x.out, 0, 0)
		}
		return
	}
	place := func(number int, d *value.Dense) {
		m.nest.view = denseOver(dense.SlabOf(d, i*x.cols, 1), d.Elem, 1, n.width, n.width)
		n.worker.Place(number, &m.nest.view, 0, 0)
	}
	for k := range m.in {
		switch m.in[k].mode {
		case op.Full:
			place(k, m.in[k].d)
		case op.Drawn: // rows of the loop are rows side by side
			words, _ := m.prog.In[k].Words(m.from.row, m.from.col).From(i, 0).InOneRow(x.cols)
			words[1] = int64(n.width) * words[2]
			n.worker.Place(k, m.wordsFor(len(m.in)+k, words), 0, 0) // the chain itself has others
		}
	}
	if n.stored {
		place(n.result(m), x.out)
	}
}

// states and result are the numbers of the states and of the first result among the operands and
// results of the loop.
func (n *columnNest) states(m *machine) int { return len(m.in) + 4 }
func (n *columnNest) result(m *machine) int { return len(m.in) + 5 }

// inSpace is an area of the loop in the index space: whole rows, or the beginning of one.
func (n *columnNest) inSpace(m *machine, p area) area {
	if n.side == 0 {
		return p
	}
	i := n.first + p.i0*n.side
	return area{i, i + (p.rows()-1)*n.side + p.cols()/m.cols, 0, m.cols}
}
