package define

// This file defines parts that rows which run loops share: rows that are defined by a body, the memory
// of several results, a memo of values that are made once, and rows that go on where the rows of
// another window of the operands ended (op.Shard.Chain).

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

// Made is a memo: it holds a value for each key, made when it is first asked for. It is safe for
// concurrent use. The zero value is empty.
type Made[K comparable, V any] struct {
	// Most is how many values are held; more begin anew. 0: all.
	Most int

	mu sync.RWMutex
	by map[K]V
}

// Of returns the value of key k. The first call makes it by create, which must not call m.Of.
func (m *Made[K, V]) Of(k K, create func() V) V {
	m.mu.RLock()
	v, ok := m.by[k]
	m.mu.RUnlock()
	if ok {
		return v
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if v, ok = m.by[k]; ok {
		return v
	}
	if m.by == nil || m.Most > 0 && len(m.by) >= m.Most {
		m.by = map[K]V{}
	}
	v = create()
	m.by[k] = v
	return v
}

// LendResults allocates the results of a call with several results, unless the caller has lent memory
// for them. Calls outside of an engine lend none.
func LendResults(c *op.Call) {
	if c.Type.Kind != types.Tuple || c.Out != nil {
		return
	}
	out := make(value.Tuple, len(c.Type.Ext.Fields))
	for k, f := range c.Type.Ext.Fields {
		if f.Type.Sized() {
			out[k] = value.New(f.Type.Elem, f.Type.Rows, f.Type.Cols)
		}
	}
	c.Out = out
}

// OfBody completes row d, which is hidden and returns the results of its body for its operands.
func OfBody(d op.Def) *op.Def {
	d.Hidden, d.Args, d.Type = true, []op.Arg{{Name: "x", Rest: true}}, OwnType
	d.Laws, d.Shard = op.Pure, op.Shard{Kind: op.ShardWhole}
	d.Ref = func(c *op.Call) (value.Value, error) {
		out, err := c.Bodies[0].Eval(c.In, c)
		if err != nil || c.Type.Kind == types.Tuple {
			return value.Tuple(out), err
		}
		return out[0], nil
	}
	if d.Kernel == nil {
		d.Kernel = d.Loop.Alone
	}
	return &d
}

// Chained returns the row `of`.chain, which of.Shard.Chain names. add adds rows lo..hi-1 of the
// operands of a call of row `of` to the table in Call.Out. The result has one table for each window,
// one below the other, and a call makes one of them: that of the attribute turn.
func Chained(of *op.Def, add func(c *op.Call, lo, hi int) error) *op.Def {
	tables := func(s *op.Sig) (sig *op.Sig, n int) {
		in := s.In
		if s.Attrs.Int("turn") > 1 {
			in = in[:len(in)-1]
		}
		return &op.Sig{Def: of, In: in, Attrs: s.Attrs}, max(1, s.Attrs.Int("windows"))
	}
	args := []op.Arg{{Name: "x", Rest: true, Doc: "the operands, and the tables made in the turn before"},
		{Name: "turn", Attr: true, Kind: op.IntVal, Doc: "the window, counted from 1"},
		{Name: "windows", Attr: true, Kind: op.IntVal, Doc: "how many there are"},
		{Name: "by", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows of a unit of them"}}
	least := 0 // operands
	for _, a := range of.Args {
		switch {
		case a.Attr:
			args = append(args, a)
		case !a.Optional:
			least++
		}
	}
	return ByKernel(&op.Def{
		Name: of.Name + ".chain", Hidden: true, Args: args,
		Doc: of.Name + ".chain is the tables of " + of.Name + " of the rows up to the end of each window, one below the other; only that of one window is made.",
		Type: func(s *op.Sig) (types.Type, error) {
			sig, n := tables(s)
			if len(sig.In) < least {
				return types.Type{}, op.Faultf(0, CodeKind, "`%s` of %d operands", s.Def.Name, len(sig.In))
			}
			t, err := of.Type(sig)
			if err == nil && (!t.IsDense() || !t.Known()) {
				err = op.Faultf(0, CodeKind, "`%s` of %s", s.Def.Name, t)
			}
			t.Rows *= n
			return t, err
		},
		Laws: op.Pure, Rate: of.Rate,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			sig, n := tables(s)
			out.Rows /= n
			w := of.Cost(sig, out)
			return op.Work{Flops: w.Flops / float64(n), Bytes: w.Bytes / float64(n)}
		},
		Kernel: func(c *op.Call) error {
			rows := c.Type.Rows / c.Attrs.Int("windows")
			if c.Lo < c.Hi && c.Lo != (c.Attrs.Int("turn")-1)*rows { // the rows of another rank
				return nil
			}
			return add(TurnOf(c))
		},
	})
}

// TurnOf returns the call that adds rows lo..hi-1 of its operands, those of the window of a call of a
// chain, to the table in its Out. The table is that of the window before, or zero.
func TurnOf(c *op.Call) (table *op.Call, lo, hi int) {
	n, r := c.Attrs.Int("windows"), c.Attrs.Int("turn")-1
	rows, cols := c.Type.Rows/n, c.Type.Cols
	whole, out := *c, c.Result().View(r*rows, 0, rows, cols)
	if r == 0 {
		dense.Clear(out)
	} else {
		last := len(c.In) - 1
		out.CopyFrom(c.Dense(last).View((r-1)*rows, 0, rows, cols))
		whole.In = c.In[:last]
	}
	whole.Out, whole.Type = out, out.Type()
	lo, hi = op.WindowOf(r, n, c.Dense(0).Rows, c.Attrs.Val("by"))
	return &whole, lo, hi
}

// OwnRows returns the range of the n rows that a call reads or makes: those of this rank, or all if the
// call is not split among ranks.
func OwnRows(c *op.Call, n int) (lo, hi int) {
	if c.Lo == c.Hi {
		return 0, n
	}
	return c.Lo, c.Hi
}

// RowsOf returns a call with rows lo..hi-1 of the operands of c, which are dense.
func RowsOf(c *op.Call, lo, hi int) *op.Call {
	part := *c
	part.In, part.Lo, part.Hi = make([]value.Value, len(c.In)), 0, 0
	for k := range c.In {
		part.In[k] = c.Dense(k).View(lo, 0, hi-lo, c.Dense(k).Cols)
	}
	return &part
}
