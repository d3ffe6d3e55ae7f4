package kernels

// This file runs elementwise operators and fused chains as loops: the index space is cut into windows of rows, or of rows and
// columns where rows are long, and each worker executes the chain on the windows that it is given.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

const (
	// leafElements is about how many elements are the least that a worker is given: some microseconds of work, so that a claim
	// of a hundred nanoseconds does not count.
	leafElements = 1 << 14
	// longRow is from how many columns on rows are cut: a matrix of few long rows would have too few windows.
	longRow = 1 << 16
)

// windows is how the index space of a rows x cols result is cut into iterations: each is one row and the columns of one of segs segments of
// width columns.
type windows struct{ n, leaf, segs, width int }

// windowsOf depends on the shape alone. With a transposed operand leaves are multiples of the 64 rows that are turned at a time.
func windowsOf(t types.Type, trans bool) windows {
	if !t.IsDense() || !t.Known() || t.Rows == 0 || t.Cols == 0 {
		return windows{}
	}
	w := windows{n: t.Rows, segs: 1, width: t.Cols}
	if t.Cols >= 2*longRow {
		w.segs = (t.Cols + longRow - 1) / longRow
		w.width = longRow
		w.n = t.Rows * w.segs
	}
	w.leaf = max(1, leafElements/w.width)
	if trans && w.segs == 1 {
		w.leaf = (w.leaf + panel - 1) / panel * panel
	}
	return w
}

// elementLoop is the Loop of rows that run executes by a program.
func elementLoop(run *engine, program programmer) *op.Loop {
	idle := &sync.Pool{}
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) {
			w := windowsOf(c.Type, transposes(c))
			return w.n, w.leaf
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			l, ok := idle.Get().(*elementBody)
			if !ok {
				l = &elementBody{idle: idle, run: run, program: program}
			}
			return l, l.begin(c, workers)
		},
	}
}

// programmer makes the program of a call, in one if there is none yet, and its operands.
type programmer func(c *op.Call, one *op.Program) (*op.Program, []value.Value, error)

// programOf is the call's own program, of a fused chain, or that of its operator alone.
func programOf(c *op.Call, one *op.Program) (*op.Program, []value.Value, error) {
	if c.Body != nil {
		return c.Body, c.In, nil
	}
	return one, c.In, single(one, c)
}

// transposes reports that a fused chain reads an operand transposed.
func transposes(c *op.Call) bool {
	if c.Body == nil {
		return false
	}
	for _, o := range c.Body.In {
		if o.Mode == op.Trans {
			return true
		}
	}
	return false
}

// elementBody is one execution.
type elementBody struct {
	windows
	idle    *sync.Pool
	run     *engine
	program programmer
	out     *value.Dense
	p       *op.Program
	in      []value.Value
	one     op.Program // of a single operator
	by      []elementWorker
}

// elementWorker is what one worker needs for it: a machine bound to the whole operands, and a view of each for the window in hand.
type elementWorker struct {
	m    *machine
	base []*value.Dense // of every operand, nil for a scalar
	view []value.Dense
	out  value.Dense
	_    [128]byte
}

func (l *elementBody) begin(c *op.Call, workers int) (err error) {
	l.out = c.Result()
	l.windows = windowsOf(c.Type, transposes(c))
	for len(l.by) < workers {
		l.by = append(l.by, elementWorker{})
	}
	l.p, l.in, err = l.program(c, &l.one)
	return err
}

// single makes p the program of c's operator alone.
func single(p *op.Program, c *op.Call) error {
	d := c.Def
	p.In = p.In[:0]
	if p.Steps == nil {
		p.Steps = []op.Step{{Args: make([]int, 0, 3)}}
	}
	s := &p.Steps[0]
	s.Def, s.Elem, s.Args = d, c.Type.Elem, s.Args[:0]
	for i, v := range c.In {
		mode, ok := modeOf(v, c.Result())
		if !ok {
			return op.Failf(codeShape, "shapes of `%s` do not agree: %v and %v", sourceName(d), v.Type(), c.Type)
		}
		p.In = append(p.In, op.Operand{Elem: v.Type().Elem, Mode: mode})
		s.Args = append(s.Args, i)
	}
	return nil
}

// Chunk runs the chain on windows lo..hi-1.
func (l *elementBody) Chunk(worker, lo, hi int) error {
	w := &l.by[worker]
	if w.m == nil {
		w.bind(l)
	}
	if l.segs == 1 {
		return w.window(l.out, lo, 0, hi-lo, l.width)
	}
	for ; lo < hi; lo++ {
		j := lo % l.segs * l.width
		if err := w.window(l.out, lo/l.segs, j, 1, min(l.width, l.out.Cols-j)); err != nil {
			return err
		}
	}
	return nil
}

// bind takes a machine and compiles the chain for the worker.
func (w *elementWorker) bind(l *elementBody) {
	m := l.run.machine()
	m.compile(l.p)
	m.assign(len(l.p.In))
	m.bind(l.p, l.in, l.out)
	w.m = m
	w.base = w.base[:0]
	for k := range m.in {
		w.base = append(w.base, m.in[k].d)
	}
	for len(w.view) < len(w.base) {
		w.view = append(w.view, value.Dense{})
	}
}

// window runs the chain on rows x cols elements from (i, j) on.
func (w *elementWorker) window(out *value.Dense, i, j, rows, cols int) error {
	m := w.m
	for k, d := range w.base {
		if d == nil {
			continue
		}
		v := &w.view[k]
		switch m.in[k].mode {
		case op.Full:
			d.Window(v, i, j, rows, cols)
		case op.Trans:
			d.Window(v, j, i, cols, rows)
		case op.RowVec:
			d.Window(v, 0, j, 1, cols)
		case op.ColVec:
			d.Window(v, i, 0, rows, 1)
		default:
			continue
		}
		m.in[k].d = v
	}
	out.Window(&w.out, i, j, rows, cols)
	return m.loop(&w.out)
}

// End gives the machines back; they must not keep the call's memory alive.
func (l *elementBody) End() error {
	for i := range l.by {
		w := &l.by[i]
		if w.m == nil {
			continue
		}
		for k := range w.m.in {
			w.m.in[k] = operand{}
		}
		clear(w.m.regs)
		l.run.idle.Put(w.m)
		w.m = nil
		clear(w.base)
		clear(w.view)
		w.out = value.Dense{}
	}
	l.out, l.p, l.in = nil, nil, nil
	l.idle.Put(l)
	return nil
}
