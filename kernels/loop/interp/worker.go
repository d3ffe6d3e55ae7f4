package interp

// This file runs windows: it cuts them into batches.

import (
	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// Worker evaluates windows of a nest for given operands and results. It must not be used by two
// goroutines at a time.
type Worker struct {
	code *Code
	p    *program // that runs
	// machines are the registers of the two programs: along rows, across rows.
	machines [2]*machine
	*machine

	scalars []loop.Word
	dense   []*value.Dense
	in      []value.Value
	out     []*value.Dense
	// origins are the numbers of the elements with which the memory of operands and results begins:
	// see Place.
	origins []int

	stopped func() bool
	fuel    int
	flagged bool
	err     error

	comparing bool // stores compare: see Compare
	// odd are the results and columns in which a comparing worker met a float that is not finite.
	odd map[[2]int]bool

	most     int // lanes of a batch
	locals   []matrix
	results  []result
	segments []segment
	filled   int      // lanes of the batch that takes points from several rows
	width    int64    // of the rows of the window, 0 where they differ
	by       [2]int64 // steps of the first two indices
	places   []int
	spare    [types.Picture + 1]slab
}

// machine is the registers of a program.
type machine struct {
	begun bool // what depends on scalars alone is there
	lanes int
	regs  []slab
	own   []slab // their memory, where regs shows that of an operand
	known []int64
	lists []lanes
	folds []state
}

// segment is the lanes of a batch that lie in one row: first, first + by, .. of the second index.
type segment struct {
	at, n      int
	row, first int64
}

// fuelOfWindow is the number of lanes that rounds of loops take between two questions whether the
// run was stopped.
const fuelOfWindow = 1 << 18

func (w *Worker) begin(in []value.Value, out []*value.Dense) {
	n := w.code.nest
	w.in, w.comparing = in, false
	w.scalars, w.dense = room(w.scalars, len(in)), room(w.dense, len(in))
	w.origins = room(w.origins, len(in)+len(n.Results))
	clear(w.origins)
	w.out = append(w.out[:0], out...)
	for k, v := range in {
		switch v := v.(type) {
		case value.Scalar:
			w.scalars[k] = loop.WordOf(v)
		case *value.Dense:
			w.dense[k] = v
		}
	}
	w.by = [2]int64{1, 1}
	for k := range min(2, len(n.Space)) {
		if len(n.Space) == 1 {
			w.by[1] = n.Space[0].Range.By
		} else {
			w.by[k] = n.Space[k].Range.By
		}
	}
	w.allocateLocals(n)
	if len(w.places) != w.most {
		w.places = make([]int, w.most)
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			w.spare[e] = accessTo(e).fresh(w.most)
		}
	}
	w.again()
	w.results = room(w.results, len(n.Results))
	for k, r := range n.Results {
		w.results[k].begin(r, w.outside(r.Rows), w.outside(r.Cols))
	}
	for _, p := range w.code.programs() {
		if p == nil {
			continue
		}
		for _, c := range p.contributions {
			w.results[c.result].reduces(c.elem)
		}
	}
}

// again makes the programs begin again when they are next used.
func (w *Worker) again() {
	for _, m := range w.machines {
		if m != nil {
			m.begun = false
		}
	}
}

// start runs the steps of the program that depend on scalars alone.
func (w *Worker) start() {
	w.known = w.known[:0]
	for _, l := range w.p.known {
		w.known = append(w.known, w.outside(l))
	}
	for _, s := range w.p.begin.steps {
		s(w, w.most)
	}
}

// Place moves a matrix: number counts operands first, then results. The memory of d begins with
// element number origin of the matrix, row by row of d's stride, and holds all elements that
// windows touch from now on.
func (w *Worker) Place(number int, d *value.Dense, origin int) {
	w.origins[number] = origin
	if k := number - len(w.in); k >= 0 {
		w.out[k] = d
	} else {
		w.dense[number] = d
	}
}

// Scalar changes a scalar operand. No subscript of the nest may depend on it.
func (w *Worker) Scalar(number int, word loop.Word) {
	if w.scalars[number] == word {
		return
	}
	w.scalars[number] = word
	w.again()
}

func newMachine(p *program, most int) *machine {
	m := &machine{lanes: most, regs: make([]slab, len(p.regs)), lists: make([]lanes, p.lists), folds: make([]state, len(p.folds))}
	var memory [types.Picture + 1]slab
	for e, n := range p.slots {
		if n > 0 {
			memory[e] = accessTo(types.Elem(e)).fresh(n * most)
		}
	}
	for k, r := range p.regs {
		a := accessTo(r.elem)
		if r.cell || k == 0 {
			m.regs[k] = a.fresh(1)
			continue
		}
		m.regs[k] = a.cut(&memory[r.elem], r.slot*most, (r.slot+1)*most)
	}
	m.own = append([]slab(nil), m.regs...)
	for k := range m.lists {
		m.lists[k] = lanes{at: make([]int, most), move: make([]int, most), alive: make([]uint8, most), stop: make([]uint8, most)}
	}
	for k, f := range p.folds {
		m.folds[k] = newState(f.class, f.elem)
	}
	return m
}

// use makes one of the two programs the one that runs.
func (w *Worker) use(k int) {
	w.p, w.machine = w.code.programs()[k], w.machines[k]
	if w.machine == nil || w.lanes != w.most {
		w.machine = newMachine(w.p, w.most)
		w.machines[k] = w.machine
	}
	if !w.begun {
		w.begun = true
		w.start()
	}
}

// outside is a form that operands alone decide.
func (w *Worker) outside(l loop.Lin) int64 { return w.form(l, 0) }

// form is a form of operands and the first index of the space.
func (w *Worker) form(l loop.Lin, row int64) int64 {
	x := l.Const
	for _, t := range l.Terms {
		switch t.Sym.Kind {
		case loop.IndexSym:
			x += t.Coef * row
		case loop.ParamSym:
			x += t.Coef * int64(w.scalars[t.Sym.N])
		case loop.RowsSym:
			x += t.Coef * int64(w.in[t.Sym.N].Type().Rows)
		case loop.ColsSym:
			x += t.Coef * int64(w.in[t.Sym.N].Type().Cols)
		}
	}
	return x
}

// Window evaluates the points whose first index is in r0 to r1-1 and whose second one is in l0 to
// l1-1. Of a space of one index the rows are 0 to 1 and the index is the second one; of a space
// without indices all are 0 to 1. flagged says
// that a check failed: what the window has written is then undefined. stopped is asked from time to
// time and may be nil; once it is true the error is loop.ErrStopped.
func (w *Worker) Window(r0, r1, l0, l1 int, stopped func() bool) (flagged bool, err error) {
	w.stopped, w.flagged, w.err, w.fuel = stopped, false, nil, fuelOfWindow
	for k := range w.results {
		w.results[k].window(r0, r1)
	}
	if r0 < r1 && l0 < l1 {
		switch {
		case len(w.code.nest.Space) < 2:
			w.use(0)
			w.single(l0, l1)
		case l1-l0 < shortRow && r1-r0 > 1:
			w.use(1)
			w.acrossRows(r0, r1, l0, l1)
		default:
			w.use(0)
			w.alongRows(r0, r1, l0, l1)
		}
	}
	for k := range w.results {
		if r := &w.results[k]; r.byRow && r.state != nil && !w.over() {
			w.write(k, r0+r.offset, max(r0, r1)+r.offset)
		}
	}
	return w.flagged, w.err
}

// over says that the window is not worth going on.
func (w *Worker) over() bool { return w.flagged || w.err != nil }

// spend counts the lanes of a round, and reports that the window is over because the run was
// stopped.
func (w *Worker) spend(n int) bool {
	if w.fuel -= n + 16; w.fuel < 0 {
		w.fuel = fuelOfWindow
		if w.stopped != nil && w.stopped() {
			w.err = loop.ErrStopped
			return true
		}
	}
	return false
}

func (w *Worker) exec(b *block, n int) int {
	for _, s := range b.steps {
		if n = s(w, n); n == 0 {
			return 0
		}
	}
	return n
}

// within are the values of a range of steps that are in lo to hi-1: the first, and how many.
func within(from, to, by, lo, hi int64) (first, n int64) {
	if by > 0 {
		if from < lo {
			from += (lo - from + by - 1) / by * by
		}
		return from, int64(rounds(from, min(to, hi), by))
	}
	if from >= hi {
		from += (from - hi - by) / -by * by
	}
	return from, int64(rounds(from, max(to, lo-1), by))
}

// space is the values of index k of the space, for a value of the first, that are in lo to hi-1.
func (w *Worker) space(k int, row int64, lo, hi int) (first, n int64) {
	r := w.code.nest.Space[k].Range
	return within(w.form(r.From, row), w.form(r.To, row), r.By, int64(lo), int64(hi))
}

// single runs a space of one index or of none.
func (w *Worker) single(l0, l1 int) {
	first, n := int64(0), int64(1)
	if len(w.code.nest.Space) == 1 {
		first, n = w.space(0, 0, l0, l1)
	}
	w.line(0, first, n)
}

// line runs n points of one row.
func (w *Worker) line(row, first, n int64) {
	if n <= 0 {
		return
	}
	if r := w.p.index; r >= 0 {
		w.regs[r].i64[0] = row
	}
	for _, s := range w.p.row.steps {
		s(w, w.most)
	}
	for n > 0 && !w.over() {
		m := min(n, int64(w.most))
		w.segments = append(w.segments[:0], segment{0, int(m), row, first})
		w.batch(int(m))
		first += m * w.by[1]
		n -= m
	}
}

func (w *Worker) alongRows(r0, r1, l0, l1 int) {
	row, rows := w.space(0, 0, r0, r1)
	for ; rows > 0 && !w.over(); rows-- {
		first, n := w.space(1, row, l0, l1)
		w.line(row, first, n)
		row += w.by[0]
	}
}

// acrossRows fills batches with the points of short rows.
func (w *Worker) acrossRows(r0, r1, l0, l1 int) {
	row, rows := w.space(0, 0, r0, r1)
	second := w.code.nest.Space[1].Range
	w.width = 0
	if !dependsOn(second, w.code.nest.Space[0].Name) {
		_, w.width = w.space(1, row, l0, l1)
	}
	w.filled, w.segments = 0, w.segments[:0]
	for ; rows > 0 && !w.over(); rows-- {
		first, count := w.space(1, row, l0, l1)
		for count > 0 && !w.over() {
			m := min(count, int64(w.most-w.filled))
			w.segments = append(w.segments, segment{w.filled, int(m), row, first})
			first += m * w.by[1]
			count -= m
			if w.filled += int(m); w.filled == w.most {
				w.flush()
			}
		}
		row += w.by[0]
	}
	if !w.over() {
		w.flush()
	}
}

func (w *Worker) flush() {
	if w.filled > 0 {
		w.batch(w.filled)
	}
	w.filled, w.segments = 0, w.segments[:0]
}

func dependsOn(r loop.Range, name int) bool {
	s := loop.Sym{Kind: loop.IndexSym, N: name}
	return r.From.Coef(s) != 0 || r.To.Coef(s) != 0
}

// batch evaluates the points of the segments.
func (w *Worker) batch(n int) {
	if w.spend(n) {
		return
	}
	if len(w.p.body.steps) > 0 && w.exec(w.p.head, n) >= 0 {
		w.exec(w.p.body, n)
	}
	for k := range w.results {
		w.results[k].flush()
	}
}
