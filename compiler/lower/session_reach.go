package lower

// This file finds what the names of a session still reach, and keeps what an entry that fails goes
// back to.

import (
	"slices"

	"flow/ir"
	"flow/ir/types"
	"flow/ir/value"
)

// reach replaces the ID of every edge that names of the session refer to. of, if not nil, is called
// once for every array.
func (s *Session) reach(f func(ir.ID) ir.ID, of func(*grid)) {
	w := &walk{edge: f, array: of, scopes: map[*scope]bool{}, grids: map[*grid]bool{}}
	w.scope(s.top)
}

// walk visits what names refer to, also through the scopes of functions.
type walk struct {
	edge   func(ir.ID) ir.ID
	array  func(*grid)
	scopes map[*scope]bool
	grids  map[*grid]bool
}

func (w *walk) scope(s *scope) {
	if s == nil || w.scopes[s] {
		return
	}
	w.scopes[s] = true
	for i := range s.vals {
		s.vals[i] = w.val(s.vals[i])
	}
	w.scope(s.parent)
}

func (w *walk) val(v val) val {
	switch v.kind {
	case edge:
		v.id = w.edge(v.id)
	case array:
		if g := v.grid; !w.grids[g] {
			w.grids[g] = true
			for i, id := range g.cur {
				if id != ir.None {
					g.cur[i] = w.edge(id)
				}
			}
			if w.array != nil {
				w.array(g)
			}
		}
	case list, tuple:
		return v.each(func(_ int, x val) val { return w.val(x) })
	case function:
		w.scope(v.fn.env)
	}
	return v
}

// snapshot copies everything that an entry may change.
func (s *Session) snapshot() before {
	b := before{scopes: map[*scope]scope{}, grids: map[*grid]grid{}}
	w := &walk{edge: func(id ir.ID) ir.ID { return id }, scopes: map[*scope]bool{}, grids: map[*grid]bool{}}
	w.array = func(g *grid) {
		c := *g
		c.cur, c.ver, c.typ = slices.Clone(g.cur), slices.Clone(g.ver), slices.Clone(g.typ)
		b.grids[g] = c
	}
	w.scope(s.top)
	for x := range w.scopes {
		c := *x
		c.names, c.vals, c.spans, c.index = slices.Clone(x.names), slices.Clone(x.vals), slices.Clone(x.spans), nil
		b.scopes[x] = c
	}
	return b
}

// Variable is a name of a session.
type Variable struct {
	Name string
	What string     // such as "a function"; "" of values
	Type types.Type // of a value
	// Slot is the number of a run-time value; -1 for a plan-time value, which is Const.
	Slot  int
	Const value.Scalar
	Parts []Variable // of a tuple or list
	Args  []string   // of a function, the names of its parameters
	// Fields lists the parts of tuples and modules.
	Fields []string
}
