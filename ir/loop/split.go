package loop

// This file cuts inner loops where conditions on their index change: at borders. In each piece such
// a condition is constant and disappears, as does a check that always holds.

import (
	"cmp"
	"slices"

	"flow/ir/types"
)

// mostCut is the most statements that cutting one loop may add.
const mostCut = 600

// Split returns n with inner loops cut into pieces in which conditions on their index are constant, and
// without these conditions. The pieces of a loop begin and end at known indices, or at forms of the
// indices of loops around it. All values stay the same.
func Split(n *Nest) *Nest {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}}
	if !c.cuts(&n.Body) {
		return n
	}
	clear(c.ranges)
	c.inner = nil
	return c.rewritten(n)
}

// rewritten returns n without the conditions that are known.
func (c *cutter) rewritten(n *Nest) *Nest {
	return rewritten(n, c.replace)
}

// cutter holds what is known of indices during a walk over a nest.
type cutter struct {
	facts  *Facts
	ranges map[int][2]int64     // ranges of indices, by name: least and greatest
	inner  []Index              // of the loops around that have a range in ranges, the innermost last
	known  map[*Stmt][2]outcome // of borders, by the statement and the subscript
}

// cuts reports whether a condition in a block is constant, or can become so by cutting.
func (c *cutter) cuts(b *Block) bool {
	if b == nil {
		return false
	}
	return slices.ContainsFunc(b.Stmts, func(s Stmt) bool {
		if s.Loop != nil {
			if x, ok := c.bounds(s.Loop.Index.Range); ok {
				c.enter(s.Loop.Index, x)
				defer c.leave()
				if len(c.places(&s)) > 0 {
					return true
				}
			}
			return c.cuts(&s.Loop.Body)
		}
		return c.decided(&s) >= 0 || c.cuts(s.Then) || c.cuts(s.Else)
	})
}

// decided returns the truth of the condition of an if or a select as 0 or 1, or -1 if unknown. For a
// check that holds it returns 1.
func (c *cutter) decided(s *Stmt) int {
	if s.Code != If && s.Code != Select && s.Code != Check {
		return -1
	}
	t := c.truth(s.Args[0])
	if s.Code == Check && t == 0 {
		return -1
	}
	return t
}

// truth returns the value of a bool, 0 or 1, or -1 if unknown.
func (c *cutter) truth(v Val) int {
	s := c.facts.made[v]
	if s == nil || len(s.Args) == 0 {
		return -1
	}
	if x := c.known[s][0]; x.known {
		return int(x.value)
	}
	if c.facts.nest.Types[s.Args[0]] == types.Bool {
		switch s.Code {
		case Not:
			if t := c.truth(s.Args[0]); t >= 0 {
				return 1 - t
			}
		case And, Or:
			a, b := c.truth(s.Args[0]), c.truth(s.Args[1])
			decides := 0 // what one operand alone says
			if s.Code == Or {
				decides = 1
			}
			switch {
			case a == decides || b == decides:
				return decides
			case a >= 0 && b >= 0:
				return 1 - decides
			}
		}
		return -1
	}
	for t := range 2 { // a comparison is t if none of these forms is negative
		forms := c.facts.Where(v, t == 1)
		always := len(forms) > 0
		for _, f := range forms {
			most, ok := c.most(f)
			if ok && most < 0 {
				return 1 - t
			}
			least, _ := c.most(f.Times(-1))
			always = always && ok && -least >= 0
		}
		if always {
			return t
		}
	}
	return -1
}

// enter notes the range of the index of a loop, as leave forgets it.
func (c *cutter) enter(x Index, r [2]int64) {
	c.ranges[x.Name] = r
	c.inner = append(c.inner, x)
}

func (c *cutter) leave() {
	last := len(c.inner) - 1
	delete(c.ranges, c.inner[last].Name)
	c.inner = c.inner[:last]
}

// most returns the greatest value of a form of indices over ranges, or more.
func (c *cutter) most(f Lin) (most int64, ok bool) {
	most, ok = c.box(f)
	for k := len(c.inner) - 1; k >= 0; k-- {
		x := c.inner[k]
		if f.Coef(Sym{IndexSym, x.Name}) == 0 || x.Range.From.Known() && x.Range.To.Known() {
			continue
		}
		f = f.End(x, true)
		if m, fine := c.box(f); fine && (!ok || m < most) {
			most, ok = m, true
		}
	}
	return most, ok
}

// box returns the greatest value of a form whose indices have any values of their ranges.
func (c *cutter) box(f Lin) (int64, bool) {
	sum := f.Const
	for _, t := range f.Terms {
		r, ok := c.ranges[t.Sym.N]
		if !ok || t.Sym.Kind != IndexSym {
			return 0, false
		}
		sum += max(t.Coef*r[0], t.Coef*r[1])
	}
	return sum, true
}

// bounds returns the least and greatest index of a loop that ascends, and whose ends follow from other
// indices.
func (c *cutter) bounds(r Range) (x [2]int64, ok bool) {
	if r.Kind != Steps || r.By != 1 || !r.From.small() || !r.To.small() {
		return x, false
	}
	begin, ok1 := c.most(r.From.Times(-1))
	end, ok2 := c.most(r.To)
	return [2]int64{-begin, end - 1}, ok1 && ok2 && -begin < end
}

// places returns where a loop is cut: the first indices of its pieces except the first.
func (c *cutter) places(s *Stmt) (list []Lin) {
	r, own := s.Loop.Index.Range, Sym{IndexSym, s.Loop.Index.Name}
	x, ok := c.ranges[own.N]
	if !ok || s.Code != For || slices.ContainsFunc(s.Loop.Body.Stmts, func(t Stmt) bool { return t.Code == Break }) {
		return nil
	}
	var crossings []Lin
	size := 0
	EachStmt(&s.Loop.Body, func(t *Stmt) {
		if size++; t.Code == If {
			list = append(list, c.changes(t.Args[0], own)...)
		}
		if t.Code == For && r.From.Known() && r.To.Known() {
			crossings = append(crossings, c.crossings(t, own)...)
		}
	})
	if list = c.apart(r, x, list); len(list)*Length(&s.Loop.Body) > mostCut {
		list = nil
	}
	if crossings = c.apart(r, x, append(crossings, list...)); len(crossings)*size <= mostCut {
		return crossings
	}
	return list
}

// apart returns those of the places in a list at which a loop of range r, from x[0] to x[1], can be
// cut, in order.
func (c *cutter) apart(r Range, x [2]int64, list []Lin) (cut []Lin) {
	// Known places come first, because forms must be in order with them.
	slices.SortStableFunc(list, func(a, b Lin) int { return cmp.Or(len(a.Terms)-len(b.Terms), cmp.Compare(a.Const, b.Const)) })
	for _, p := range list {
		if p.Known() && (p.Const <= x[0] || p.Const > x[1]) || !c.ordered(r.From, p) || !c.ordered(p, r.To) {
			continue
		}
		at, fine := len(cut), true
		for k, q := range cut {
			before := c.ordered(p, q)
			if fine = fine && (before || c.ordered(q, p)) && !p.Equal(q); before {
				at = min(at, k)
			}
		}
		if fine {
			cut = slices.Insert(cut, at, p)
		}
	}
	return cut
}

// ordered reports that form a is never greater than form b.
func (c *cutter) ordered(a, b Lin) bool {
	d, ok := c.most(a.Plus(b.Times(-1)))
	return ok && d <= 0
}

// crossings returns where a place at which loop s within is cut goes beyond an end of s, or beyond
// another place, if this follows from the index of a loop around s.
func (c *cutter) crossings(s *Stmt, around Sym) (list []Lin) {
	r := s.Loop.Index.Range
	if r.Kind != Steps || r.By != 1 {
		return nil
	}
	var cuts []Lin
	EachStmt(&s.Loop.Body, func(t *Stmt) {
		if t.Code == If {
			cuts = append(cuts, c.changes(t.Args[0], Sym{IndexSym, s.Loop.Index.Name})...)
		}
	})
	for k, p := range cuts {
		if p.Known() {
			continue
		}
		for _, q := range append([]Lin{r.From, r.To}, append(cuts[:k:k], cuts[k+1:]...)...) {
			d := p.Plus(q.Times(-1))
			if len(d.Terms) != 1 || d.Terms[0].Sym != around {
				continue
			}
			if a := d.Terms[0].Coef; a > 0 { // not negative from there on
				list = append(list, Num(-FloorDiv(d.Const, a)))
			} else { // not positive from there on
				list = append(list, Num(-FloorDiv(-d.Const, -a)))
			}
		}
	}
	return list
}

// changes returns where comparisons in a condition change with an index, if they depend on nothing else
// but the indices around it.
func (c *cutter) changes(v Val, index Sym) (list []Lin) {
	s := c.facts.made[v]
	if s == nil {
		return nil
	}
	if s.Code == Not || s.Code == And || s.Code == Or {
		for _, a := range s.Args {
			list = append(list, c.changes(a, index)...)
		}
		return list
	}
	for t := range 2 {
		for _, f := range c.facts.Where(v, t == 1) {
			a := f.Coef(index)
			rest := f.Without(index)
			_, around := c.box(rest)
			switch {
			case a > 0 && rest.Known(): // from -Const/a on
				list = append(list, Num(-FloorDiv(f.Const, a)))
			case a < 0 && rest.Known(): // up to Const/-a
				list = append(list, Num(FloorDiv(f.Const, -a)+1))
			case a == 1 && around:
				list = append(list, rest.Times(-1))
			case a == -1 && around:
				list = append(list, rest.Plus(Num(1)))
			}
		}
	}
	return list
}

// FloorDiv returns a/b rounded down; b is positive.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if q*b > a {
		q--
	}
	return q
}

// replace writes a loop as its pieces, and of a constant condition the side that is taken.
func (c *cutter) replace(r *rewriter, s *Stmt) bool {
	if c.decide(r, s) {
		return true
	}
	if t := c.decided(s); t >= 0 {
		if s.Code == Select {
			r.set(s, []Val{r.now[s.Args[2-t]]})
			return true
		}
		b := s.Then
		if t == 0 {
			b = s.Else
		}
		if b == nil {
			return true
		}
		r.block(b)
		r.set(s, r.values(b.Yield))
		return true
	}
	if s.Code != For {
		return false
	}
	l := s.Loop
	x, ok := c.bounds(l.Index.Range)
	if !ok {
		return false
	}
	c.enter(l.Index, x)
	places := c.places(s)
	c.leave()
	carried := r.values(l.Init)
	ends := append(places, l.Index.Range.To)
	for k, to := range ends {
		piece := Index{l.Index.Name, Range{Kind: Steps, From: l.Index.Range.From, To: to, By: 1}}
		index := Index{Name: r.name(l.Index.Name)}
		if k > 0 {
			piece.Range.From, index.Name = ends[k-1], r.Name(r.Nest.Names[l.Index.Name])
		}
		x, ok := c.bounds(piece.Range)
		if !ok { // it is empty
			continue
		}
		index.Range = Range{Kind: Steps, From: r.form(piece.Range.From), To: r.form(to), By: 1}
		r.names[l.Index.Name] = index.Name
		c.enter(piece, x)
		carried = r.For(index, carried, func(now []Val) []Val { return r.round(l, now) })
		r.last().Loop.Sums = l.Sums
		c.leave()
	}
	delete(r.names, l.Index.Name)
	r.set(s, carried)
	return true
}
