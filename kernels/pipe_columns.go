package kernels

// This file reduces columns of a pipeline. Memory is read by rows: the loop goes over some rows of
// some columns at a time, and the states of all columns in work stay in memory. Matrices of few
// columns whose elements follow on one another are read as matrices of several rows side by side,
// so that vectors are full.

import (
	"slices"

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
	// side. It is no power of two, so that rows lie apart in a cache. The states of a sum are three
	// words an element and stay in a first-level cache of 32 KiB: sums of 20 columns take .8 of the
	// time that they take with twice as many elements. sideRows is about how many such rows there are
	// at least.
	sideBySide = 1040
	sideRows   = 64
)

// foldNest is a loop with reductions of a job, bound to its operands.
type foldNest struct {
	boundNest
	x     *execution
	parts []foldPart
	out   []value.Dense // reduced results, which stay with the worker
	// The fields below belong to a loop that reduces columns.
	side     int  // rows side by side in a row of the loop; 0: it is the index space's own
	first    int  // the row of the index space where row 0 of the loop begins, if rows are side by side
	begun    bool // the worker has states of the columns in work
	j0, cols int  // of the index space: the columns in work
	width    int  // the number of columns of the loop
	rows     area // of the current window
	row      *value.Dense
	repeated []*value.Dense // see repeat
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
	m.takeFolds(&m.nest.columns)
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
		n.begun, n.j0, n.width, n.cols = true, a.j0, a.cols()*max(1, n.side), a.cols()
		n.worker.Columns(n.j0, n.width)
	}
	whole, rest := a, area{}
	if n.side > 0 {
		rows := a.rows() / n.side
		whole, rest = area{0, rows, 0, n.width}, area{rows, rows + 1, 0, a.rows() % n.side * x.cols}
	}
	m.placeColumns(x, a.i0)
	var err error
	for _, part := range [...]area{whole, rest} { // of the space of the loop
		if err == nil && part.cols() > 0 {
			err = part.tiles(max(leastRows, windowElems/part.cols()), part.cols(), func(p area) error {
				return m.nestedGrid(&n.boundNest, p, target{})
			})
		}
	}
	if n.side > 0 && n.places() { // the next area counts its rows from elsewhere
		m.takeFolds(n)
	}
	return err
}

const (
	// windowElems is about how many elements a window has, and leastRows the least rows: with their
	// states they stay in a second-level cache.
	windowElems = 32 << 10
	leastRows   = 8
)

// columnWorker is the worker of the loop that reduces the columns of an execution, or nil where
// they are to be reduced block by block.
func (m *machine) columnWorker(x *execution) *launch.Worker {
	n := &m.nest.columns
	if n.asked {
		return n.worker
	}
	n.asked, n.begun, n.side = true, false, 0
	rows, cols := m.rows, m.cols
	if m.dense && cols < launch.FewColumns && (x.out == nil || x.out.Stride == cols) {
		n.side = max(1, min(sideBySide, rows*cols/sideRows)/cols)
		rows, cols = rows/n.side+1, cols*n.side
		n.repeat(m)
	}
	shape, lines, ok := m.nestShape(rows, cols)
	shape.tall, shape.columns = false, true
	if n.side > 0 {
		lines = 0
	}
	if !ok || rows == 0 {
		n.renew(m, shape, lines, rows, cols)
		return nil
	}
	return m.bindFolds(n, x, shape, lines, rows, cols)
}

// columnWindow runs the loop that reduces columns on a window.
func (m *machine) columnWindow(p area) error {
	n := &m.nest.columns
	n.worker.Scalar(len(m.in)+2, value.I64(int64(p.i0)))
	n.worker.Scalar(len(m.in)+3, value.I64(int64(p.i1)))
	n.rows = p
	flagged, err := n.worker.Window(0, 1, p.j0, p.j1, nil)
	if err != nil || !flagged {
		return err
	}
	return m.areaFailure(n.inSpace(m, p))
}

// repeat makes operands that are a row as long as rows side by side.
func (n *foldNest) repeat(m *machine) {
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
		if x.out != nil {
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
	if x.out != nil {
		place(n.result(m), x.out)
	}
}

// result returns the number of the first result among the operands and results of the loop.
func (n *foldNest) result(m *machine) int { return len(m.in) + 4 }

// inSpace is an area of the loop in the index space: whole rows, or the beginning of one.
func (n *foldNest) inSpace(m *machine, p area) area {
	if n.side == 0 {
		return p
	}
	i := n.first + p.i0*n.side
	return area{i, i + (p.rows()-1)*n.side + p.cols()/m.cols, 0, m.cols}
}

// places reports a reduction that says in which row something lies.
func (n *foldNest) places() bool {
	return slices.ContainsFunc(n.parts, func(p foldPart) bool { return p.class == loop.ArgLeast || p.class == loop.ArgGreatest })
}
