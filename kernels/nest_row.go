package kernels

// This file defines the row `nest`: operators on whole matrices that are one loop over the elements
// of its results, which have one shape. It also tells what loops a parfor or a nest runs as, before it
// runs: `flowrun explain --pass=loops`.

import (
	"errors"
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
	"flow/kernels/window"
)

// nestRow is the row. Its body is the operators on whole matrices. At most one of them may fail, so the
// first failure does not depend on the order in which a loop computes.
func nestRow() *op.Def {
	run := &op.Loop{
		Light: true,
		Rows: func(s *op.Sig, out types.Type) int {
			rows, _ := nestSize(s.Attrs, out)
			return rows
		},
		Space: func(c *op.Call) (n, leaf int) {
			w := nestWindows(c)
			return w.N, w.Leaf
		},
		Begin: beginNest,
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
	results []nest.RowResult
	steps   int64        // of an element, about
	seen    atomic.Int64 // steps on elements in executions so far
	once    sync.Once
	rects   []nest.SpaceRect // none: the body is run in another way
	why     string           // why there are no rects
	apart   atomic.Bool      // numbers were too far apart for the sums of the loops, which run no more
	idle    sync.Pool        // of *nestSpace
}

// nestSteps is how many steps on elements count as one action of LoopsFrom: to write and compile
// the loops of a body takes some milliseconds.
const nestSteps = 10

func spaceCodeOf(b *op.Body) *spaceCode {
	c := &spaceCode{body: b}
	c.flat, c.results = withoutPipes(b)
	for k := range b.Acts {
		switch a := &b.Acts[k]; {
		case a.Chain != nil:
			c.steps += int64(len(a.Chain.Steps))
		case a.Bodies != nil:
			c.steps += int64(len(a.Bodies[0].Acts))
		default:
			c.steps++
		}
	}
	return c
}

// worthwhile counts an execution on so many elements, and reports that it is to run as loops.
func (code *spaceCode) worthwhile(elements int) bool {
	if code.seen.Add(code.steps*int64(elements)) < nestSteps*loopsFrom.Load() || code.apart.Load() {
		return false
	}
	return len(code.written()) > 0
}

// written is the loops.
func (code *spaceCode) written() []nest.SpaceRect {
	code.once.Do(func() { code.rects, code.why = nest.WriteSpace(code.flat, code.results) })
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
	workers []*launch.Worker
	lost    atomic.Bool // the loops cannot give all results: see spaceCode.apart
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
func beginNest(c *op.Call, workers int) (op.LoopBody, error) {
	define.LendResults(c)
	code := c.Bodies[0].Compiled(func(b *op.Body) any { return spaceCodeOf(b) }).(*spaceCode)
	rows, cols := nestSize(c.Attrs, c.Type)
	if code.worthwhile(rows * cols) {
		x := code.space(c)
		if x.bind() {
			launch.Begun.Add(1)
			x.workers = dense.Resized(x.workers, workers*len(x.rects))
			clear(x.workers)
			return x, nil
		}
	}
	return &nestSpace{Windows: nestWindows(c), c: c}, byKernels(c, c.Bodies[0])
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
		if r.bound = r.Loop.Bind(&r.run, r.in, r.out) == nil; !r.bound {
			return false
		}
	}
	return true
}

func (x *nestSpace) Chunk(worker, lo, hi int) error {
	if len(x.rects) == 0 || x.lost.Load() {
		return nil
	}
	_, cols := nestSize(x.c.Attrs, x.c.Type)
	return x.Each(lo, hi, cols, func(w window.Rect) error { return x.window(worker, w) })
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
	if err := byKernels(x.c, x.code.body); err != nil {
		return err
	}
	return errNoFailure
}

// End completes the reductions, gives the workers' memory back and keeps no value alive. If the loops
// could not give all results, it runs the operators one after the other.
func (x *nestSpace) End() (err error) {
	if x.code == nil {
		return nil
	}
	x.together()
	if x.lost.Swap(false) {
		x.code.apart.Store(true)
		err = byKernels(x.c, x.code.body)
	}
	for k := range x.rects {
		r := &x.rects[k]
		clear(r.made)
		if r.Loop != nil {
			clear(r.in[2:])
			clear(r.views)
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
	if first == nil {
		return
	}
	if !x.lost.Load() {
		first.Finish()
	}
	first.Free()
	for k, y := range x.code.results {
		if y.Total != nil && !x.lost.Load() {
			x.c.Give(k, made[k].At(0, 0))
		}
	}
}

// parforNests is the loop of a parfor: with subscripts that the launch proves.
func parforNests(c *op.Call, _ []types.Type) ([]*loop.Nest, string) {
	by := c.Attrs.Ints("by")
	b := c.Bodies[0]
	code := b.Compiled(func(b *op.Body) any { return compileBody(b, len(by)) }).(*bodyCode)
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
	last, tables := tabulated(m.body, len(by), code.cells)
	var list []*loop.Nest
	for _, t := range tables {
		list = append(list, t.Nest)
	}
	return append(list, last), ""
}

// spaceNests is the loops of a nest, one for each rectangle that is no copy.
func spaceNests(c *op.Call, _ []types.Type) (list []*loop.Nest, why string) {
	code := c.Bodies[0].Compiled(func(b *op.Body) any { return spaceCodeOf(b) }).(*spaceCode)
	for _, r := range code.written() {
		if r.Loop != nil {
			list = append(list, r.Loop.Nest())
		}
	}
	return list, code.why
}
