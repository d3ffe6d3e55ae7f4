package loop

// This file makes matrices that rounds carry in their own place. A round writes the next one beside
// the old one and copies it there, since each element may read all old ones. Where an element reads
// only old ones at its own place and behind it, ascending rounds may write it at once. If it also
// reads a few old ones at places that are the same in all rounds, these are loaded before the
// rounds. Where later rounds, too, read only some rows behind their own, the first rows of the last
// matrix need fewer rows round by round: a triangle, as in trees of prices or de Casteljau's
// curves.

import "slices"

// InPlace returns n with matrices of the body made in place, and without the rows of them that
// nothing reads. All results stay the same.
func InPlace(n *Nest) *Nest {
	p := &placing{nest: n}
	for p.next() {
		p.nest = p.rewrite()
	}
	return p.narrow()
}

// placing is a nest in which one matrix is made in place at a time.
type placing struct {
	nest       *Nest
	make, copy *Stmt   // the loops that make a matrix, and copy it
	from, to   int     // locals
	before     []*Stmt // loads of make that move before it
}

// mostBefore is the most loads that move before a loop: each takes a register in it.
const mostBefore = 16

// next finds a loop that makes a local and one behind it that copies it over another.
func (p *placing) next() (found bool) {
	eachBlock(&p.nest.Body, func(b *Block) {
		for j := range b.Stmts {
			from, to, ok := copies(&b.Stmts[j])
			if found || !ok || from == to {
				continue
			}
			i := slices.IndexFunc(b.Stmts[:j], func(s Stmt) bool { return s.Code == For && accesses(&s, from) > 0 })
			if i < 0 || accesses(&b.Stmts[i], from)+accesses(&b.Stmts[j], from) != accessesIn(&p.nest.Body, from) {
				continue
			}
			between := slices.ContainsFunc(b.Stmts[i+1:j], func(s Stmt) bool { return accesses(&s, to) > 0 })
			before, fine := ahead(&b.Stmts[i], &b.Stmts[j], from, to)
			if !between && fine && p.nest.Locals[from].Elem == p.nest.Locals[to].Elem {
				*p, found = placing{p.nest, &b.Stmts[i], &b.Stmts[j], from, to, before}, true
			}
		}
	})
	return found
}

// rewrite is the nest with the matrix made in place.
func (p *placing) rewrite() *Nest {
	like := *p.nest
	like.Locals = slices.Delete(slices.Clone(like.Locals), p.from, p.from+1)
	now := func(m Mem) Mem {
		if m.Kind == LocalMem && m.N == p.from {
			m.N = p.to
		}
		if m.Kind == LocalMem && m.N > p.from {
			m.N--
		}
		return m
	}
	return rewritten(&like, func(r *rewriter, s *Stmt) bool {
		if s == p.make {
			for _, s := range p.before {
				t := *s
				t.Mem = now(s.Mem)
				r.copy(&t)
			}
		}
		if s == p.copy || slices.Contains(p.before, s) {
			return true
		}
		if s.Mem.Kind != LocalMem {
			return false
		}
		t := *s
		t.Mem = now(s.Mem)
		r.copy(&t)
		return true
	})
}

// accesses counts how often a statement, and those within, name a local.
func accesses(s *Stmt, local int) int {
	return accessesIn(&Block{Stmts: []Stmt{*s}}, local)
}

func accessesIn(b *Block, local int) (n int) {
	EachStmt(b, func(s *Stmt) {
		if s.Mem == (Mem{Kind: LocalMem, N: local}) {
			n++
		}
	})
	return n
}

// sweep is one ascending loop, or two, one in the other, over all places of a matrix.
type sweep struct {
	ranges []Range
	names  []int
	head   []Stmt // of the outer loop, before the inner one: they touch no local
	body   []Stmt // of the innermost loop
	along  int    // the axis of the outer loop: 1 where one loop goes along a row
}

// swept is a loop as a sweep. ok is false where it carries values or may be left.
func swept(s *Stmt) (w sweep, ok bool) {
	for range 2 {
		if s.Code != For || s.N > 0 || s.Loop.Index.Range.Kind != Steps || s.Loop.Index.Range.By != 1 {
			return w, false
		}
		w.ranges, w.names = append(w.ranges, s.Loop.Index.Range), append(w.names, s.Loop.Index.Name)
		w.body = s.Loop.Body.Stmts
		last := len(w.body) - 1
		if len(w.names) == 2 || last < 0 || w.body[last].Code != For || slices.ContainsFunc(w.body[:last], func(s Stmt) bool { return s.N != 1 || !pure(&s) }) {
			break
		}
		s, w.head = &w.body[last], w.body[:last]
	}
	k := slices.IndexFunc(w.body, func(s Stmt) bool { return s.Code == Store })
	if len(w.names) == 1 && k >= 0 && w.body[k].At[1].Equal(Of(IndexSym, w.names[0])) {
		w.along = 1
	}
	return w, k >= 0 && !slices.ContainsFunc(w.body, func(s Stmt) bool { return s.Code == Break })
}

// place is where a statement of the innermost loop stores: at the outer index, and across it at the
// inner one or at a constant.
func (w *sweep) place(at []Lin) (across Lin, ok bool) {
	across = at[1-w.along]
	if !at[w.along].Equal(Of(IndexSym, w.names[0])) {
		return across, false
	}
	if len(w.names) == 2 {
		return Lin{}, across.Equal(Of(IndexSym, w.names[1]))
	}
	return across, across.Known()
}

// Filled reports, by local of a nest of one point, whether the first statement that names the local
// stores all its elements and reads none of them. What the local held before does not matter then.
func Filled(n *Nest) []bool {
	list := make([]bool, len(n.Locals))
	for k, x := range n.Locals {
		first := slices.IndexFunc(n.Body.Stmts, func(s Stmt) bool { return accesses(&s, k) > 0 })
		list[k] = first >= 0 && fills(&n.Body.Stmts[first], k, [2]Lin{x.Rows, x.Cols})
	}
	return list
}

// fills reports a sweep that stores all elements of a local of that size and reads none.
func fills(s *Stmt, local int, size [2]Lin) bool {
	w, ok := swept(s)
	if !ok {
		return false
	}
	whole := func(r Range, to Lin) bool { return r.From.Equal(Num(0)) && r.To.Equal(to) }
	stores := 0
	for k := range w.body {
		if t := &w.body[k]; t.Code == Store && t.Mem == (Mem{Kind: LocalMem, N: local}) {
			_, fine := w.place(t.At)
			ok = ok && fine
			stores++
		} else if t.Code == Store {
			return false // columns would list its places, too
		}
	}
	ok = ok && stores == accesses(s, local) && whole(w.ranges[0], size[w.along])
	if len(w.names) == 2 {
		return ok && stores == 1 && whole(w.ranges[1], size[1])
	}
	across := size[1-w.along]
	for k, c := range w.columns() {
		ok = ok && c == int64(k)
	}
	return ok && across.Equal(Num(int64(stores)))
}

// columns lists the constants of the places at which a sweep stores, in order.
func (w *sweep) columns() (list []int64) {
	for k := range w.body {
		if s := &w.body[k]; s.Code == Store {
			across, _ := w.place(s.At)
			list = append(list, across.Const)
		}
	}
	slices.Sort(list)
	return list
}

// copies reports a sweep that copies a local to the same places of another and does nothing else.
func copies(s *Stmt) (from, to int, ok bool) {
	w, ok := swept(s)
	if !ok || len(w.body) == 0 || len(w.body)%2 != 0 {
		return 0, 0, false
	}
	for k := 0; k < len(w.body); k += 2 {
		a, b := &w.body[k], &w.body[k+1]
		if a.Code != Load || b.Code != Store || a.Mem.Kind != LocalMem || b.Mem.Kind != LocalMem || b.Args[0] != a.Dst {
			return 0, 0, false
		}
		_, fine := w.place(a.At)
		if !fine || !slices.EqualFunc(a.At, b.At, Lin.Equal) || k > 0 && (a.Mem.N != from || b.Mem.N != to) {
			return 0, 0, false
		}
		from, to = a.Mem.N, b.Mem.N
	}
	return from, to, true
}

// ahead reports that a sweep makes exactly the elements of local from that another copies to local
// to, and that each reads none of to that an earlier element of the sweep replaces. before lists
// loads that are excepted, since their places are the same in all rounds.
func ahead(maker, copier *Stmt, from, to int) (before []*Stmt, fine bool) {
	w, ok := swept(maker)
	c, _ := swept(copier)
	if !ok || w.along != c.along || !slices.EqualFunc(w.ranges, c.ranges, sameRange) {
		return nil, false
	}
	var made []int64 // columns
	fine = true
	for k := range w.body {
		switch s := &w.body[k]; {
		case s.Code == Store && s.Mem == (Mem{Kind: LocalMem, N: from}):
			col, is := w.place(s.At)
			fine = fine && is && !slices.Contains(made, col.Const)
			made = append(made, col.Const)
		case accesses(s, from) > 0:
			return nil, false
		case s.Code == Load && s.Mem == (Mem{Kind: LocalMem, N: to}) && s.At[0].Known() && s.At[1].Known():
			if before = append(before, s); len(before) > mostBefore {
				return nil, false
			}
			continue
		}
		EachStmt(&Block{Stmts: w.body[k : k+1]}, func(s *Stmt) {
			if s.Mem != (Mem{Kind: LocalMem, N: to}) {
				return
			}
			fine = fine && s.Code == Load && w.unmade(s.At, made)
		})
	}
	slices.Sort(made)
	return before, fine && slices.Equal(made, c.columns())
}

// unmade reports a place that the sweep has not made yet, of a statement behind those that made
// columns of the present place.
func (w *sweep) unmade(at []Lin, made []int64) bool {
	ahead, across := w.distance(at), at[1-w.along]
	switch {
	case !ahead.Known() || ahead.Const < 0:
		return false
	case ahead.Const > 0:
		return true
	case len(w.names) == 1:
		return across.Known() && !slices.Contains(made, across.Const)
	}
	across = across.Plus(Of(IndexSym, w.names[1]).Times(-1))
	return across.Known() && (across.Const > 0 || across.Const == 0 && len(made) == 0)
}

// distance is how far behind the outer index a place lies.
func (w *sweep) distance(at []Lin) Lin {
	return at[w.along].Plus(Of(IndexSym, w.names[0]).Times(-1))
}

// copiedBehind returns the sweep that copies the local made by statement k of b, and the local that it
// copies to. Nothing else may access the copied local. from is nil if there is no such sweep.
func copiedBehind(n *Nest, b *Block, k int) (from *Stmt, to int) {
	for j := k + 1; j < len(b.Stmts); j++ {
		s := &b.Stmts[j]
		made, to, ok := copies(s)
		if !ok || made == to || accesses(&b.Stmts[k], made) == 0 || accesses(&b.Stmts[k], made)+accesses(s, made) != accessesIn(&n.Body, made) {
			continue
		}
		w, _ := swept(&b.Stmts[k])
		x, _ := swept(s)
		writes := func(s *Stmt) bool { return s.Code == Store && s.Mem == (Mem{LocalMem, to}) }
		if w.along == x.along && slices.EqualFunc(w.ranges, x.ranges, sameRange) && slices.Equal(w.columns(), x.columns()) &&
			!Some(b.Stmts[k:j], writes) {
			return s, to
		}
	}
	return nil, 0
}

// narrow returns the nest with rounds that make no rows that nothing reads.
func (p *placing) narrow() *Nest {
	n := p.nest
	ends := map[*Stmt]Lin{}
	for k := range n.Body.Stmts {
		rounds := &n.Body.Stmts[k]
		if _, ok := knownRounds(rounds); !ok || rounds.Loop.Index.Range.From.Const != 0 || rounds.Loop.Index.Range.By != 1 {
			continue
		}
		for i := range rounds.Loop.Body.Stmts {
			s := &rounds.Loop.Body.Stmts[i]
			if end, ok := p.cone(k, rounds, s); ok {
				ends[s] = end
			}
		}
	}
	if len(ends) == 0 {
		return n
	}
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		end, ok := ends[s]
		if !ok {
			return false
		}
		t, l := *s, *s.Loop
		l.Index.Range.To, t.Loop = end, &l
		r.copy(&t)
		return true
	})
}

// cone returns where the rows end that a sweep in the rounds, statement k of the body, has to make.
// The sweep alone accesses the matrix in the rounds. Behind them rows up to last are read; so the
// last round makes these, and each one before it as many more as an element reads behind its own.
func (p *placing) cone(k int, rounds, s *Stmt) (end Lin, ok bool) {
	w, ok := swept(s)
	if !ok || !w.ranges[0].From.Known() || w.ranges[0].From.Const != 0 || !w.ranges[0].To.Known() {
		return Lin{}, false
	}
	local, reach := -1, int64(0)
	fine := true
	EachStmt(&s.Loop.Body, func(t *Stmt) {
		switch t.Code {
		case Check, Reduce, Break:
			fine = false
		case Store:
			_, is := w.place(t.At)
			fine = fine && is && t.Mem.Kind == LocalMem && (local < 0 || local == t.Mem.N)
			local = t.Mem.N
		}
	})
	if !fine || local < 0 || accesses(s, local) != accesses(rounds, local) {
		return Lin{}, false
	}
	EachStmt(&s.Loop.Body, func(t *Stmt) {
		if t.Code == Load && t.Mem == (Mem{Kind: LocalMem, N: local}) {
			ahead := w.distance(t.At)
			fine = fine && ahead.Known() && ahead.Const >= 0
			reach = max(reach, ahead.Const)
		}
	})
	last, known := p.last(k, local, w.along)
	size, times := w.ranges[0].To.Const, rounds.Loop.Index.Range.To.Const
	end = Num(last + 1 + reach*(times-1)).Plus(Of(IndexSym, rounds.Loop.Index.Name).Times(-reach))
	return end, fine && known && last >= 0 && last+1+reach*(times-1) <= size && end.small()
}

// last is the last row or column of a local that is read behind statement k of the body; known is
// false where it is written there or the place depends on the run.
func (p *placing) last(k, local, axis int) (last int64, known bool) {
	last, known = -1, true
	c := &cutter{ranges: map[int][2]int64{}}
	behind := &Block{Stmts: p.nest.Body.Stmts[k+1:]}
	EachStmt(behind, func(s *Stmt) {
		if s.Loop != nil {
			if x, ok := c.bounds(s.Loop.Index.Range); ok {
				c.ranges[s.Loop.Index.Name] = x
			}
		}
	})
	EachStmt(behind, func(s *Stmt) {
		if s.Mem != (Mem{Kind: LocalMem, N: local}) {
			return
		}
		at, ok := int64(0), s.Code == Load
		if ok {
			at, ok = c.most(s.At[axis])
		}
		last, known = max(last, at), known && ok
	})
	return last, known
}
