package kernels

// This file compiles the bodies of parfors, and runs those that are nests.

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// bodyCode is a compiled body: the nests of each form that was needed, and its actions if there are
// none. It is safe for concurrent use.
type bodyCode struct {
	body    *op.Body
	varies  []bool        // by register
	uniform []int         // actions with the same value in every iteration, in order, without constants and drawn
	numbers []value.Value // by register, the constants; nil for others
	acts    []int         // actions whose values differ from iteration to iteration
	// drawn lists the constructors from which every iteration reads its own row, and lists of pairs. Loops
	// need none of them.
	drawn []int
	carry []int64         // inputs that get rows while the loop runs (op.CarryAttr)
	cells []nest.MemoCell // values in nested bodies that are the same in every iteration
	keep  *nest.MemoMap

	work  int           // about the actions of an iteration
	seen  atomic.Int64  // actions that executions so far have run
	words atomic.Int32  // of exact sums, so many that they mostly suffice; 0: not known yet
	slow  atomic.Int64  // points whose sums were not sure: see wider
	plan  *nest.RowPlan // of a body that gives rows by phases; nil of others
	long  *nest.RowPlan // of a body by phases over long vectors that it reduces, where it is no single nest
	apart atomic.Bool   // numbers of a row were too far apart for the sums of phases
	waits waits         // of lanes for one another
	forms define.Made[nestKey, *nestMade]
	rows  define.Made[nestKey, *rowForm] // by phases, or with calls

	// calls plans a body with operators that have no form in loops; nil: it is another, or the reason why
	// not.
	calls func() (*nest.CallPlan, string)
}

type nestKey struct {
	nest.Form
	dims   int
	by     [2]int
	tables bool // see nestTable
	long   bool // see bodyCode.long
}

// nestMade is a body as a nest that can be run, or why it is none.
type nestMade struct {
	loop  *launch.Loop // on the target of the process
	small *launch.Loop // interpreted
	body  *nest.Body
	why   string
	open  bool // values tell when an inner loop ends
	// refill is the loop with lanes that take the next point; nil: it has no such form.
	refill *nestRefill
	idle   sync.Pool // of *boundBody, on the target of the process
	// tables are the operands behind those of body.
	tables []nestTable
}

// compileBody compiles a body whose first dims arguments are the indices.
func compileBody(b *op.Body, dims int) *bodyCode {
	varies := make([]bool, len(b.Args)+len(b.Acts))
	c := &bodyCode{body: b, varies: varies, uniform: []int{}, acts: []int{}, work: nest.ActionsOf(b), numbers: make([]value.Value, len(varies))}
	for d := range dims {
		varies[d] = true
	}
	for k := range b.Acts {
		v := false
		for _, x := range b.Acts[k].Args {
			// A drawn matrix has no memory: each point draws what it reads, even if all points read the same.
			from := x - len(b.Args)
			v = v || varies[x] || from >= 0 && b.Acts[from].Attrs.Bool("drawn")
		}
		switch varies[len(b.Args)+k] = v; {
		case v:
			c.acts = append(c.acts, k)
		case b.Acts[k].Attrs.Bool("drawn"):
			c.drawn = append(c.drawn, k)
		default:
			if x := constantOf(&b.Acts[k]); x != nil {
				c.numbers[len(b.Args)+k] = x
			} else {
				c.uniform = append(c.uniform, k)
			}
		}
	}
	for _, k := range nest.LazyPairs(b, varies) {
		c.uniform = slices.DeleteFunc(c.uniform, func(u int) bool { return u == k })
		c.drawn = append(c.drawn, k)
	}
	c.cells, c.keep = nest.FindMemos(b, varies)
	if dims == 1 {
		c.plan, c.long = nest.PlanParfor(b, varies), nest.PlanLong(b, varies)
	}
	nest.PlanPoint(b)
	c.calls = sync.OnceValues(func() (*nest.CallPlan, string) { return nest.PlanCalls(b, varies, c.keep, dims) })
	return c
}

// constantOf returns the value of a constant, and nil for other actions. A parfor in an iterate begins
// in every round, so its constants are not made there.
func constantOf(a *op.Action) value.Value {
	if a.Def.Role != op.Constant || a.Def.Ref == nil {
		return nil
	}
	v, err := a.Def.Ref(&op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type})
	if err != nil {
		return nil
	}
	return v
}

// compiledOf is the compiled body of a parfor.
func compiledOf(c *op.Call, dims int) *bodyCode {
	return c.Bodies[0].Compiled(func(b *op.Body) any {
		code := compileBody(b, dims)
		code.carry = c.Attrs.Ints(op.CarryAttr)
		return code
	}).(*bodyCode)
}

// nestWrittenFrom is from how many actions on a body is written as a nest, which the interpreter
// runs: so long does it take to write it.
const nestWrittenFrom = 2000

// nestFrom is from how many actions on a loop is worth being compiled: some ten times as long as
// compiling takes.
const nestFrom = 200_000

// loopsFrom is nestFrom, but for tests.
var loopsFrom atomic.Int64

func init() { loopsFrom.Store(nestFrom) }

// rowsBegun counts the executions of bodies that ran by phases. rowsWidened counts the workers that
// went on with sums of more words there.
var rowsBegun, rowsWidened atomic.Int64

// LoopsBegun is how many executions of loops in this process have run compiled, for tests.
func LoopsBegun() int64 { return launch.Begun.Load() }

// RowsBegun is how many of them have gone over rows and columns by phases.
func RowsBegun() int64 { return rowsBegun.Load() }

// RowsWidened is how often a worker of a body by phases has gone on with sums of more words.
func RowsWidened() int64 { return rowsWidened.Load() }

// LoopsShared is how many loops in rounds were run in parts, by several workers.
func LoopsShared() int64 { return nest.Shared.Load() }

// LoopsFrom sets from how many actions on the bodies of loops are compiled, for tests: 0 compiles
// all. What is computed does not change.
func LoopsFrom(actions int64) {
	loopsFrom.Store(actions)
	nest.ShareFrom(1 + nest.TeamFrom*min(actions, nestFrom)/nestFrom)
}

// form is the body in one form, made when it is first asked for.
func (c *bodyCode) form(k nestKey, names string) *nestMade {
	return c.forms.Of(k, func() *nestMade {
		m := &nestMade{}
		if m.body, m.why = nest.WriteBody(c.body, c.varies, c.keep, k.dims, k.by, names, k.Form); m.body != nil {
			loopNest := m.body.Nest
			if k.tables {
				loopNest, m.tables = c.tabulated(m.body, k.dims)
			}
			m.loop, m.small = nest.LoopOf(loopNest), launch.Interpreted(loopNest)
			m.refill = refillOf(loopNest)
			m.open = endless(loopNest)
		}
		return m
	})
}

// begin binds the body to an execution in the first way that can run it; nil if it has to be run an
// operator at a time. Little work is interpreted, or run so, and brief says that this is why.
func (c *bodyCode) begin(r *parforRun) (of nestBound, brief bool) {
	from, work := loopsFrom.Load(), c.seen.Add(int64(c.work)*int64(r.space.n[0])*int64(r.space.width()))
	if work < min(from, nestWrittenFrom) {
		return nil, true
	}
	ways := []nestWay{c.whole(true)}
	if work >= from {
		if ways = []nestWay{c.phased(false), c.whole(false), c.phased(true), c.withCalls}; nest.Heavy(c.body, c.varies) {
			ways = slices.Insert(ways, 1, c.withCalls)
		}
	}
	for _, bind := range ways {
		for _, affine := range []bool{true, false} {
			x, err := bind(r, affine)
			if err == nil {
				if work >= from {
					launch.Begun.Add(1)
				}
				return x, work < from
			} else if !errors.Is(err, launch.ErrOutside) && !errors.Is(err, errNoNest) {
				break
			}
		}
	}
	return nil, work < from
}

// inLanes returns the loop whose lanes are the points of a space of one index. It is nil as long as
// little work has been seen, and where a body runs by phases or has operators that are called for each
// point. It is nil for loops whose end the values tell, too: if the first point fails, others may be
// without end.
func (c *bodyCode) inLanes(s *indexSpace, names string) *launch.Loop {
	if !c.lanewise(s) || nest.Heavy(c.body, c.varies) {
		return nil
	}
	m := c.form(nestKey{Form: nest.Form{Affine: true, Words: c.sums()}, dims: 1, by: s.by, tables: true}, names)
	if m.open {
		return nil
	}
	return m.loop
}

// lanewise reports a body whose lanes may be the points of a space of one index.
func (c *bodyCode) lanewise(s *indexSpace) bool {
	return c.seen.Load()+int64(c.work)*int64(s.n[0]) >= loopsFrom.Load() && c.plan == nil
}

// roundsInLanes reports that points are the lanes of rounds between calls. It takes the rounds to cost
// more than the calls. It is false for rounds whose end the values tell, as for inLanes.
func (c *bodyCode) roundsInLanes(s *indexSpace) bool {
	if !c.lanewise(s) {
		return false
	}
	p, f := c.callForm(true, 1, s.by)
	if f == nil || !p.Rounds() {
		return false
	}
	return !slices.ContainsFunc(f.nests(), endless)
}

// endless reports a loop whose end the values tell.
func endless(n *loop.Nest) bool {
	return loop.Some(n.Body.Stmts, func(s *loop.Stmt) bool { return s.Loop != nil && s.Loop.Index.Range.Kind == loop.Forever })
}

// nestWay binds a body to an execution in one form. The error is errNoNest, or why its loops cannot
// run.
type nestWay func(r *parforRun, affine bool) (nestBound, error)

// whole is the way of a body that is one nest, which may be interpreted.
func (c *bodyCode) whole(small bool) nestWay {
	return func(r *parforRun, affine bool) (nestBound, error) {
		n := &nestRun{code: c, r: r, words: c.sums(), small: small, tables: !small}
		var err error
		n.run, err = n.bind(affine, n.words)
		return n, err
	}
}

// sums is of how many words exact sums are at first.
func (c *bodyCode) sums() int { return max(1, int(c.words.Load())) }

// nestRun is one execution of a body as a nest.
type nestRun struct {
	code     *bodyCode
	r        *parforRun
	run      *boundBody
	affine   bool
	small    bool // it is interpreted
	tables   bool // it reads tables, if that pays
	words    int  // of the sums of run
	operands []nest.Operand
	refill   refillRun
	// wider is the same with sums of more words, made when fewer were not enough.
	wider [nest.WideWords + 1]struct {
		once sync.Once
		run  *boundBody
	}
}

// errNoNest says that a body is no nest.
var errNoNest = errors.New("the body is no nest")

func (n *nestRun) bind(affine bool, words int) (*boundBody, error) {
	r := n.r
	n.affine = affine
	m := n.form(words)
	if m.loop == nil {
		return nil, errNoNest
	}
	if len(m.tables) > 0 && !n.early(m) {
		n.tables = false
		return n.bind(affine, words)
	}
	b := m.binding(2 * r.space.dims)
	for d := range r.space.dims {
		b.in = append(b.in, r.space.bounds(d)...)
	}
	n.operands = m.body.Operands
	for _, o := range n.operands {
		b.in = append(b.in, r.operand(o))
	}
	if len(m.tables) > 0 {
		made, ok := n.makeTables(m.tables, b.in)
		if !ok {
			b.rest()
			n.tables = false
			return n.bind(affine, words)
		}
		b.in = append(b.in, made...)
	}
	l := m.loop
	if n.small {
		l, b = m.small, &boundBody{in: b.in, Run: launch.Run{Stays: b.Stays}}
	} else {
		n.refill.of, n.refill.in = m.refill, b.in
	}
	if err := b.to(l, r.out); err != nil {
		if !n.small {
			b.rest()
		}
		return nil, err
	}
	if len(b.workers) != len(r.chunk) {
		b.workers = make([]nestWorker, len(r.chunk))
	}
	return b, nil
}

// form is the body as it runs with sums of so many words.
func (n *nestRun) form(words int) *nestMade {
	r := n.r
	return n.code.form(nestKey{Form: nest.Form{Affine: n.affine, Words: words}, dims: r.space.dims, by: r.space.by, tables: n.tables}, r.c.Attrs.Str("names"))
}

// after is of how many words the sums are that are tried where those of so many are not sure; 0:
// there are no others.
func (n *nestRun) after(words int) int {
	for k := words + 1; k <= nest.WideWords; k++ {
		if n.form(k).loop != n.form(words).loop && n.with(k) != nil {
			return k
		}
	}
	return 0
}

// with is the run with sums of so many words, or nil.
func (n *nestRun) with(words int) *boundBody {
	if words == n.words {
		return n.run
	}
	x := &n.wider[words]
	x.once.Do(func() {
		again := nestRun{code: n.code, r: n.r, small: n.small, tables: n.tables} // other workers read n
		x.run, _ = again.bind(n.affine, words)
	})
	return x.run
}

// nestWorker is one worker.
type nestWorker struct {
	n      *nestRun
	number int
	words  int // of the sums that have most likely no doubts
	sums   [nest.WideWords + 1]nestSums
	fill   *launch.Worker // with lanes that take the next point; nil until it is needed
	halt   func() bool    // stopped, made once
	// tried and doubts count the points, some together, that were looked at again, and those that
	// needed wider sums.
	tried, doubts int
	asked         bool // what a point needed was known: there may be cells that none needs
}

// nestSums is a worker with sums of some words, made when it is needed.
type nestSums struct {
	*launch.Worker
	cells cellReader
}

func (n *nestRun) points(number int) points {
	return n.run.worker(n, number)
}

// step is how many lanes are in doubt together. Windows may be of any size.
func (n *nestRun) step() (lanes int, more bool) { return doubtLanes, true }

// with is the worker with sums of so many words.
func (w *nestWorker) with(words int) *nestSums {
	x := &w.sums[words]
	if x.Worker == nil {
		x.Worker, x.cells = w.n.with(words).Worker(), newCellReader(w.n.r, w.n.operands, 2*w.n.r.space.dims)
	}
	return x
}

// free gives the workers' memory back.
func (w *nestWorker) free() {
	for k := range w.sums {
		if x := &w.sums[k]; x.Worker != nil {
			x.Free()
			x.Worker = nil
		}
	}
	if w.fill != nil {
		w.fill.Free()
		w.fill = nil
	}
}

func (w *nestWorker) stopped() bool {
	if w.n.small { // the interpreter asks after some thousand rounds
		w.n.r.work[w.number].tooLong(briefRounds)
	}
	return w.n.r.stopped(w.number)
}

const (
	// doubtLanes is how many lanes of a row are in doubt together.
	doubtLanes = 16
	// someDoubts is from how many of them on a worker draws conclusions.
	someDoubts = 8
)

// often reports so many doubts that it is worth asking for wider sums at once.
func often(doubts, tried int64) bool { return doubts >= someDoubts && 4*doubts > tried }

// window runs the nest, and on a few lanes again with wider sums where those of fewer words are not
// sure.
func (w *nestWorker) window(a area) (done bool, err error) {
	var flagged bool
	if w.refills(a.i0, a.i1, a.j0, a.j1) {
		flagged, err = w.taking(a.i0, a.i1, a.j0, a.j1)
	} else {
		flagged, err = w.evaluate(w.with(w.words), a.i0, a.i1, a.j0, a.j1)
	}
	switch {
	case err != nil:
	case a.rows() == 1 && a.cols() <= doubtLanes:
		flagged, err = w.doubted(a, flagged)
	case !flagged:
		w.tried += a.rows() * ((a.cols() + doubtLanes - 1) / doubtLanes)
	}
	if err != nil {
		return false, op.ErrStopped
	}
	return !flagged, nil
}

// wider reports that the sums of some lanes are computed again with more words. To write a body with
// such sums and to compile it takes 8 to 20 ms, and a single point 0.05 ms by definition. So there have
// to be as many points in doubt. If only a run tells how long a point takes, the first one is enough.
func (w *nestWorker) wider(a area) bool {
	c := w.n.code
	if a.cols() == 1 {
		c.slow.Add(1)
	}
	return c.slow.Load()*int64(c.work) >= loopsFrom.Load()/2 || w.n.form(w.words).open
}

// doubted runs the nest on a few lanes with wider sums as long as those of fewer words are flagged.
func (w *nestWorker) doubted(a area, doubt bool) (flagged bool, err error) {
	n := w.n
	w.tried++
	if flagged = doubt; doubt && !w.wider(a) {
		return true, nil
	}
	for words := w.words; flagged && err == nil && (w.asked || !w.with(w.words).cells.ignorant()); {
		if words = n.after(words); words == 0 {
			return true, nil
		}
		if flagged, err = w.evaluate(w.with(words), a.i0, a.i1, a.j0, a.j1); !flagged && err == nil {
			w.doubts++
			if often(int64(w.doubts), int64(w.tried)) { // wider sums spare more than they cost
				w.words, w.tried, w.doubts = n.after(w.words), 0, 0
				n.code.words.Store(int32(w.words))
			}
		}
	}
	return flagged, err
}

// looked notes that a point was evaluated in another way, which computed the cells that it needs.
func (w *nestWorker) looked() {
	x := w.with(w.words)
	w.asked = !x.cells.learn(x.Worker)
}

// evaluate runs the nest on rows r0..r1-1 and lanes l0..l1-1.
func (w *nestWorker) evaluate(x *nestSums, r0, r1, l0, l1 int) (flagged bool, err error) {
	x.cells.learn(x.Worker)
	return x.Window(r0, r1, l0, l1, w.halt)
}
