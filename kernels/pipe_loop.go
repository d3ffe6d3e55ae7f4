package kernels

// This file runs pipelines and elementwise operators as loops: the index space is cut into
// rows, or into pieces of rows where these are long, or into groups of columns, and each worker
// executes the chain on those that it is given.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/reduce"
	"flow/kernels/window"
)

const (
	// loopUnit is about how many elements are the least that a worker is given of what is reduced:
	// a cascade of sums ends with some hundred nanoseconds.
	loopUnit = window.LongRow
	// columnGroup is how many columns an iteration takes that reduces along them.
	columnGroup = 512
	// columnGroups is the most groups that a loop goes over at once.
	columnGroups = 8
)

// runs gives row d a kernel and a loop. bind reads a call as the job that they run. space reads the
// part of the job that its iterations depend on.
func (e *engine) runs(d *op.Def, space, bind reader) {
	d.Kernel = func(c *op.Call) error {
		j, err := bind(c)
		if err != nil {
			return err
		}
		return e.whole(c, j)
	}
	d.Loop = &op.Loop{
		Space: func(c *op.Call) (n, leaf int) {
			j, err := space(c)
			if err != nil {
				return 0, 1
			}
			return j.space()
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			j, err := bind(c)
			if err != nil {
				return nil, err
			}
			return e.begin(c, j, workers), nil
		},
		RowsEach: func(c *op.Call) (rows, iterations int) {
			if j, err := space(c); err != nil || j.byColumns() || j.mirrored() || j.pieces() > 1 || len(j.ends) == 0 && !c.Type.IsDense() {
				return 0, 0
			}
			return 1, 1
		},
	}
}

// whole runs a job on the calling worker.
func (e *engine) whole(c *op.Call, j job) error {
	if j.rows == 0 || j.cols == 0 {
		return j.empty(c)
	}
	x := e.begin(c, j, 1)
	var err error
	if j.byColumns() {
		err = x.Chunk(0, 0, j.groups())
	} else {
		x.copyRows(0, j.rows)
		err = x.worker(0).work(x, area{0, j.rows, 0, j.cols})
	}
	if end := x.End(); err == nil {
		err = end
	}
	return err
}

// empty reduces an index space without elements. It sets each result to that of its reduction for
// nothing.
func (j *job) empty(c *op.Call) error {
	nothing := []value.Value{value.New(j.elem, j.rows, j.cols)}
	for k := range j.ends {
		x := &j.ends[k]
		call := op.Call{Def: x.Def, In: nothing, Type: x.result}
		if x.out != nil {
			call.Out = x.out
		}
		if err := x.Def.Kernel(&call); err != nil {
			return err
		}
		c.Give(x.at, call.Out)
	}
	return nil
}

// space cuts the index space into iterations: a function of the shape, and of whether an operand is
// read transposed.
func (j *job) space() (n, leaf int) {
	if j.rows <= 0 || j.cols <= 0 { // unknown sizes, too
		return 0, 1
	}
	if j.byColumns() {
		return j.groups(), 1
	}
	if j.mirrored() {
		return j.pairs(), 1
	}
	if p := j.pieces(); p > 1 {
		return j.rows * p, 1
	}
	least := window.LeafElements
	if len(j.ends) > 0 {
		least = loopUnit
	}
	if j.p != nil {
		least = window.LeafOf(least, nestsOf(j.p).steps)
	}
	leaf = max(1, least/j.cols)
	if j.transposes() { // strips of transposed operands are read in full
		leaf = (leaf + dense.Panel - 1) / dense.Panel * dense.Panel
	}
	return j.rows, leaf
}

// transposes reports that the program reads an operand transposed.
func (j *job) transposes() bool {
	return j.p != nil && slices.ContainsFunc(j.p.In, func(o op.Operand) bool { return o.Mode == op.Trans })
}

// pieces is how many iterations a row makes.
func (j *job) pieces() int {
	if j.axis() != reduce.OverAll || j.cols < 2*loopUnit {
		return 1
	}
	return (j.cols + loopUnit - 1) / loopUnit
}

func (j *job) groups() int { return (j.cols + columnGroup - 1) / columnGroup }

// byColumns reports that the iterations are groups of columns: where each worker's state of all
// columns would be large.
func (j *job) byColumns() bool {
	if j.axis() != reduce.OverCols || j.cols < 8*columnGroup {
		return false
	}
	for k := range j.ends {
		if j.ends[k].Part { // ranks share the rows
			return false
		}
	}
	return true
}

// execution is one run of a job on some workers.
type execution struct {
	job
	e       *engine
	c       *op.Call
	workers []*machine // nil: that one has not had a chunk yet
	stream  bool
	parts   int // see pieces
	columns []ownColumn
	apart   []value.Value // operands where there are own columns
}

// ownColumn is an operand that is a column of the matrix in whose memory the results lie. Workers copy
// the rows that they are about to write.
type ownColumn struct{ from, to *value.Dense }

// copyRows copies rows lo..hi-1 of the own columns.
func (x *execution) copyRows(lo, hi int) {
	for k := range x.columns {
		c := &x.columns[k]
		c.to.View(lo, 0, hi-lo, 1).CopyFrom(c.from.View(lo, 0, hi-lo, 1))
	}
}

// separate finds the own columns and puts copies in their place. Where a worker does not have whole
// rows, they are copied before anything is written.
func (x *execution) separate() {
	x.columns = x.columns[:0]
	if !x.alias || x.cols == 1 {
		return
	}
	for k, v := range x.in {
		d, ok := v.(*value.Dense)
		if !ok || d.Cols != 1 || d.Rows != x.rows || x.rows == 1 || !shareMemory(d, x.out) {
			continue
		}
		n := len(x.columns)
		if n == 0 {
			x.apart = append(x.apart[:0], x.in...)
			x.in = x.apart
		}
		if x.columns = slices.Grow(x.columns, 1)[:n+1]; x.columns[n].to == nil || x.columns[n].to.Rows != d.Rows || x.columns[n].to.Elem != d.Elem {
			x.columns[n].to = value.New(d.Elem, d.Rows, 1)
		}
		x.columns[n].from, x.in[k] = d, x.columns[n].to
	}
	if x.parts > 1 || x.mirrored() {
		x.copyRows(0, x.rows)
		x.columns = x.columns[:0]
	}
}

// begin begins a job.
func (e *engine) begin(c *op.Call, j job, workers int) *execution {
	x, ok := e.bodies.Get().(*execution)
	if !ok {
		x = &execution{e: e}
	}
	x.c, x.job = c, j
	x.workers = dense.Resized(x.workers, workers)
	clear(x.workers)
	x.stream, x.parts = j.streams(), j.pieces()
	x.separate()
	return x
}

// streams reports that the elements are written past the caches.
func (j *job) streams() bool {
	return j.out != nil && !j.alias && j.elem.IsFloat() && launch.Streams(j.out) && wholeLines(j.out)
}

// wholeLines reports that d, and every row of it, begins with a cache line.
func wholeLines(d *value.Dense) bool {
	first := dense.SlabOf(d, 0, 1)
	return uintptr(first.Pointer())%64 == 0 && (d.Rows == 1 || d.Stride*d.Elem.Size()%64 == 0)
}

// worker is the machine of worker k.
func (x *execution) worker(k int) *machine {
	m := x.workers[k]
	if m == nil {
		m = x.e.machine()
		m.prepare(x)
		m.start(&x.job)
		x.workers[k] = m
	}
	return m
}

func (x *execution) Chunk(worker, lo, hi int) error {
	m := x.worker(worker)
	p := x.parts
	switch {
	case x.mirrored():
		for ; lo < hi; lo++ {
			if err := m.pair(x, lo); err != nil {
				return err
			}
		}
		return nil
	case x.byColumns():
		for ; lo < hi; lo += columnGroups {
			to := min(lo+columnGroups, hi)
			if err := m.columns(x, area{0, x.rows, lo * columnGroup, min(to*columnGroup, x.cols)}); err != nil {
				return err
			}
		}
		return nil
	case p == 1:
		x.copyRows(lo, hi)
		return m.work(x, area{lo, hi, 0, x.cols})
	}
	for lo < hi { // whole rows of pieces, and what is before and behind them
		i, k := lo/p, lo%p
		n := min(p-k, hi-lo)
		if err := m.work(x, area{i, i + 1, k * loopUnit, min((k+n)*loopUnit, x.cols)}); err != nil {
			return err
		}
		lo += n
	}
	return nil
}

// work runs an area of the index space.
func (m *machine) work(x *execution, a area) error {
	switch {
	case a.i0 >= a.i1 || a.j0 >= a.j1:
		return nil
	case len(x.ends) == 0:
		return m.area(a, target{d: x.out})
	}
	switch x.axis() {
	case reduce.OverAll:
		return m.reduceAll(x, a)
	case reduce.OverRows:
		return m.reduceRows(x, a)
	}
	return m.reduceColumns(x, a)
}

// End puts the workers' parts together.
func (x *execution) End() error {
	if len(x.ends) > 0 {
		x.combine()
	}
	for k, m := range x.workers {
		if m != nil {
			m.release()
			x.e.idle.Put(m)
			x.workers[k] = nil
		}
	}
	x.c, x.job = nil, job{} // keep no value alive
	clear(x.apart)
	for k := range x.columns {
		x.columns[k].from = nil
	}
	x.e.bodies.Put(x)
	return nil
}

func (x *execution) combine() {
	var first *machine
	for _, m := range x.workers {
		switch {
		case m == nil:
		case first == nil:
			first = m
			m.takeFolds(&m.nest.fold)
		default:
			m.takeFolds(&m.nest.fold)
			m.takeFolds(&m.nest.columns)
			first.takeFolds(&first.nest.columns)
			for k := range x.ends {
				first.f[k].merge(x, &m.f[k])
			}
		}
	}
	if first == nil {
		first = x.worker(0)
	}
	if x.axis() == reduce.OverCols && !x.byColumns() {
		first.finishColumns(x)
	}
	for k := range x.ends {
		first.f[k].finish(x)
	}
}
