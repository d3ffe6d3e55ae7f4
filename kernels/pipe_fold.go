package kernels

// This file reduces what a pipeline makes, block by block while it is in a cache. What makes any
// order give the same bits is in the accumulators: exact sums, counts, extremes. Where a loop can do
// it, it reduces elements as it computes them: each worker keeps states in registers, a window at a
// time, and adds them to its accumulators.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/reduce"
)

// blockElems is how many elements are made before they are reduced: half of a first-level cache of
// f64.
const blockElems = 3 << 10

// A block with a transposed operand has turnedRows rows, up to turnedElems elements. It then uses all
// of the cache lines that it reads of the operand. rowsum(X * t(X)) of 4096 x 4096 takes 0.4 of the
// time of blocks of a row each (Emerald Rapids).
const (
	turnedRows  = 16
	turnedElems = 1 << 17
)

// blockSize is the most elements of a block of rows of so many columns.
func (m *machine) blockSize(cols int) int {
	if !slices.ContainsFunc(m.in, func(x operand) bool { return x.mode == op.Trans }) {
		return blockElems
	}
	return max(blockElems, min(turnedRows*cols, turnedElems))
}

// folder is one worker's part of a reduction: all elements, the row in work, or the columns in work.
type folder struct {
	*ending
	reduce.Accumulators
	view value.Dense // a window of the result
}

// start prepares a worker for the reductions of a job.
func (m *machine) start(j *job) {
	m.f = slices.Grow(m.f, max(0, len(j.ends)-len(m.f)))[:len(j.ends)] // with the memory of earlier jobs
	for k := range m.f {
		m.f[k].ending = &j.ends[k]
		m.f[k].open(j.elem, 0, j.cols)
	}
}

// open starts the reduction of elements of e, by columns of columns c0..c1-1.
func (f *folder) open(e types.Elem, c0, c1 int) {
	if f.Axis != reduce.OverCols {
		c0, c1 = 0, 1
	}
	f.Open(f.Fold, e, c0, c1-c0)
}

// merge adds the part of another worker. Groups of columns have been written already.
func (f *folder) merge(x *execution, o *folder) {
	if f.Axis == reduce.OverAll || f.Axis == reduce.OverCols && !x.byColumns() {
		f.Merge(&o.Accumulators)
	}
}

// finish sets the result over all elements of an execution.
func (f *folder) finish(x *execution) {
	switch {
	case f.Axis != reduce.OverAll:
	case f.Part:
		f.Finish(f.out, x.rows*x.cols)
	default:
		x.c.Give(f.at, f.Result(0, f.result.Elem, x.rows*x.cols))
	}
}

// reduceAll adds an area to the results over all elements: by one loop where there is one, else
// block by block.
func (m *machine) reduceAll(x *execution, a area) error {
	if m.foldWorker(x) != nil {
		return m.nestedGrid(&m.nest.fold.boundNest, a, target{d: x.out})
	}
	return m.addBlocks(x, a)
}

// reduceRows reduces an area of whole rows. A block holds several short rows or a piece of a long one.
func (m *machine) reduceRows(x *execution, a area) error {
	if a.cols() <= m.blockSize(a.cols()) {
		return m.eachBlock(x, a, func(b *value.Dense, a area) {
			for k := range m.f {
				if f := &m.f[k]; f.Axis == reduce.OverRows {
					f.reduceRows(b, a.i0)
				} else {
					f.Add(b, a.i0, 0, m.cols)
				}
			}
		})
	}
	for i := a.i0; i < a.i1; i++ {
		for k := range m.f {
			if f := &m.f[k]; f.Axis == reduce.OverRows {
				f.open(x.elem, 0, 0)
			}
		}
		if err := m.reduceAll(x, area{i, i + 1, 0, x.cols}); err != nil {
			return err
		}
		m.takeFolds(&m.nest.fold)
		for k := range m.f {
			if f := &m.f[k]; f.Axis == reduce.OverRows {
				f.out.Set(i, 0, f.Result(0, f.out.Elem, x.cols))
			}
		}
	}
	return nil
}

// reduceRows writes the results of the rows of a block, whose first row is row i.
func (f *folder) reduceRows(b *value.Dense, i int) {
	f.out.Window(&f.view, i, 0, b.Rows, 1)
	if f.Arg() {
		reduce.Places(f.view.I64, b, f.Whole.Class == loop.ArgLeast)
	} else {
		f.ByRow(&f.view, b, &f.Accumulators)
	}
}

// split calls f for areas of at most n elements, in whole rows, at most that many, where these are
// short enough.
func (a area) split(n, rows int, f func(area) error) error {
	return a.tiles(max(1, min(rows, n/a.cols())), n, f)
}

// plain reports whether the elements to reduce are those of the operand itself: no step changes them.
// The result of the rows of one column may lie in the memory of that column, where a second one still
// reads it.
func (m *machine) plain(x *execution) bool {
	return (len(m.f) == 1 || x.cols > 1) && len(x.p.Steps) == 0 && x.out == nil && m.in[0].mode == op.Full && m.in[0].d.Elem == x.elem
}

// eachBlock makes an area block by block and calls f with each. A block fits a cache. A reduction of
// columns gets blocks of pieces of rows, with enough rows to be worth the work.
func (m *machine) eachBlock(x *execution, a area, f func(b *value.Dense, a area)) error {
	take := func(a area) error {
		b, err := m.make(x, a)
		if err == nil {
			f(b, a)
		}
		return err
	}
	switch {
	case x.axis() == reduce.OverCols:
		for j := a.j0; j < a.j1; j += columnGroup {
			if err := (area{a.i0, a.i1, j, min(j+columnGroup, a.j1)}).split(columnElems, a.rows(), take); err != nil {
				return err
			}
		}
		return nil
	case x.axis() == reduce.OverAll && m.plain(x) && !m.f[0].Arg():
		return take(a)
	}
	return a.split(m.blockSize(a.cols()), a.rows(), take)
}

// make runs the program on an area of at most a block, stores what it made if that is wanted, and
// returns it. Without a program it is the operand.
func (m *machine) make(x *execution, a area) (*value.Dense, error) {
	b := &m.block
	switch {
	case m.plain(x):
		m.in[0].d.Window(b, a.i0, a.j0, a.rows(), a.cols())
		return b, nil
	case x.out != nil && !x.stream && (a.rows() == 1 || x.out.Stride == a.cols()): // made where it belongs
		x.out.Window(b, a.i0, a.j0, a.rows(), a.cols())
		return b, m.area(a, target{d: x.out})
	}
	if need := a.rows()*a.cols() + 8; len(m.room) < need {
		m.room = aligned(make([]uint64, need+8))
	}
	*b = denseOver(dense.SlabOver(m.room, x.elem, a.rows()*a.cols()), x.elem, a.rows(), a.cols(), a.cols())
	err := m.area(a, target{b, a.i0, a.j0})
	if err == nil && x.out != nil {
		x.out.View(a.i0, a.j0, a.rows(), a.cols()).CopyFrom(b)
	}
	return b, err
}

// addBlocks adds an area to the reductions block by block.
func (m *machine) addBlocks(x *execution, a area) error {
	return m.eachBlock(x, a, func(b *value.Dense, a area) {
		for k := range m.f {
			m.f[k].Add(b, a.i0, a.j0, m.cols)
		}
	})
}

// foldWorker is the worker of the loop that reduces the elements of an execution, or nil where they
// are to be reduced block by block.
func (m *machine) foldWorker(x *execution) *launch.Worker {
	n := &m.nest.fold
	if n.asked {
		return n.worker
	}
	n.asked = true
	rows, cols := m.rows, m.cols
	shape, lines, ok := m.nestShape(rows, cols)
	n.begun, n.width, n.cols = true, 1, 1
	if !ok || m.plain(x) && (m.f[0].Arg() || x.elem == types.F32 && m.f[0].Extreme()) { // its kernel is as fast
		n.renew(m, shape, lines, rows, cols)
		return nil
	}
	return m.bindFolds(n, x, shape, lines, rows, cols)
}

// bindFolds binds the loop with the reductions of an execution in some shape, or returns nil.
func (m *machine) bindFolds(n *foldNest, x *execution, shape nestShape, lines uint64, rows, cols int) *launch.Worker {
	b := &n.boundNest
	n.x, shape.fold = x, x.fold
	b.run.Overwrites, b.run.Together = x.alias, n.side > 0
	if b.alike(m, shape, lines, rows, cols) {
		if b.again(m); !shape.columns {
			b.worker.Forget()
		}
		return b.worker
	}
	b.renew(m, shape, lines, rows, cols)
	stored := false
	if n.parts, stored = foldParts(x.fold, x.elem, shape.columns); len(n.parts) == 0 {
		return nil
	}
	l := m.nest.program.nest(m.prog, shape, x.rows*x.cols)
	if l == nil {
		return nil
	}
	b.operands(m, n.side > 0, rows, cols)
	if !stored {
		b.out = b.out[:0]
	}
	n.out = dense.Resized(n.out, len(n.parts))
	for k, p := range n.parts {
		if e := dense.Storage(p.class.Gives(p.of)); shape.columns { // the worker has only states of the columns in work
			n.out[k] = value.Dense{Elem: e, Rows: 1, Cols: cols, Stride: cols + 1}
		} else {
			n.out[k] = *value.New(e, 1, 1)
		}
		b.out = append(b.out, &n.out[k])
	}
	if b.bind(m, l) != nil {
		b.worker.Doubted = func(part, i0, i1, j0, j1 int) error { return m.addDoubted(n, part, area{i0, i1, j0, j1}) }
	}
	return b.worker
}

// takeFolds merges the reduced results of a loop into the accumulators.
func (m *machine) takeFolds(n *foldNest) {
	if !n.asked || n.worker == nil || !n.begun {
		return
	}
	for k := range n.parts {
		n.take(m, k)
	}
	if n.begun = !n.shape.columns; n.begun { // else Columns comes before the next window
		n.worker.Forget()
	}
}

// take merges the reduced result of part k into the accumulators. If rows lie side by side, the
// loop has several states of a column.
func (n *foldNest) take(m *machine, k int) {
	x := &n.parts[k]
	f, line, lines := &m.f[x.fold], 0, 1
	if f.Axis == reduce.OverCols {
		line, lines = n.j0, n.cols
	}
	if sums := n.worker.Sums(k); sums != nil {
		f.MergePart(x.sum, sums)
		return
	}
	words := n.worker.Words(k)
	for at := 0; at < n.width; at += lines {
		switch {
		case x.sum >= 0:
			by := 1.0
			if x.half == upper {
				by = 1 << halfBits
			}
			for j, w := range words[at : at+lines] {
				to := f.Adder(x.sum, line+j)
				to.Add(float64(int64(w)>>31) * (1 << 31) * by)
				to.Add(float64(w&(1<<31-1)) * by)
			}
		case f.Arg():
			wide := x.wide()
			for j, w := range words[at : at+lines] {
				if i := int(int64(words[n.width+at+j])); i >= 0 {
					if n.side > 0 {
						i = n.first + i*n.side + at/lines
					}
					f.Place(line+j, loop.ScalarOf(wide, w), i)
				}
			}
		default:
			e := dense.Storage(x.class.Gives(x.of))
			if n.row == nil || n.row.Elem != e || n.row.Cols != lines {
				n.row = value.New(e, 1, lines)
			}
			loop.StateOf(x.class, x.of, loop.FastLevels).Results(n.row, 0, 1, words, n.width, at, at+lines)
			f.JoinRow(n.row)
		}
	}
}

// addDoubted adds a window to the exact sum of a part, after the sum of the loop has lost bits.
func (m *machine) addDoubted(n *foldNest, part int, a area) error {
	switch {
	case n.shape.columns:
		a = n.inSpace(m, area{n.rows.i0, n.rows.i1, a.j0, a.j1})
	case n.shape.tall:
		a = a.mirror()
	}
	return m.addAgain(n.x, a, n.parts[part])
}

// addAgain adds an area to one exact sum. It reads stored elements from the result, because the result
// may have overwritten an operand. It binds the transposed tile of the loop again if it has used
// another.
func (m *machine) addAgain(x *execution, a area, p foldPart) error {
	add := func(b *value.Dense, a area) { m.f[p.fold].AddPart(p.sum, b, a.j0) }
	if x.out == nil {
		tile := m.nest.turned
		err := m.eachBlock(x, a, add)
		if m.nest.turned != tile {
			m.nest.turned = tile
			m.turn(tile.i0, tile.rows(), tile.j0, tile.cols())
		}
		return err
	}
	var b value.Dense
	x.out.Window(&b, a.i0, a.j0, a.rows(), a.cols())
	add(&b, a)
	return nil
}
