package kernels

// This file makes the results of `byrows` for the rows of one rank: the rows, and the states of
// reductions.

import (
	"slices"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/nest"
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
