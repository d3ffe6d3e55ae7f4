package kernels

// This file runs `byrows` of few columns: as one loop whose lanes are rows.

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
	"flow/kernels/linalg"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// tallForm is a body whose lanes are rows, by the number of words of its exact sums. It is safe for
// concurrent use.
type tallForm struct {
	// form is the loop with exact sums of so many words; nil where it cannot be written.
	form   map[int]func() *tallLoop
	body   *nest.RowsBody
	rows   int
	panel  int // of reductions by key whose order counts; 0: it does not
	totals bool
}

// tallLoop is the loop. Its operands are the number of rows, that of the panel if there are any, and
// these.
type tallLoop struct {
	loop     *launch.Loop
	operands []nest.Operand
}

func newTallForm(b *nest.RowsBody, rows, panel int) *tallForm {
	f := &tallForm{form: map[int]func() *tallLoop{}, body: b, rows: rows, panel: panel}
	for _, words := range []int{loop.FastLevels, nest.WideWords} {
		f.form[words] = sync.OnceValue(func() (l *tallLoop) {
			nest.Written(func() { l = f.write(words) })
			return l
		})
	}
	for _, y := range b.Results {
		f.totals = f.totals || y.Total != nil || y.Keyed != nil
	}
	return f
}

// write writes the body as a loop over rows.
func (f *tallForm) write(words int) *tallLoop {
	b, x := f.body, nest.NewBuilder(nest.Form{Words: words, Affine: true})
	n := x.Param(loop.ScalarParam, types.I64)
	if f.panel > 0 {
		x.Param(loop.ScalarParam, types.I64)
	}
	row := loop.Of(loop.IndexSym, x.Index("i", loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, n), By: 1}))
	env := []nest.Ref{{Type: b.Args[0], Val: x.Value(row)}}
	for r := 1; r < len(b.Args); r++ {
		if b.OwnRow(r) {
			env = append(env, x.OwnRow(b, r, row))
		} else {
			env = append(env, x.Outer(b.Body, r))
		}
	}
	for k := range b.Acts {
		env = append(env, x.Act(b.Body, k, env))
	}
	for k, y := range b.Results {
		if y.Keyed != nil {
			f.writeKeyed(x, k, env)
		} else {
			writeTallRow(x, k, y, env[y.Register], row)
		}
	}
	return &tallLoop{nest.LoopOf(loop.Merge(x.Done())), x.Operands}
}

// writeTallRow stores a row of a result, or contributes it.
func writeTallRow(x *nest.Builder, k int, y nest.RowResult, in nest.Ref, row loop.Lin) {
	cols := 1
	if in.At != nil {
		cols = in.Type.Cols
	}
	var m loop.Mem
	zero := loop.Num(0)
	for j := range cols {
		col := loop.Num(int64(j))
		v := in.Val
		if in.At != nil {
			v = in.At(zero, col)
		}
		if y.Total == nil {
			if j == 0 {
				m = loop.Mem{Kind: loop.ResultMem, N: x.Result(dense.Storage(y.Type.Elem), loop.Of(loop.ParamSym, 0), loop.Num(int64(cols)))}
			}
			x.Store(m, row, col, define.ConvertBody(x.Builder, dense.Storage(y.Type.Elem), v))
			continue
		}
		c := y.Total.Class
		v = x.Term(c, v)
		if e := x.Type(v); j == 0 {
			x.Summed(c, e, y.Type.Elem)
			m = loop.Mem{Kind: loop.ResultMem, N: x.Reduced(c, c.Gives(e), loop.Num(1), loop.Num(1))}
		}
		x.Reduce(m, zero, zero, v)
	}
}

// tallRun is one execution.
type tallRun struct {
	form    *tallForm
	n       int
	values  []value.Value
	out     []*value.Dense
	wide    bool // two words were not enough for the exact sums of an execution before
	stopped func() bool
	in      []value.Value // operands of the loop
	run     *launch.Run
	once    sync.Once
	again   *launch.Run // with sums of more words, made when two were not enough; nil: there is none
	widened atomic.Bool // it was enough
}

// bind binds the loop.
func (x *tallRun) bind() (err error) {
	words := loop.FastLevels
	if x.wide {
		words = nest.WideWords
	}
	x.run, err = x.begin(words)
	return err
}

func (x *tallRun) begin(words int) (*launch.Run, error) {
	f := x.form.form[words]()
	if f == nil {
		return nil, errNoNest
	}
	return f.loop.Begin(x.operands(f), x.out)
}

// operands are those of the loop.
func (x *tallRun) operands(f *tallLoop) []value.Value {
	head := 1
	if x.form.panel > 0 {
		head = panelOperand + 1
	}
	if x.in == nil {
		x.in = append(x.in, value.I64(int64(x.n)), value.I64(0))
	}
	x.in = x.in[:head]
	for _, o := range f.operands {
		x.in = append(x.in, o.Of(x.values))
	}
	return x.in
}

// bindAgain binds the loop of an execution that has ended to other operands, if they are alike.
func (x *tallRun) bindAgain(values []value.Value, out []*value.Dense) bool {
	words := loop.FastLevels
	if x.wide {
		words = nest.WideWords
	}
	x.values, x.out = values, out
	x.once, x.again = sync.Once{}, nil
	x.widened.Store(false)
	return x.run.Again(x.operands(x.form.form[words]()), out)
}

// tallWorker is one worker.
type tallWorker struct {
	x           *tallRun
	first, wide *launch.Worker
}

func (x *tallRun) worker() *tallWorker { return &tallWorker{x: x, first: x.run.Worker()} }

// loops is the worker that has what is of all rows.
func (w *tallWorker) loops() []*launch.Worker {
	if w.wide != nil {
		w.wide.Free()
	}
	return []*launch.Worker{w.first}
}

// rows computes rows, and again with sums of more words where two are not enough. What is of all
// rows has counted them already then.
func (w *tallWorker) rows(r0, r1 int) (done bool, err error) {
	x := w.x
	if w.wide == nil {
		flagged, err := x.window(w.first, r0, r1)
		if !flagged || err != nil || x.wide || x.form.totals {
			return !flagged, err
		}
		x.once.Do(func() { x.again, _ = x.begin(nest.WideWords) })
		if x.again == nil {
			return false, nil
		}
		w.wide = x.again.Worker()
	}
	flagged, err := x.window(w.wide, r0, r1)
	if !flagged {
		x.widened.Store(true)
	}
	return !flagged, err
}

func (x *tallRun) window(w *launch.Worker, r0, r1 int) (flagged bool, err error) {
	to := r1
	for ; r0 < r1 && !flagged && err == nil; r0 = to {
		if p := x.form.panel; p > 0 {
			w.Scalar(panelOperand, value.I64(int64(r0/p)))
			to = min(r0-r0%p+p, r1)
		}
		flagged, err = w.Window(0, 1, r0, to, x.stopped)
	}
	switch {
	case errors.Is(err, launch.ErrStopped):
		return false, op.ErrStopped
	case err != nil:
		return false, errApart
	}
	return flagged, nil
}

// panelOperand is the operand that has the number of the panel.
const panelOperand = 1

// panels is how many tables a result of reductions by key has: one for each panel of rows where
// their order counts.
func (f *tallForm) panels(y *nest.RowResult) int {
	if y.Keyed.Def.Keyed.Panel(y.Keyed.Attrs) == op.NoOrder {
		return 1
	}
	return (f.rows + f.panel - 1) / f.panel
}

// table is the memory of the tables of result k; nil if it is not by key.
func (f *tallForm) table(k int) *value.Dense {
	y := &f.body.Results[k]
	if y.Keyed == nil {
		return nil
	}
	e := types.I64 // what comes in any order
	if y.Keyed.Def.Keyed.Panel(y.Keyed.Attrs) != op.NoOrder {
		e = y.Type.Elem
	}
	return value.New(e, f.panels(y)*f.tableSize(y), 1)
}

// tableSize is the number of elements of each table.
func (f *tallForm) tableSize(y *nest.RowResult) int {
	if y.Keyed.Def.Keyed.Stacked {
		return y.Type.Count() / f.panels(y)
	}
	return y.Type.Count()
}

// writeKeyed contributes a row to the tables of result k.
func (f *tallForm) writeKeyed(x *nest.Builder, k int, env []nest.Ref) {
	y := &f.body.Results[k]
	w := x.KeyedRow(y.Keyed, env)
	of := len(w.Terms)
	if f.panels(y) > 1 {
		first := x.Op(loop.Mul, x.Load(loop.Mem{Kind: loop.ParamMem, N: panelOperand}), define.Numeral(x.Builder, types.I64, f.tableSize(y)/of))
		w.Key = x.Op(loop.Add, w.Key, first)
	}
	e := x.Type(w.Terms[0][0])
	m := loop.Mem{Kind: loop.ResultMem, N: x.Reduced(w.Class, w.Class.Gives(e), loop.Num(int64(f.panels(y)*f.tableSize(y))), loop.Num(1))}
	at := loop.Of(loop.ValSym, int(w.Key)).Times(int64(of))
	for j, t := range w.Terms {
		x.Reduce(m, at.Plus(loop.Num(int64(j))), loop.Num(0), t...)
	}
}

// giveKeyed makes the results by key of their tables; false where a chain is not finite: rows of
// other keys count in it, too.
func (x *tallRun) giveKeyed(r *byRowsRun) bool {
	for k := range x.form.body.Results {
		y := &x.form.body.Results[k]
		if y.Keyed == nil {
			continue
		}
		to, _ := r.lent(k)
		table, n := r.out[k], x.form.tableSize(y)
		if table.Elem == types.F64 && to.Elem == types.F64 {
			var panels []dense.Grid[float64]
			for from := 0; from < table.Rows; from += n {
				for _, s := range table.F64[from:][:n] {
					if s-s != 0 {
						return false
					}
				}
				panels = append(panels, dense.Grid[float64]{Rows: n / to.Cols, Cols: to.Cols, LD: to.Cols, X: table.F64[from:][:n]})
			}
			if y.Keyed.Def.Keyed.Stacked {
				copy(to.F64, table.F64)
				continue
			}
			table = &value.Dense{Elem: types.F64, Rows: n, Cols: 1, Stride: 1, F64: linalg.AddPanels(panels).X}
		}
		for i := range to.Rows {
			for j := range to.Cols {
				to.Set(i, j, table.At(i*to.Cols+j, 0).Convert(to.Elem))
			}
		}
	}
	return true
}
