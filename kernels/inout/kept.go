package inout

// This file defines kept and keep, by which a session hands values from one program to the next:
// keep stores a value of the run, and kept is the value in a later program. A Store is where they
// lie in between.

import (
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

// Store holds the values of a session, by numbers that are never given twice. The zero value is
// empty. It is safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	values map[int]value.Value
	types  map[int]types.Type // of values that another process has
}

// Get is the value of a number, nil if there is none.
func (s *Store) Get(slot int) value.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[slot]
}

// Put stores a value, which must not change any more.
func (s *Store) Put(slot int, v value.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[int]value.Value{}
	}
	s.values[slot] = v
}

// Expect notes the type of a value that another process has.
func (s *Store) Expect(slot int, t types.Type) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.types == nil {
		s.types = map[int]types.Type{}
	}
	s.types[slot] = t
}

// Type returns the type of a value that was stored or is expected; false if there is none.
func (s *Store) Type(slot int) (types.Type, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.values[slot]; v != nil {
		return v.Type(), true
	}
	t, ok := s.types[slot]
	return t, ok
}

// Retain forgets the values whose numbers needed does not have.
func (s *Store) Retain(needed map[int]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot := range s.values {
		if !needed[slot] {
			delete(s.values, slot)
		}
	}
	for slot := range s.types {
		if !needed[slot] {
			delete(s.types, slot)
		}
	}
}

// Keeping returns the rows of a session whose values are in s, for TableReading. apart says that
// the ranks share no memory: rank 0 stores the values, and the others know their types
// (Store.Expect).
func Keeping(s *Store, apart bool) []*op.Def {
	slot := op.Arg{Name: "slot", Attr: true, Kind: op.IntVal, Doc: "the number of the value"}
	kept := func(c *op.Call) (value.Value, error) {
		v := s.Get(c.Attrs.Int("slot"))
		if v == nil {
			return nil, op.Failf(define.CodeData, "BUG: no value %d is kept", c.Attrs.Int("slot"))
		}
		if d, ok := v.(*value.Dense); ok {
			if w, part := window.RectOf(c.Attrs, "at"); part {
				v = w.Of(d)
			}
		}
		return v, nil
	}
	keep := func(c *op.Call) error {
		v := c.In[0]
		if d, ok := v.(*value.Dense); ok {
			v = d.Clone() // the memory of the run is used again
		}
		s.Put(c.Attrs.Int("slot"), v)
		return nil
	}
	return []*op.Def{define.ByKernel(&op.Def{
		Name:   "kept",
		Hidden: true,
		Doc:    "kept is a value that an earlier entry of a session has made. It is read where it lies, without a copy.",
		Args:   []op.Arg{slot},
		Type: func(c *op.Sig) (types.Type, error) {
			t, ok := s.Type(c.Attrs.Int("slot"))
			if !ok {
				return types.Type{}, op.Faultf(-1, define.CodeAttr, "BUG: no value %d is kept", c.Attrs.Int("slot"))
			}
			if w, ok := window.RectOf(c.Attrs, "at"); ok {
				t.Rows, t.Cols = w.Rows, w.Cols
			}
			return t, nil
		},
		Laws:  op.Pure | op.Total,
		Root:  apart,
		Shard: op.Shard{Kind: op.ShardGenerate},
		Cost:  func(*op.Sig, types.Type) op.Work { return op.Work{} },
		Look: func(c *op.Call) (*value.Dense, error) {
			v, err := kept(c)
			d, _ := v.(*value.Dense)
			return d, err
		},
		Kernel: func(c *op.Call) error {
			v, err := kept(c)
			if err != nil {
				return err
			}
			if d, ok := v.(*value.Dense); ok && c.Out != nil {
				c.Result().CopyFrom(d)
				return nil
			}
			c.Out = v
			return nil
		},
	}), {
		Name:   "keep",
		Hidden: true,
		Doc:    "keep stores a value of the run for later entries of a session.",
		Args:   []op.Arg{{Name: "x"}, slot},
		Type:   func(c *op.Sig) (types.Type, error) { return define.EffectType(c, 1) },
		Ref:    func(c *op.Call) (value.Value, error) { return nil, keep(c) },
		Laws:   op.Effectful,
		Shard:  op.Shard{Kind: op.ShardSink},
		Cost:   define.CopyWork,
		Kernel: keep,
	}}
}
