package kernels

// This file reduces what a pipeline makes, block by block while it is in a cache. What makes any
// order give the same bits is in the accumulators: exact sums, counts, extremes.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// blockElems is how many elements are made before they are reduced: half of a first-level cache of
// f64.
const blockElems = 3 << 10

// folder is one worker's part of a reduction.
type folder struct {
	*ending
	elem  types.Elem
	acc   *value.Dense // one result, or that of the row in work
	sums  [2]running   // what acc is of exact sums: the first parts of them
	parts int
	word  *value.Dense // an accumulator of one element
	one   *value.Dense // 1 x 1 of elem
	best  struct {
		v  value.Scalar
		at int64
	}
	cols columnsOf
	view value.Dense // of the result
	room reduce.Room
}

// blockRoom is where a block is made before it is reduced.
type blockRoom struct {
	words []uint64
	block value.Dense // over words, or where its elements are stored
}

// start prepares a worker for the reductions of a job.
func (m *machine) start(j *job) {
	for len(m.f) < len(j.ends) && cap(m.f) > len(m.f) {
		m.f = m.f[:len(m.f)+1] // with the memory of earlier jobs
	}
	for len(m.f) < len(j.ends) {
		m.f = append(m.f, folder{})
	}
	m.f = m.f[:len(j.ends)]
	if need := max(blockElems, columnElems) + 8; len(m.f) > 0 && len(m.made.words) < need {
		m.made.words = aligned(make([]uint64, need+8))
	}
	for k := range m.f {
		m.f[k].start(j, &j.ends[k])
	}
}

func (f *folder) start(j *job, x *ending) {
	f.ending, f.elem = x, j.elem
	if f.one == nil || f.one.Elem != f.elem {
		f.one = value.New(f.elem, 1, 1)
	}
	f.beginSums()
	f.cols.begin(0, j.cols)
	f.best.at = -1
	if f.Arg {
		return
	}
	if t := f.Whole.Acc(f.elem); f.acc == nil || !f.acc.Type().Equal(t) {
		f.acc = value.New(t.Elem, t.Rows, t.Cols)
	}
	f.Whole.Empty(f.acc)
}

// over makes block the elements of an area, which lie in s one after the other.
func (r *blockRoom) over(e types.Elem, s dense.Slab, a area) *value.Dense {
	r.block = value.Dense{Elem: e, Rows: a.rows(), Cols: a.cols(), Stride: a.cols(), F64: s.F64, F32: s.F32, I64: s.I64, Bool: s.Bool}
	return &r.block
}

// add takes elements into the accumulator of one result.
func (f *folder) add(b *value.Dense) {
	switch {
	case f.parts > 0:
		for k := range f.parts {
			f.sums[k].add(b)
		}
	case f.Extreme():
		dense.EachRun(b, func(s dense.Slab, _ int) {
			reduce.SetExtreme(f.one, s, f.Whole.Class == loop.Least)
			f.Whole.Join(f.acc, f.one)
		})
	default:
		f.Whole.Part(f.acc, b)
	}
}

// merge takes another worker's part in.
func (f *folder) merge(x *execution, o *folder) {
	switch {
	case f.Axis == reduce.OverRows:
	case f.Axis == reduce.OverCols && x.byColumns(): // each has written its results
	case f.Axis == reduce.OverCols:
		f.columns().Merge(o.columns())
	case f.Arg:
		f.better(o.best.v, o.best.at)
	case f.parts > 0:
		for k := range f.parts {
			f.sums[k].Merge(&o.sums[k].Sum)
		}
	default:
		f.Whole.Join(f.acc, o.acc)
	}
}

// finish sets the result of an execution.
func (f *folder) finish(x *execution) {
	switch {
	case f.Axis != reduce.OverAll:
	case f.Arg:
		f.give(x.c, value.I64(f.best.at))
	default:
		f.putSums()
		if f.Part {
			f.out.CopyFrom(f.acc)
		} else {
			f.give(x.c, f.Whole.Done(f.acc, f.result.Elem, x.rows*x.cols))
		}
	}
}

// reduceAll adds an area to the results over all elements: by one loop where there is one, else
// block by block.
func (m *machine) reduceAll(x *execution, a area) error {
	if m.dense && (x.out == nil || x.out.Stride == x.cols) { // one long row
		a = area{0, 1, a.i0*x.cols + a.j0, (a.i1-1)*x.cols + a.j1}
		m.rows, m.cols = 1, x.rows*x.cols
	}
	if m.foldWorker(x) != nil {
		return a.split(loop.NearCount, loop.NearCount, func(a area) error { return m.reduceArea(x, a) })
	}
	return m.addBlocks(x, a)
}

// split calls f for areas of at most n elements, in whole rows, at most that many, where these are
// short enough.
func (a area) split(n, rows int, f func(area) error) error {
	cols := a.cols()
	rows = max(1, min(rows, n/cols))
	for i := a.i0; i < a.i1; i += rows {
		for j := a.j0; j < a.j1; j += n {
			if err := f(area{i, min(i+rows, a.i1), j, min(j+n, a.j1)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// plain reports whether the elements to reduce are those of the operand itself: no step changes them.
func (m *machine) plain(x *execution) bool {
	return len(x.p.Steps) == 0 && x.out == nil && m.in[0].mode == op.Full && m.in[0].d.Elem == x.elem
}

// block returns how many elements of an area are made before they are reduced.
func (m *machine) block(x *execution, a area) int {
	if m.plain(x) && !m.f[0].Arg {
		return a.rows() * a.cols()
	}
	return blockElems
}

// make runs the program on an area of at most a block, stores what it made if that is wanted, and
// returns it. Without a program it is the operand.
func (m *machine) make(x *execution, a area) (*value.Dense, error) {
	if m.plain(x) {
		d := m.in[0].d
		if m.rows == 1 && d.Rows != 1 { // a part of the one long row that reduceAll makes of it
			return m.made.over(x.elem, dense.SlabOf(d, a.j0, a.cols()), a), nil
		}
		d.Window(&m.made.block, a.i0, a.j0, a.rows(), a.cols())
		return &m.made.block, nil
	}
	if x.out != nil && !x.stream && (a.rows() == 1 || x.out.Stride == a.cols()) { // made where it belongs
		b := m.made.over(x.elem, dense.SlabOf(x.out, a.i0*x.out.Stride+a.j0, a.rows()*a.cols()), a)
		return b, m.area(a, target{d: x.out})
	}
	b := m.made.over(x.elem, dense.SlabOver(m.made.words, x.elem, a.rows()*a.cols()), a)
	return b, m.area(a, target{b, a.i0, a.j0, x.out})
}

// addBlocks adds an area to the results over all elements, block by block.
func (m *machine) addBlocks(x *execution, a area) error {
	return a.split(m.block(x, a), a.rows(), func(a area) error {
		b, err := m.make(x, a)
		if err != nil {
			return err
		}
		for k := range m.f {
			if f := &m.f[k]; f.Arg {
				f.place(b, a.i0*m.cols+a.j0, m.cols)
			} else {
				f.add(b)
			}
		}
		return nil
	})
}
