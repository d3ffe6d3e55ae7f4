package define

// This file defines parts that rows which run loops share: rows that are defined by a body, the memory of
// several results, and a memo of values that are made once.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// Made is a memo: it holds a value for each key, made when it is first asked for. It is safe for concurrent
// use. The zero value is empty.
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

// LendResults allocates the results of a call with several results, unless the caller has lent memory for
// them. Calls outside of an engine lend none.
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
