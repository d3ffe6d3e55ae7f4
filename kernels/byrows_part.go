package kernels

// This file runs `byrows` on some rows by the kernels of its operators: on a rank that makes only its
// own rows, where no loop can run or one has no value of some rows.

import (
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

// covers notes that this rank makes iterations lo..hi-1: of rows, or of panels of rows.
func (x *byRowsRun) covers(lo, hi int) {
	if p := x.code.panel; p > 0 {
		lo, hi = lo*p, min(hi*p, x.code.rows)
	}
	r := &x.own
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lo == r.hi {
		r.lo, r.hi = lo, hi
	}
	r.lo, r.hi = min(r.lo, lo), max(r.hi, hi)
}

// ownOneByOne makes the results of this rank's rows by the kernels of the operators.
func (x *byRowsRun) ownOneByOne() error {
	b, lo, hi := x.code.body, x.own.lo, x.own.hi
	if lo == hi {
		return nil
	}
	in := make([]value.Value, len(x.c.In))
	for k, v := range x.c.In {
		in[k] = v
		if d, ok := v.(*value.Dense); ok && d.Rows == x.code.rows {
			in[k] = d.View(lo, 0, hi-lo, d.Cols)
		}
	}
	out, err := nest.NewInterpreter(bodyOfRows(b, x.code.rows, hi-lo), nil, false, x.c, nil, nil).On(in)
	if err != nil {
		return err
	}
	for k, v := range out {
		d, _ := x.lent(k)
		from, made := lo, v.(*value.Dense)
		if a := b.Yields[k] - len(b.Args); a >= 0 && b.Acts[a].Def.Keyed != nil {
			from = 0
			if keyed := b.Acts[a].Def.Keyed; keyed.Stacked {
				from = lo / x.code.panel * (d.Rows / panelsOf(x.code.rows, x.code.panel))
			}
		}
		d.View(from, 0, made.Rows, made.Cols).CopyFrom(made)
	}
	return nil
}

// panelsOf is the number of panels of so many rows.
func panelsOf(rows, panel int) int { return (rows + panel - 1) / panel }

// bodyOfRows returns a body on matrices of so many rows as that on n of them, which begin with a panel.
func bodyOfRows(b *op.Body, rows, n int) *op.Body {
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
			var list []types.Type
			for _, f := range a.Type.Ext.Fields {
				list = append(list, fewer(f.Type))
			}
			a.Type = types.TupleOf(list...)
		default:
			a.Type = fewer(a.Type)
		}
		if a.Attrs.Int("rows") == rows {
			a.Attrs = a.Attrs.With("rows", op.Int(n))
		}
		out.Acts = append(out.Acts, a)
	}
	return out
}
