package loop

// This file finds the few places at which a sweep over a matrix changes anything. query.differs reads
// from the body where a stored value may differ from the old element. Comparisons of an index for
// equality bound these places.

import (
	"slices"

	"flow/ir/types"
)

// MostPlaces is the most places of a sweep that are made one by one. A loop goes over all elements
// if there are more (AtPlaces).
const MostPlaces = 4

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
	// beside is the local that lies between a sweep and the one that copies it. fixed tells the axes
	// whose index all places give. Along these, beside has one index for each place.
	beside Mem
	fixed  [2]bool
}

// lieBeside notes that the local that p changes lies between p and the sweep that copies it.
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
			if t.some(func(t *Stmt) bool { return t.Code == Store || t.Code == Reduce }) {
				return nil
			}
			if changed = union(changed, q.checked(&Block{Stmts: []Stmt{*t}}, q.sets.All)); changed.all {
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

// checked returns the places at which block b makes checks. The block runs only at the places at.
func (q *query) checked(b *Block, at spots) (out spots) {
	if b == nil {
		return out
	}
	for i := range b.Stmts {
		switch s := &b.Stmts[i]; {
		case s.Code == Check:
			out = union(out, at)
		case s.Code == If:
			out = union(out, q.checked(s.Then, meet(at, q.sets.Holds(s.Args[0], true))))
			out = union(out, q.checked(s.Else, meet(at, q.sets.Holds(s.Args[0], false))))
		case s.Loop != nil:
			out = union(out, q.checked(&s.Loop.Body, at))
		}
	}
	return out
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
	return spots{list: list, all: a.all || b.all || len(list) > MostPlaces}
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

// isFinite reports whether float v is finite if those of finite are. It adds v there if v is made
// before the sweep. A product may overflow unless one factor is 0 or 1.
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

// neutral reports whether an operation with the right operand w leaves the left one as it is. A sum
// that changes only -0.0 counts as neutral, and is noted in signed.
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
