package kernels

// This file keeps what nested bodies of a parfor, the sides of its branches and its loops, compute the same in every iteration. The
// compiler has marked it with the attribute keep. It is computed when an iteration first needs it, once for all workers.

import (
	"sync"
	"sync/atomic"

	"flow/ir/op"
	"flow/ir/value"
)

// keepMap says which actions of a body are kept, for the loops and branches in it as well. It is read-only. A body that stands in two
// places of a program has two.
type keepMap struct {
	cell []int        // of each action: 1 + its cell; 0: it is run
	in   [][]*keepMap // of each action: of its bodies
}

// within is the maps of the bodies of action k. A nil map has nil maps.
func (m *keepMap) within(k int) []*keepMap {
	if m == nil || m.in[k] == nil {
		return make([]*keepMap, 2)
	}
	return m.in[k]
}

// keepCell is an action whose value may be kept. Its arguments are the same in every iteration.
type keepCell struct {
	body *op.Body
	act  int
	args []keepSource
}

// keepSource is where a value lies that is the same in every iteration: in a register of the parfor's body, or in a cell. Both are 1 + a
// number; one of them is 0.
type keepSource struct{ reg, cell int }

// keepFinder makes the map and the cells of a body.
type keepFinder struct{ cells []keepCell }

// find maps the body b, which has loops around it, the parfor among them. source has an entry for each argument, a zero one where it
// is not the same in every iteration.
func (f *keepFinder) find(b *op.Body, source []keepSource, around int) *keepMap {
	m := &keepMap{cell: make([]int, len(b.Acts)), in: make([][]*keepMap, len(b.Acts))}
	reg := append(make([]keepSource, 0, len(b.Args)+len(b.Acts)), source...)
	for k := range b.Acts {
		a := &b.Acts[k]
		args, same := make([]keepSource, len(a.Args)), true
		for i, r := range a.Args {
			args[i] = reg[r]
			same = same && reg[r] != keepSource{}
		}
		var here keepSource
		if same {
			f.cells = append(f.cells, keepCell{b, k, args})
			here.cell = len(f.cells)
			if a.Attrs.Int("keep") >= around {
				m.cell[k] = here.cell
			}
		}
		reg = append(reg, here)
		m.in[k] = f.nested(a, args, around)
	}
	return m
}

// nested maps the bodies of a loop or a branch.
func (f *keepFinder) nested(a *op.Action, args []keepSource, around int) (in []*keepMap) {
	switch a.Def.Control {
	case op.Select:
		args = args[1:]
	case op.Iterate:
		args = append([]keepSource(nil), args...)
		clear(args[:a.Attrs.Int("carry")])
		around++
	default:
		return nil
	}
	for _, b := range a.Bodies {
		in = append(in, f.find(b, args, around))
	}
	return in
}

// keptIn is the cells and the map of a parfor's body, of which those registers vary. What is the same in the body itself is computed
// before the loop and is in no cell.
func keptIn(b *op.Body, varies []bool) ([]keepCell, *keepMap) {
	f := &keepFinder{}
	m := &keepMap{cell: make([]int, len(b.Acts)), in: make([][]*keepMap, len(b.Acts))}
	for k := range b.Acts {
		if !varies[len(b.Args)+k] {
			continue
		}
		a := &b.Acts[k]
		args := make([]keepSource, len(a.Args))
		for i, r := range a.Args {
			if !varies[r] {
				args[i].reg = 1 + r
			}
		}
		m.in[k] = f.nested(a, args, 1)
	}
	return f.cells, m
}

// kept is the values of cells in one execution, shared by its workers.
type kept struct {
	call   *op.Call
	values []value.Value // of the registers that are the same in every iteration
	cells  []keepCell
	state  []keptValue
}

// keptValue is what a cell holds. A failure is kept as well.
type keptValue struct {
	mu   sync.Mutex
	done atomic.Bool // v and err do not change any more
	v    value.Value
	err  error
}

// get is the value of a cell, which nobody may write to. Its arguments were needed before it, so that they do not fail where
// it would have: those of cells are asked for as they are needed.
func (k *kept) get(cell int) (value.Value, error) {
	s := &k.state[cell]
	if s.done.Load() {
		return s.v, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done.Load() {
		return s.v, s.err
	}
	v, err := k.compute(&k.cells[cell])
	if err != op.ErrStopped {
		s.v, s.err = v, err
		s.done.Store(true)
	}
	return v, err
}

func (k *kept) compute(c *keepCell) (value.Value, error) {
	p := newPerformer(c.body, []int{c.act}, true, k.call, nil, nil)
	for i, x := range c.args {
		v, err := k.source(x)
		if err != nil {
			return nil, err
		}
		p.reg[c.body.Acts[c.act].Args[i]] = v
	}
	return p.act(c.act)
}

func (k *kept) source(x keepSource) (value.Value, error) {
	if x.cell > 0 {
		return k.get(x.cell - 1)
	}
	return k.values[x.reg-1], nil
}
