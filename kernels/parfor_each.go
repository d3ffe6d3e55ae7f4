package kernels

// This file evaluates points of a parfor: by loops, or one after the other where there are none, or
// where they say nothing of a point. Then every action is a call of its kernel.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
	"flow/kernels/window"
)

// nestBound is a body as loops that are bound to an execution.
type nestBound interface {
	// points is what a worker has.
	points(number int) points
	// step is how many lanes of a row are in doubt together; more: windows may be larger.
	step() (lanes int, more bool)
}

// boundBody is a body bound to operands and a result. The next execution binds it again in the same
// memory, since mostly only addresses differ. A new binding would allocate some 2 KB in each round
// of an iterate.
type boundBody struct {
	launch.Run
	made  *nestMade
	bound bool
	in    []value.Value
	out   [1]*value.Dense
	// workers are the workers of the execution. The next execution uses their memory again.
	workers []nestWorker
}

// binding returns a boundBody that no execution uses. lead is the number of operands before those
// of the nest.
func (m *nestMade) binding(lead int) *boundBody {
	if b, ok := m.idle.Get().(*boundBody); ok {
		b.in = b.in[:0]
		return b
	}
	b := &boundBody{made: m, in: make([]value.Value, 0, lead+len(m.body.Operands)+len(m.tables))}
	b.Stays = nest.Stays(m.body.Operands, lead)
	return b
}

// to binds l to the operands in b.in and to a result.
func (b *boundBody) to(l *launch.Loop, out *value.Dense) error {
	b.out[0] = out
	if b.bound && b.Again(b.in, b.out[:]) {
		return nil
	}
	err := l.Bind(&b.Run, b.in, b.out[:])
	b.bound = err == nil
	return err
}

// worker returns worker number of execution n.
func (b *boundBody) worker(n *nestRun, number int) *nestWorker {
	w := &b.workers[number]
	halt := w.halt
	if halt == nil {
		halt = w.stopped
	}
	*w = nestWorker{n: n, number: number, words: n.words, halt: halt}
	return w
}

// rest gives b to the next execution. It drops all references to values.
func (b *boundBody) rest() {
	clear(b.in)
	b.out[0] = nil
	for k := range b.workers {
		b.workers[k].n = nil
	}
	b.made.idle.Put(b)
}

// rest releases the bindings of an execution whose workers have ended.
func (n *nestRun) rest() {
	if n.run != nil && !n.small {
		n.run.rest()
	}
	for k := range n.wider {
		if run := n.wider[k].run; run != nil && !n.small {
			run.rest()
		}
	}
}

// points evaluates points by loops.
type points interface {
	// window evaluates points; done is false if one of them has no value by the loops. Lanes are those
	// of the last index, rows those of the first of two. Results that are there already are
	// written again, with the same bytes.
	window(a area) (done bool, err error)
	free()
}

// pointWorker is one worker of an execution.
type pointWorker struct {
	r      *parforRun
	of     nestBound // nil: there are no loops
	number int
	points             // nil until there is a chunk
	each   *eachWorker // nil until it is needed
	// brief says that of was chosen because little work was expected. rounds counts the rounds of inner
	// loops since then, and long says that they are too many.
	brief, long bool
	rounds      int
}

// briefRounds is how many rounds of inner loops a worker runs by definition, or by the interpreter,
// before it asks for machine code: the estimate (nest.ActionsOf) does not know how many rounds there
// are.
const briefRounds = 1 << 11

// tooLong counts rounds and reports whether the worker should go on with machine code.
func (w *pointWorker) tooLong(rounds int) bool {
	if w.brief {
		w.rounds += rounds
		w.long = w.rounds > briefRounds
	}
	return w.long
}

// run computes the points from..to-1, counted row after row, into out, or only finds out whether one of
// them fails when out is nil. The failure may be any; which point is the first to fail, run does not
// know. It asks whether it is stopped in between, also in loops of the body, and then gives up with
// op.ErrStopped.
func (w *pointWorker) run(from, to int, out *value.Dense) error {
	err := w.part(from, to, out)
	if err != op.ErrStopped || !w.long {
		return err
	}
	w.free()
	w.points, w.brief, w.long = nil, false, false
	r := w.r
	r.more.once.Do(func() {
		r.code.seen.Add(nestFrom)
		r.more.loops, _ = r.code.begin(r)
	})
	if r.more.loops != nil {
		w.of = r.more.loops
	}
	return w.part(from, to, out)
}

// part is run by the loops that the worker has now.
func (w *pointWorker) part(from, to int, out *value.Dense) error {
	if w.of == nil {
		return w.one(from, to, out)
	}
	if w.points == nil {
		w.points = w.of.points(w.number)
	}
	for lanes := w.r.space.lanes(); from < to; {
		i, j := from/lanes, from%lanes
		a := area{i, i + max(1, (to-from)/lanes), 0, lanes}
		if n := to - from; j > 0 || n < lanes {
			a = area{i, i + 1, j, min(j+n, lanes)}
		}
		if err := w.rows(a); err != nil {
			return err
		}
		from += a.rows() * a.cols()
	}
	return nil
}

// one runs points one after the other.
func (w *pointWorker) one(from, to int, out *value.Dense) error {
	if w.each == nil {
		if err := w.r.complete(); err != nil {
			return err
		}
		w.each = w.r.eachWorker(w.number)
	}
	return w.each.run(from, to, out)
}

// rows evaluates points: together if they may be, else, and where one of them has no value so, some
// lanes at a time.
func (w *pointWorker) rows(a area) error {
	step, more := w.of.step()
	if more && (a.rows() > 1 || a.cols() > step) {
		if done, err := w.window(a); done || err != nil {
			return err
		}
	}
	return a.tiles(1, step, w.halved)
}

// halved evaluates lanes of a row. Where one has no value by the loops it halves them, until it has
// found the points that have none.
func (w *pointWorker) halved(a area) error {
	done, err := w.window(a)
	switch {
	case err != nil || done:
		return err
	case a.cols() > 1:
		j := (a.j0 + a.j1) / 2
		if err := w.halved(area{a.i0, a.i1, a.j0, j}); err != nil {
			return err
		}
		return w.halved(area{a.i0, a.i1, j, a.j1})
	}
	p := a.i0*w.r.space.lanes() + a.j0
	if err := w.one(p, p+1, w.r.out); err != nil {
		return err
	}
	if n, is := w.points.(*nestWorker); is {
		n.looked()
	}
	return nil
}

func (w *pointWorker) free() {
	if w.points != nil {
		w.points.free()
	}
	if w.each != nil {
		w.each.Free()
	}
}

// eachWorker is one worker's registers and memory.
type eachWorker struct {
	*nest.Interpreter
	r *parforRun
	// within is the call as actions see it.
	within op.Call
	row    value.Dense
}

// eachWorker is worker number number, which runs the actions that are not the same in every iteration.
func (r *parforRun) eachWorker(number int) *eachWorker {
	w := &eachWorker{r: r, within: op.Call{Env: r.c.Env, Read: r.c.Read, Stopped: func() bool { return r.stopped(number) }}}
	w.Interpreter = nest.NewPoint(r.c.Bodies[0], r.code.acts, false, &w.within, &r.kept, r.code.keep, loopsFrom.Load())
	copy(w.Reg, r.values)
	return w
}

func (w *eachWorker) run(from, to int, out *value.Dense) error {
	s := &w.r.space
	for p := from; p < to; p++ {
		if w.within.Ended() {
			return op.ErrStopped
		}
		w.Reg[0] = value.I64(s.at(0, p/s.width()))
		if s.dims == 2 {
			w.Reg[1] = value.I64(s.at(1, p%s.width()))
		}
		if err := w.Interpreter.Run(); err != nil {
			return err
		}
		if out == nil {
			continue
		}
		switch y := w.Out[0].(type) {
		case *value.Dense:
			out.Window(&w.row, p, 0, 1, out.Cols)
			w.row.CopyFrom(y)
		case value.Scalar:
			out.Set(p/s.width(), p%s.width(), y)
		}
	}
	return nil
}

// pairs returns the row for a parfor whose second range depends on its first index. It lists the pairs,
// over which the loop then goes.
func pairs() *op.Def {
	return define.ByKernel(&op.Def{
		Name: "pairs", Hidden: true, Role: op.Pairs,
		Doc: "pairs is a row (i, j) for each i of the rows (i, lo, hi) of a matrix and each j = lo, lo + by, .. before hi, in this order. The compiler " +
			"writes it for `parfor i in 0..n, j in 0..i { .. }`.",
		Args: []op.Arg{{Name: "a", Doc: "n x 3, i64"}, {Name: "by", Attr: true, Kind: op.IntVal, Doc: "step of j, not 0"},
			{Name: "through", Attr: true, Kind: op.BoolVal, Doc: "hi is included"}, {Name: "rows", Attr: true, Kind: op.IntVal, Doc: "the number of pairs, -1 where only the run knows"}},
		Eg:   []op.Example{{Program: "emit t(parfor i in 0..4, j in 0..i { 10 * i + j })", Output: "10 20 21 30 31 32\n"}},
		Type: pairsType, Laws: op.Pure, Rate: "copy", Cost: define.CopyWork,
		Kernel: pairsKernel,
		Loop: &op.Loop{
			Rows:  func(_ *op.Sig, out types.Type) int { return max(0, out.Rows) },
			Space: func(c *op.Call) (n, leaf int) { return max(0, c.Type.Rows), window.LeafElements / 2 },
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return beginPairs(c), nil },
		},
	})
}

func pairsType(s *op.Sig) (types.Type, error) {
	if t := s.In[0]; !t.IsDense() || t.Elem != types.I64 || !define.Agree(t.Cols, 3) {
		return t, op.Faultf(0, define.CodeKind, "pairs takes rows of an index and two bounds; this is %s", t)
	}
	n := s.Attrs.Int("rows")
	if n < 0 {
		n = types.Unknown
	}
	return types.DenseOf(types.I64, n, 2), nil
}

// pairCount is the number of j of row i.
func pairCount(c *op.Call, a *value.Dense, i int) int {
	r := a.I64[i*a.Stride:]
	return steps(r[1], r[2], int64(c.Attrs.Int("by")), c.Attrs.Bool("through"))
}

// pairsKernel makes all pairs, for a list whose length may be known to the run alone.
func pairsKernel(c *op.Call) error {
	l := beginPairs(c)
	t := types.DenseOf(types.I64, l.first[len(l.first)-1], 2)
	if err := define.Fits(t); err != nil {
		return err
	}
	if c.Out == nil {
		c.Out = value.New(types.I64, t.Rows, 2)
	}
	return l.Chunk(0, 0, t.Rows)
}

// pairsBody is one execution of pairs. The pairs of row i of the input begin with pair first[i].
type pairsBody struct {
	c     *op.Call
	first []int
}

func beginPairs(c *op.Call) *pairsBody {
	a := c.Dense(0)
	l := &pairsBody{c: c, first: make([]int, a.Rows+1)}
	for i := range a.Rows {
		l.first[i+1] = min(l.first[i]+min(pairCount(c, a, i), types.MaxSide), types.MaxSide)
	}
	return l
}

// Chunk makes pairs lo..hi-1.
func (l *pairsBody) Chunk(_, lo, hi int) error {
	a, out, by := l.c.Dense(0), l.c.Result(), int64(l.c.Attrs.Int("by"))
	i, _ := slices.BinarySearch(l.first, lo+1) // the row before it has pair lo
	for k := lo; k < hi; i++ {
		r, first := a.I64[(i-1)*a.Stride:], l.first[i-1]
		for ; k < min(hi, l.first[i]); k++ {
			at := out.I64[k*out.Stride:]
			at[0], at[1] = r[0], r[1]+int64(k-first)*by
		}
	}
	return nil
}

// End does nothing: chunks have made all pairs.
func (l *pairsBody) End() error { return nil }
