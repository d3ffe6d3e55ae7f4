package kernels

// This file plans bodies in which some operators have no form in loops. Those are calls: a nest
// computes what they read, for a block of points; then they are called, point after point; the next
// nest goes on with what they gave. Between the two lie matrices with a row for each point of the
// block.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// callPlan says which actions are calls, and after which nest each of them comes. It is read-only.
type callPlan struct {
	body   *op.Body
	varies []bool
	keep   *keepMap
	dims   int
	call   []bool     // by register
	level  []int      // of each register: the nest that computes it, or after which it is called
	last   int        // the last nest
	again  []bool     // registers that every nest computes for itself: they cost less than to be stored
	stored []bool     // registers that lie in memory of the block
	force  *forceCall // a call for all points of a block at once; nil: there is none
	// why says what the loops and branches hold that are called as a whole; empty: there are none.
	why string
}

// planCalls finds the calls of a body by writing it. It returns nil, and what stands in the way,
// where a value has no place between nests. An action that does much with few elements is called as
// well.
func planCalls(b *op.Body, varies []bool, keep *keepMap, dims int, force *forceCall) (p *callPlan, why string) {
	p = &callPlan{body: b, varies: varies, keep: keep, dims: dims, call: make([]bool, len(varies)), force: force}
	for k := range b.Acts {
		r := len(b.Args) + k
		p.call[r] = varies[r] && !p.within(r) && (heavy(b, k) || p.forces(r))
	}
	for range b.Acts {
		bad := p.levels()
		for n := 0; n <= p.last && len(bad) == 0; n++ {
			_, bad = p.write(n, [2]int{1, 1}, nestForm{affine: dims == 1, words: wideWords})
		}
		if len(bad) == 0 {
			return p, ""
		}
		for _, r := range bad {
			if r < len(b.Args) || p.call[r] {
				return nil, "a value of " + b.Register(r).String()
			}
			p.call[r] = true
			p.called(r, "a value of a size that the run tells")
		}
	}
	return nil, "so many operators"
}

// within reports a register that nothing but the forces read: no nest computes it.
func (p *callPlan) within(r int) bool { return p.force != nil && p.force.inside[r] }

// forces reports the register of the forces.
func (p *callPlan) forces(r int) bool { return p.force != nil && p.force.at == r }

// args is the registers that action k reads.
func (p *callPlan) args(k int) []int {
	if p.forces(len(p.body.Args) + k) {
		return []int{p.force.point}
	}
	return p.body.Acts[k].Args
}

const (
	// heavyWork is from how many operations on a call is worth less than its work, if each element
	// takes part in heavyUses of them: then its kernel keeps elements in registers.
	heavyWork = 1 << 15
	heavyUses = 8
)

// heavy reports an action whose kernel is faster than a loop over points.
func heavy(b *op.Body, k int) bool {
	a := &b.Acts[k]
	d := a.Def
	switch {
	case d.Control != op.NoControl || d.Kernel == nil || d.Cost == nil || a.Bodies != nil || a.Chain != nil:
		return false
	case d.Laws.Has(op.Elementwise) || d.Class != loop.NoClass || !a.Type.IsDense() || !a.Type.Known():
		return false
	}
	s := &op.Sig{Def: d, Attrs: a.Attrs}
	elements := a.Type.Count()
	for _, r := range a.Args {
		t := b.Register(r)
		if !t.IsScalar() && !(t.IsDense() && t.Known()) {
			return false
		}
		s.In = append(s.In, t)
		elements += t.Count()
	}
	work := d.Cost(s, a.Type).Flops
	return work >= heavyWork && work >= heavyUses*float64(elements)
}

// called notes why register r is called, if that is a loop or a branch: those run an operator at a
// time.
func (p *callPlan) called(r int, why string) {
	if k := r - len(p.body.Args); k >= 0 && p.why == "" {
		switch p.body.Acts[k].Def.Control {
		case op.Iterate, op.Select:
			p.why = why
		}
	}
}

// levels sorts the actions into nests and calls between them. It returns the registers that have to
// be called since what they read or give cannot be stored.
func (p *callPlan) levels() (bad []int) {
	b, first := p.body, len(p.body.Args)
	p.level, p.again, p.stored = make([]int, len(p.varies)), make([]bool, len(p.varies)), make([]bool, len(p.varies))
	for r := range p.again {
		p.again[r] = !p.varies[r] || r < first
	}
	p.last = 0
	for k := range b.Acts {
		a, r := &b.Acts[k], first+k
		if !p.varies[r] || p.within(r) {
			continue
		}
		cheap := a.Def.Laws.Has(op.View) || a.Def.Elt != nil && a.Type.IsScalar() || a.Def.Role == op.Constant
		p.again[r] = cheap && !p.call[r]
		if p.call[r] && a.Def.Control == op.Iterate {
			p.level[r] = p.last // what fails before a loop without end is found before it
		}
		for _, x := range p.args(k) {
			n := p.level[x]
			if p.call[x] && (!p.call[r] || p.forces(x) || p.forces(r)) {
				n++
			}
			p.level[r] = max(p.level[r], n)
			p.again[r] = p.again[r] && p.again[x]
		}
		p.last = max(p.last, p.level[r])
		if p.call[r] {
			p.last = max(p.last, p.level[r]+1)
		}
	}
	for k := range b.Acts {
		if r := first + k; p.varies[r] && !p.within(r) {
			for _, x := range p.args(k) {
				if y := p.crosses(x, r); y >= 0 && !slices.Contains(bad, y) {
					bad = append(bad, y)
				}
			}
		}
	}
	y := b.Yields[0]
	if p.call[y] || !p.again[y] && p.level[y] < p.last {
		p.stored[y] = true
		if !storable(b.Register(y)) {
			bad = append(bad, y)
		}
	}
	return bad
}

// crosses stores register x where action r reads it from another nest or call. If it cannot, it
// returns the register that is to be called for it; else -1.
func (p *callPlan) crosses(x, r int) int {
	t := p.body.Register(x)
	switch {
	case !p.varies[x] || x < p.dims || t.Kind == types.Effect:
		return -1
	case p.call[r] && p.call[x] && p.level[x] == p.level[r]: // one after the other, for one point
		return -1
	case !p.call[r] && !p.call[x] && (p.again[x] || p.level[x] == p.level[r]):
		return -1
	case storable(t):
		p.stored[x] = true
		return -1
	case !p.call[x]: // by whom it is read may read no text, and then it is not written either
		if !p.call[r] && t == types.ScalarOf(types.Str) {
			return -1
		}
		return x
	}
	return r
}

// storable reports a value that has a row in memory.
func storable(t types.Type) bool {
	return isNumber(t) || t.IsDense() && t.Known() && t.Elem.Size() > 0 && t.Count() > 0 && t.Count() <= laidElements
}

// callNest is one nest of a plan.
type callNest struct {
	nest     *loop.Nest
	operands []nestOperand // behind the bounds
	results  []int         // registers that it stores; the last nest has the result behind them
}

// bounds is how many operands come before those of the body: the first index, of two, as the point
// has it, then begin and length of the last.
func (p *callPlan) bounds() int { return p.dims + 1 }

// write writes nest n, or returns the registers of actions that have no form.
func (p *callPlan) write(n int, by [2]int, form nestForm) (out *callNest, bad []int) {
	b := p.body
	x := &nestBuilder{Builder: loop.New(), words: form.words, affine: form.affine, lins: map[loop.Val]loop.Lin{}, scopes: []map[elementKey]loop.Val{{}}, keep: p.keep}
	env := make([]nestRef, 0, len(p.varies))
	out = &callNest{}
	if p.dims == 2 {
		k := x.Param(loop.ScalarParam, types.I64)
		env = append(env, nestRef{t: types.ScalarOf(types.I64), val: x.Load(loop.Mem{Kind: loop.ParamMem, N: k})})
	}
	lo, count := x.Param(loop.ScalarParam, types.I64), x.Param(loop.ScalarParam, types.I64)
	at := loop.Of(loop.IndexSym, x.Index("point", loop.Range{Kind: loop.Steps, To: loop.Of(loop.ParamSym, count), By: 1}))
	env = append(env, nestRef{t: types.ScalarOf(types.I64), val: x.value(loop.Of(loop.ParamSym, lo).Plus(at.Times(int64(by[p.dims-1]))))})
	for r := p.dims; r < len(b.Args); r++ {
		env = append(env, x.outer(b, r))
	}
	// tried is f, but that what has no form is noted.
	missing := make([]bool, len(p.varies))
	tried := func(r int, f func()) {
		defer func() {
			if e := recover(); e != nil {
				no, is := e.(op.NoElement)
				if !is {
					panic(e)
				}
				missing[r], bad = true, append(bad, r)
				p.called(r, no.NoElement())
			}
		}()
		f()
	}
	for k := range b.Acts {
		r := len(b.Args) + k
		none := nestRef{t: b.Register(r), val: loop.NoVal}
		for _, y := range p.args(k) {
			missing[r] = missing[r] || missing[y]
		}
		switch {
		case missing[r]:
			env = append(env, none) // whether it has a form, another try tells
		case p.within(r):
			env = append(env, none)
		case !p.varies[r]:
			env = append(env, x.outer(b, r))
		case !p.call[r] && (p.level[r] == n || p.level[r] < n && p.again[r]):
			env = append(env, none)
			tried(r, func() {
				env[r] = x.act(b, k, env)
				if p.stored[r] && p.level[r] == n {
					x.keepRow(env[r], at, count)
					out.results = append(out.results, r)
				}
			})
		case p.stored[r] && p.level[r] < n:
			env = append(env, x.keptRow(b.Register(r), r, at))
		default:
			env = append(env, none)
		}
	}
	if y := b.Yields[0]; n == p.last && !missing[y] {
		tried(y, func() { x.give(env[y], at, count, p.dims) })
	}
	if len(bad) > 0 {
		return nil, bad
	}
	if err := x.Nest.Verify(); err != nil {
		panic("BUG: " + err.Error() + " in\n" + x.Nest.String())
	}
	out.nest, out.operands = loop.Merge(x.Nest), x.operands
	return out, nil
}

// give stores what the body yields: a number at its place in a row, or a row.
func (x *nestBuilder) give(y nestRef, at loop.Lin, count, dims int) {
	switch {
	case y.val == loop.NoVal && y.at == nil || y.at != nil && (dims == 2 || y.t.Rows != 1):
		panic(noBody{"a result of " + y.t.String()})
	case dims == 2:
		m := loop.Mem{Kind: loop.ResultMem, N: x.Result(dense.Storage(y.t.Elem), loop.Num(1), loop.Of(loop.ParamSym, count))}
		x.Store(m, loop.Num(0), at, y.val)
	default:
		x.keepRow(y, at, count)
	}
}

// keptRow is register r as another nest or a call has stored it.
func (x *nestBuilder) keptRow(t types.Type, r int, at loop.Lin) nestRef {
	x.operands = append(x.operands, nestOperand{register: r, what: itsKept})
	m := loop.Mem{Kind: loop.ParamMem, N: x.Param(loop.DenseParam, dense.Storage(t.Elem))}
	if !t.IsDense() {
		return nestRef{t: t, val: x.Load(m, at, loop.Num(0))}
	}
	return x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(m, at, i.Times(int64(t.Cols)).Plus(j)) })
}

// keepRow stores all elements of a value as a row of a result that has one for each point.
func (x *nestBuilder) keepRow(y nestRef, at loop.Lin, count int) {
	if y.val == loop.NoVal && y.at == nil {
		panic(noBody{"a value of " + y.t.String()})
	}
	e := dense.Storage(y.t.Elem)
	size := 1
	if y.at != nil {
		size = y.t.Count()
	}
	m := loop.Mem{Kind: loop.ResultMem, N: x.Result(e, loop.Of(loop.ParamSym, count), loop.Num(int64(size)))}
	store := func(i, j loop.Lin) {
		x.Store(m, at, i.Times(int64(y.t.Cols)).Plus(j), define.ConvertBody(x.Builder, e, y.at(i, j)))
	}
	switch {
	case y.at == nil:
		x.Store(m, at, loop.Num(0), define.ConvertBody(x.Builder, e, y.val))
	case size <= define.Unrolled:
		for k, v := range x.hold(y) {
			x.Store(m, at, loop.Num(int64(k)), define.ConvertBody(x.Builder, e, v))
		}
	default:
		x.rounds("r", y.rows, nil, func(i loop.Lin, _ []loop.Val) []loop.Val {
			x.rounds("c", y.cols, nil, func(j loop.Lin, _ []loop.Val) []loop.Val { store(i, j); return nil })
			return nil
		})
	}
}

// calls is the calls between nest n and the next, in order, but for the forces.
func (p *callPlan) calls(n int) (acts []int) {
	for k := range p.body.Acts {
		if r := len(p.body.Args) + k; p.call[r] && p.level[r] == n && !p.forces(r) {
			acts = append(acts, k)
		}
	}
	return acts
}

// reads is the registers that calls after nest n read from the block's memory, and whether each of
// the indices is read.
func (p *callPlan) reads(n int) (regs []int, index [2]bool) {
	for _, k := range p.calls(n) {
		for _, x := range p.body.Acts[k].Args {
			switch {
			case x < p.dims:
				index[x] = true
			case p.varies[x] && p.stored[x] && !(p.call[x] && p.level[x] == n) && !slices.Contains(regs, x):
				regs = append(regs, x)
			}
		}
	}
	return regs, index
}
