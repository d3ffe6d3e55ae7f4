package loop

// This file unrolls inner loops of few rounds, for targets whose code is then straight.

// Unroll returns n with every For of known rounds and without a break unrolled, up to this many
// statements. What two rounds compute alike is computed once.
func Unroll(n *Nest, most int) *Nest {
	if !writtenOut(&n.Body, most) {
		return n
	}
	fixed := map[int]int64{} // the values of unrolled indices
	return Merge(rewritten(n, func(r *rewriter, s *Stmt) bool {
		r.fixed = fixed
		if s.Code == IndexOf {
			v, ok := fixed[int(s.Imm)]
			if ok {
				r.set(s, []Val{r.Const(r.from.Types[s.Dst], Word(v))})
			}
			return ok
		}
		if !short(s, most) {
			return false
		}
		rounds, _ := knownRounds(s)
		l := s.Loop
		carried := r.values(l.Init)
		for k := range rounds {
			fixed[l.Index.Name] = l.Index.Range.From.Const + k*l.Index.Range.By
			for i, v := range carried {
				r.now[int(l.Carry)+i] = v
			}
			r.block(&l.Body)
			carried = r.values(l.Body.Yield)
		}
		delete(fixed, l.Index.Name)
		r.set(s, carried)
		return true
	}))
}

// knownRounds returns the rounds of a For without a break, if known.
func knownRounds(s *Stmt) (rounds int64, ok bool) {
	if s.Code != For || s.Loop.Index.Range.Kind != Steps {
		return 0, false
	}
	x := s.Loop.Index.Range
	if !x.From.Known() || !x.To.Known() {
		return 0, false
	}
	for i := range s.Loop.Body.Stmts {
		if s.Loop.Body.Stmts[i].Code == Break {
			return 0, false
		}
	}
	const far = 1 << 40
	if from, to := x.From.Const, x.To.Const; from > far || from < -far || to > far || to < -far || x.By > far || x.By < -far {
		return 0, false
	}
	if x.By > 0 {
		return max(0, (x.To.Const-x.From.Const+x.By-1)/x.By), true
	}
	return max(0, (x.To.Const-x.From.Const+x.By+1)/x.By), true
}

// Length returns the number of statements that b executes, at most 2^30. It counts known rounds of inner
// loops, and bodies of functions. It leaves out blocks that hardly ever run (Rare).
func Length(b *Block) int {
	if b == nil {
		return 0
	}
	n := 0
	for i := range b.Stmts {
		s := &b.Stmts[i]
		n += 1 + Length(s.Then)
		if s.Imm != Rare {
			n += Length(s.Else)
		}
		switch {
		case s.Loop != nil:
			rounds := int64(1)
			if r, ok := knownRounds(s); ok {
				rounds = min(r, 1<<20)
			}
			n += int(rounds) * Length(&s.Loop.Body)
		case s.Func != nil:
			n += Length(&s.Func.Body)
		}
		if n > 1<<30 {
			return 1 << 30
		}
	}
	return n
}

// writtenOut reports a For in a block that Unroll unrolls.
func writtenOut(b *Block, most int) (is bool) {
	EachStmt(b, func(s *Stmt) { is = is || short(s, most) })
	return is
}

// short reports a For of known rounds with at most this many statements.
func short(s *Stmt, most int) bool {
	rounds, ok := knownRounds(s)
	return ok && rounds*int64(Length(&s.Loop.Body)) <= int64(most)
}
