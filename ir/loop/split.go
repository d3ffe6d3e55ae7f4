package loop

// This file cuts inner loops where conditions on their index change: at borders. In each piece such
// a condition is constant and disappears, as does a check that always holds.

import (
	"slices"

	"flow/ir/types"
)

// mostCut is the most statements that cutting one loop may add.
const mostCut = 600

// Split returns n with inner loops over known ranges cut into pieces in which conditions on their
// index are constant, and without these conditions. All values stay the same.
func Split(n *Nest) *Nest {
	c := &cutter{facts: FactsOf(n), ranges: map[int][2]int64{}}
	if !c.cuts(&n.Body) {
		return n
	}
	clear(c.ranges)
	return c.rewritten(n)
}

// rewritten returns n without the conditions that are known.
func (c *cutter) rewritten(n *Nest) *Nest {
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		if r.names == nil {
			r.names = map[int]int{}
		}
		return c.replace(r, s)
	})
}

// cutter holds what is known of indices during a walk over a nest.
type cutter struct {
	facts  *Facts
	ranges map[int][2]int64 // ranges of indices over known ranges, by name: least and greatest
	known  map[Val]bool     // the values of some comparisons
}

// cuts reports whether a condition in a block is constant, or can become so by cutting.
func (c *cutter) cuts(b *Block) bool {
	if b == nil {
		return false
	}
	return slices.ContainsFunc(b.Stmts, func(s Stmt) bool {
		if s.Loop != nil {
			if x, ok := c.bounds(&s); ok {
				c.ranges[s.Loop.Index.Name] = x
				defer delete(c.ranges, s.Loop.Index.Name)
				if len(c.places(&s)) > 0 {
					return true
				}
			}
			return c.cuts(&s.Loop.Body)
		}
		return c.decided(&s) >= 0 || c.cuts(s.Then) || c.cuts(s.Else)
	})
}

// decided returns the truth of the condition of an if or a select as 0 or 1, or -1 if unknown. For a check
// that holds it returns 1.
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
	if t, ok := c.known[v]; ok {
		if t {
			return 1
		}
		return 0
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

// most returns the greatest value of a form of indices over known ranges.
func (c *cutter) most(f Lin) (int64, bool) {
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

// steps returns the least and greatest index of a loop over a known range that is not empty.
func (c *cutter) steps(s *Stmt) ([2]int64, bool) {
	r := s.Loop.Index.Range
	if r.Kind != Steps || r.By != 1 || !r.From.Known() || !r.To.Known() || !r.From.small() || !r.To.small() || r.From.Const >= r.To.Const {
		return [2]int64{}, false
	}
	return [2]int64{r.From.Const, r.To.Const - 1}, true
}

// bounds returns the least and greatest index of a loop that ascends from a known index to an end
// that follows from other indices.
func (c *cutter) bounds(s *Stmt) (x [2]int64, ok bool) {
	if x, ok = c.steps(s); ok {
		return x, true
	}
	r := s.Loop.Index.Range
	if r.Kind != Steps || r.By != 1 || !r.From.Known() || !r.From.small() || !r.To.small() {
		return x, false
	}
	end, ok := c.most(r.To)
	return [2]int64{r.From.Const, end - 1}, ok && r.From.Const < end
}

// places returns where a loop is cut: the first indices of its pieces except the first.
func (c *cutter) places(s *Stmt) (list []int64) {
	r, ok := c.ranges[s.Loop.Index.Name]
	if _, known := c.steps(s); !ok || !known || s.Code != For || slices.ContainsFunc(s.Loop.Body.Stmts, func(t Stmt) bool { return t.Code == Break }) {
		return nil
	}
	EachStmt(&s.Loop.Body, func(t *Stmt) {
		if t.Code == If {
			list = append(list, c.changes(t.Args[0], s.Loop.Index.Name)...)
		}
	})
	list = slices.DeleteFunc(list, func(x int64) bool { return x <= r[0] || x > r[1] })
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list)*Length(&s.Loop.Body) > mostCut {
		return nil
	}
	return list
}

// changes returns where comparisons in a condition change with an index, if they depend on nothing
// else.
func (c *cutter) changes(v Val, index int) (list []int64) {
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
			if len(f.Terms) != 1 || f.Terms[0].Sym != (Sym{IndexSym, index}) {
				continue
			}
			if a := f.Terms[0].Coef; a > 0 { // from -Const/a on
				list = append(list, -FloorDiv(f.Const, a))
			} else { // up to Const/-a
				list = append(list, FloorDiv(f.Const, -a)+1)
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
	x, ok := c.steps(s)
	if !ok {
		if x, ok = c.bounds(s); ok {
			c.ranges[s.Loop.Index.Name] = x
			r.copy(s)
			delete(c.ranges, s.Loop.Index.Name)
		}
		return ok
	}
	l := s.Loop
	c.ranges[l.Index.Name] = x
	carried := r.values(l.Init)
	ends := append(c.places(s), x[1]+1)
	for k, to := range ends {
		from := x[0]
		index := Index{Name: r.name(l.Index.Name)}
		if k > 0 {
			from, index.Name = ends[k-1], r.Name(r.Nest.Names[l.Index.Name])
		}
		r.names[l.Index.Name] = index.Name
		index.Range = Range{Kind: Steps, From: Num(from), To: Num(to), By: 1}
		c.ranges[l.Index.Name] = [2]int64{from, to - 1}
		carried = r.For(index, carried, func(now []Val) []Val {
			for i, v := range now {
				r.now[int(l.Carry)+i] = v
			}
			r.block(&l.Body)
			return r.values(l.Body.Yield)
		})
	}
	delete(r.names, l.Index.Name)
	delete(c.ranges, l.Index.Name)
	r.set(s, carried)
	return true
}
