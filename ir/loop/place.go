package loop

// This file narrows a sweep over a matrix to the few places where it changes anything:
//
//	for r in 0..n { w[r] = w[r] + select(r == a, d, 0) }      ->      if 0 <= a < n { w[a] = w[a] + d }
//
// place_find.go finds the places. x + 0.0 is not x if x is -0.0. So a sweep that adds 0.0 elsewhere is
// made whole until it leaves no -0.0 behind, and a local remembers that it left none. Where the 0.0 is
// a product d * 0.0, the sweep is made whole if d is not finite.
//
// Narrowing would be wrong if another step of the sweep stored to another matrix, or failed.

import (
	"slices"

	"flow/ir/types"
)

// AtPlaces returns n with the steps for a few places instead of each sweep that changes a local only
// there. The sweep writes to the local itself, or to another one that a second sweep copies; then both
// are narrowed.
func AtPlaces(n *Nest) *Nest {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}}
	found := map[*Stmt]*placed{}
	eachBlock(&n.Body, func(b *Block) {
		for k := range b.Stmts {
			s := &b.Stmts[k]
			if s.Loop == nil {
				continue
			}
			if x, ok := c.bounds(s.Loop.Index.Range); ok {
				name := s.Loop.Index.Name
				if old, is := c.ranges[name]; is {
					x = [2]int64{min(x[0], old[0]), max(x[1], old[1])}
				}
				c.ranges[name] = x
			}
			if found[s] != nil {
				continue
			}
			from, to := copiedBehind(n, b, k)
			p := c.sweepAt(s, from, to)
			if p == nil {
				continue
			}
			if found[s] = p; from != nil {
				w, _ := swept(from)
				p.lieBeside()
				found[from] = &placed{sweep: w, list: p.list, mem: Mem{LocalMem, to}, beside: p.beside, fixed: p.fixed}
			}
		}
	})
	if len(found) == 0 {
		return n
	}
	like := *n
	like.Locals = slices.Clone(n.Locals)
	m := &atPlaces{cutter: c, found: found, clean: make([]Mem, len(n.Locals))}
	for _, p := range found {
		if p.signed && m.clean[p.mem.N].Kind == NoMem {
			m.clean[p.mem.N] = Mem{LocalMem, len(like.Locals)}
			like.Locals = append(like.Locals, Local{Elem: types.I64, Rows: Num(1), Cols: Num(1)})
		}
		if p.beside.Kind != NoMem {
			few, l := Num(int64(max(1, len(p.list)))), &like.Locals[p.beside.N]
			if p.fixed[0] {
				l.Rows = few
			}
			if p.fixed[1] {
				l.Cols = few
			}
		}
	}
	return rewritten(&like, m.replace)
}

// atPlaces writes a nest with sweeps narrowed.
type atPlaces struct {
	*cutter
	found map[*Stmt]*placed
	// clean is, by local that a signed sweep changes, the local that is 1 if it has no -0.0.
	clean []Mem
	whole *placed // the signed sweep that is being written whole
	few   *placed // the sweep of which a place is being written; nil: none
	spot  int     // the number of that place
	quiet bool    // what the statement changes has been noted
}

// isClean writes whether local k has no -0.0.
func (m *atPlaces) isClean(r *rewriter, k int, is Val) { r.Store(m.clean[k], Num(0), Num(0), is) }

// replace writes the steps for a few places instead of statement s, if s is a sweep of found.
func (m *atPlaces) replace(r *rewriter, s *Stmt) bool {
	p := m.found[s]
	if f := m.few; f != nil && (s.Code == Load || s.Code == Store) && s.Mem == f.beside {
		t := *s
		t.At = slices.Clone(s.At)
		for axis, is := range f.fixed {
			if is {
				t.At[axis] = Num(int64(m.spot))
			}
		}
		r.copy(&t)
		return true
	}
	if p == nil {
		return m.store(r, s)
	}
	clean := m.clean[p.mem.N]
	if !p.signed {
		if clean.Kind != NoMem {
			m.isClean(r, p.mem.N, r.Const(types.I64, 0))
		}
		m.narrow(r, p)
		return true
	}
	none := r.Op(Eq, r.Load(clean, Num(0), Num(0)), r.Const(types.I64, 1))
	for _, v := range p.finite {
		x := r.now[v]
		none = r.Op(And, none, r.Op(Eq, r.Op(Sub, x, x), r.Const(r.Type(x), 0)))
	}
	m.quiet = true
	r.If(none, nil, func() []Val { m.narrow(r, p); return nil }, func() []Val {
		m.isClean(r, p.mem.N, r.Const(types.I64, 1))
		m.whole = p
		r.copy(s)
		m.whole = nil
		return nil
	})
	m.quiet = false
	r.last().Imm = Rare
	return true
}

// store writes a statement that changes a matrix of a signed sweep, and that the matrix may have a -0.0
// now. It returns false for other statements.
func (m *atPlaces) store(r *rewriter, s *Stmt) bool {
	if p := m.whole; p != nil && s.Code == Store && s.Mem == p.mem {
		r.copy(s)
		v := r.now[s.Args[0]]
		sign := Word(1) << 63
		if r.Type(v) == types.F32 {
			sign = 1 << 31
		}
		minus := r.Op(Eq, r.Op(Bits, v), r.Const(types.I64, sign))
		m.isClean(r, p.mem.N, r.Op(Select, minus, r.Const(types.I64, 0), r.Load(m.clean[p.mem.N], Num(0), Num(0))))
		return true
	}
	if m.whole != nil || m.quiet {
		return false
	}
	changed, within := make([]bool, len(m.clean)), false
	eachBlock(&Block{Stmts: []Stmt{*s}}, func(b *Block) {
		for k := range b.Stmts {
			t := &b.Stmts[k]
			p := m.found[t]
			within = within || p != nil && p.signed
			if t.Code == Store && t.Mem.Kind == LocalMem {
				changed[t.Mem.N] = true
			}
		}
	})
	if within {
		return false
	}
	for k, is := range changed {
		if is && m.clean[k].Kind != NoMem {
			m.isClean(r, k, r.Const(types.I64, 0))
			m.quiet = true
		}
	}
	if !m.quiet {
		return false
	}
	r.copy(s)
	m.quiet = false
	return true
}

// narrow writes the steps of a sweep for its places.
func (m *atPlaces) narrow(r *rewriter, p *placed) {
	for k, x := range p.list {
		var conds []Val
		at, lins := [2]Val{NoVal, NoVal}, [2]*Lin{}
		for d, v := range x.at {
			if v == NoVal {
				continue
			}
			from, to := p.ranges[d].From.Const, p.ranges[d].To.Const
			l, ok := m.facts.Lin(v)
			l = l.Plus(Num(-x.less[d]))
			most, known := m.most(l)
			least, _ := m.most(l.Times(-1))
			if at[d] = r.now[v]; x.less[d] != 0 {
				at[d] = r.Op(Sub, at[d], r.Const(types.I64, Word(x.less[d])))
			}
			if ok && known && -least >= from && most < to {
				lins[d] = &l
				continue
			}
			above := r.Op(Le, r.Const(types.I64, Word(from)), at[d])
			conds = append(conds, r.Op(And, above, r.Op(Lt, at[d], r.Const(types.I64, Word(to)))))
		}
		for _, y := range p.list[:k] {
			conds = append(conds, m.other(r, x, y)...)
		}
		write := func() []Val {
			m.few, m.spot = p, k
			m.step(r, p, at, lins, 0)
			m.few = nil
			return nil
		}
		if len(conds) == 0 {
			write()
			continue
		}
		all := conds[0]
		for _, c := range conds[1:] {
			all = r.Op(And, all, c)
		}
		r.If(all, nil, write, func() []Val { return nil })
	}
}

// other returns conditions that spot x is not y; none if the two have other indices fixed. Such spots
// may overlap. Then the sweep writes to another local than it reads (see apart), so that an element may
// be made twice.
func (m *atPlaces) other(r *rewriter, x, y spot) (conds []Val) {
	for d := range x.at {
		if (x.at[d] == NoVal) != (y.at[d] == NoVal) {
			return nil
		}
		if x.at[d] == NoVal {
			continue
		}
		is := r.Op(Ne, r.Op(Sub, r.now[x.at[d]], r.Const(types.I64, Word(x.less[d]-y.less[d]))), r.now[y.at[d]])
		if len(conds) == 0 {
			conds = append(conds, is)
		} else {
			conds[0] = r.Op(Or, conds[0], is)
		}
	}
	return conds
}

// step writes loop d of a sweep, and those within it, at a place. at has the indices that are values,
// lins has those that are forms.
func (m *atPlaces) step(r *rewriter, p *placed, at [2]Val, lins [2]*Lin, d int) {
	if d == 1 {
		r.block(&Block{Stmts: p.head})
	}
	if d == len(p.names) {
		r.block(&Block{Stmts: p.body})
		return
	}
	name, rng := p.names[d], p.ranges[d]
	switch {
	case lins[d] != nil:
		rng = Range{Kind: Steps, From: *lins[d], To: lins[d].Plus(Num(1)), By: 1}
	case at[d] != NoVal:
		r.points[name] = at[d]
		m.step(r, p, at, lins, d+1)
		delete(r.points, name)
		return
	}
	r.names[name] = r.Name(r.Nest.Names[name])
	r.For(Index{Name: r.names[name], Range: r.rng(rng)}, nil, func([]Val) []Val { m.step(r, p, at, lins, d+1); return nil })
	delete(r.names, name)
}
