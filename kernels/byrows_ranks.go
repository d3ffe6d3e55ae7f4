package kernels

// This file makes the results of `byrows` and `nest` for the rows of one rank: the rows, and the states
// of reductions.

import (
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/nest"
	"flow/kernels/reduce"
)

// rowRange is rows lo..hi-1, which workers add up to.
type rowRange struct {
	mu     sync.Mutex
	lo, hi int
}

// covers extends the range so that it has rows lo..hi-1.
func (r *rowRange) covers(lo, hi int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lo == r.hi {
		r.lo, r.hi = lo, hi
	}
	r.lo, r.hi = min(r.lo, lo), max(r.hi, hi)
}

// ownByKernels makes the results of this rank's rows by the kernels of the operators.
func (x *rowsRun) ownByKernels() error {
	b, lo, hi := x.code.body, x.own.lo, x.own.hi
	if lo == hi {
		flat, results, _ := withoutPipes(b)
		for _, s := range reduceStates(flat, results) {
			s.empty(x.c.Lent(s.at))
		}
		return nil
	}
	in := rowsOf(x.c.In, x.code.rows, lo, hi)
	out, err := nest.NewInterpreter(bodyOfRows(b, x.code.rows, lo, hi-lo), nil, false, x.c, nil, nil).On(in)
	if err != nil {
		return err
	}
	for k, v := range out {
		d := x.c.Lent(k)
		from, made := lo, v.(*value.Dense)
		if a := b.Yields[k] - len(b.Args); a >= 0 && b.Acts[a].Def.Keyed != nil {
			from = 0
			if keyed := b.Acts[a].Def.Keyed; keyed.Stacked {
				from = lo / x.code.panel * (d.Rows / panelsOf(x.code.rows, x.code.panel))
			}
		} else if d.Rows != x.code.rows { // a state
			from = 0
		}
		d.View(from, 0, made.Rows, made.Cols).CopyFrom(made)
	}
	return nil
}

// rowsOf returns a copy of values in which matrices of the given number of rows are views of rows
// lo..hi-1.
func rowsOf(values []value.Value, rows, lo, hi int) []value.Value {
	out := slices.Clone(values)
	for k, v := range out {
		if d, ok := v.(*value.Dense); ok && d.Rows == rows {
			out[k] = d.View(lo, 0, hi-lo, d.Cols)
		}
	}
	return out
}

// panelsOf is the number of panels of so many rows.
func panelsOf(rows, panel int) int { return (rows + panel - 1) / panel }

// bodyOfRows returns body b, whose matrices have this number of rows, for the n rows from lo on. It
// would be wrong if no panel began at lo.
func bodyOfRows(b *op.Body, rows, lo, n int) *op.Body {
	fewer := func(t types.Type) types.Type {
		if t.IsDense() && t.Rows == rows {
			t.Rows = n
		}
		return t
	}
	out := &op.Body{Yields: b.Yields}
	for _, t := range b.Args {
		out.Args = append(out.Args, fewer(t))
	}
	for _, a := range b.Acts {
		switch {
		case a.Def.Keyed != nil && a.Def.Keyed.Stacked:
			panel := a.Def.Keyed.Panel(a.Attrs)
			a.Type.Rows = a.Type.Rows / panelsOf(rows, panel) * panelsOf(n, panel)
		case a.Def.Keyed != nil:
		case a.Type.Kind == types.Tuple:
			list := a.Type.Parts()
			for k, t := range list {
				list[k] = fewer(t)
			}
			a.Type = types.TupleOf(list...)
		default:
			a.Type = fewer(a.Type)
		}
		if i, j := op.Origin(a.Attrs); a.Chain != nil {
			a.Attrs = a.Attrs.With("origin", op.Ints(i+lo, j))
		}
		if a.Attrs.Int("rows") == rows {
			a.Attrs = a.Attrs.With("rows", op.Int(n))
		}
		out.Acts = append(out.Acts, a)
	}
	return out
}

// putStates sets the results that are states to those of worker w, which has merged those of all
// workers.
func (x *rowsRun) putStates(w *rowWorker) {
	for _, s := range x.code.states {
		for k, p := range x.run.form.phases {
			for i, o := range p.Results {
				if o.Register != s.at || o.What != nest.ItsResult && o.What != nest.ItsColumn {
					continue
				}
				acc := x.c.Lent(s.at)
				w.workers[k].PutResult(i, acc.View(o.Col, 0, 1, acc.Cols))
			}
		}
	}
}

// byKernels runs the operators one after the other. If results are states of a rank, it keeps all
// values and runs no reductions for them: ownStates makes the states later. A reduction would read the
// rows of other ranks, which may arrive in operands meanwhile.
func (x *nestSpace) byKernels() (err error) {
	if !x.c.Part || len(x.code.states) == 0 {
		return byKernels(x.c, x.picking(x.code.body))
	}
	b, acts := x.code.elements(x.maps)
	x.made, err = nest.NewInterpreter(x.picking(b), acts, false, x.c, nil, nil).On(x.c.In)
	return err
}

// picking returns b with other actions for lists of positions: they read the rows of this rank alone.
// In the rows of other ranks a list may hold any bits, and such a position would fail the run. An
// action picks some row in their place. No one reads it, because what an operator that may fail makes
// is read in the same rows.
func (x *nestSpace) picking(b *op.Body) *op.Body {
	if !x.c.Part {
		return b
	}
	lo, hi := x.c.From/x.Segs, (x.c.To-1)/x.Segs+1
	out := &op.Body{Args: b.Args, Acts: slices.Clone(b.Acts), Yields: b.Yields}
	for k := range out.Acts {
		a := &out.Acts[k]
		if n := a.Def.Numbers; n == 0 || !b.Register(a.Args[n]).IsDense() || b.Register(a.Args[n]).Rows != x.code.rows {
			continue
		}
		d, kernel := *a.Def, a.Def.Kernel
		d.Kernel = func(c *op.Call) error {
			own, of := *c, c.Dense(d.Numbers)
			list := value.New(of.Elem, of.Rows, of.Cols)
			for i := range of.Rows {
				if lo < hi { // the first failure is one of these rows
					list.Set(i, 0, of.At(min(max(i, lo), hi-1), 0))
				}
			}
			own.In = slices.Clone(c.In)
			own.In[d.Numbers] = list
			err := kernel(&own)
			c.Out = own.Out
			return err
		}
		a.Def = &d
	}
	return out
}

// elements returns a body without the reductions that make states, and those of its actions that make
// the other results or what the states reduce. It yields all registers of the body of c. Those that no
// such action makes have no value. maps is the row `map`: a pipe that stores what it reduces becomes
// one.
func (c *spaceCode) elements(maps *op.Def) (b *op.Body, acts []int) {
	b = &op.Body{Args: c.body.Args, Acts: slices.Clone(c.body.Acts)}
	first := len(b.Args)
	for r := range first + len(b.Acts) {
		b.Yields = append(b.Yields, r)
	}
	for k := range b.Acts {
		a := &b.Acts[k]
		a.Args = slices.Clone(a.Args)
		for i, x := range a.Args {
			a.Args[i] = b.Yields[x]
		}
		if folds, is := foldsNamed(a.Attrs.Str("fold")); is && folds[0] == nil && !slices.ContainsFunc(folds[1:], func(f *reduce.Fold) bool { return !f.Part }) {
			a.Def, a.Type = maps, a.Type.Parts()[0]
		} else if a.Def.Control == op.Part && a.Attrs.Int("at") == 0 && b.Acts[a.Args[0]-first].Def == maps {
			b.Yields[first+k] = a.Args[0]
		}
	}
	read := make([]bool, first+len(b.Acts)) // by register
	for k, r := range c.body.Yields {
		if !slices.ContainsFunc(c.states, func(s spaceState) bool { return s.at == k }) {
			read[b.Yields[r]] = true
		}
	}
	for _, s := range c.states {
		for _, r := range b.Acts[c.reduction(s)].Args {
			read[r] = true
		}
	}
	for k := len(b.Acts) - 1; k >= 0; k-- {
		if read[first+k] {
			acts = append(acts, k)
			for _, r := range b.Acts[k].Args {
				read[r] = true
			}
		}
	}
	slices.Reverse(acts)
	return b, append([]int{}, acts...) // not nil, which means all
}

// reduction is the action of the body that makes a state, alone or as a part of its result.
func (c *spaceCode) reduction(s spaceState) int {
	b := c.body
	k := b.Yields[s.at] - len(b.Args)
	if b.Acts[k].Def.Control == op.Part {
		k = b.Acts[k].Args[0] - len(b.Args)
	}
	return k
}

// ownStates computes the states of reductions from the values that byKernels has kept. It reads only
// the rows of this rank, because those of others may arrive meanwhile.
func (x *nestSpace) ownStates() error {
	if x.made == nil {
		return nil
	}
	b, rows, own := x.code.body, x.code.rows, &op.Body{}
	for r := range x.made {
		own.Args = append(own.Args, b.Register(r))
	}
	for _, s := range x.code.states {
		a := b.Acts[b.Yields[s.at]-len(b.Args)]
		if a.Def.Control == op.Part {
			own.Acts = append(own.Acts, b.Acts[x.code.reduction(s)])
			a.Args = []int{len(own.Args) + len(own.Acts) - 1}
		}
		own.Acts = append(own.Acts, a)
		own.Yields = append(own.Yields, len(own.Args)+len(own.Acts)-1)
	}
	part := bodyOfRows(own, rows, x.own.lo, x.own.hi-x.own.lo)
	states, err := nest.NewInterpreter(part, nil, false, x.c, nil, nil).On(rowsOf(x.made, rows, x.own.lo, x.own.hi))
	if err != nil {
		return err
	}
	for k, r := range b.Yields {
		if x.made[r] != nil { // no state
			x.c.Give(k, x.made[r])
		}
	}
	for k, s := range x.code.states {
		x.c.Give(s.at, states[k])
	}
	x.made = nil
	return nil
}
