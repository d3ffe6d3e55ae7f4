package kernels

// This file runs a body as loops, one after the other: all of them on some rows, then on the next ones,
// so that the rows stay in a cache. The rows are those of results, or points of a parfor
// (nest_blocks.go).

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// phaseElements is how many elements of a matrix the rows have that all phases go over before the
// next ones come.
const phaseElements = 16 << 10

// rowForm is a body as loops in one form.
type rowForm struct {
	body    *op.Body
	phases  []*nest.RowPhase // none: the body cannot be written
	why     string           // why there are no phases
	height  int              // rows at a time
	kept    []int            // registers that are stored between loops
	lanes   bool             // lanes are rows; else the loops go over rows and columns
	results []nest.RowResult // of a body that gives rows
	store   map[int]int      // kept registers that lie where a result will, and the number of the result
	direct  map[int]int      // reduced registers that are results, and the number of the result
	panel   int              // of reductions by key whose order counts; 0: it does not
	wider   func() *rowForm  // with sums of more words, if that is not nil; nil: there is none
	// tried counts the windows of points that the loops went over, doubts those of them that needed more
	// words.
	tried, doubts atomic.Int64
}

// settled is the form with which an execution begins: wider where that was needed often.
func (f *rowForm) settled() *rowForm {
	for f.wider != nil && often(f.doubts.Load(), f.tried.Load()) {
		f = f.wider()
	}
	return f
}

// phasedForm is a body by phases.
func phasedForm(p *nest.RowPlan, by int, name string, form nest.Form) *rowForm {
	width := 1
	for _, f := range p.Phases {
		width = max(width, f.Width)
	}
	f := &rowForm{body: p.Body, results: p.Results, height: max(1, phaseElements/width), store: map[int]int{}}
	f.phases, f.why = nest.WritePhases(p, by, name, form)
	for r, kept := range p.Kept {
		if kept {
			f.kept = append(f.kept, r)
		}
	}
	if len(f.phases) > 0 {
		f.share()
		f.reduceInPlace()
	}
	if form.Words < nest.WideWords {
		form.Words = nest.WideWords
		f.wider = sync.OnceValue(func() *rowForm { return phasedForm(p, by, name, form) })
	}
	return f
}

// laneForm returns the form of a body whose lanes are rows, or nil and why there is none.
func laneForm(b *nest.RowsBody, words, rows, panel int) (f *rowForm, why string) {
	l, why := nest.WriteLanes(b, words, rows, panel)
	if l == nil {
		return nil, why
	}
	f = &rowForm{body: b.Body, results: b.Results, height: math.MaxInt, lanes: true, panel: panel, phases: []*nest.RowPhase{l}}
	if words < nest.WideWords {
		f.wider = sync.OnceValue(func() *rowForm {
			wide, _ := laneForm(b, nest.WideWords, rows, panel)
			return wide
		})
	}
	return f, ""
}

// nests is the loops, in their order.
func (f *rowForm) nests() (list []*loop.Nest) {
	for _, p := range f.phases {
		list = append(list, p.Loop.Nest())
	}
	return list
}

// share finds kept registers that are results, or that may lie where a result will: of its type,
// and read last where the result is stored, only at the same element.
func (f *rowForm) share() {
	for _, r := range f.kept {
		last := 0
		for k, phase := range f.phases {
			if slices.Contains(phase.Operands, nest.Operand{Register: r, What: nest.ItsKept}) {
				last = k
			}
		}
		for k, y := range f.results {
			if y.Total == nil && y.Register == r {
				f.store[r] = k
			}
		}
		if _, is := f.store[r]; is || f.phases[last].Apart[r] {
			continue
		}
		for _, k := range f.phases[last].Own.Results {
			y := &f.results[k]
			if y.Total == nil && !slices.Contains(f.kept, y.Register) && !slices.Contains(slices.Collect(maps.Values(f.store)), k) && dense.Storage(y.Type.Elem) == dense.Storage(f.body.Register(r).Elem) {
				f.store[r] = k
				break
			}
		}
	}
}

// reduceInPlace drops the loops that only copy reduced registers to results. The loop that reduces such
// a register then writes the result itself (rowForm.direct). It would be wrong for a result of another
// element type, whose loop converts, and for a register that is two results.
func (f *rowForm) reduceInPlace() {
	reduced := map[nest.Operand]types.Elem{}
	for _, p := range f.phases {
		for i, o := range p.Results {
			reduced[o] = p.Loop.Nest().Results[i].Elem
		}
	}
	f.direct = map[int]int{}
	f.phases = slices.DeleteFunc(f.phases, func(p *nest.RowPhase) bool {
		direct := maps.Clone(f.direct)
		for _, o := range p.Results {
			if o.What != nest.ItsResult {
				return false
			}
			y := &f.results[o.Register]
			if e, is := reduced[nest.Operand{Register: y.Register, What: nest.ItsReduced}]; y.Whole() || !is || e != dense.Storage(y.Type.Elem) {
				return false
			}
			direct[y.Register] = o.Register
		}
		if len(direct) < len(f.direct)+len(p.Results) { // two results are one register
			return false
		}
		f.direct = direct
		return true
	})
}

// tables is how many elements the tables of reductions by key have, of one point.
func (f *rowForm) tables() (n int) {
	for _, p := range f.phases {
		for i, o := range p.Results {
			if cols := p.Loop.Nest().Results[i].Cols; o.What == nest.ItsReduced && cols.Const > 1 {
				n += int(cols.Const)
			}
		}
	}
	return n
}

// size is how many elements a row of a register has.
func (f *rowForm) size(r int) int { return f.body.Register(r).Count() }

// rowRun is one execution of a body as loops.
type rowRun struct {
	form    *rowForm
	n       int                              // rows
	head    []value.Value                    // the bounds
	operand func(o nest.Operand) value.Value // of the loops, from outside of the body
	aside   []int                            // registers whose rows the results overwrite: see copyAside
	out     []*value.Dense                   // results; totals are 1 x 1
	stopped func(w int) func() bool          // reports that the rows of a worker may be given up
	runs    []*launch.Run
	in      [][]value.Value      // of each
	kept    []int                // registers that are kept in memory of the workers
	reduced map[int]*value.Dense // of registers, an element for each row
	once    sync.Once
	again   *rowRun     // with sums of more words, made when these were not enough; nil: there is none
	widened atomic.Bool // it was enough
}

// bind binds the loops to an execution. The error is launch.ErrOutside, or why they cannot run.
func (x *rowRun) bind() error {
	f := x.form
	x.reduced, x.in = map[int]*value.Dense{}, make([][]value.Value, len(f.phases))
	for k, p := range f.phases {
		run := &launch.Run{Stays: nest.Stays(p.Operands, len(x.head))}
		if err := p.Loop.Bind(run, x.operands(k), x.results(k)); err != nil {
			return err
		}
		x.runs = append(x.runs, run)
	}
	for _, r := range f.kept {
		if _, stored := x.stored(r); !stored {
			x.kept = append(x.kept, r)
		}
	}
	return nil
}

// operands are those of loop k.
func (x *rowRun) operands(k int) []value.Value {
	in := append(x.in[k][:0], x.head...)
	for _, o := range x.form.phases[k].Operands {
		switch {
		case o.What == nest.ItsReduced:
			in = append(in, x.reduced[o.Register])
		case o.What == nest.ItsKept:
			in = append(in, x.place(o.Register))
		case slices.Contains(x.aside, o.Register):
			in = append(in, x.absent(o.Register))
		default:
			in = append(in, x.operand(o))
		}
	}
	x.in[k] = in
	return in
}

// results returns where loop k writes: memory of kept registers, results of the body, or a new column
// for each register that is reduced and is no result.
func (x *rowRun) results(k int) (out []*value.Dense) {
	p := x.form.phases[k]
	for i, o := range p.Results {
		var d *value.Dense
		switch at, direct := x.form.direct[o.Register]; {
		case o.What == nest.ItsKept:
			d = x.place(o.Register)
		case o.What == nest.ItsColumn:
			d = x.out[o.Register].View(0, o.Col, 1, 1)
		case o.What == nest.ItsResult:
			d = x.out[o.Register]
		case direct:
			d = x.out[at]
			x.reduced[o.Register] = d
		default:
			y := p.Loop.Nest().Results[i]
			d = value.New(y.Elem, x.n, int(y.Cols.Const))
			x.reduced[o.Register] = d
		}
		out = append(out, d)
	}
	return out
}

// single reports one loop with no memory between rows of operands and rows of results.
func (x *rowRun) single() bool { return len(x.runs) == 1 && len(x.form.kept) == 0 }

// bindAgain binds the only loop of an execution that has ended to other operands, if they are alike.
func (x *rowRun) bindAgain(out []*value.Dense) bool {
	x.out, x.once, x.again = out, sync.Once{}, nil
	x.widened.Store(false)
	return x.single() && x.runs[0].Again(x.operands(0), x.results(0))
}

// stored returns the number of the result where a kept register lies. ok is false if the register lies
// in memory of the workers: no result has its rows, or no cache holds that result, so that its lines
// would come from memory before they are written.
func (x *rowRun) stored(r int) (k int, ok bool) {
	k, ok = x.form.store[r]
	return k, ok && (x.form.results[k].Register == r || !launch.Streams(x.out[k]))
}

// place returns the matrix of all rows of a kept register: a result, or one without memory.
func (x *rowRun) place(r int) *value.Dense {
	if k, ok := x.stored(r); ok {
		return x.out[k]
	}
	return x.absent(r)
}

// absent returns a matrix without memory that has the size of all rows of a register.
func (x *rowRun) absent(r int) *value.Dense {
	size := x.form.size(r)
	return &value.Dense{Elem: dense.Storage(x.form.body.Register(r).Elem), Rows: x.n, Cols: size, Stride: size + 1}
}

// wide is the execution with sums of more words, or nil.
func (x *rowRun) wide() *rowRun {
	x.once.Do(func() {
		if f := x.form.wider(); f != nil {
			y := &rowRun{form: f, n: x.n, head: x.head, operand: x.operand, aside: x.aside, out: x.out, stopped: x.stopped}
			if y.bind() == nil {
				x.again = y
			}
		}
	})
	return x.again
}

// rowWorker is one worker.
type rowWorker struct {
	x       *rowRun
	number  int
	workers []*launch.Worker
	one     [1]*launch.Worker // the memory of workers, mostly
	kept    []*value.Dense    // of the rows at work
	aside   []*value.Dense    // copies of rows of the registers x.aside
	stopped func() bool
	wide    *rowWorker // with sums of more words; nil until they are needed
}

func (x *rowRun) worker(number int) *rowWorker {
	w := &rowWorker{x: x, number: number, stopped: x.stopped(number)}
	w.workers = w.one[:0]
	for _, r := range x.runs {
		w.workers = append(w.workers, r.Worker())
	}
	for _, r := range x.kept {
		w.kept = append(w.kept, value.New(dense.Storage(x.form.body.Register(r).Elem), min(x.form.height, x.n), x.form.size(r)))
	}
	return w
}

// free gives the memory back.
func (w *rowWorker) free() {
	for _, x := range w.workers {
		x.Free()
	}
	w.workers = nil
	if w.wide != nil {
		w.wide.free()
	}
}

// errApart says that numbers are too far apart for the sums of a loop.
var errApart = errors.New("sums of numbers that are too far apart")

// copyAside copies rows from r0 to at most r1-1 that results will overwrite, and returns their number.
// It copies no more than a cache holds. The loops read the copies. Rows whose sums are not sure can be
// computed again, because the copies still have their elements (see restore).
func (w *rowWorker) copyAside(r0, r1 int) (n int) {
	if w.x.aside == nil {
		return r1 - r0
	}
	most := w.x.n
	for _, r := range w.x.aside {
		most = min(most, max(1, phaseElements/w.x.form.size(r)))
	}
	n = min(r1-r0, most)
	for k, r := range w.x.aside {
		from := w.x.operand(nest.Operand{Register: r}).(*value.Dense)
		if k == len(w.aside) {
			w.aside = append(w.aside, value.New(from.Elem, most, from.Cols))
		}
		w.aside[k].View(0, 0, n, from.Cols).CopyFrom(from.View(r0, 0, n, from.Cols))
	}
	return n
}

// restore gives n rows from row r0 on the elements that they had before results overwrote them.
func (w *rowWorker) restore(r0, n int) {
	for k, r := range w.x.aside {
		to := w.x.operand(nest.Operand{Register: r}).(*value.Dense)
		to.View(r0, 0, n, to.Cols).CopyFrom(w.aside[k].View(0, 0, n, to.Cols))
	}
}

// rows runs the loops on rows, and again with sums of more words where these are not enough, unless
// there are results of all rows, in which the rows count already; false if some have no value by them.
func (w *rowWorker) rows(r0, r1 int) (done bool, err error) {
	x := w.x
	if w.wide == nil {
		done, err = w.passes(r0, r1)
		if done || err != nil || x.form.wider == nil || slices.ContainsFunc(x.form.results, nest.RowResult.Whole) || x.wide() == nil {
			return done, err
		}
		w.wide = x.wide().worker(w.number)
		w.wide.aside = w.aside
	}
	if done, err = w.wide.passes(r0, r1); done {
		x.widened.Store(true)
	}
	return done, err
}

// passes runs the loops on rows, so many at a time.
func (w *rowWorker) passes(r0, r1 int) (done bool, err error) {
	for done = true; r0 < r1 && done && err == nil; {
		to := r1
		if r1-r0 > w.x.form.height {
			to = r0 + w.x.form.height
		}
		if p := w.x.form.panel; p > 0 {
			to = min(to, r0-r0%p+p)
			w.workers[0].Scalar(0, value.I64(int64(r0/p)))
		}
		done, err = w.window(r0, to)
		r0 = to
	}
	return done, err
}

// window runs the loops on rows, as many as there are at a time at most; false if one of them has no
// value by them.
func (w *rowWorker) window(r0, r1 int) (done bool, err error) {
	for k := range w.workers {
		w.place(k, r0)
		if done, err = w.phase(k, r0, r1); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// phase runs loop k on rows.
func (w *rowWorker) phase(k, r0, r1 int) (done bool, err error) {
	a := area{0, 1, r0, r1}
	if !w.x.form.lanes {
		a = area{r0, r1, 0, w.x.form.phases[k].Own.Width}
	}
	flagged, err := w.workers[k].Window(a.i0, a.i1, a.j0, a.j1, w.stopped)
	switch {
	case errors.Is(err, launch.ErrStopped):
		return false, op.ErrStopped
	case err != nil:
		return false, errApart
	}
	return !flagged, nil
}

// place gives loop k the memory of kept rows and of copies. Both begin at row r0.
func (w *rowWorker) place(k, r0 int) {
	f, at := w.x.form.phases[k], len(w.x.head)
	for _, list := range [...][]nest.Operand{f.Operands, f.Results} {
		for i, o := range list {
			if n := slices.Index(w.x.kept, o.Register); o.What == nest.ItsKept && n >= 0 {
				w.workers[k].Place(at+i, w.kept[n], r0, 0)
			}
			if n := slices.Index(w.x.aside, o.Register); o.What == nest.ItsValue && n >= 0 {
				w.workers[k].Place(at+i, w.aside[n], r0, 0)
			}
		}
		at += len(f.Operands)
	}
}

// noRowForm is the form of a body that has no phases.
var noRowForm = &rowForm{}

// rowForm is the body by phases in one form, made when it is first asked for.
func (c *bodyCode) rowForm(k nestKey, name string) *rowForm {
	p := c.plan
	if k.long {
		p = c.long
	}
	if p == nil {
		return noRowForm
	}
	return c.rows.Of(k, func() *rowForm { return phasedForm(p, k.by[0], name, k.Form) })
}
