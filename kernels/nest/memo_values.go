package nest

// This file computes and holds the values of cells. memo.go finds the cells.

import (
	"sync"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/value"
)

// Memo is the values of cells in one execution, shared by its workers.
type Memo struct {
	Call   *op.Call
	Values []value.Value // of the registers that are the same in every iteration
	Cells  []MemoCell
	State  []MemoValue
}

// MemoValue is what a cell holds. A failure is kept as well.
type MemoValue struct {
	mu    sync.Mutex
	Done  atomic.Bool // v and err do not change any more
	Value value.Value
	Err   error
}

// Get returns the value of a cell, which is read-only. Its arguments were needed before it, so
// that they do not fail where it would have: those of cells are asked for as they are needed.
func (k *Memo) Get(cell int) (value.Value, error) {
	s := &k.State[cell]
	if s.Done.Load() {
		return s.Value, s.Err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Done.Load() {
		return s.Value, s.Err
	}
	v, err := k.compute(&k.Cells[cell])
	if err != op.ErrStopped {
		s.Value, s.Err = v, err
		s.Done.Store(true)
	}
	return v, err
}

// Ready returns the value of a cell, or nil. Unlike Peek it computes a cell that nothing has asked for
// yet, if that takes little work and cannot fail. Otherwise the first point would be interpreted to get
// it.
func (k *Memo) Ready(cell int) value.Value {
	if v := k.Peek(cell); v != nil {
		return v
	}
	c := &k.Cells[cell]
	a := &c.Body.Acts[c.Act]
	if !a.Def.Laws.Has(op.Total) || !a.Def.Laws.Has(op.Pure) || a.Def.Control != op.NoControl || a.Bodies != nil || a.Def.Cost == nil ||
		a.Asks || !a.Type.IsScalar() && !(a.Type.IsDense() && a.Type.Known() && a.Type.Count() <= readyWork) {
		return nil
	}
	for _, x := range c.Args {
		if x.Cell > 0 && k.Ready(x.Cell-1) == nil || x.Cell == 0 && k.Values[x.Reg-1] == nil {
			return nil
		}
	}
	if !(flopsOf(c.Body, a) <= readyWork) {
		return nil
	}
	if _, err := k.Get(cell); err != nil {
		return nil
	}
	return k.Peek(cell)
}

func (k *Memo) compute(c *MemoCell) (value.Value, error) {
	p := NewInterpreter(c.Body, []int{c.Act}, true, k.Call, nil, nil)
	for i, x := range c.Args {
		v, err := k.source(x)
		if err != nil {
			return nil, err
		}
		p.Reg[c.Body.Acts[c.Act].Args[i]] = v
	}
	return p.Act(c.Act)
}

func (k *Memo) source(x MemoSource) (value.Value, error) {
	if x.Cell > 0 {
		return k.Get(x.Cell - 1)
	}
	return k.Values[x.Reg-1], nil
}

// Peek is the value of a cell, nil if it has none so far.
func (k *Memo) Peek(cell int) value.Value {
	if s := &k.State[cell]; s.Done.Load() && s.Err == nil {
		return s.Value
	}
	return nil
}
