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

// Chained returns the row `of`.chain for of.Shard.Chain. Its result has a table for each panel of rows,
// one below the other. add adds rows lo..hi-1 of the operands of a call of row `of` to the table in
// Call.Out. That table begins as a copy of begun, or as zeros if begun is nil.
func Chained(of *op.Def, add func(c *op.Call, begun *value.Dense, lo, hi int) error) *op.Def {
	// tables returns the call of row `of` whose tables a call of the chain makes, and the type of a table.
	tables := func(s *op.Sig, out types.Type) (sig *op.Sig, table types.Type) {
		in := s.In
		in = in[:max(0, len(in)-s.Attrs.Int("on"))]
		out.Rows /= max(1, len(s.Attrs.Ints("from")))
		return &op.Sig{Def: of, In: in, Attrs: s.Attrs}, out
	}
	args := []op.Arg{{Name: "x", Rest: true, Doc: "the operands, and the tables that are continued"},
		{Name: "from", Attr: true, Kind: op.IntsVal, Doc: "the first row that is added, by panel"},
		{Name: "to", Attr: true, Kind: op.IntsVal, Doc: "the end of these rows, by panel"},
		{Name: "on", Attr: true, Kind: op.IntVal, Optional: true, Doc: "1: the last operand has tables that are continued; 2: the one before it has, and the last one those of panels without rows"},
		{Name: "busy", Attr: true, Kind: op.IntVal, Optional: true, Doc: "rows in whose time all ranks have made it; 0: all"}}
	least := 0 // operands
	for _, a := range of.Args {
		switch {
		case a.Attr:
			args = append(args, a)
		case !a.Optional:
			least++
		}
	}
	d := &op.Def{
		Name: of.Name + ".chain", Hidden: true, Args: args,
		Doc: of.Name + ".chain continues the tables of " + of.Name + " by some rows. Each panel of rows has a table; they lie one below the other.",
		Type: func(s *op.Sig) (types.Type, error) {
			panels := len(s.Attrs.Ints("from"))
			sig, _ := tables(s, types.Type{})
			if len(sig.In) < least || panels == 0 || len(s.Attrs.Ints("to")) != panels {
				return types.Type{}, op.Faultf(0, CodeKind, "`%s` of %d operands and %d panels", s.Def.Name, len(sig.In), panels)
			}
			t, err := of.Type(sig)
			if err == nil && (!t.IsDense() || !t.Known() || t.Rows > types.MaxSide/panels) {
				err = op.Faultf(0, CodeKind, "`%s` of %d tables %s", s.Def.Name, panels, t)
			}
			t.Rows *= panels
			return t, err
		},
		Laws: op.Pure, Rate: of.Rate,
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := of.Cost(tables(s, out))
			share := 1.0
			if n := s.Attrs.Int("busy"); n > 0 { // Shared divides by the ranks
				share = float64(n*max(1, s.Attrs.Int("ranks"))) / float64(max(1, s.In[0].Rows))
			}
			return op.Work{Flops: share * w.Flops, Bytes: share * w.Bytes}
		},
		Loop: &op.Loop{
			Rows:  op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) { return len(c.Attrs.Ints("from")), 1 },
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return &chainBody{c, add}, nil },
		},
	}
	d.Kernel = d.Loop.Alone
	return ByKernel(d)
}

// chainBody adds rows to the tables of a call. An iteration is a panel.
type chainBody struct {
	c   *op.Call
	add func(c *op.Call, begun *value.Dense, lo, hi int) error
}

// Chunk makes the tables of panels lo..hi-1. It fails where add does.
func (b *chainBody) Chunk(_, lo, hi int) error {
	for p := lo; p < hi; p++ {
		table, begun, out := *b.c, BegunTable(b.c, p), TableOf(b.c, b.c.Result(), p)
		if begun == nil {
			dense.Clear(out)
		} else {
			out.CopyFrom(begun)
			table.In = b.c.In[:len(b.c.In)-b.c.Attrs.Int("on")]
		}
		table.Out, table.Type = out, out.Type()
		if from, to := ChainRows(b.c, p); from < to {
			if err := b.add(&table, begun, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// End does nothing: each iteration completes its table.
func (b *chainBody) End() error { return nil }

// ChainRows returns the rows from..to-1 that a call of a chain adds to the table of panel p.
func ChainRows(c *op.Call, p int) (from, to int) {
	return int(c.Attrs.Ints("from")[p]), int(c.Attrs.Ints("to")[p])
}

// TableOf returns a view of the table of panel p. x has the tables of all panels of c, a call of a
// chain.
func TableOf(c *op.Call, x *value.Dense, p int) *value.Dense {
	rows := x.Rows / len(c.Attrs.Ints("from"))
	return x.View(p*rows, 0, rows, x.Cols)
}

// BegunTable returns a view of the table of panel p that a call of a chain continues. It returns nil if
// the call begins its tables.
func BegunTable(c *op.Call, p int) *value.Dense {
	on := c.Attrs.Int("on")
	if on == 0 {
		return nil
	}
	if from, to := ChainRows(c, p); from == to {
		on = 1
	}
	return TableOf(c, c.Dense(len(c.In)-on), p)
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
