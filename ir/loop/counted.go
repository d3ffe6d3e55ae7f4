package loop

// This file gives loops that end by a break a known number of rounds, if a linear form tells it:
//
//	for round: forever (q = x-1) { c = le x+2, q; break c; .. next q+1 }    ->    for round: 0..3 { .. x-1+round .. }
//
// Subscripts by q are then forms of indices. It would be wrong for numbers that wrap: see
// counting.limited.

import (
	"slices"

	"flow/ir/types"
)

// counting rewrites the loops of a nest.
type counting struct {
	facts *Facts
	// limited are the operands of i64 that are below 2^45, as indices and sizes are.
	limited map[int]bool
	read    map[Val]bool
}

// counted returns n, whose loops until a break have a number of rounds and whose ranges are forms
// of indices, where possible.
func counted(n *Nest, limited map[int]bool) *Nest {
	c := &counting{FactsOf(n), limited, map[Val]bool{}}
	if !Some(n.Body.Stmts, func(s *Stmt) bool {
		return s.Code == For && (s.Loop.Index.Range.Kind == Forever || !s.Loop.Index.Range.To.Affine() || !s.Loop.Index.Range.From.Affine())
	}) {
		return n
	}
	EachStmt(&n.Body, func(s *Stmt) {
		s.EachRead(func(v Val) { c.read[v] = true })
		s.EachBlock(func(b *Block) {
			for _, v := range b.Yield {
				c.read[v] = true
			}
		})
	})
	return rewritten(n, c.replace)
}

// form returns the linear form of a value. ok is false if the form is not known or may wrap.
func (c *counting) form(v Val) (l Lin, ok bool) {
	l, ok = c.facts.Lin(v)
	return l, ok && !l.Any(func(s Sym) bool { return s.Kind == ValSym || s.Kind == ParamSym && !c.limited[s.N] })
}

// counter is a carried value that a loop counts, until a comparison with it ends the loop.
type counter struct {
	k      int   // its number
	by     int64 // how much it grows in a round
	rounds Lin   // none where it is negative
	at     int   // the statement of the body that is the break
}

// counterOf finds the counter of a loop until a break.
func (c *counting) counterOf(l *Loop) (x counter, ok bool) {
	body := l.Body.Stmts
	x.at = slices.IndexFunc(body, func(s Stmt) bool { return s.Code == Break })
	breaks := 0
	EachStmt(&l.Body, func(s *Stmt) {
		if s.Code == Break {
			breaks++
		}
	})
	if breaks != 1 || x.at < 0 || slices.ContainsFunc(body[:x.at], func(s Stmt) bool { return s.Code != Const && s.Code != Load && !s.Code.IsOp() }) {
		return x, false
	}
	s := c.facts.made[body[x.at].Args[0]]
	if s == nil || s.Code != Le && s.Code != Lt || c.facts.nest.Types[s.Args[0]] != types.I64 {
		return x, false
	}
	for side, v := range s.Args {
		if x.k = int(v - l.Carry); x.k < 0 || x.k >= len(l.Init) {
			continue
		}
		end, ok1 := c.form(s.Args[1-side])
		from, ok2 := c.form(l.Init[x.k])
		if x.by, ok = c.grows(l, x.k); !ok || !ok1 || !ok2 {
			return x, false
		}
		ahead := int64(1) // the counter ends where it is at least end
		if side == 0 {
			ahead = -1
		}
		x.rounds = end.Plus(from.Times(-1)).Times(ahead)
		if s.Code == Lt {
			x.rounds = x.rounds.Plus(Num(1))
		}
		by := x.by * ahead
		if x.rounds.Known() && by > 0 {
			x.rounds = Num(max(0, -FloorDiv(-x.rounds.Const, by)))
		}
		return x, by == 1 || by > 0 && x.rounds.Known()
	}
	return x, false
}

// grows returns how much carried value k of a loop grows in a round.
func (c *counting) grows(l *Loop, k int) (by int64, ok bool) {
	s, v := c.facts.made[l.Body.Yield[k]], l.Carry+Val(k)
	if s == nil || s.Code != Add && s.Code != Sub {
		return 0, false
	}
	for side, u := range s.Args {
		more, known := c.facts.Lin(s.Args[1-side])
		if u == v && known && more.Known() && (s.Code == Add || side == 0) {
			if s.Code == Sub {
				more.Const = -more.Const
			}
			return more.Const, true
		}
	}
	return 0, false
}

func (c *counting) replace(r *rewriter, s *Stmt) bool {
	if s.Code != For {
		return false
	}
	l := s.Loop
	if l.Index.Range.Kind == Forever {
		x, ok := c.counterOf(l)
		if ok {
			c.write(r, s, &x)
		}
		return ok
	}
	from, ok1 := c.facts.linear(l.Index.Range.From)
	to, ok2 := c.facts.linear(l.Index.Range.To)
	if !ok1 || !ok2 || from.Equal(l.Index.Range.From) && to.Equal(l.Index.Range.To) {
		return false
	}
	t, of := *s, *l
	of.Index.Range.From, of.Index.Range.To = from, to
	t.Loop = &of
	r.copy(&t)
	return true
}

// write writes a loop with a counter as one with a number of rounds. The counter is carried only if
// it is read after the loop.
func (c *counting) write(r *rewriter, s *Stmt, x *counter) {
	l := s.Loop
	keep := c.read[s.Dst+Val(x.k)]
	others := func(list []Val) []Val {
		if list = slices.Clone(list); !keep {
			list = slices.Delete(list, x.k, x.k+1)
		}
		return list
	}
	index := Index{l.Index.Name, Range{Kind: Steps, To: r.form(x.rounds), By: 1}}
	out := r.For(index, others(r.values(l.Init)), func(carried []Val) []Val {
		now := carried
		count := r.IndexValue(index.Name)
		if x.by != 1 {
			count = r.Op(Mul, count, r.Const(types.I64, Word(x.by)))
		}
		if count = r.Op(Add, r.now[l.Init[x.k]], count); keep {
			now = slices.Clone(carried)
			now[x.k] = count
		} else {
			now = slices.Insert(slices.Clone(carried), x.k, count)
		}
		r.carry(l, now)
		for k := range l.Body.Stmts {
			if k != x.at {
				r.block(&Block{Stmts: l.Body.Stmts[k : k+1]})
			}
		}
		return others(r.values(l.Body.Yield))
	})
	if !keep {
		out = slices.Insert(slices.Clone(out), x.k, NoVal)
	}
	r.set(s, out)
}
