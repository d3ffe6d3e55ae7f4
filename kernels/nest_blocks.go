package kernels

// This file runs bodies on blocks of points: by phases, or by nests alternating with calls of
// operators.

import (
	"slices"
	"sync"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
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

// mostTables is the most elements that the tables of reductions by key have, of all points together.
// They are kept until the loop ends. A result of about their size allows more.
const mostTables = 1 << 20

// blockRun is one execution by loops that run one after the other on blocks of points of a row of the
// index space.
type blockRun struct {
	*rowRun
	plan *nest.CallPlan // of calls between the loops; nil: there are none
	code *bodyCode
	r    *parforRun
}

// phased is the way of a body by phases, over its rows or over long vectors.
func (c *bodyCode) phased(long bool) nestWay {
	return func(r *parforRun, affine bool) (nestBound, error) {
		key := nestKey{Form: nest.Form{Words: loop.FastLevels, Affine: affine}, dims: 1, by: r.space.by, long: long}
		f := c.rowForm(key, r.c.Attrs.Str("names"))
		if room := f.tables() * r.space.n[0]; len(f.phases) == 0 || c.apart.Load() || room > max(mostTables, 4*r.out.Rows*r.out.Cols) {
			return nil, errNoNest
		}
		x := &blockRun{code: c, r: r, rowRun: &rowRun{form: f.settled(), n: r.space.n[0], head: r.space.bounds(0), operand: r.operand, out: []*value.Dense{r.out}, stopped: r.stoppedOf}}
		err := x.bind()
		if err == nil {
			rowsBegun.Add(1)
		}
		return x, err
	}
}

// withCalls binds a body with calls to an execution. The error is errNoNest, or why the loops cannot
// run.
func (c *bodyCode) withCalls(r *parforRun, affine bool) (nestBound, error) {
	p, f := c.callForm(affine, r.space.dims, r.space.by)
	if f == nil {
		return nil, errNoNest
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	x := &blockRun{&rowRun{form: f.settled(), n: r.space.lanes(), stopped: r.stoppedOf}, p, c, r}
	if x.head = r.space.bounds(p.Dims - 1); p.Dims == 2 {
		x.head = append([]value.Value{value.I64(0)}, x.head...)
	}
	x.operand = r.operand
	if x.out = []*value.Dense{r.out}; p.Dims == 2 { // a row of it
		x.out[0] = &value.Dense{Elem: r.out.Elem, Rows: 1, Cols: r.out.Cols, Stride: r.out.Cols + 1}
	}
	return x, x.bind()
}

// formOfCalls is the nests of a plan in one form.
func formOfCalls(b *op.Body, p *nest.CallPlan, by [2]int, form nest.Form) *rowForm {
	f := &rowForm{body: b, phases: p.Nests(by, form), lanes: true}
	elements := 1
	for r, is := range p.Stored {
		if is {
			f.kept = append(f.kept, r)
			elements += f.size(r)
		}
	}
	f.height = min(max(blockElements/elements, laneBlock), blockPoints, max(nest.WideElements/elements, 1))
	if form.Words < nest.WideWords {
		form.Words++
		f.wider = sync.OnceValue(func() *rowForm { return formOfCalls(b, p, by, form) })
	}
	return f
}

// callForm is the body with calls in a form, or nil.
func (c *bodyCode) callForm(affine bool, dims int, by [2]int) (*nest.CallPlan, *rowForm) {
	if affine && dims == 2 { // the first index is an operand that changes: nothing is proved of it
		return nil, nil
	}
	p, _ := c.calls()
	if p == nil {
		return nil, nil
	}
	key := nestKey{Form: nest.Form{Affine: affine, Words: 1}, dims: dims, by: by}
	f := c.rows.Of(key, func() *rowForm { return formOfCalls(c.body, p, by, key.Form) })
	if len(f.phases) == 0 {
		return nil, nil
	}
	return p, f
}

// callNests is the nests of a body with calls, and of the operators that it calls. why says what its
// loops and branches hold that are called as a whole; where there are no nests, why not.
func (c *bodyCode) callNests(dims int, by [2]int) (list []*loop.Nest, why string) {
	p, f := c.callForm(dims == 1, dims, by)
	if f == nil {
		_, why = c.calls()
		return nil, why
	}
	b := c.body
	for n, made := range f.nests() {
		list = append(list, made)
		for _, k := range p.Calls(n) {
			a := &b.Acts[k]
			if a.Def.Nests == nil || a.Bodies == nil {
				continue
			}
			var in []types.Type
			for _, r := range a.Args {
				in = append(in, b.Register(r))
			}
			within, _ := a.Def.Nests(&op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Bodies: a.Bodies}, in)
			list = append(list, within...)
		}
	}
	return list, p.Why
}

// blockWorker is one worker.
type blockWorker struct {
	*rowWorker
	x      *blockRun
	within op.Call
	cells  []cellReader   // of each nest
	views  []*value.Dense // of kept registers, the point's matrix
	nested bool           // calls have loops or branches in them, which know a matrix by its address
	calls  []*callGroup   // after each nest; nil: none
	more   *blockWorker   // with sums of more words; nil until they are needed
}

// callGroup is the calls after one nest.
type callGroup struct {
	*nest.Interpreter
	index [2]bool // which indices they read
	reads []int   // what they read from memory of the block, as places in the list of kept registers
	gives []int   // of each call, the place of its value there; -1: no nest reads it
}

func (x *blockRun) points(number int) points {
	w := &blockWorker{rowWorker: x.worker(number), x: x, views: make([]*value.Dense, len(x.kept))}
	w.within = op.Call{Env: x.r.c.Env, Read: x.r.c.Read, Stopped: w.stopped}
	for n, f := range x.form.phases {
		w.cells = append(w.cells, newCellReader(x.r, f.Operands, len(x.head)))
		w.calls = append(w.calls, w.group(n))
	}
	return w
}

func (x *blockRun) step() (lanes int, more bool) { return x.form.height, false }

// inRows reports that the loops go over a row of a space of two indices, whose number they are told.
func (x *blockRun) inRows() bool { return x.plan != nil && x.plan.Dims == 2 }

// group is the calls after nest n.
func (w *blockWorker) group(n int) *callGroup {
	x := w.x
	if x.plan == nil || len(x.plan.Calls(n)) == 0 {
		return nil
	}
	acts := x.plan.Calls(n)
	b := x.code.body
	g := &callGroup{Interpreter: nest.NewPoint(b, acts, true, &w.within, &x.r.kept, x.r.code.keep, loopsFrom.Load())}
	copy(g.Reg, x.r.values)
	var regs []int
	regs, g.index = x.plan.Reads(n)
	for _, reg := range regs {
		g.reads = append(g.reads, slices.Index(x.kept, reg))
	}
	for _, k := range acts {
		g.gives = append(g.gives, slices.Index(x.kept, len(b.Args)+k))
		w.nested = w.nested || b.Acts[k].Def.Control == op.Iterate || b.Acts[k].Def.Control == op.Select
	}
	return g
}

// window runs nests and calls on points of a row, and again with sums of more words where some sum
// needs them. Where many do, it runs them with such sums at once. The result is rows of points, so
// nothing of the first attempt counts. Nests between calls do not say why they have no value: those
// with more words may have none.
func (w *blockWorker) window(a area) (done bool, err error) {
	x, f := w.x, w.x.form
	tried := f.tried.Add(1)
	if w.more == nil || !often(f.doubts.Load(), tried) {
		done, err = w.pass(a)
		if done || err != nil || f.wider == nil || x.wide() == nil {
			return done, err
		}
		f.doubts.Add(1)
	}
	if w.more == nil {
		w.more = (&blockRun{rowRun: x.wide(), plan: x.plan, code: x.code, r: x.r}).points(w.number).(*blockWorker)
		rowsWidened.Add(1)
	}
	return w.more.window(a)
}

// pass runs nests and calls on points of a row. done is false if some sum needs more words.
func (w *blockWorker) pass(a area) (done bool, err error) {
	x, i := w.x, a.i0
	for n, f := range x.form.phases {
		v := w.workers[n]
		w.cells[n].learn(v)
		if w.place(n, a.j0); x.inRows() {
			v.Scalar(0, value.I64(x.r.space.at(0, i)))
			if n == x.plan.Last {
				var row value.Dense
				x.r.out.Window(&row, i, 0, 1, x.r.out.Cols)
				v.Place(len(x.head)+len(f.Operands)+len(f.Results)-1, &row, 0, 0)
			}
		}
		if done, err = w.phase(n, a.j0, a.j1); err == errApart {
			if x.form.wider == nil {
				x.code.apart.Store(true)
			}
			return false, nil
		} else if !done || err != nil {
			return false, err
		}
		for j := a.j0; w.calls[n] != nil && j < a.j1; j++ {
			if w.within.Ended() {
				return false, op.ErrStopped
			}
			if err := w.call(w.calls[n], i, j, j-a.j0); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// call runs the calls of a group for point (i, j), row of the block.
func (w *blockWorker) call(g *callGroup, i, j, row int) error {
	x := w.x
	b, s := x.code.body, &x.r.space
	at := [2]int{j}
	if x.inRows() {
		at = [2]int{i, j}
	}
	for d, read := range g.index {
		if read {
			g.Reg[d] = value.I64(s.at(d, at[d]))
		}
	}
	for _, k := range g.reads {
		g.Reg[x.kept[k]] = w.point(k, row)
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
			if v != w.views[at] {
				w.view(at, t.Rows, t.Cols, row).CopyFrom(v)
			}
		case value.Scalar:
			w.kept[at].Set(row, 0, v)
		}
	}
	return nil
}

// point is the value of kept register number k in a row of the block.
func (w *blockWorker) point(k, row int) value.Value {
	t := w.x.code.body.Register(w.x.kept[k])
	if !t.IsDense() {
		return w.kept[k].At(row, 0)
	}
	return w.view(k, t.Rows, t.Cols, row)
}

// view is the matrix that lies in a row of the block.
func (w *blockWorker) view(at, rows, cols, row int) *value.Dense {
	v := w.views[at]
	if v == nil || w.nested {
		v = new(value.Dense)
		w.views[at] = v
	}
	w.kept[at].Window(v, row, 0, 1, rows*cols)
	v.Rows, v.Cols, v.Stride = rows, cols, cols
	return v
}

// free ends the reductions of the worker and frees its memory.
func (w *blockWorker) free() {
	for _, x := range w.workers {
		x.Finish()
	}
	for _, g := range w.calls {
		if g != nil {
			g.Free()
		}
	}
	if w.rowWorker.free(); w.more != nil {
		w.more.free()
	}
}
