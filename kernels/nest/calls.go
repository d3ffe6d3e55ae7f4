package nest

// This file plans bodies in which some operators have no form in loops. Those are calls: a nest
// computes what they read, for a block of points; then they are called, point after point; the next
// nest goes on with what they gave. Between the two lie matrices with a row for each point of the
// block.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

// CallPlan says which actions are calls, and after which nest each of them comes. It is read-only.
type CallPlan struct {
	body   *op.Body
	varies []bool
	keep   *MemoMap
	Dims   int
	call   []bool // by register
	Level  []int  // of each register: the nest that computes it, or after which it is called
	Last   int    // the last nest
	again  []bool // registers that every nest computes for itself: they cost less than to be stored
	Stored []bool // registers that lie in memory of the block
	// Why says what the loops and branches hold that are called as a whole; empty: there are none.
	Why string
}

// PlanCalls finds the calls of a body by writing it. It returns nil, and what stands in the way,
// where a value has no place between nests. An action that does much with few elements is called as
// well.
func PlanCalls(b *op.Body, varies []bool, keep *MemoMap, dims int) (p *CallPlan, why string) {
	p = &CallPlan{body: b, varies: varies, keep: keep, Dims: dims, call: make([]bool, len(varies))}
	for k := range b.Acts {
		r := len(b.Args) + k
		p.call[r] = varies[r] && heavy(b, k)
	}
	p.callViews()
	for range b.Acts {
		bad := p.levels()
		for n := 0; n <= p.Last && len(bad) == 0; n++ {
			_, _, bad = p.write(n, [2]int{1, 1}, Form{Affine: dims == 1, Words: WideWords})
		}
		if len(bad) == 0 {
			return p, ""
		}
		for _, r := range bad {
			switch {
			case r >= len(b.Args) && p.call[r] && unstored(b, r) == noSize.Why:
				return nil, noSize.Why
			case r < len(b.Args) || p.call[r]:
				return nil, "a value of " + b.Register(r).String() + elsewhere
			}
			p.call[r] = true
			p.called(r, unstored(b, r))
		}
	}
	return nil, "so many operators"
}

// unstored is why register r is called: a size that only the run tells, of what it reads or of what its
// bodies make, or else a matrix that is too large to be kept for each point.
func unstored(b *op.Body, r int) string {
	open := func(b *op.Body, r int) bool {
		return slices.ContainsFunc(b.Register(r).Parts(), func(t types.Type) bool { return t.IsMatrix() && !t.Known() })
	}
	a := &b.Acts[r-len(b.Args)]
	is := open(b, r) || slices.ContainsFunc(a.Args, func(x int) bool { return open(b, x) })
	for _, c := range a.Bodies {
		for k := range c.Acts {
			is = is || unstored(c, len(c.Args)+k) == noSize.Why
		}
	}
	if is {
		return noSize.Why
	}
	return large
}

// callViews makes views calls if only calls read them, because a nest would copy their elements.
func (p *CallPlan) callViews() {
	b := p.body
	for k := len(b.Acts) - 1; k >= 0; k-- {
		r := len(b.Args) + k
		if !p.varies[r] || !b.Acts[k].Def.Laws.Has(op.View) || !b.Acts[k].Type.IsDense() || slices.Contains(b.Yields, r) {
			continue
		}
		read, called := false, true
		for q := k + 1; q < len(b.Acts); q++ {
			if slices.Contains(b.Acts[q].Args, r) {
				read, called = true, called && p.call[len(b.Args)+q]
			}
		}
		p.call[r] = read && called
	}
}

// Heavy reports whether a body has an action whose kernel is faster than a loop over points, and whose
// value differs from point to point. varies reports the latter, by register.
func Heavy(b *op.Body, varies []bool) bool {
	for k := range b.Acts {
		if varies[len(b.Args)+k] && heavy(b, k) {
			return true
		}
	}
	return false
}

// Rounds reports a loop that is not called.
func (p *CallPlan) Rounds() bool {
	for k := range p.body.Acts {
		if r := len(p.body.Args) + k; p.varies[r] && !p.call[r] && p.body.Acts[k].Def.Control == op.Iterate {
			return true
		}
	}
	return false
}

// called notes why register r is called, if that is a loop or a branch: those run an operator at a
// time.
func (p *CallPlan) called(r int, why string) {
	if k := r - len(p.body.Args); k >= 0 && p.Why == "" {
		switch p.body.Acts[k].Def.Control {
		case op.Iterate, op.Select:
			p.Why = why
		}
	}
}

// levels sorts the actions into nests and calls between them. It returns the registers that have to
// be called since what they read or give cannot be stored.
func (p *CallPlan) levels() (bad []int) {
	b, first := p.body, len(p.body.Args)
	p.Level, p.again, p.Stored = make([]int, len(p.varies)), make([]bool, len(p.varies)), make([]bool, len(p.varies))
	for r := range p.again {
		p.again[r] = !p.varies[r] || r < first
	}
	p.Last = 0
	work := make([]float64, len(p.varies)) // by register, of an element that is made again
	for k := range b.Acts {
		a, r := &b.Acts[k], first+k
		if !p.varies[r] {
			continue
		}
		cheap := a.Def.Laws.Has(op.View) || a.Def.Elt != nil && a.Type.IsScalar() || a.Def.Role == op.Constant
		for _, x := range a.Args {
			work[r] += work[x]
		}
		if a.Type.IsDense() && storable(a.Type) && a.Def.Laws.Has(op.Elementwise|op.Pure|op.Total) {
			work[r] += flopsOf(b, a) / float64(a.Type.Count())
			cheap = cheap || work[r] <= againWork
		}
		p.again[r] = cheap && !p.call[r]
		if p.call[r] && a.Def.Control == op.Iterate {
			p.Level[r] = p.Last // what fails before a loop without end is found before it
		}
		for _, x := range a.Args {
			n := p.Level[x]
			if p.call[x] && !p.call[r] {
				n++
			}
			p.Level[r] = max(p.Level[r], n)
			p.again[r] = p.again[r] && p.again[x]
		}
		p.Last = max(p.Last, p.Level[r])
		if p.call[r] {
			p.Last = max(p.Last, p.Level[r]+1)
		}
	}
	for k := range b.Acts {
		if r := first + k; p.varies[r] {
			for _, x := range b.Acts[k].Args {
				if y := p.crosses(x, r); y >= 0 && !slices.Contains(bad, y) {
					bad = append(bad, y)
				}
			}
		}
	}
	y := b.Yields[0]
	if p.call[y] || !p.again[y] && p.Level[y] < p.Last {
		p.Stored[y] = true
		if !storable(b.Register(y)) {
			bad = append(bad, y)
		}
	}
	return bad
}

// crosses stores register x where action r reads it from another nest or call. If it cannot, it
// returns the register that is to be called for it; else -1.
func (p *CallPlan) crosses(x, r int) int {
	t := p.body.Register(x)
	switch {
	case !p.varies[x] || x < p.Dims || t.Kind == types.Effect:
		return -1
	case p.call[r] && p.call[x] && p.Level[x] == p.Level[r]: // one after the other, for one point
		return -1
	case !p.call[r] && !p.call[x] && (p.again[x] || p.Level[x] == p.Level[r]):
		return -1
	case storable(t), p.call[x] && fits(t) && (p.call[r] || p.readsParts(r, x)):
		p.Stored[x] = true
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
	return isNumber(t) || fits(t) && t.Count() <= laidElements
}

// fits reports a matrix that a block of few points may have. A body that runs an operator at a time has
// it, too.
func fits(t types.Type) bool {
	return t.IsDense() && t.Known() && t.Elem.Size() > 0 && t.Count() > 0 && t.Count() <= passedElements
}

// readsParts reports that action r reads a few elements of register x at a time. Where few points fit
// into a block, a loop over numbers alone is faster without lanes, one launch a point.
func (p *CallPlan) readsParts(r, x int) bool {
	large := 8*p.body.Register(x).Count() > WideElements
	if large && !slices.ContainsFunc(p.body.Register(r).Parts(), types.Type.IsDense) {
		return false
	}
	return inParts(p.body, r-len(p.body.Args), x)
}

// inParts reports that action k reads a few elements of register r at a time. On all of a large matrix
// a kernel is faster than a nest whose lanes are points.
func inParts(b *op.Body, k, r int) bool {
	a := &b.Acts[k]
	for n, x := range a.Args {
		if x != r {
			continue
		}
		within := n // in the bodies
		switch role := a.Def.Role; {
		case a.Def.Control == op.Select:
			within--
		case a.Def.Control == op.Iterate && n >= a.Attrs.Int("carry"):
		default:
			if n > 0 || role != op.Picks && role != op.PicksAt && role != op.Windows && role != op.Slices || !storable(a.Type) {
				return false
			}
		}
		for _, c := range a.Bodies {
			if slices.Contains(c.Yields, within) {
				return false
			}
			for i := range c.Acts {
				if !inParts(c, i, within) {
					return false
				}
			}
		}
	}
	return true
}

// Nests writes all nests in one form; nil where one cannot be written.
func (p *CallPlan) Nests(by [2]int, form Form) (list []*RowPhase) {
	for n := 0; n <= p.Last; n++ {
		f, made, bad := p.write(n, by, form)
		if len(bad) > 0 {
			return nil
		}
		f.Loop = LoopOf(made)
		list = append(list, f)
	}
	return list
}

// write writes nest n, or returns the registers of actions that have no form.
func (p *CallPlan) write(n int, by [2]int, form Form) (out *RowPhase, made *loop.Nest, bad []int) {
	b := p.body
	x := NewBuilder(form)
	x.keep = p.keep
	env := make([]Ref, 0, len(p.varies))
	out = &RowPhase{}
	if p.Dims == 2 {
		k := x.Param(loop.ScalarParam, types.I64)
		env = append(env, Ref{Type: types.ScalarOf(types.I64), Val: x.Load(loop.Mem{Kind: loop.ParamMem, N: k})})
	}
	at, count, index := x.index("point", by[p.Dims-1])
	env = append(env, index())
	for r := p.Dims; r < len(b.Args); r++ {
		env = append(env, x.Outer(b, r))
	}
	// tried is f, but that what has no form is noted.
	missing := make([]bool, len(p.varies))
	tried := func(r int, f func()) {
		if why, ok := Written(f); !ok {
			missing[r], bad = true, append(bad, r)
			p.called(r, why)
		}
	}
	for k := range b.Acts {
		r := len(b.Args) + k
		none := Ref{Type: b.Register(r), Val: loop.NoVal}
		for _, y := range b.Acts[k].Args {
			missing[r] = missing[r] || missing[y]
		}
		switch {
		case missing[r]:
			env = append(env, none) // whether it has a form, another try tells
		case !p.varies[r]:
			env = append(env, x.Outer(b, r))
		case !p.call[r] && (p.Level[r] == n || p.Level[r] < n && p.again[r]):
			env = append(env, none)
			tried(r, func() {
				env[r] = x.Act(b, k, env)
				if p.Stored[r] && p.Level[r] == n {
					x.keepRow(env[r], at, count)
					out.Results = append(out.Results, Operand{Register: r, What: ItsKept})
				}
			})
		case p.Stored[r] && p.Level[r] < n:
			env = append(env, x.keptRow(b.Register(r), r, at))
		default:
			env = append(env, none)
		}
	}
	if y := b.Yields[0]; n == p.Last && !missing[y] {
		place, size := [2]loop.Lin{at}, [2]loop.Lin{count}
		if p.Dims == 2 { // a row of the result
			place, size = [2]loop.Lin{loop.Num(0), at}, [2]loop.Lin{loop.Num(1), count}
		}
		tried(y, func() { x.yield(env[y], p.Dims, place, size) })
		out.Results = append(out.Results, Operand{What: ItsResult})
	}
	if len(bad) > 0 {
		return nil, nil, bad
	}
	out.Operands = x.Operands
	return out, loop.Merge(x.Done()), nil
}

// keptRow is register r as another nest or a call has stored it.
func (x *Builder) keptRow(t types.Type, r int, at loop.Lin) Ref {
	x.Operands = append(x.Operands, Operand{Register: r, What: ItsKept})
	m := loop.Mem{Kind: loop.ParamMem, N: x.Param(loop.DenseParam, dense.Storage(t.Elem))}
	if !t.IsDense() {
		return Ref{Type: t, Val: x.Load(m, at, loop.Num(0))}
	}
	return x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(m, at, i.Times(int64(t.Cols)).Plus(j)) })
}

// Calls is the calls between nest n and the next, in order.
func (p *CallPlan) Calls(n int) (acts []int) {
	for k := range p.body.Acts {
		if r := len(p.body.Args) + k; p.call[r] && p.Level[r] == n {
			acts = append(acts, k)
		}
	}
	return acts
}

// Reads is the registers that calls after nest n read from the block's memory, and whether each of
// the indices is read.
func (p *CallPlan) Reads(n int) (regs []int, index [2]bool) {
	for _, k := range p.Calls(n) {
		for _, x := range p.body.Acts[k].Args {
			switch {
			case x < p.Dims:
				index[x] = true
			case p.varies[x] && p.Stored[x] && !(p.call[x] && p.Level[x] == n) && !slices.Contains(regs, x):
				regs = append(regs, x)
			}
		}
	}
	return regs, index
}
