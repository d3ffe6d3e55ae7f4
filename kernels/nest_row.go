package kernels

// This file defines the row `nest`: operators on whole matrices that are one loop over the elements
// of its results, which have one shape. It also tells what loops a parfor or a nest runs as, before it
// runs: `flowrun explain --pass=loops`.

import (
	"errors"
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
	"flow/kernels/reduce"
	"flow/kernels/window"
	"flow/memory"
)

// nestRow is the row. Its body is the operators on whole matrices. If a loop finds that one of them
// fails, they run one after the other, so the first failure is the first in the text. maps is the row
// `map`.
func nestRow(maps *op.Def) *op.Def {
	run := &op.Loop{
		Light: true,
		Rows: func(s *op.Sig, out types.Type) int {
			rows, _ := nestSize(s.Attrs, out)
			return rows
		},
		Space: func(c *op.Call) (n, leaf int) {
			w, code := nestWindows(c), spaceCodeOf(c)
			return w.N, window.LeafOf(w.Leaf, int(code.steps)/max(1, code.rows*code.cols))
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginNest(c, workers, maps) },
	}
	return define.OfBody(op.Def{
		Name: "nest",
		Role: op.Grouped,
		Doc:  "nest runs operators that compute and move elements as one loop over the elements of their results; the pass group makes it.",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			if out.IsDense() {
				return define.StreamCost(s, out, 8)
			}
			w := define.ReadCost(s, 0)
			rows, cols := nestSize(s.Attrs, out)
			for _, t := range out.Parts() {
				w.Flops += 8 * float64(rows) * float64(cols)
				w.Bytes += float64(t.Bytes())
			}
			return w
		},
		Loop:  run,
		Nests: spaceNests,
	})
}

// nestSize returns the rows and columns that a nest goes over: those of its matrices or, if it has
// none, of what it reduces.
func nestSize(a *op.Attrs, out types.Type) (rows, cols int) {
	if t := out.Parts()[0]; a.Int("cols") == 0 {
		return t.Rows, t.Cols
	}
	return a.Int("rows"), a.Int("cols")
}

func nestWindows(c *op.Call) window.Windows {
	rows, cols := nestSize(c.Attrs, c.Type)
	return window.Of(types.DenseOf(types.F64, rows, cols), false)
}

// spaceCode is a body as loops, which are written when enough work has been seen.
type spaceCode struct {
	body    *op.Body
	flat    *op.Body // body without pipes
	rows    int      // of the space
	cols    int
	results []nest.RowResult
	states  []spaceState // the results that are states of a rank's rows; the loops reduce their elements
	steps   int64        // about how many the operators take in one execution
	values  int64        // bytes of the matrices between the operators
	fails   bool         // a chain has no value for some elements of its operands
	seen    atomic.Int64 // steps on elements in executions so far
	once    sync.Once
	rects   []nest.SpaceRect // none: the body is run in another way
	why     string           // why there are no rects
	apart   atomic.Bool      // numbers were too far apart for the sums of the loops, which run no more
	idle    sync.Pool        // of *nestSpace
}

// spaceState describes result number at of a body: a state of the reduction of, on elements of type
// elem.
type spaceState struct {
	at   int
	of   *reduce.Fold
	elem types.Elem
}

// reduceStates replaces results of body b that are states of reductions by the reductions, which loops
// compute. It returns the states that it has replaced.
func reduceStates(b *op.Body, results []nest.RowResult) (states []spaceState) {
	for k := range results {
		y := &results[k]
		if y.Total == nil || !isState(y.Total) {
			continue
		}
		f, from := reduce.Named(y.Total.Name), b.Register(y.Register)
		states = append(states, spaceState{k, f, from.Elem})
		if y.Total, y.Type = (&op.Def{Class: f.Whole.Class}), types.ScalarOf(f.Whole.Elem(from.Elem)); f.Axis == reduce.OverCols {
			y.Type = types.DenseOf(y.Type.Elem, 1, from.Cols)
		}
	}
	return states
}

// isState reports whether operator d makes the state of a reduction.
func isState(d *op.Def) bool {
	f := reduce.Named(d.Name)
	return f != nil && f.Part
}

// nestSteps is how many steps on elements count as one action of LoopsFrom: to write and compile
// the loops of a body takes some milliseconds.
const nestSteps = 10

// spaceCodeOf returns the code of the body of a call.
func spaceCodeOf(c *op.Call) *spaceCode {
	rows, cols := nestSize(c.Attrs, c.Type)
	return c.Bodies[0].Compiled(func(b *op.Body) any { return newSpaceCode(b, rows, cols) }).(*spaceCode)
}

func newSpaceCode(b *op.Body, rows, cols int) *spaceCode {
	c := &spaceCode{body: b, rows: rows, cols: cols}
	c.flat, c.results, c.why = withoutPipes(b)
	c.states = reduceStates(c.flat, c.results)
	for k := range b.Acts {
		a, steps, elements := &b.Acts[k], 1, rows*cols
		switch {
		case a.Chain != nil:
			steps = nestsOf(a.Chain).steps
			c.fails = c.fails || slices.ContainsFunc(a.Chain.Steps, func(s op.Step) bool { return s.Def.Partial != op.Everywhere && s.Elem == types.I64 })
		case a.Bodies != nil:
			steps = len(a.Bodies[0].Acts)
		}
		if a.Type.IsDense() {
			elements = max(elements, a.Type.Rows*a.Type.Cols)
			if !slices.Contains(b.Yields, len(b.Args)+k) {
				c.values += int64(a.Type.Bytes())
			}
		}
		c.steps += int64(steps) * int64(elements)
	}
	return c
}

// worthwhile counts an execution and reports whether it runs as loops. The operators make all rows, and
// in those of other ranks operands may have any bits. So a part of a loop that divides integers runs as
// loops. So does a body if there is no memory for the matrices between its operators, which predictions
// do not count.
func (code *spaceCode) worthwhile(part bool) bool {
	few := code.seen.Add(code.steps) < nestSteps*loopsFrom.Load() && memory.Within(code.values) == nil
	if few && !(part && code.fails) || code.apart.Load() {
		return false
	}
	return len(code.written()) > 0
}

// written is the loops.
func (code *spaceCode) written() []nest.SpaceRect {
	code.once.Do(func() {
		if code.flat != nil {
			code.rects, code.why = nest.WriteSpace(code.flat, code.results, code.rows, code.cols)
		}
	})
	return code.rects
}

// nestSpace is one execution. It stays bound for the next one, which mostly differs in where its
// operands lie.
type nestSpace struct {
	window.Windows
	code    *spaceCode
	c       *op.Call
	num     []loop.Word // the operands that are scalars, which say where views begin
	rects   []spaceRun  // none: the result has been made
	was     [][4]uint64 // the words of operands and results that all loops are bound to; none: they are not
	next    [][4]uint64
	shifted bool // the loops of this execution are bound by shift
	workers []*launch.Worker
	lost    atomic.Bool   // the loops cannot give all results: see spaceCode.apart
	own     rowRange      // the rows of this rank, if some results are states
	made    []value.Value // see byKernels
	maps    *op.Def       // the row `map`
}

// spaceRun is an execution of the loop of a rectangle, if it is no copy.
type spaceRun struct {
	*nest.SpaceRect
	run   launch.Run
	bound bool
	in    []value.Value
	views []value.Dense  // operands, from where they are read on
	made  []value.Dense  // the rectangle of each result
	out   []*value.Dense // those
}

// beginNest binds the loops. Until enough work has been seen the operators run one after the other.
func beginNest(c *op.Call, workers int, maps *op.Def) (op.LoopBody, error) {
	define.LendResults(c)
	code := spaceCodeOf(c)
	if code.worthwhile(c.Part) {
		x := code.space(c)
		x.maps = maps
		if x.bind() {
			launch.Begun.Add(1)
			x.workers = dense.Resized(x.workers, workers*len(x.rects))
			clear(x.workers)
			return x, nil
		}
	}
	x := &nestSpace{Windows: nestWindows(c), code: code, c: c, maps: maps}
	return x, x.byKernels()
}

// space is an execution that has been before, or a new one.
func (code *spaceCode) space(c *op.Call) *nestSpace {
	if x, ok := code.idle.Get().(*nestSpace); ok {
		x.c = c
		return x
	}
	x := &nestSpace{Windows: nestWindows(c), code: code, c: c, rects: make([]spaceRun, len(code.rects))}
	for k := range x.rects {
		r := &x.rects[k]
		r.SpaceRect, r.made = &code.rects[k], make([]value.Dense, len(code.results))
		for k := range r.made {
			r.out = append(r.out, &r.made[k])
		}
		r.in = []value.Value{value.I64(int64(r.Rows)), value.I64(int64(r.Cols))}
		r.in = append(r.in, make([]value.Value, len(r.Operands))...)
		r.views = make([]value.Dense, len(r.Operands))
		r.run.Stays = nest.Stays(r.Operands, 2)
	}
	return x
}

// bind binds all loops to operands and result, if there is a target for them and their operands lie in
// the matrices.
func (x *nestSpace) bind() bool {
	if x.shifted = x.alike() && x.shift(); x.shifted {
		return true
	}
	x.was = x.was[:0]
	x.num = dense.Resized(x.num, len(x.c.In))
	for k, v := range x.c.In {
		if v, ok := v.(value.Scalar); ok {
			x.num[k] = loop.WordOf(v)
		}
	}
	for k := range x.rects {
		r := &x.rects[k]
		if r.Loop == nil {
			continue
		}
		for k, d := range r.out {
			if y := &x.code.results[k]; y.Total != nil {
				*d = *value.New(dense.Storage(y.Type.Elem), 1, 1)
				continue
			}
			x.c.Lent(k).Window(d, r.Row, r.Col, r.Rows, r.Cols)
		}
		for k, o := range r.Operands {
			r.in[2+k] = x.c.In[o.Register]
			if d, ok := r.in[2+k].(*value.Dense); ok {
				if _, fits := o.View(&r.views[k], d, x.num); !fits {
					return false
				}
				r.in[2+k] = &r.views[k]
			}
		}
		if r.bound && r.run.Again(r.in, r.out) {
			continue
		}
		r.bound = r.Loop.Bind(&r.run, r.in, r.out) == nil && (len(x.code.states) == 0 || r.run.Partials())
		if !r.bound {
			return false
		}
	}
	x.was, x.next = x.next, x.was
	return true
}

func (x *nestSpace) Chunk(worker, lo, hi int) error {
	if len(x.code.states) > 0 {
		x.own.covers(lo/x.Segs, (hi-1)/x.Segs+1)
	}
	if len(x.rects) == 0 || x.lost.Load() {
		return nil
	}
	return x.Each(lo, hi, x.code.cols, func(w window.Rect) error { return x.window(worker, w) })
}

// window makes the parts of the rectangles that lie in w.
func (x *nestSpace) window(worker int, w window.Rect) error {
	for k := range x.rects {
		r := &x.rects[k]
		r0, r1 := max(w.Row, r.Row), min(w.Row+w.Rows, r.Row+r.Rows)
		c0, c1 := max(w.Col, r.Col), min(w.Col+w.Cols, r.Col+r.Cols)
		if r0 >= r1 || c0 >= c1 {
			continue
		}
		if r.Loop == nil {
			window.CopyRect(x.c.Result(), window.Rect{Row: r0, Col: c0, Rows: r1 - r0, Cols: c1 - c0}, x.c.Dense(r.From), r.I+r0-r.Row, r.J+c0-r.Col)
			continue
		}
		at := &x.workers[worker*len(x.rects)+k]
		if *at == nil {
			*at = r.run.Worker()
		}
		if r.Across {
			r0, r1, c0, c1 = r.Row, r.Row+1, r0-r.Row+r.Col, r1-r.Row+r.Col
		}
		flagged, err := (*at).Window(r0-r.Row, r1-r.Row, c0-r.Col, c1-r.Col, x.c.Stopped)
		switch {
		case errors.Is(err, launch.ErrStopped):
			return op.ErrStopped
		case err != nil:
			x.lost.Store(true)
			return nil
		case flagged:
			return x.failure()
		}
	}
	return nil
}

// failure runs the operators one after the other and returns the failure of one. A loop only flags that
// there is a wrong position, without its value.
func (x *nestSpace) failure() error {
	if err := byKernels(x.c, x.picking(x.code.body)); err != nil {
		return err
	}
	return errNoFailure
}

// End completes the reductions, gives the workers' memory back and keeps no value alive. If the loops
// could not give all results, it runs the operators one after the other.
func (x *nestSpace) End() (err error) {
	if len(x.rects) == 0 {
		return x.ownStates()
	}
	if x.together(); x.lost.Swap(false) {
		x.code.apart.Store(true)
		if err = x.byKernels(); err == nil {
			err = x.ownStates()
		}
	}
	x.own = rowRange{}
	if !x.shifted {
		for k := range x.rects {
			x.rects[k].rest()
		}
	}
	x.c = nil
	x.code.idle.Put(x)
	return err
}

// together merges what the workers have reduced in all rectangles into the results, and frees the
// workers.
func (x *nestSpace) together() {
	var first *launch.Worker
	var made []value.Dense
	for k, w := range x.workers {
		switch {
		case w == nil:
		case first == nil:
			first, made = w, x.rects[k%len(x.rects)].made
		default:
			first.Merge(w)
			w.Free()
		}
	}
	x.putStates(first)
	if first == nil {
		return
	}
	if !x.lost.Load() && len(x.code.states) == 0 {
		first.Finish()
		for k, y := range x.code.results {
			if y.Total != nil {
				x.c.Give(k, made[k].At(0, 0))
			}
		}
	}
	first.Free()
}

// putStates sets the results that are states to those of worker w, which has merged those of all
// workers. A nil w: this rank has no rows.
func (x *nestSpace) putStates(w *launch.Worker) {
	for _, s := range x.code.states {
		if w != nil {
			w.Put(s.at-(len(x.code.results)-len(x.code.states)), x.c.Lent(s.at)) // behind the matrices
			continue
		}
		s.empty(x.c.Lent(s.at))
	}
}

// empty makes acc the state of a reduction of no rows. Of columns it has a row for each.
func (s *spaceState) empty(acc *value.Dense) {
	lines := 1
	if s.of.Axis == reduce.OverCols {
		lines = acc.Rows
	}
	var none reduce.Accumulators
	none.Open(s.of, s.elem, 0, lines)
	none.Finish(acc, 0)
}

// parforNests is the loop of a parfor: with subscripts that the launch proves.
func parforNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	by := c.Attrs.Ints("by")
	code := compiledOf(c, len(by))
	key := nestKey{Form: nest.Form{Affine: true, Words: code.sums()}, dims: len(by)}
	for d := range by {
		key.by[d] = int(by[d])
	}
	phases := func(long bool) []*loop.Nest {
		return code.rowForm(nestKey{Form: nest.Form{Affine: true}, dims: 1, by: key.by, long: long}, c.Attrs.Str("names")).nests()
	}
	if list := phases(false); len(list) > 0 {
		return list, ""
	}
	m := code.form(key, c.Attrs.Str("names"))
	if m.body == nil {
		if list := phases(true); len(list) > 0 {
			return list, ""
		}
		// Operators without a form in loops are called between nests.
		list, why := code.callNests(len(by), key.by)
		if len(list) == 0 && why == "" {
			why = m.why
		}
		return list, why
	}
	last, tables := code.tabulated(m.body, len(by))
	var list []*loop.Nest
	for _, t := range tables {
		list = append(list, t.Nest)
	}
	return append(list, last), ""
}

// spaceNests is the loops of a nest, one for each rectangle that is no copy.
func spaceNests(c *op.Call, _ []types.Type) (list []*loop.Nest, why string) {
	code := spaceCodeOf(c)
	for _, r := range code.written() {
		if r.Loop != nil {
			list = append(list, r.Loop.Nest())
		}
	}
	return list, code.why
}
