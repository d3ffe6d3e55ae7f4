package kernels

// This file runs bodies by phases: all phases on some rows, then on the next ones, so that the rows stay in a cache.

import (
	"errors"
	"slices"

	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// phaseElements is how many elements of a matrix the rows have that all phases go over before the next ones come.
const phaseElements = 8 << 10

// rowForm is a body by phases in one form, made when it is first asked for.
type rowForm struct {
	phases []*rowPhase // none: the body cannot be written
	store  int         // the register that is kept in the memory of the row; -1: none is
}

// rowForm is the body by phases, or nil.
func (c *nestCode) rowForm(k nestKey, names string) *rowForm {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.rows[k]
	if f == nil {
		f = &rowForm{phases: writePhases(c.plan, k.by[0], names, k.affine), store: -1}
		if len(f.phases) > 0 {
			f.share()
		}
		if c.rows == nil {
			c.rows = map[nestKey]*rowForm{}
		}
		c.rows[k] = f
	}
	return f
}

// share finds a kept register that may lie where the row will: of its type, and read in the last phase only where the row is stored then.
func (f *rowForm) share() {
	last := f.phases[len(f.phases)-1]
	p := last.plan
	y := p.body.Register(p.body.Yields[0]).Elem
	for r, kept := range p.kept {
		if kept && !last.apart[r] && dense.Storage(p.body.Register(r).Elem) == dense.Storage(y) {
			f.store = r
			return
		}
	}
}

// rowRun is one execution of a body by phases.
type rowRun struct {
	code    *nestCode
	r       *parforRun
	form    *rowForm
	height  int // rows at a time
	runs    []*launch.Run
	kept    []int                // registers that are kept in memory of the workers
	reduced map[int]*value.Dense // of registers, an element for each iteration
}

// beginRows binds a body by phases to an execution; nil if it has to be run in another way.
func (c *nestCode) beginRows(r *parforRun) *rowRun {
	if c.plan == nil || c.apart.Load() {
		return nil
	}
	for _, affine := range []bool{true, false} {
		f := c.rowForm(nestKey{nestForm{affine: affine}, 1, r.space.by}, r.c.Attrs.Str("names"))
		if len(f.phases) == 0 {
			continue
		}
		x := &rowRun{code: c, r: r, form: f, height: max(1, phaseElements/c.plan.width), reduced: map[int]*value.Dense{}}
		switch err := x.bind(); {
		case err == nil:
			return x
		case !errors.Is(err, launch.ErrOutside):
			return nil
		}
	}
	return nil
}

// head is the matrix of all rows of a kept register, of which no memory exists.
func (x *rowRun) head(r int) *value.Dense {
	w := x.code.plan.width
	return &value.Dense{Elem: dense.Storage(x.code.body.Register(r).Elem), Rows: x.r.space.n[0], Cols: w, Stride: w + 1}
}

func (x *rowRun) bind() error {
	n := x.r.space.n[0]
	kept := func(r int) *value.Dense {
		if r == x.form.store {
			return x.r.out
		}
		return x.head(r)
	}
	for _, f := range x.form.phases {
		in := []value.Value{value.I64(int64(x.r.space.lo[0])), value.I64(int64(n))}
		for _, o := range f.operands {
			switch o.what {
			case itsReduced:
				in = append(in, x.reduced[o.register])
			case itsKept:
				in = append(in, kept(o.register))
			default:
				in = append(in, o.of(x.r.values))
			}
		}
		var out []*value.Dense
		for k, o := range f.results {
			if o.what == itsKept {
				out = append(out, kept(o.register))
				continue
			}
			column := value.New(f.loop.Nest().Results[k].Elem, n, 1)
			x.reduced[o.register] = column
			out = append(out, column)
		}
		if f.number == f.plan.last {
			out = append(out, x.r.out)
		}
		run, err := f.loop.Begin(in, out)
		if err != nil {
			return err
		}
		x.runs = append(x.runs, run)
	}
	for r, k := range x.code.plan.kept {
		if k && r != x.form.store {
			x.kept = append(x.kept, r)
		}
	}
	return nil
}

// phaseWorker is one worker.
type phaseWorker struct {
	x       *rowRun
	number  int
	workers []*launch.Worker
	kept    []*value.Dense // of the rows at work
	slow    iterations     // for rows of which the phases say nothing; nil until it is needed
}

func (x *rowRun) worker(number int) iterations { return &phaseWorker{x: x, number: number} }

func (w *phaseWorker) begin() {
	for _, r := range w.x.runs {
		w.workers = append(w.workers, r.Worker())
	}
	for _, r := range w.x.kept {
		w.kept = append(w.kept, value.New(dense.Storage(w.x.code.body.Register(r).Elem), w.x.height, w.x.code.plan.width))
	}
}

func (w *phaseWorker) free() {
	for _, x := range w.workers {
		x.Finish()
		x.Free()
	}
	w.workers = nil
	if f, ok := w.slow.(interface{ free() }); ok {
		f.free()
	}
}

// run evaluates rows. They are written even where out is nil: they are what they were.
func (w *phaseWorker) run(from, to int, _ *value.Dense) error {
	if w.workers == nil {
		w.begin()
	}
	for at := from; at < to; at += w.x.height {
		if err := w.rows(at, min(at+w.x.height, to)); err != nil {
			return err
		}
	}
	return nil
}

// rows evaluates rows r0..r1-1. Where one has no value by the phases it halves them, until it has found the rows that have none.
func (w *phaseWorker) rows(r0, r1 int) error {
	done, err := w.window(r0, r1)
	switch {
	case err != nil || done:
		return err
	case r1-r0 > 1:
		if err := w.rows(r0, (r0+r1)/2); err != nil {
			return err
		}
		return w.rows((r0+r1)/2, r1)
	}
	if w.slow == nil {
		w.slow = w.x.r.code.each().worker(w.x.r, w.number)
	}
	return w.slow.run(r0, r1, w.x.r.out)
}

// window runs the phases on rows; false if one of them has no value by them.
func (w *phaseWorker) window(r0, r1 int) (done bool, err error) {
	for k, f := range w.x.form.phases {
		v := w.workers[k]
		w.place(v, f, r0)
		flagged, err := v.Window(r0, r1, 0, w.x.code.plan.width, func() bool { return w.x.r.stopped(w.number) })
		switch {
		case errors.Is(err, launch.ErrStopped):
			return false, op.ErrStopped
		case err != nil: // sums of numbers that are too far apart
			w.x.code.apart.Store(true)
			return false, nil
		case flagged:
			return false, nil
		}
	}
	return true, nil
}

// place tells a phase where the kept rows lie, of which the first is r0.
func (w *phaseWorker) place(v *launch.Worker, f *rowPhase, r0 int) {
	for k, o := range f.operands {
		if i := slices.Index(w.x.kept, o.register); o.what == itsKept && i >= 0 {
			v.Place(2+k, w.kept[i], r0, 0)
		}
	}
	for k, o := range f.results {
		if i := slices.Index(w.x.kept, o.register); o.what == itsKept && i >= 0 {
			v.Place(2+len(f.operands)+k, w.kept[i], r0, 0)
		}
	}
}
