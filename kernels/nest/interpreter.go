package nest

// This file runs a body by the kernels of its actions, one after the other. Every run uses the same
// memory.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// Interpreter runs one body for one worker. The results of a run lie in the interpreter's memory, or in
// that of the arguments, and are valid until the next run.
type Interpreter struct {
	body *op.Body
	Acts []int // those that are run, in order
	// Reg has the values of the registers. With stages, num has those of numbers, and their Reg may be nil.
	// elem is the type of a number, NoElem for other registers. num and elem are nil without stages.
	Reg   []value.Value
	num   []loop.Word
	elem  []types.Elem
	calls []op.Call
	// scalars is room for the operands of elementwise actions on scalars, which need no kernel.
	scalars [][]value.Scalar
	plain   []bool   // by action: see plain
	inner   []nested // of actions that are loops or branches
	Slot    []int    // of each action, the place of its result in mem; -1: its kernel makes the memory
	// spare is, by action, the memory of its last result whose size only the run tells. nil: none is used
	// again, because rounds may read what the ones before them made.
	spare []*value.Dense
	Mem   []*value.Dense
	Out   value.Tuple
	whole value.Value // out
	// cells says which actions have their values in kept, nil for none.
	cells []int
	kept  *Memo
	// held is the values of other actions that are marked (attribute keep), once they have been
	// computed: each holds until the outermost of the loops in which it is the same begins again.
	held []value.Value
	keep []int // the attribute, of every action
	// stages is which actions run as one loop; nil: none do. runs is of the last action of each.
	stages      *Stages
	runs        []stageRun
	turns       []int          // the actions at whose turn something runs, without stages in place
	own         []*value.Dense // by carried argument, the memory for stages in place: see Stages.over
	compileFrom int64          // see worthwhile
	stopped     func() bool
	team        *Team // shares large stages; nil: one worker runs all
	owner       int   // the worker of team that runs it
	given       bool  // of the body of a loop: it has the arguments that stay the same
	// turned has transposed copies of invariant matrices. All interpreters of a run share it.
	turned map[*value.Dense]*value.Dense
}

// nested is what runs the bodies of a loop or a branch.
type nested struct {
	// body is the two sides of a branch. For a loop it is an interpreter of even rounds and one of odd
	// rounds, because a round reads what the one before it made.
	body  [2]*Interpreter
	cond  *Interpreter
	batch *batch // nil: rounds are made one by one
	// kept has copies of carried values that do not lie in the interpreter's memory, of even and odd
	// rounds.
	kept [2][]*value.Dense
	// own is, by carried value, the memory for stages in place; nil: there is none.
	own   []*value.Dense
	args  []value.Value
	whole value.Value // the carried ones of args
}

// all returns the interpreters of the bodies. Some are nil.
func (in *nested) all() [3]*Interpreter { return [3]*Interpreter{in.body[0], in.body[1], in.cond} }

// NewInterpreter makes an interpreter of the actions acts of b; nil: of all. keeps: all results stay
// valid until the next run, not the yields alone. Actions take their environment from within, and learn
// from it that they are stopped. k has the values of the cells that m describes. Both may be nil.
func NewInterpreter(b *op.Body, acts []int, keeps bool, within *op.Call, k *Memo, m *MemoMap) *Interpreter {
	return newInterpreter(b, acts, keeps, within, k, m, staging{-1, -1}, nil, nil)
}

// NewPoint is NewInterpreter for the points of a loop, whose loops and branches PlanPoint has planned.
// It runs their stages as loops once their actions have run about ten times from operations. The caller
// calls Free in the end.
func NewPoint(b *op.Body, acts []int, keeps bool, within *op.Call, k *Memo, m *MemoMap, from int64) *Interpreter {
	p := newInterpreter(b, acts, keeps, within, k, m, staging{-1, from}, nil, nil)
	p.spare = make([]*value.Dense, len(b.Acts))
	return p
}

// staging says from how many operations on the stages of a body, and those of the bodies within, are
// compiled. A negative number: no number of the body is in num, or none of those within.
type staging struct{ own, within int64 }

// newInterpreter is NewInterpreter, with stages, and in bodies within as by says.
func newInterpreter(b *op.Body, acts []int, keeps bool, within *op.Call, k *Memo, m *MemoMap, by staging, stages *Stages, turned map[*value.Dense]*value.Dense) *Interpreter {
	from := by.own
	if acts == nil {
		acts = make([]int, len(b.Acts))
		for k := range acts {
			acts[k] = k
		}
	}
	p := &Interpreter{body: b, Acts: acts, Reg: make([]value.Value, len(b.Args)+len(b.Acts)), calls: make([]op.Call, len(b.Acts)),
		scalars: make([][]value.Scalar, len(b.Acts)), inner: make([]nested, len(b.Acts)), Out: make(value.Tuple, len(b.Yields)), held: make([]value.Value, len(b.Acts)),
		keep: make([]int, len(b.Acts)), kept: k, stages: stages, compileFrom: from, stopped: within.Stopped, turned: turned}
	p.whole = p.Out
	if p.plain = make([]bool, len(b.Acts)); from >= 0 {
		p.num, p.elem = make([]loop.Word, len(p.Reg)), make([]types.Elem, len(p.Reg))
		for r := range p.elem {
			if t := b.Register(r); isNumber(t) {
				p.elem[r] = t.Elem
			}
		}
	}
	if stages != nil {
		p.runs = make([]stageRun, len(b.Acts))
		for k := range p.runs {
			p.runs[k].dear = dear(b, k)
		}
	}
	if m != nil {
		p.cells = m.Cell
	}
	for _, k := range p.Acts {
		a := &b.Acts[k]
		p.keep[k] = a.Attrs.Int("keep")
		p.calls[k] = op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type, In: make([]value.Value, len(a.Args)), Env: within.Env, Read: within.Read,
			Rounds: within.Rounds, Stopped: within.Stopped, Body: a.Chain, Bodies: a.Bodies}
		p.calls[k].Repeats()
		if a.Type.IsScalar() && a.Def.Elt != nil && a.Def.Laws.Has(op.Elementwise) && a.Chain == nil {
			p.scalars[k] = make([]value.Scalar, len(a.Args))
			p.plain[k] = from >= 0 && plain(b, k)
		}
		inner := by.within
		if slices.ContainsFunc(m.within(k), (*MemoMap).any) {
			inner = -1 // a cell is made once, a stage in each round
		}
		nest := func(body int) *Interpreter {
			var stages *Stages
			if inner >= 0 {
				stages = planOf(a.Bodies[body]).stages
			}
			inside := *within
			inside.Rounds = nil // only the outermost loop is told
			return newInterpreter(a.Bodies[body], nil, false, &inside, p.kept, m.within(k)[body], staging{inner, inner}, stages, turned)
		}
		switch in := &p.inner[k]; a.Def.Control {
		case op.Select:
			in.body = [2]*Interpreter{nest(0), nest(1)}
		case op.Iterate:
			in.body = [2]*Interpreter{nest(0), nest(0)}
			in.body[1].shareHeld(in.body[0])
			if len(a.Bodies) > 1 {
				in.cond = nest(1)
			}
			if inner >= 0 {
				in.batch = planOf(a.Bodies[0]).batch.begin()
			}
			n := a.Attrs.Int("carry")
			in.args, in.own = make([]value.Value, len(a.Args)), make([]*value.Dense, n)
			in.kept = [2][]*value.Dense{make([]*value.Dense, n), make([]*value.Dense, n)}
			in.whole = value.Tuple(in.args[:n:n])
			in.body[0].own, in.body[1].own = in.own, in.own
		}
	}
	p.place(keeps)
	p.takeTurns()
	return p
}

// takeTurns sets turns. Numbers of the program are made here, not in every round.
func (p *Interpreter) takeTurns() {
	if p.stages == nil {
		return
	}
	for _, k := range p.Acts {
		a, h := &p.body.Acts[k], p.stages.root[k]
		if h >= 0 && (h != k || p.stages.over[k] > 0) {
			continue
		}
		if a.Def.Role == op.Constant && isNumber(a.Type) && a.Def.Ref != nil {
			if v, err := a.Def.Ref(&p.calls[k]); err == nil {
				p.set(len(p.body.Args)+k, v)
				continue
			}
		}
		p.turns = append(p.turns, k)
	}
}

// place gives results their places. Two have the same one if the first is not read any more when
// the second is made. A result that no place is for may lie in the memory of an argument, which is
// therefore read as long as the result is.
func (p *Interpreter) place(keeps bool) {
	b := p.body
	first := len(b.Args)
	last := make([]int, len(p.Reg)) // the last action that reads a register
	for _, y := range b.Yields {
		last[y] = len(b.Acts)
	}
	for i := len(p.Acts) - 1; i >= 0; i-- {
		k := p.Acts[i]
		a, until := &b.Acts[k], p.when(k)
		if !owns(a) && !a.Type.IsScalar() {
			until = max(until, last[first+k])
		}
		for _, x := range a.Args {
			last[x] = max(last[x], until)
		}
	}
	p.Slot = make([]int, len(b.Acts))
	for k := range p.Slot {
		p.Slot[k] = -1
	}
	free := map[types.Type][]int{}
	release := func(r, now int) {
		if k := r - first; k >= 0 && p.Slot[k] >= 0 && last[r] <= now && !keeps {
			t := b.Acts[k].Type
			free[t] = append(free[t], p.Slot[k])
			last[r] = len(b.Acts) // once
		}
	}
	for _, k := range p.Acts {
		a := &b.Acts[k]
		switch {
		case !owns(a) || p.cell(k) > 0:
		case p.keep[k] > 0: // holds for longer than a round
			last[first+k] = len(b.Acts)
			p.Slot[k] = len(p.Mem)
			p.Mem = append(p.Mem, nil)
		default:
			if f := free[a.Type]; len(f) > 0 {
				p.Slot[k], free[a.Type] = f[len(f)-1], f[:len(f)-1]
			} else {
				p.Slot[k] = len(p.Mem)
				p.Mem = append(p.Mem, nil)
			}
		}
		for _, x := range a.Args {
			release(x, k)
		}
		if p.stages != nil {
			for _, i := range p.stages.members[k] {
				for _, x := range b.Acts[i].Args {
					release(x, k)
				}
			}
		}
		release(first+k, k)
	}
}

// when returns the action after which action k has run: the last one of its stage.
func (p *Interpreter) when(k int) int {
	switch {
	case p.stages == nil || p.stages.root[k] < 0:
		return k
	case p.stages.over[p.stages.root[k]] > 0:
		return len(p.body.Acts)
	}
	return p.stages.root[k]
}

// Run runs the actions and sets Out to the yields. The caller has set the registers of the arguments.
func (p *Interpreter) Run() error {
	if err := p.round(); err != nil {
		return err
	}
	for i, y := range p.body.Yields {
		p.Out[i] = p.get(y)
	}
	return nil
}

// round is Run, but leaves the yields in their registers. A stage runs at the turn of its last action,
// so a failure may not be the first one. Then all actions run again in their order, which finds it.
func (p *Interpreter) round() error {
	err := p.run(true)
	if err != nil && err != op.ErrStopped && p.stages != nil {
		if first := p.run(false); first != nil {
			err = first
		}
	}
	return err
}

// run runs the actions, by stages or one after the other.
func (p *Interpreter) run(stages bool) (err error) {
	if !stages || p.stages == nil {
		for _, k := range p.Acts {
			if err = p.one(k); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range p.turns {
		if p.stages.root[k] >= 0 {
			err = p.staged(k)
		} else {
			err = p.one(k)
		}
		if err != nil {
			return err
		}
	}
	if len(p.stages.last) > 0 {
		return p.runInPlace()
	}
	return nil
}

// one runs one action.
func (p *Interpreter) one(k int) error {
	r := len(p.body.Args) + k
	if x := p.scalars[k]; x != nil && p.num != nil && p.keep[k] == 0 && p.elem[r] != types.NoElem {
		v, err := p.number(k, x)
		if err != nil {
			return p.body.Acts[k].Failed(k, err)
		}
		p.Reg[r], p.num[r] = nil, loop.WordOf(v)
		return nil
	}
	v, err := p.Value(k)
	if err != nil {
		return p.body.Acts[k].Failed(k, err)
	}
	p.set(r, v)
	return nil
}

// set sets register r to v.
func (p *Interpreter) set(r int, v value.Value) {
	p.Reg[r] = v
	if p.inNum(r) {
		p.num[r] = loop.WordOf(v.(value.Scalar))
	}
}

// inNum reports whether the value of register r is in num.
func (p *Interpreter) inNum(r int) bool { return p.num != nil && p.elem[r] != types.NoElem }

// get returns the value of register r.
func (p *Interpreter) get(r int) value.Value {
	if p.Reg[r] == nil && p.inNum(r) {
		p.Reg[r] = loop.ScalarOf(p.elem[r], p.num[r])
	}
	return p.Reg[r]
}

// number computes action k, which is elementwise on scalars. x is memory for its operands.
func (p *Interpreter) number(k int, x []value.Scalar) (value.Scalar, error) {
	a := &p.body.Acts[k]
	for i, r := range a.Args {
		if p.inNum(r) {
			x[i] = loop.ScalarOf(p.elem[r], p.num[r])
		} else {
			x[i] = p.Reg[r].(value.Scalar)
		}
	}
	if p.plain[k] {
		return a.Def.Elt(x), nil
	}
	return define.ApplyElt(a.Def, a.Type.Elem, x)
}

// plain reports whether action k takes numbers of exactly its operands' types and cannot fail. Its Elt
// then needs nothing that define.ApplyElt does besides.
func plain(b *op.Body, k int) bool {
	a := &b.Acts[k]
	var elems []types.Elem
	for _, r := range a.Args {
		elems = append(elems, b.Register(r).Elem)
	}
	wide := define.Widest(elems)
	for i, e := range elems {
		if e.Size() == 0 || define.OperandElem(a.Def, i, e, wide, a.Type.Elem) != e {
			return false
		}
	}
	return !a.Def.Fails(elems[0], a.Type.Elem)
}

// wordOf returns the only element of a matrix.
func wordOf(d *value.Dense) loop.Word {
	switch d.Elem {
	case types.F64:
		return math.Float64bits(d.F64[0])
	case types.I64:
		return uint64(d.I64[0])
	}
	return loop.WordOf(d.At(0, 0))
}

// memory is where the result of action k lies, which has a slot.
func (p *Interpreter) memory(k int) *value.Dense {
	s, t := p.Slot[k], p.body.Acts[k].Type
	if p.Mem[s] == nil {
		p.Mem[s] = value.New(t.Elem, t.Rows, t.Cols)
	}
	return p.Mem[s]
}

// On runs the actions for arguments.
func (p *Interpreter) On(args []value.Value) (value.Tuple, error) {
	for r, v := range args {
		p.set(r, v)
	}
	err := p.Run()
	return p.Out, err
}

// cell is 1 + the cell that holds the value of an action; 0 if none does.
func (p *Interpreter) cell(k int) int {
	if p.cells == nil {
		return 0
	}
	return p.cells[k]
}

// Value is what an action gives: what is kept of it, or what it computes.
func (p *Interpreter) Value(k int) (value.Value, error) {
	if c := p.cell(k); c > 0 {
		return p.kept.Get(c - 1)
	}
	if p.keep[k] == 0 {
		return p.Act(k)
	}
	if p.held[k] == nil {
		v, err := p.Act(k)
		if err != nil {
			return nil, err
		}
		p.held[k] = v
	}
	return p.held[k], nil
}

// Act runs one action.
func (p *Interpreter) Act(k int) (value.Value, error) {
	a, c := &p.body.Acts[k], &p.calls[k]
	if x := p.scalars[k]; x != nil {
		return p.number(k, x)
	}
	for i, x := range a.Args {
		c.In[i] = p.get(x)
	}
	switch a.Def.Control {
	case op.Part:
		if a.Type.Kind == types.Effect { // it orders actions, which run one after the other anyway
			return nil, nil
		}
		return c.In[0].(value.Tuple)[a.Attrs.Int("at")], nil
	case op.Select:
		number := 0
		if !c.In[0].(value.Scalar).True() {
			number = 1
		}
		side := p.inner[k].body[number]
		if _, err := side.On(c.In[1:]); err != nil {
			return nil, op.InBody(err, number, 0)
		}
		return side.whole, nil
	case op.Iterate:
		return p.inner[k].iterate(a, c)
	}
	c.Type, c.Out = a.Type, nil
	if a.Asks {
		if err := c.Settle(); err != nil {
			return nil, err
		}
	}
	if a.Def.Look != nil && a.Type.IsDense() && !a.Type.Sized() {
		if err := c.Settle(); err != nil {
			return nil, err
		}
		if d, err := a.Def.Look(c); d != nil || err != nil {
			return d, err
		}
		c.Type = a.Type // the kernel finds the sizes again, and makes memory for them
	}
	if a.Def.Kernel == nil {
		return a.Def.Ref(c)
	}
	if p.spare != nil && p.keep[k] == 0 && p.Slot[k] < 0 {
		c.Spare = &p.spare[k]
	}
	if p.Slot[k] >= 0 {
		out := p.memory(k)
		if n := a.Def.Accum; n > 0 {
			out.CopyFrom(c.Dense(n - 1))
		}
		c.Out = out
	}
	if p.team != nil && p.Slot[k] >= 0 && p.runs != nil && p.runs[k].dear && p.runs[k].team.inParts(p.team, p.owner, c) {
		return c.Out, nil
	}
	err := a.Def.Kernel(c)
	return c.Out, err
}
