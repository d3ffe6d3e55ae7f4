package kernels

// This file reduces what a pipeline makes, block by block while it is in a cache. What makes any order give the same bits
// is in the accumulators: exact sums, counts, extremes.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

type foldAxis uint8

const (
	overAll  foldAxis = iota // one result
	overRows                 // a result per row
	overCols                 // a result per column
)

// fold is a reduction that a pipeline may end with.
type fold struct {
	def   *op.Def
	axis  foldAxis
	w     whole // of argmin and argmax: none
	part  bool  // the result is the accumulator
	arg   bool
	least bool // of arg
}

// exactly reports a sum that is an exact.Sum, for elements of e.
func (f *fold) exactly(e types.Elem) bool {
	return !f.arg && f.w.acc(e).Cols == exact.Words
}

// squares reports a sum of squares.
func (f *fold) squares() bool { return f.w.name == "norm" }

// counts reports a reduction to one integer.
func (f *fold) counts() bool {
	switch f.w.name {
	case "count", "any", "all", "sum":
		return true
	}
	return false
}

func (f *fold) extreme() bool { return f.w.name == "min" || f.w.name == "max" }

var folds = sync.OnceValue(func() map[string]*fold {
	by := map[string]whole{}
	for _, w := range append(wholes(), variances()...) {
		by[w.name] = w
	}
	out := map[string]*fold{}
	for _, d := range resolved(append(reduce(), stats()...)) {
		if d.Fold == op.NoFold {
			continue
		}
		f := &fold{def: d, axis: map[op.Fold]foldAxis{op.FoldAll: overAll, op.FoldRows: overRows, op.FoldCols: overCols}[d.Fold]}
		name := d.Name
		switch {
		case f.axis != overAll:
			name = name[len("row"):]
		case len(name) > 5 && name[len(name)-5:] == ".part":
			f.part, name = true, name[:len(name)-5]
		}
		switch name {
		case "argmin", "argmax":
			f.arg, f.least = true, name == "argmin"
		default:
			f.w = by[name]
		}
		out[d.Name] = f
	}
	return out
})

// foldNamed is the reduction of that row, nil if there is none.
func foldNamed(name string) *fold { return folds()[name] }

// blockElems is how many elements are made before they are reduced: half of a first-level cache of f64.
const blockElems = 3 << 10

// folder is one worker's part of a reduction.
type folder struct {
	*fold
	elem types.Elem
	acc  *value.Dense // one result, or that of the row in work, where it is no exact sum
	sum  exact.Sum    // where it is
	one  *value.Dense // 1 x 1 of elem
	best struct {
		v  value.Scalar
		at int64
	}
	cols  columnState
	words []uint64
	block value.Dense // over words
	view  value.Dense // of the result
	room  lineRoom
	wait  int // blocks to sum without the chain machine after it has failed
	near  near
}

// patience is how many blocks are summed from a buffer after a cascade has lost something.
const patience = 16

func (f *folder) start(j *job) {
	f.fold, f.elem, f.wait, f.near = j.fold, j.elem, 0, near{}
	if need := max(blockElems, columnRows*columnCols) + 8; len(f.words) < need {
		f.words = aligned(make([]uint64, need+8))
	}
	if f.one == nil || f.one.Elem != f.elem {
		f.one = value.New(f.elem, 1, 1)
	}
	f.sum.Reset()
	f.cols.reset()
	if f.axis == overCols && !j.byColumns() {
		f.cols.begin(f, 0, j.cols)
	}
	if f.arg {
		return
	}
	if t := f.w.acc(f.elem); f.acc == nil || !f.acc.Type().Equal(t) {
		f.acc = value.New(t.Elem, t.Rows, t.Cols)
	}
	f.w.empty(f.acc)
}

// room makes f.block a block of rows x cols.
func (f *folder) lay(rows, cols int) *value.Dense {
	s := slabOver(f.words, f.elem, rows*cols)
	f.block = value.Dense{Elem: f.elem, Rows: rows, Cols: cols, Stride: cols, F64: s.f64, F32: s.f32, I64: s.i64, Bool: s.b}
	return &f.block
}

// add takes elements into the accumulator of one result.
func (f *folder) add(b *value.Dense) {
	switch {
	case f.exactly(f.elem) && f.squares():
		squaresTo(&f.sum, b)
	case f.exactly(f.elem):
		exactTo(&f.sum, b)
	case f.extreme():
		f.room.extreme(f.one, b, f.w.name == "min")
		f.w.join(f.acc, f.one)
	default:
		f.w.part(f.acc, b)
	}
}

// merge takes another worker's part in.
func (f *folder) merge(o *folder) {
	switch {
	case f.axis == overRows:
	case f.axis == overCols:
		f.cols.merge(f.fold, f.elem, &o.cols)
	case f.exactly(f.elem):
		f.sum.Merge(&o.sum)
	default:
		f.w.join(f.acc, o.acc)
	}
}

// finish sets the result of an execution.
func (f *folder) finish(x *execution) {
	switch f.axis {
	case overCols:
		if !x.byColumns() {
			f.cols.finish(f, x.out, x.rows)
		}
	case overAll:
		if f.exactly(f.elem) {
			f.sum.PutWords(f.acc.I64)
		}
		if f.part {
			x.c.Result().CopyFrom(f.acc)
		} else {
			x.c.Out = f.w.done(f.acc, x.result.Elem, x.rows*x.cols)
		}
	}
}

// reduceAll adds an area to the one result: by the chain machine alone if the program is one segment of float64 that is
// summed, else block by block.
func (m *machine) reduceAll(x *execution, a area) error {
	if m.dense { // one long row
		a = area{0, 1, a.i0*x.cols + a.j0, (a.i1-1)*x.cols + a.j1}
		m.rows, m.cols = 1, x.rows*x.cols
	}
	if m.pure && m.f.elem == types.F64 && m.f.exactly(types.F64) {
		return a.split(loopUnit, maxTailRows, m.sumArea)
	}
	return a.split(blockElems, blockElems, m.addArea)
}

// maxTailRows bounds the rows of an area that the chain machine sums: each may leave elements that fill no group.
const maxTailRows = 64

// split calls f for areas of at most n elements, in whole rows, at most that many, where these are short enough.
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

// make runs the program on an area and returns what it made.
func (m *machine) make(a area) (*value.Dense, error) {
	m.end = terminal{store: vec.LinkStore}
	b := m.f.lay(a.rows(), a.cols())
	return b, m.area(a, target{b, a.i0, a.j0})
}

// addArea adds an area of at most blockElems elements to the one result.
func (m *machine) addArea(a area) error {
	b, err := m.make(a)
	if err == nil {
		m.f.add(b)
	}
	return err
}

// sumArea adds an area of at most loopUnit elements to the exact sum. The chain machine cascades them in registers; if that
// was not exact, they are made again.
func (m *machine) sumArea(a area) error {
	f := &m.f
	if f.wait > 0 {
		f.wait--
		return a.split(blockElems, blockElems, m.addArea)
	}
	if m.tails == nil {
		m.tails = make([]float64, maxTailRows*(vec.ChainBytes/8))
	}
	if done, err := m.sumNear(a); done || err != nil {
		return err
	}
	*m.state = vec.Terms{}
	m.end.sum = vec.LinkSum
	if f.squares() {
		m.end.sum = vec.LinkSquares
	}
	if err := m.cascade(a); err != nil {
		return err
	}
	n, ok := vec.ChainSum(m.state, f.squares())
	if !ok {
		f.wait = patience
		return a.split(blockElems, blockElems, m.addArea)
	}
	m.addTerms(n)
	return nil
}

// reduceRows writes the results of whole rows.
func (m *machine) reduceRows(x *execution, a area) error {
	f := &m.f
	if a.cols() > blockElems {
		for i := a.i0; i < a.i1; i++ {
			if err := m.longRow(x, i); err != nil {
				return err
			}
		}
		return nil
	}
	rows := max(1, blockElems/a.cols())
	for i := a.i0; i < a.i1; i += rows {
		b, err := m.make(area{i, min(i+rows, a.i1), a.j0, a.j1})
		if err != nil {
			return err
		}
		out := f.rowsOf(x.out, i, b.Rows)
		switch {
		case f.arg:
			argsOf(out.I64, b, true, f.least)
		case f.w.lines(out, b, true, &f.room):
		default:
			f.w.rows(out, b, &f.room)
		}
	}
	return nil
}

// rowsOf is n elements of a column from i on.
func (f *folder) rowsOf(d *value.Dense, i, n int) *value.Dense {
	s := slabOf(d, i, n)
	f.view = value.Dense{Elem: d.Elem, Rows: n, Cols: 1, Stride: 1, F64: s.f64, F32: s.f32, I64: s.i64, Bool: s.b}
	return &f.view
}

// longRow reduces row i piece by piece.
func (m *machine) longRow(x *execution, i int) error {
	f := &m.f
	f.sum.Reset()
	f.best.at = -1
	if !f.arg {
		f.w.empty(f.acc)
	}
	for j := 0; j < x.cols; j += blockElems {
		b, err := m.make(area{i, i + 1, j, min(j+blockElems, x.cols)})
		if err != nil {
			return err
		}
		if !f.arg {
			f.add(b)
			continue
		}
		var at [1]int64
		argsOf(at[:], b, true, f.least)
		if v := b.At(0, int(at[0])); f.best.at < 0 || beatsScalar(v, f.best.v, f.least) {
			f.best.v, f.best.at = v, int64(j)+at[0]
		}
	}
	switch {
	case f.arg:
		x.out.I64[i] = f.best.at
		return nil
	case f.exactly(f.elem):
		f.sum.PutWords(f.acc.I64)
	}
	x.out.Set(i, 0, f.w.done(f.acc, x.out.Elem, x.cols))
	return nil
}

func beatsScalar(v, best value.Scalar, least bool) bool {
	if v.Elem.IsFloat() {
		return beats(v.F, best.F, least)
	}
	return beats(v.I, best.I, least)
}

// argsOf writes the place of the extreme element of every line of d.
func argsOf(out []int64, d *value.Dense, byRow, least bool) {
	switch d.Elem {
	case types.F64:
		argLines(out, d.F64, d, byRow, least)
	case types.F32:
		argLines(out, d.F32, d, byRow, least)
	case types.Bool:
		argLines(out, d.Bool, d, byRow, least)
	default:
		argLines(out, d.I64, d, byRow, least)
	}
}
