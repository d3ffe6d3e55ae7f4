package loop

// This file visits statements, and counts the rounds of loops.

// EachBlock calls f for the blocks of a statement: the sides of an if, or the body of a loop.
func (s *Stmt) EachBlock(f func(b *Block)) {
	if s.Then != nil {
		f(s.Then)
	}
	if s.Else != nil {
		f(s.Else)
	}
	if s.Loop != nil {
		f(&s.Loop.Body)
	}
}

// EachStmt calls f for every statement of a block and of its inner blocks. The block may be nil.
func EachStmt(b *Block, f func(s *Stmt)) {
	if b == nil {
		return
	}
	for i := range b.Stmts {
		within(&b.Stmts[i], f)
	}
}

// within calls f for s and the statements in its blocks.
func within(s *Stmt, f func(s *Stmt)) {
	f(s)
	switch s.Code { // most statements hold none
	case If:
		EachStmt(s.Then, f)
		EachStmt(s.Else, f)
	case For:
		EachStmt(&s.Loop.Body, f)
	}
}

// Some reports whether f holds for one of these statements, or for one in their blocks.
func Some(list []Stmt, f func(s *Stmt) bool) bool {
	for i := range list {
		if list[i].some(f) {
			return true
		}
	}
	return false
}

// some is Some of s alone.
func (s *Stmt) some(f func(s *Stmt) bool) (found bool) {
	within(s, func(x *Stmt) { found = found || f(x) })
	return found
}

// eachBlock calls f for a block and all blocks within.
func eachBlock(b *Block, f func(b *Block)) {
	f(b)
	for i := range b.Stmts {
		b.Stmts[i].EachBlock(func(b *Block) { eachBlock(b, f) })
	}
}

// forms returns the linear forms that s itself reads: places, and the ends of a loop.
func (s *Stmt) forms() []Lin {
	if s.Loop == nil {
		return s.At
	}
	return []Lin{s.Loop.Index.Range.From, s.Loop.Index.Range.To}
}

// EachRead calls f for the values that s itself reads: its operands, those in its forms, what a loop
// begins with, and what its blocks yield.
func (s *Stmt) EachRead(f func(v Val)) {
	each := func(list []Val) {
		for _, v := range list {
			f(v)
		}
	}
	each(s.Args)
	for _, l := range s.forms() {
		for _, t := range l.Terms {
			if t.Sym.Kind == ValSym {
				f(Val(t.Sym.N))
			}
		}
	}
	if s.Loop != nil {
		each(s.Loop.Init)
	}
	s.EachBlock(func(b *Block) { each(b.Yield) })
}

// valuesOf calls f for the values that s and the statements in its blocks read.
func valuesOf(s *Stmt, f func(v Val)) { within(s, func(x *Stmt) { x.EachRead(f) }) }

// Reads reports whether f holds for a value that s, or a statement in its blocks, reads.
func (s *Stmt) Reads(f func(v Val) bool) (found bool) {
	valuesOf(s, func(v Val) { found = found || f(v) })
	return found
}

// knownRounds returns the rounds of a For without a break, if known.
func knownRounds(s *Stmt) (rounds int64, ok bool) {
	if s.Code != For || s.Loop.Index.Range.Kind != Steps {
		return 0, false
	}
	x := &s.Loop.Index.Range
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

// each returns f of each element of a list.
func each[A, B any](list []A, f func(x A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for k, x := range list {
		out[k] = f(x)
	}
	return out
}
