package kernels

// This file runs bodies with calls: on a block of points nests and calls take turns.

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

const (
	// blockElements is how many elements the rows of a block have, so that a cache holds them.
	blockElements = 32 << 10
	// blockPoints is the most points of a block, laneBlock the fewest, if there are so many: they
	// fill the lanes of two vectors.
	blockPoints = 256
	laneBlock   = 16
)

// callForm is the nests of a plan in one form; none: they cannot be written.
type callForm struct {
	nests []*nest.CallNest
	loops []*launch.Loop
}

func formOfCalls(p *nest.CallPlan, by [2]int, form nest.Form) *callForm {
	f := &callForm{}
	for n := 0; n <= p.Last; n++ {
		c, bad := p.Write(n, by, form)
		if len(bad) > 0 {
			return &callForm{}
		}
		f.nests, f.loops = append(f.nests, c), append(f.loops, nest.LoopOf(c.Nest))
	}
	return f
}

// callRun is one execution.
type callRun struct {
	plan   *nest.CallPlan
	code   *nestCode
	r      *parforRun
	form   *callForm
	height int // points of a block
	runs   []*launch.Run
	rows   []int // registers in memory of the block
}

// beginCalls binds a body with calls to an execution; nil if it has to be run in another way.
func (c *nestCode) beginCalls(r *parforRun) *callRun {
	for _, affine := range []bool{true, false} {
		p, f := c.callForm(affine, r.space.dims, r.space.by)
		if f == nil {
			continue
		}
		if r.complete() != nil { // the other way to run the body reports why
			return nil
		}
		x := &callRun{plan: p, code: c, r: r, form: f}
		for reg, is := range p.Stored {
			if is {
				x.rows = append(x.rows, reg)
			}
		}
		x.height = x.blockHeight()
		switch err := x.bind(); {
		case err == nil:
			return x
		case !errors.Is(err, launch.ErrOutside):
			return nil
		}
	}
	return nil
}

// blockHeight is how many points a block has.
func (x *callRun) blockHeight() int {
	elements := 1
	for _, reg := range x.rows {
		elements += x.size(reg)
	}
	return max(1, min(max(blockElements/elements, laneBlock), blockPoints, x.points()))
}

// callForm is the body with calls in a form, or nil.
func (c *nestCode) callForm(affine bool, dims int, by [2]int) (*nest.CallPlan, *callForm) {
	if affine && dims == 2 { // the first index is an operand that changes: nothing is proved of it
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.callForms == nil {
		c.callForms = map[nestKey]*callForm{}
		c.calls, c.noCalls = nest.PlanCalls(c.body, c.varies, c.keep, dims)
	}
	if c.calls == nil {
		return nil, nil
	}
	key := nestKey{Form: nest.Form{Affine: affine, Words: nest.WideWords}, dims: dims, by: by}
	f := c.callForms[key]
	if f == nil {
		f = formOfCalls(c.calls, by, key.Form)
		c.callForms[key] = f
	}
	if len(f.nests) == 0 {
		return nil, nil
	}
	return c.calls, f
}

// callNests is the nests of a body with calls. why says what its loops and branches hold that are
// called as a whole; where there are no nests, why not.
func (c *nestCode) callNests(dims int, by [2]int) (list []*loop.Nest, why string) {
	p, f := c.callForm(dims == 1, dims, by)
	if f == nil {
		return nil, c.noCalls
	}
	for _, n := range f.nests {
		list = append(list, n.Nest)
	}
	return list, p.Why
}

// points is how many points the last index has.
func (x *callRun) points() int { return x.r.space.n[x.plan.Dims-1] }

// size is how many elements a register has.
func (x *callRun) size(reg int) int {
	if t := x.code.body.Register(reg); t.IsDense() {
		return t.Count()
	}
	return 1
}

// head is the matrix of all points of a stored register, of which no memory exists.
func (x *callRun) head(reg int) *value.Dense {
	size := x.size(reg)
	return &value.Dense{Elem: dense.Storage(x.code.body.Register(reg).Elem), Rows: x.points(), Cols: size, Stride: size + 1}
}

func (x *callRun) bind() error {
	for n, f := range x.form.nests {
		var in []value.Value
		if x.plan.Dims == 2 {
			in = append(in, value.I64(0))
		}
		in = append(in, value.I64(int64(x.r.space.lo[x.plan.Dims-1])), value.I64(int64(x.points())))
		for _, o := range f.Operands {
			switch o.What {
			case nest.ItsKept:
				in = append(in, x.head(o.Register))
			case nest.ItsDrawnRows:
				in = append(in, o.Of(x.r.values))
			default:
				in = append(in, x.r.operand(o))
			}
		}
		var out []*value.Dense
		for _, reg := range f.Results {
			out = append(out, x.head(reg))
		}
		if n == x.plan.Last {
			switch y := x.r.out; x.plan.Dims {
			case 2:
				out = append(out, &value.Dense{Elem: y.Elem, Rows: 1, Cols: y.Cols, Stride: y.Cols + 1})
			default:
				out = append(out, y)
			}
		}
		run, err := x.form.loops[n].Begin(in, out)
		if err != nil {
			return err
		}
		x.runs = append(x.runs, run)
	}
	return nil
}

// callWorker is one worker.
type callWorker struct {
	x       *callRun
	number  int
	within  op.Call
	workers []*launch.Worker
	cells   []cellReader   // of each nest
	rows    []*value.Dense // of x.rows, a row a point
	views   []value.Dense  // of x.rows, the point's matrix
	calls   []*callGroup   // after each nest; nil: none
	slow    iterations     // for points of which the nests say nothing; nil until it is needed
}

// callGroup is the calls after one nest.
type callGroup struct {
	*nest.Interpreter
	index [2]bool // which indices they read
	reads []int   // what they read from memory of the block, as places in x.rows
	gives []int   // of each call, the place of its value in x.rows; -1: no nest reads it
}

func (x *callRun) worker(number int) iterations { return &callWorker{x: x, number: number} }

func (w *callWorker) begin() {
	x := w.x
	b := x.code.body
	w.within = op.Call{Env: x.r.c.Env, Read: x.r.c.Read, Stopped: func() bool { return x.r.stopped(w.number) }}
	for _, reg := range x.rows {
		w.rows = append(w.rows, value.New(b.Register(reg).Elem, x.height, x.size(reg)))
	}
	w.views = make([]value.Dense, len(x.rows))
	for n, run := range x.runs {
		w.workers = append(w.workers, run.Worker())
		w.cells = append(w.cells, newCellReader(x.r, x.form.nests[n].Operands, x.plan.Bounds()))
		w.calls = append(w.calls, w.group(n))
	}
}

// group is the calls after nest n.
func (w *callWorker) group(n int) *callGroup {
	x := w.x
	acts := x.plan.Calls(n)
	if len(acts) == 0 {
		return nil
	}
	b := x.code.body
	g := &callGroup{Interpreter: nest.NewInterpreter(b, acts, true, &w.within, &x.r.kept, x.r.code.keep)}
	copy(g.Reg, x.r.values)
	var regs []int
	regs, g.index = x.plan.Reads(n)
	for _, reg := range regs {
		g.reads = append(g.reads, slices.Index(x.rows, reg))
	}
	for _, k := range acts {
		g.gives = append(g.gives, slices.Index(x.rows, len(b.Args)+k))
	}
	return g
}

func (w *callWorker) free() {
	for _, v := range w.workers {
		v.Free()
	}
	w.workers = nil
	if f, ok := w.slow.(interface{ free() }); ok {
		f.free()
	}
}

// run evaluates points by blocks that lie in one row of the index space. Results are written even
// where out is nil: they are what they were.
func (w *callWorker) run(from, to int, _ *value.Dense) error {
	if w.workers == nil {
		w.begin()
	}
	width := w.x.points() // of one index, too
	for from < to {
		i, j := from/width, from%width
		n := min(w.x.height, to-from, width-j)
		if err := w.block(i, j, j+n); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// block evaluates points j0..j1-1 of row i. Where one has no value by the nests it halves them,
// until it has found the points that have none.
func (w *callWorker) block(i, j0, j1 int) error {
	done, err := w.window(i, j0, j1)
	switch {
	case err != nil || done:
		return err
	case j1-j0 > 1:
		if err := w.block(i, j0, (j0+j1)/2); err != nil {
			return err
		}
		return w.block(i, (j0+j1)/2, j1)
	}
	if w.slow == nil {
		w.slow = w.x.r.code.each().worker(w.x.r, w.number)
	}
	p := i*w.x.r.space.width() + j0
	return w.slow.run(p, p+1, w.x.r.out)
}

// window runs nests and calls on points; false if one of them has no value by the nests.
func (w *callWorker) window(i, j0, j1 int) (done bool, err error) {
	x := w.x
	for n, f := range x.form.nests {
		v := w.workers[n]
		w.cells[n].learn(v)
		w.place(v, f, n, i, j0)
		flagged, err := v.Window(0, 1, j0, j1, w.within.Stopped)
		switch {
		case err != nil:
			return false, op.ErrStopped
		case flagged:
			return false, nil
		}
		if w.calls[n] == nil {
			continue
		}
		for j := j0; j < j1; j++ {
			if w.within.Ended() {
				return false, op.ErrStopped
			}
			if err := w.call(w.calls[n], i, j, j-j0); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// place tells a nest where the rows of the block lie, the first of which is that of point (i, j0).
func (w *callWorker) place(v *launch.Worker, f *nest.CallNest, n, i, j0 int) {
	x := w.x
	if x.plan.Dims == 2 {
		v.Scalar(0, value.I64(x.r.space.at(0, i)))
	}
	at := x.plan.Bounds()
	for k, o := range f.Operands {
		if o.What == nest.ItsKept {
			v.Place(at+k, w.rows[slices.Index(x.rows, o.Register)], j0, 0)
		}
	}
	at += len(f.Operands)
	for k, reg := range f.Results {
		v.Place(at+k, w.rows[slices.Index(x.rows, reg)], j0, 0)
	}
	if n == x.plan.Last && x.plan.Dims == 2 {
		var row value.Dense
		x.r.out.Window(&row, i, 0, 1, x.r.out.Cols)
		v.Place(at+len(f.Results), &row, 0, 0)
	}
}

// call runs the calls of a group for point (i, j), row of the block.
func (w *callWorker) call(g *callGroup, i, j, row int) error {
	x := w.x
	b, s := x.code.body, &x.r.space
	at := [2]int{j}
	if x.plan.Dims == 2 {
		at = [2]int{i, j}
	}
	for d, read := range g.index {
		if read {
			g.Reg[d] = value.I64(s.at(d, at[d]))
		}
	}
	for _, k := range g.reads {
		g.Reg[x.rows[k]] = w.point(k, row)
	}
	for n, k := range g.Acts {
		at := g.gives[n]
		t := b.Acts[k].Type
		if at >= 0 && t.IsDense() && g.Slot[k] >= 0 {
			g.Mem[g.Slot[k]] = w.view(at, t.Rows, t.Cols, row) // it is made where nests read it
		}
		v, err := g.Value(k)
		if err != nil {
			return err
		}
		g.Reg[len(b.Args)+k] = v
		if at < 0 {
			continue
		}
		switch v := v.(type) {
		case *value.Dense:
			if v != &w.views[at] {
				w.view(at, t.Rows, t.Cols, row).CopyFrom(v)
			}
		case value.Scalar:
			w.rows[at].Set(row, 0, v)
		}
	}
	return nil
}

// point is the value of register x.rows[k] in a row of the block.
func (w *callWorker) point(k, row int) value.Value {
	t := w.x.code.body.Register(w.x.rows[k])
	if !t.IsDense() {
		return w.rows[k].At(row, 0)
	}
	return w.view(k, t.Rows, t.Cols, row)
}

// view is the matrix that lies in a row of the block.
func (w *callWorker) view(at, rows, cols, row int) *value.Dense {
	v := &w.views[at]
	w.rows[at].Window(v, row, 0, 1, rows*cols)
	v.Rows, v.Cols, v.Stride = rows, cols, cols
	return v
}
