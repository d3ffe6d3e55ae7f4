package kernels

// This file runs bodies by phases: all phases on some rows, then on the next ones, so that the rows
// stay in a cache.

import (
	"errors"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// phaseElements is how many elements of a matrix the rows have that all phases go over before the
// next ones come.
const phaseElements = 16 << 10

// rowForm is a body by phases in one form.
type rowForm struct {
	plan   *nest.RowPlan
	phases []*nest.RowPhase // none: the body cannot be written
	store  map[int]int      // kept registers that lie where a result will, and the number of the result
}

func newRowForm(p *nest.RowPlan, by int, name string, affine bool) *rowForm {
	f := &rowForm{plan: p, phases: nest.WritePhases(p, by, name, affine), store: map[int]int{}}
	if len(f.phases) > 0 {
		f.share()
	}
	return f
}

// nests is the loops of the phases, in their order.
func (f *rowForm) nests() (list []*loop.Nest) {
	for _, p := range f.phases {
		list = append(list, p.Loop.Nest())
	}
	return list
}

// share finds kept registers that are results, or that may lie where a result will: of its type,
// and read last where the result is stored, only at the same element.
func (f *rowForm) share() {
	p := f.plan
	for r, kept := range p.Kept {
		if !kept {
			continue
		}
		last := 0
		for k, phase := range f.phases {
			if slices.Contains(phase.Operands, nest.Operand{Register: r, What: nest.ItsKept}) {
				last = k
			}
		}
		for k, y := range p.Results {
			if y.Total == nil && y.Register == r {
				f.store[r] = k
			}
		}
		if _, is := f.store[r]; is || f.phases[last].Apart[r] {
			continue
		}
		for _, k := range f.phases[last].Own.Results {
			y := &p.Results[k]
			if y.Total == nil && !p.Kept[y.Register] && !f.taken(k) && dense.Storage(y.Type.Elem) == dense.Storage(p.Register(r).Elem) {
				f.store[r] = k
				break
			}
		}
	}
}

// taken reports that a kept register lies where result k will.
func (f *rowForm) taken(k int) bool {
	for _, have := range f.store {
		if have == k {
			return true
		}
	}
	return false
}

// rowRun is one execution of a body by phases.
type rowRun struct {
	form    *rowForm
	lo, n   int            // the index
	values  []value.Value  // of registers that are the same in every iteration, and of matrices of which each has its row
	out     []*value.Dense // results; totals are 1 x 1
	stopped func(w int) bool
	height  int // rows at a time
	runs    []*launch.Run
	kept    []int                // registers that are kept in memory of the workers
	reduced map[int]*value.Dense // of registers, an element for each iteration
}

// bind binds the phases to an execution. The error is launch.ErrOutside, or why they cannot run.
func (x *rowRun) bind() error {
	p := x.form.plan
	width := 1
	for _, f := range p.Phases {
		width = max(width, f.Width)
	}
	x.height, x.reduced = max(1, phaseElements/width), map[int]*value.Dense{}
	for _, f := range x.form.phases {
		in := []value.Value{value.I64(int64(x.lo)), value.I64(int64(x.n))}
		for _, o := range f.Operands {
			switch o.What {
			case nest.ItsReduced:
				in = append(in, x.reduced[o.Register])
			case nest.ItsKept:
				in = append(in, x.place(o.Register))
			default:
				in = append(in, o.Of(x.values))
			}
		}
		var out []*value.Dense
		for k, o := range f.Results {
			switch o.What {
			case nest.ItsKept:
				out = append(out, x.place(o.Register))
			case nest.ItsResult:
				out = append(out, x.out[o.Register])
			default:
				x.reduced[o.Register] = value.New(f.Loop.Nest().Results[k].Elem, x.n, 1)
				out = append(out, x.reduced[o.Register])
			}
		}
		run, err := f.Loop.Begin(in, out)
		if err != nil {
			return err
		}
		x.runs = append(x.runs, run)
	}
	for r, k := range p.Kept {
		if _, stored := x.stored(r); k && !stored {
			x.kept = append(x.kept, r)
		}
	}
	return nil
}

// stored is the number of the result where a kept register lies; ok is false where it lies in memory
// of the workers: there is none, or one that no cache holds, whose lines would come from memory before
// they are written.
func (x *rowRun) stored(r int) (k int, ok bool) {
	k, ok = x.form.store[r]
	return k, ok && (x.form.plan.Results[k].Register == r || !launch.Streams(x.out[k]))
}

// place is the matrix of all rows of a kept register: where a result will be, or one of which no
// memory exists.
func (x *rowRun) place(r int) *value.Dense {
	if k, ok := x.stored(r); ok {
		return x.out[k]
	}
	t := x.form.plan.Register(r)
	return &value.Dense{Elem: dense.Storage(t.Elem), Rows: x.n, Cols: t.Cols, Stride: t.Cols + 1}
}

// phaseWorker is one worker.
type phaseWorker struct {
	x       *rowRun
	workers []*launch.Worker
	kept    []*value.Dense // of the rows at work
	stopped func() bool
}

func (x *rowRun) worker(number int) *phaseWorker {
	w := &phaseWorker{x: x, stopped: func() bool { return x.stopped(number) }}
	for _, r := range x.runs {
		w.workers = append(w.workers, r.Worker())
	}
	for _, r := range x.kept {
		t := x.form.plan.Register(r)
		w.kept = append(w.kept, value.New(dense.Storage(t.Elem), x.height, t.Cols))
	}
	return w
}

// loops is the worker of each phase.
func (w *phaseWorker) loops() []*launch.Worker { return w.workers }

// rows runs the phases on rows; false if some have no value by them.
func (w *phaseWorker) rows(r0, r1 int) (done bool, err error) {
	for done = true; r0 < r1 && done && err == nil; r0 += w.x.height {
		done, err = w.window(r0, min(r0+w.x.height, r1))
	}
	return done, err
}

// free completes what the worker has reduced, and gives its memory back.
func (w *phaseWorker) free() {
	for _, x := range w.workers {
		x.Finish()
		x.Free()
	}
	w.workers = nil
}

// errApart says that numbers are too far apart for the sums of a loop.
var errApart = errors.New("sums of numbers that are too far apart")

// window runs the phases on rows, height of them at most; false if one of them has no value by
// them.
func (w *phaseWorker) window(r0, r1 int) (done bool, err error) {
	for k, f := range w.x.form.phases {
		v := w.workers[k]
		w.place(v, f, r0)
		flagged, err := v.Window(r0, r1, 0, f.Own.Width, w.stopped)
		switch {
		case errors.Is(err, launch.ErrStopped):
			return false, op.ErrStopped
		case err != nil:
			return false, errApart
		case flagged:
			return false, nil
		}
	}
	return true, nil
}

// place tells a phase where the kept rows lie, of which the first is r0.
func (w *phaseWorker) place(v *launch.Worker, f *nest.RowPhase, r0 int) {
	for k, o := range f.Operands {
		if i := slices.Index(w.x.kept, o.Register); o.What == nest.ItsKept && i >= 0 {
			v.Place(2+k, w.kept[i], r0, 0)
		}
	}
	for k, o := range f.Results {
		if i := slices.Index(w.x.kept, o.Register); o.What == nest.ItsKept && i >= 0 {
			v.Place(2+len(f.Operands)+k, w.kept[i], r0, 0)
		}
	}
}

// parforRows is the execution of a parfor by phases.
type parforRows struct {
	*rowRun
	code *nestCode
	r    *parforRun
}

// beginRows binds a body by phases to an execution; nil if it has to be run in another way.
func (c *nestCode) beginRows(r *parforRun) *parforRows {
	if c.plan == nil || c.apart.Load() {
		return nil
	}
	for _, affine := range []bool{true, false} {
		f := c.rowForm(nestKey{Form: nest.Form{Affine: affine}, dims: 1, by: r.space.by}, r.c.Attrs.Str("names"))
		if len(f.phases) == 0 {
			continue
		}
		x := &parforRows{&rowRun{form: f, lo: r.space.lo[0], n: r.space.n[0], values: r.values, out: []*value.Dense{r.out}, stopped: r.stopped}, c, r}
		switch err := x.bind(); {
		case err == nil:
			return x
		case !errors.Is(err, launch.ErrOutside):
			return nil
		}
	}
	return nil
}

// rowForm is the body by phases in one form, made when it is first asked for.
func (c *nestCode) rowForm(k nestKey, name string) *rowForm {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.rows[k]
	if f == nil {
		f = newRowForm(c.plan, k.by[0], name, k.Affine)
		if c.rows == nil {
			c.rows = map[nestKey]*rowForm{}
		}
		c.rows[k] = f
	}
	return f
}

// parforRowsWorker is one worker of it.
type parforRowsWorker struct {
	*phaseWorker // nil until there is a chunk
	of           *parforRows
	number       int
	slow         iterations // for rows of which the phases say nothing; nil until it is needed
}

func (x *parforRows) worker(number int) iterations { return &parforRowsWorker{of: x, number: number} }

func (w *parforRowsWorker) free() {
	if w.phaseWorker != nil {
		w.phaseWorker.free()
	}
	if f, ok := w.slow.(interface{ free() }); ok {
		f.free()
	}
}

// run evaluates rows. They are written even where out is nil: they are what they were.
func (w *parforRowsWorker) run(from, to int, _ *value.Dense) error {
	if w.phaseWorker == nil {
		w.phaseWorker = w.of.rowRun.worker(w.number)
	}
	for at := from; at < to; at += w.of.height {
		if err := w.halved(at, min(at+w.of.height, to)); err != nil {
			return err
		}
	}
	return nil
}

// halved evaluates rows r0..r1-1. Where one has no value by the phases it halves them, until it has
// found the rows that have none.
func (w *parforRowsWorker) halved(r0, r1 int) error {
	done, err := w.window(r0, r1)
	if err == errApart {
		w.of.code.apart.Store(true)
		err = nil
	}
	switch {
	case err != nil || done:
		return err
	case r1-r0 > 1:
		if err := w.halved(r0, (r0+r1)/2); err != nil {
			return err
		}
		return w.halved((r0+r1)/2, r1)
	}
	if w.slow == nil {
		w.slow = w.of.r.code.each().worker(w.of.r, w.number)
	}
	return w.slow.run(r0, r1, w.of.r.out)
}
