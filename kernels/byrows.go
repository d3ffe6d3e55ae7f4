package kernels

// This file defines the row `byrows`: a loop over rows, whose operators make each row of a
// result from the same row of their operands. What is between them stays in a cache: a softmax
// reads its matrix from memory once and writes its result once.

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// byRows is the row. Its body is the operators on whole matrices. Its attributes are the number of
// rows, the columns of the widest matrix, and the rows of a leaf; chunks are made of leaves. With
// lanes the lanes are rows, however wide. An argument of as many rows is read by rows, any other as
// a whole. A pipe may reduce all elements, too, and reductions of the columns of narrow rows and by
// key may end the body; nothing in the body reads what they give. Where ranks share the rows, such a
// result is the state of a rank's rows. Where an operator fails the operators run one after the other,
// so that the first of them is told.
func byRows() *op.Def {
	run := &op.Loop{Early: true, Rows: func(s *op.Sig, _ types.Type) int { return s.Attrs.Int("rows") }, Space: byRowsSpace, Begin: beginByRows}
	return define.OfBody(op.Def{
		Name: "byrows",
		Doc:  "byrows runs reductions of rows and what is made of their results as one loop over rows, which may end with counts and sums by key; the passes row-blocks and keys make it.",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.ReadCost(s, 0)
			w.Flops = 16 * float64(s.Attrs.Int("rows")) * float64(s.Attrs.Int("cols"))
			w.Bytes += float64(out.Bytes())
			return w
		},
		Along: func(*op.Attrs) []int { return []int{op.AllInputs} },
		Loop:  run,
		Nests: byRowsNests,
	})
}

// byRowsNests returns the loop of narrow rows, or the loops of the phases of wide rows. c may have no
// values yet. If the loops depend on values of the run, it returns the loops for one such value.
func byRowsNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	code := byRowsCodeOf(c.Bodies[0], c.Attrs).bound(nil)
	code.write()
	if code.form == nil {
		return nil, code.why
	}
	return code.form.nests(), ""
}

// byRowsSpace is the rows; or the panels of rows, where a chain of a reduction by key is as long.
func byRowsSpace(c *op.Call) (n, leaf int) {
	rows := c.Attrs.Int("rows")
	if panel := c.Attrs.Int("panel"); panel > 0 {
		return (rows + panel - 1) / panel, 1
	}
	return rows, c.Attrs.Int("block")
}

// byRowsCode is a body as loops. Wide rows have phases; of narrow ones the lanes are rows.
type byRowsCode struct {
	body  *op.Body
	rows  int
	cols  int
	panel int          // of reductions by key; 0: order does not count
	lanes bool         // the lanes are rows, however wide: matrices are made of rows and columns
	seen  atomic.Int64 // actions on elements in executions so far
	apart atomic.Bool  // numbers were too far apart for the sums of the loops
	wide  atomic.Bool  // exact sums of two words were not enough for narrow rows
	once  sync.Once
	form  *rowForm
	why   string // why form is nil
	// states lists the results that are states of a rank's rows.
	states []spaceState
	// reduces: the results are of reductions of rows alone, whose executions are idle until the next
	// call.
	reduces bool
	idle    sync.Pool                        // of *rowsRun
	by      define.Made[string, *byRowsCode] // for values that loops depend on: see bound
}

// bound is the code for operands whose values loops depend on.
func (c *byRowsCode) bound(in []value.Value) *byRowsCode {
	var key []byte
	acts := c.body.Acts
	for k := range acts {
		a := &acts[k]
		if a.Def.Bound == nil {
			continue
		}
		if key == nil {
			acts = slices.Clone(acts)
		}
		args := make([]value.Value, len(a.Args))
		for i, r := range a.Args {
			if r < len(in) {
				args[i] = in[r]
			}
		}
		n := a.Def.Bound(args)
		acts[k].Attrs = a.Attrs.With(op.BoundAttr, op.Int(int(n)))
		key = binary.AppendVarint(key, n)
	}
	if key == nil {
		return c
	}
	return c.by.Of(string(key), func() *byRowsCode {
		return &byRowsCode{body: &op.Body{Args: c.body.Args, Acts: acts, Yields: c.body.Yields}, rows: c.rows, cols: c.cols, panel: c.panel, lanes: c.lanes}
	})
}

func byRowsCodeOf(b *op.Body, attrs *op.Attrs) *byRowsCode {
	return &byRowsCode{body: b, rows: attrs.Int("rows"), cols: attrs.Int("cols"), panel: attrs.Int("panel"), lanes: attrs.Bool("lanes")}
}

// fewCode is the number of columns from which on the code of narrow rows takes longer to compile than
// other loops, about.
const fewCode = 4

// worthwhile counts an execution, and reports that it is to run as loops.
func (c *byRowsCode) worthwhile() bool {
	work, from := int64(len(c.body.Acts))*int64(c.rows)*int64(c.cols), loopsFrom.Load()
	if c.cols < nest.LeastWidth { // narrow rows: every column has code of its own
		from *= int64(max(1, c.cols/fewCode))
	}
	if c.seen.Add(work) < from || c.apart.Load() {
		return false
	}
	c.once.Do(c.write)
	return c.form != nil
}

// write writes the loops, or says why there are none.
func (c *byRowsCode) write() {
	b, why := oneRow(c.body, c.rows)
	if c.why = why; b == nil {
		return
	}
	c.states = reduceStates(b.Body, b.Results)
	lanes := c.cols < nest.LeastWidth || c.lanes
	numbers := !slices.ContainsFunc(b.Results, func(r nest.RowResult) bool { return r.Whole() || r.Type.Cols != 1 })
	if lanes || (c.reduces || numbers) && !alongRows(b, c.rows, c.cols) {
		c.form, c.why = laneForm(b, loop.FastLevels, c.rows, c.panel)
	}
	if lanes || c.form != nil { // no lanes store rows of more than define.Unrolled columns
		return
	}
	if slices.ContainsFunc(b.Results, nest.RowResult.Columns) {
		c.why = "reductions of many columns"
		return
	}
	p, why := nest.PlanRows(b, 0)
	if c.why = why; p == nil {
		return
	}
	f := phasedForm(p, 1, "i", nest.Form{Words: loop.FastLevels, Affine: true})
	if c.why = f.why; len(f.phases) > 0 {
		if c.form = f; len(f.phases) == 1 { // nothing stays in a cache for a later one
			f.height = math.MaxInt
		}
	}
}

// rowsRun is one execution.
type rowsRun struct {
	code    *byRowsCode
	values  []value.Value // of its registers
	aside   []int         // see rowRun
	out     []*value.Dense
	run     *rowRun
	workers []*rowWorker
	c       *op.Call
	lost    atomic.Bool // the loops could not give all results
	own     rowRange    // the rows of this rank, if ranks share the rows
	// other begins to make the rows for which the loops have no value; nil: then the operators make all
	// results.
	other func() (op.LoopBody, error)
	once  sync.Once
	made  op.LoopBody
	fails error
}

// execution returns an idle execution, or a new one, whose values are those of in.
func (c *byRowsCode) execution(call *op.Call, in []value.Value) *rowsRun {
	x, ok := c.idle.Get().(*rowsRun)
	if !ok {
		x = &rowsRun{code: c}
	}
	x.c, x.out, x.aside = call, x.out[:0], nil
	x.values = append(append(x.values[:0], value.I64(0)), in...)
	return x
}

// beginByRows binds the loops. Where none can run, or little work has been seen, the operators run
// one after the other.
func beginByRows(c *op.Call, workers int) (op.LoopBody, error) {
	define.LendResults(c)
	code := c.Bodies[0].Compiled(func(b *op.Body) any { return byRowsCodeOf(b, c.Attrs) }).(*byRowsCode).bound(c.In)
	x := code.execution(c, c.In)
	if !code.worthwhile() || !x.begin(workers) {
		if x.workers = nil; c.Part {
			return x, nil
		}
		return x, byKernels(c, code.body)
	}
	launch.Begun.Add(1)
	if !x.run.form.lanes {
		rowsBegun.Add(1)
	}
	return x, nil
}

// begin binds the loops to operands and results, if there is a target for them.
func (x *rowsRun) begin(workers int) bool {
	b := x.code.body
	for k, r := range b.Yields {
		d, state := x.c.Lent(k), slices.ContainsFunc(x.code.states, func(s spaceState) bool { return s.at == k })
		switch y := x.code.form.results[k].Type; {
		case state && y.IsDense():
			d = value.New(dense.Storage(y.Elem), 1, y.Cols)
		case state:
			d = value.New(dense.Storage(y.Elem), 1, 1)
		case d == nil: // of all elements
			d = value.New(b.Register(r).Elem, 1, 1)
		}
		if x.code.form.lanes && x.code.form.results[k].Keyed != nil {
			d = x.table(k)
		}
		x.out = append(x.out, d)
	}
	return x.bind(x.c, workers)
}

// bind binds the loops to values and results for some workers. It returns false if no target runs them.
func (x *rowsRun) bind(c *op.Call, workers int) bool {
	x.workers = dense.Resized(x.workers, workers)
	clear(x.workers)
	f := x.code.form
	if f.wider != nil && x.code.wide.Load() {
		if f = f.wider(); f == nil {
			return false
		}
	}
	if x.c = c; x.run != nil && x.run.form == f && slices.Equal(x.run.aside, x.aside) && x.run.bindAgain(x.out) {
		return true
	}
	ended := func() bool { return x.c.Ended() }
	x.run = &rowRun{form: f, n: x.code.rows, head: []value.Value{value.I64(0), value.I64(int64(x.code.rows))}, aside: x.aside, out: x.out, stopped: func(int) func() bool { return ended },
		operand: func(o nest.Operand) value.Value { return o.Of(x.values) }}
	return x.run.bind() == nil && (x.code.states == nil || !slices.ContainsFunc(x.run.runs, func(r *launch.Run) bool { return !r.Partials() }))
}

// byKernels makes the results of a call by the kernels of the operators of its body.
func byKernels(c *op.Call, b *op.Body) error {
	out, err := nest.NewInterpreter(b, nil, false, c, nil, nil).On(c.In)
	if err != nil {
		return err
	}
	for k, v := range out {
		c.Give(k, v)
	}
	return nil
}

// Chunk computes rows lo..hi-1, or those of panels.
func (x *rowsRun) Chunk(worker, lo, hi int) error {
	if p := x.code.panel; p > 0 {
		lo, hi = lo*p, min(hi*p, x.code.rows)
	}
	if x.c.Part {
		x.own.covers(lo, hi)
	}
	if x.workers == nil || x.lost.Load() {
		return nil
	}
	if x.workers[worker] == nil {
		x.workers[worker] = x.run.worker(worker)
	}
	w := x.workers[worker]
	for lo < hi {
		n := w.copyAside(lo, hi)
		done, err := w.rows(lo, lo+n)
		switch {
		case err != nil && err != errApart:
			return err
		case done:
		case x.other == nil:
			x.lost.Store(true)
			return nil
		default:
			w.restore(lo, n)
			if x.once.Do(func() { x.made, x.fails = x.other() }); x.fails != nil {
				return x.fails
			}
			if err := x.made.Chunk(worker, lo, lo+n); err != nil {
				return err
			}
		}
		lo += n
	}
	return nil
}

// Incomplete reports whether the loops could not give all rows.
func (x *rowsRun) Incomplete() bool { return x.lost.Load() }

// End completes what is of all rows.
func (x *rowsRun) End() error {
	if x.workers == nil {
		if x.c.Part {
			return x.ownByKernels()
		}
		return nil
	}
	lost := x.lost.Load()
	first := x.together(lost)
	if !lost && first && x.run.form.lanes {
		lost = !x.giveKeyed()
	}
	if !x.widens(lost || x.made != nil) && lost {
		x.code.apart.Store(true)
	}
	var err error
	switch {
	case x.c.Part && (lost || !first): // or this rank has no rows
		err = x.ownByKernels()
	case lost:
		err = byKernels(x.c, x.code.body)
	case first:
		for k, d := range x.out {
			if x.c.Lent(k) == nil {
				x.c.Give(k, d.At(0, 0))
			}
		}
	}
	if x.made != nil {
		err = x.made.End()
	}
	x.forget()
	return err
}

// widens reports whether the next execution should use sums of more words, and notes it. lost: the
// loops could not give all values.
func (x *rowsRun) widens(lost bool) bool {
	if x.run == nil || !(lost && x.run.form.wider != nil || x.run.widened.Load()) {
		return false
	}
	x.code.wide.Store(true)
	return true
}

// together puts what the workers have reduced together, unless some of it is lost, and frees them. It
// reports whether there are any.
func (x *rowsRun) together(lost bool) bool {
	var first *rowWorker
	for _, w := range x.workers {
		if w != nil && first == nil {
			first = w
		} else if w != nil {
			for k, l := range w.workers {
				first.workers[k].Merge(l)
			}
			w.free()
		}
	}
	if first == nil {
		return false
	}
	if !lost {
		x.putStates(first)
	}
	for _, l := range first.workers {
		if !lost {
			l.Finish()
		}
	}
	first.free()
	return true
}

// forget lets go of the values. An execution of reductions of rows alone is kept for the next one.
func (x *rowsRun) forget() {
	x.made, x.other, x.once, x.c = nil, nil, sync.Once{}, nil
	clear(x.values)
	clear(x.out)
	clear(x.workers)
	if x.run.single() {
		clear(x.run.in[0])
	} else {
		x.run = nil
	}
	if x.code.reduces {
		x.code.idle.Put(x)
	}
}
