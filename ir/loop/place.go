package loop

// This file narrows a sweep over a matrix to the few places where it changes anything:
//
//	for r in 0..n { w[r] = w[r] + select(r == a, d, 0) }      ->      if 0 <= a < n { w[a] = w[a] + d }
//
// query.differs reads from the body where a stored value may differ from the old element. Comparisons
// of an index for equality bound these places. x + 0.0 is not x if x is -0.0. So a sweep that adds 0.0
// elsewhere is made whole until it leaves no -0.0 behind, and a local remembers that it left none.
// Where the 0.0 is a product d * 0.0, the sweep is made whole if d is not finite.
//
// Narrowing would be wrong if another step of the sweep stored to another matrix, or failed.

import (
	"slices"

	"flow/ir/types"
)

// mostPlaces is the most places of a sweep that are made one by one.
const mostPlaces = 4

// spot is the points of a sweep at which the indices equal values from before it. NoVal: any index.
type spot struct {
	at   [2]Val
	less [2]int64 // the index is at - less
}

// spots is the points of a sweep at a few places, or all of them.
type spots struct {
	list []spot
	all  bool
}

// placed is a sweep that changes a matrix at a few places alone.
type placed struct {
	sweep
	list []spot
	mem  Mem // what it changes
	// signed: elsewhere it adds 0.0, so that it changes each -0.0 of mem.
	signed bool
	finite []Val // elsewhere it adds 0.0 only if these values from before it are finite
	// beside is the local that lies between a sweep and the one that copies it. fixed tells the axes of
	// which all places have the index. Along them, beside has one index for each place.
	beside Mem
	fixed  [2]bool
}

// AtPlaces returns n with the steps for a few places instead of each sweep that changes a local only there.
// The sweep writes to the local itself, or to another one that a second sweep copies; then both are
// narrowed.
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

// lieBeside makes the matrix that p writes the one beside what it changes.
func (p *placed) lieBeside() {
	p.beside = p.mem
	for d := range p.names {
		p.fixed[p.axis(d)] = !slices.ContainsFunc(p.list, func(x spot) bool { return x.at[d] == NoVal })
	}
}

// axis returns the axis of loop d of a sweep.
func (w *sweep) axis(d int) int { return (w.along + d) % 2 }

// query asks where a stored value differs from the element before.
type query struct {
	*cutter
	sets    Sets[spots]
	w       *sweep
	old     Mem
	at      []Lin // of the store
	inside  func(v Val) bool
	signed  bool // elsewhere, the value is a sum with 0.0 that changes -0.0
	finite  []Val
	chooses bool // some step is no sum
}

// sweepAt returns the places at which sweep s changes a local, or nil if they may be many. from is the
// sweep that copies what s makes to local to; nil: there is none.
func (c *cutter) sweepAt(s, from *Stmt, to int) *placed {
	w, ok := swept(s)
	if !ok || slices.ContainsFunc(w.ranges, func(r Range) bool { return !r.From.Known() || !r.To.Known() }) {
		return nil
	}
	q := &query{cutter: c, w: &w, inside: func(v Val) bool {
		return Some(slices.Concat(w.head, w.body), func(s *Stmt) bool {
			return s.N > 0 && v >= s.Dst && v < s.Dst+Val(s.N) || s.Loop != nil && v >= s.Loop.Carry && v < s.Loop.Carry+Val(s.N)
		})
	}}
	q.sets = Sets[spots]{Facts: c.facts, All: spots{all: true}, And: meet, Or: union, Compared: q.compared}
	p, changed := &placed{sweep: w}, spots{}
	for k := range w.body {
		t := &w.body[k]
		if t.Code != Store {
			if t.some(func(t *Stmt) bool { return t.Code == Store || t.Code == Check || t.Code == Reduce }) {
				return nil
			}
			continue
		}
		if _, fine := w.place(t.At); !fine || t.Mem.Kind != LocalMem || p.mem.Kind != NoMem && t.Mem != p.mem {
			return nil
		}
		p.mem, q.old, q.at = t.Mem, t.Mem, t.At
		if from != nil {
			q.old.N = to
		}
		changed = union(changed, q.differs(t.Args[0]))
		if changed.all {
			return nil
		}
	}
	p.list = changed.list
	if p.mem.Kind == NoMem || q.signed && (q.chooses || from != nil) || !q.apart(p, from) {
		return nil
	}
	p.signed, p.finite = q.signed, q.finite
	return p
}

// apart reports whether no step for a place of p reads what a step for another place has made.
func (q *query) apart(p *placed, from *Stmt) bool {
	fine := true
	for _, x := range p.list {
		for d := range x.at {
			fine = fine && (from != nil || (x.at[d] == NoVal) == (p.list[0].at[d] == NoVal))
		}
	}
	EachStmt(&Block{Stmts: p.body}, func(s *Stmt) {
		if s.Code != Load || s.Mem != p.mem {
			return
		}
		_, own := q.w.place(s.At)
		fine = fine && from == nil && (own || len(p.list) == 1)
	})
	return fine
}

// union returns the places of both.
func union(a, b spots) spots {
	list := slices.Clone(a.list)
	for _, x := range b.list {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return spots{list: list, all: a.all || b.all || len(list) > mostPlaces}
}

// meet returns places that include those in both a and b.
func meet(a, b spots) spots {
	switch {
	case a.all || !b.all && len(b.list) < len(a.list):
		return b
	case !b.all && len(a.list) == 1 && len(b.list) == 1:
		x := a.list[0]
		for d := range x.at {
			if x.at[d] == NoVal {
				x.at[d], x.less[d] = b.list[0].at[d], b.list[0].less[d]
			}
		}
		return spots{list: []spot{x}}
	}
	return a
}

// differs returns the places where v may differ from the old element.
func (q *query) differs(v Val) spots {
	s, all := q.facts.made[v], q.sets.All
	if s != nil && s.Code == Load {
		return spots{all: s.Mem != q.old || !q.inside(v) || !slices.EqualFunc(s.At, q.at, Lin.Equal)}
	}
	if places, ok := q.sets.Chosen(v, q.differs); ok {
		q.chooses = true
		return places
	}
	if s == nil || !slices.Contains([]Code{Add, Sub, Mul, Div, Min, Max, And, Or, Xor}, s.Code) {
		return all
	}
	q.chooses = q.chooses || s.Code != Add && s.Code != Sub
	for k := range 2 {
		if k == 1 && (s.Code == Sub || s.Code == Div) {
			break
		}
		if places := q.differs(s.Args[k]); !places.all {
			if more := q.changing(s.Code, s.Args[1-k]); !more.all {
				return union(places, more)
			}
		}
	}
	return all
}

// changing returns the places where an operation with right operand v may change the left one.
func (q *query) changing(code Code, v Val) spots {
	s, of := q.facts.made[v], func(v Val) spots { return q.changing(code, v) }
	if s == nil {
		return q.sets.All
	}
	if e := q.facts.nest.Types[v]; e == types.Bool && s.Code != Const && (code == Or || code == Xor || code == And) {
		return q.sets.Holds(v, code != And)
	}
	if places, ok := q.sets.Chosen(v, of); ok {
		return places
	}
	switch zero := code == Add || code == Sub || code == Or || code == Xor; {
	case s.Code == Const:
		return spots{all: !q.neutral(code, q.facts.nest.Types[v], s.Imm)}
	case zero && (s.Code == ToF64 || s.Code == ToF32 || s.Code == ToI64) && !q.facts.nest.Types[s.Args[0]].IsFloat():
		q.signed = q.signed || code == Add && s.Code != ToI64
		if q.facts.nest.Types[s.Args[0]] == types.Bool {
			return q.sets.Holds(s.Args[0], true)
		}
		return q.changing(Or, s.Args[0])
	case zero && s.Code == Mul && q.facts.nest.Types[v] == types.I64:
		return meet(of(s.Args[0]), of(s.Args[1]))
	case zero && s.Code == Mul: // 0.0 times a number, with either sign
		places := q.sets.All
		for k := range 2 {
			if q.isFinite(s.Args[1-k]) {
				places = meet(places, of(s.Args[k]))
			}
		}
		q.signed = q.signed || !places.all
		return places
	}
	return q.sets.All
}

// isFinite reports whether float v is finite if those of finite are. It adds v there if v is made before
// the sweep. A product may overflow unless one factor is 0 or 1.
func (q *query) isFinite(v Val) bool {
	s, truth := q.facts.made[v], func(v Val) bool {
		t := q.facts.made[v]
		return t != nil && (t.Code == ToF64 || t.Code == ToF32) && q.facts.nest.Types[t.Args[0]] == types.Bool
	}
	switch {
	case s != nil && (s.Code == ToF64 || s.Code == ToF32) && !q.facts.nest.Types[s.Args[0]].IsFloat():
		return true
	case !q.inside(v):
		if !slices.Contains(q.finite, v) {
			q.finite = append(q.finite, v)
		}
		return true
	case s != nil && s.Code == Mul:
		return truth(s.Args[0]) && q.isFinite(s.Args[1]) || truth(s.Args[1]) && q.isFinite(s.Args[0])
	}
	return false
}

// neutral reports whether an operation with the right operand w leaves the left one as it is. A sum that
// changes only -0.0 counts as neutral, and is noted in signed.
func (q *query) neutral(code Code, e types.Elem, w Word) bool {
	one, sign, ones := Word(1), Word(0), ^Word(0)
	switch e {
	case types.F64:
		one, sign = 0x3ff<<52, 1<<63
	case types.F32:
		one, sign = 0x7f<<23, 1<<31
	case types.Bool:
		ones = 1
	}
	switch code {
	case Add, Sub:
		q.signed = q.signed || sign != 0 && w == map[Code]Word{Add: 0, Sub: sign}[code]
		return w == 0 || sign != 0 && w == sign
	case Mul, Div:
		return w == one
	case Or, Xor:
		return w == 0
	case And:
		return w == ones
	}
	return false
}

// compared returns the places where s, a comparison of an index for equality, has the value is.
func (q *query) compared(s *Stmt, is bool) spots {
	if s.Code != Eq && s.Code != Ne || (s.Code == Eq) != is || q.facts.nest.Types[s.Args[0]] != types.I64 {
		return q.sets.All
	}
	for k, v := range s.Args {
		l, linear := q.facts.Lin(v)
		for d, name := range q.w.names {
			if rest := l.Plus(Of(IndexSym, name).Times(-1)); linear && rest.Known() && !q.inside(s.Args[1-k]) {
				p := spot{at: [2]Val{NoVal, NoVal}}
				p.at[d], p.less[d] = s.Args[1-k], rest.Const
				return spots{list: []spot{p}}
			}
		}
	}
	return q.sets.All
}

// atPlaces writes a nest with sweeps narrowed.
type atPlaces struct {
	*cutter
	found map[*Stmt]*placed
	// clean is, by local that a signed sweep changes, the local that is 1 if it has no -0.0.
	clean []Mem
	whole *placed // the signed sweep that is being written whole
	few   *placed // the sweep of which place number spot is being written
	spot  int
	quiet bool // what the statement changes has been noted
}

// isClean writes whether local k has no -0.0.
func (m *atPlaces) isClean(r *rewriter, k int, is Val) { r.Store(m.clean[k], Num(0), Num(0), is) }

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

// other returns conditions that spot x is not y; none if the two have other indices fixed. Such spots may
// overlap. Then the sweep writes to another local than it reads (see apart), so that an element may be made
// twice.
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

// step writes loop d of a sweep, and those within it, at a place. at has the indices that are values, lins
// has those that are forms.
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
