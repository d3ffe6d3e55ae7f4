package loop

// This file unrolls inner loops of few rounds, for targets whose code is then straight.

import (
	"slices"

	"flow/ir/types"
)

// Unroll returns n with every For of known rounds and without a break unrolled, up to this many
// statements. What two rounds compute alike is computed once.
func Unroll(n *Nest, most int) *Nest {
	if !Some(n.Body.Stmts, func(s *Stmt) bool { return short(n, s, most) }) {
		return n
	}
	fixed := map[int]int64{} // the values of unrolled indices
	return Merge(copied(n, func(r *rewriter, s *Stmt) bool {
		r.fixed = fixed
		if s.Code == IndexOf {
			v, ok := fixed[int(s.Imm)]
			if ok {
				r.set(s, []Val{r.Const(r.from.Types[s.Dst], Word(v))})
			}
			return ok
		}
		if !short(n, s, most) {
			return false
		}
		rounds, _ := knownRounds(s)
		l := s.Loop
		carried := r.values(l.Init)
		for k := range rounds {
			fixed[l.Index.Name] = l.Index.Range.From.Const + k*l.Index.Range.By
			carried = r.round(l, carried)
		}
		delete(fixed, l.Index.Name)
		r.set(s, carried)
		return true
	}))
}

// Repeat returns n with the body of inner loops written several times, for targets that count and jump
// at some cost. times returns how often; 1 leaves a loop as it is. A loop is two then: one makes as
// many rounds at a time, and one makes what is left (see Loop.After). Repeat leaves loops that hold
// others, reduce or may be left early, those whose bounds depend on values or on the index lanes, and
// those that read along rows of that index, because targets turn squares of such an operand for several
// rounds.
func Repeat(n *Nest, lanes int, times func(b *Block) int) *Nest {
	many := map[*Stmt]int{}
	eachShared(n, lanes, func(s *Stmt) {
		if s.Loop.Index.Range.By > 0 && repeats(s.Loop, lanes) {
			many[s] = times(&s.Loop.Body)
		}
		if r, ok := knownRounds(s); many[s] < 2 || ok && r < 4*int64(many[s]) {
			delete(many, s)
		}
	})
	if len(many) == 0 || len(n.Names)+len(many) > mostNames {
		return n
	}
	return rewritten(n, func(r *rewriter, s *Stmt) bool {
		if ahead := r.shifts[int(s.Imm)]; s.Code == IndexOf && ahead != 0 {
			r.set(s, []Val{r.Op(Add, r.IndexValue(r.name(int(s.Imm))), r.Const(types.I64, Word(ahead)))})
			return true
		}
		m := many[s]
		if m == 0 {
			return false
		}
		x, old := s.Loop.Index, s.Loop.Index.Name
		x.Range = r.rng(x.Range)
		first, step := x, x.Range.By
		first.Name = r.Name(r.Nest.Names[old])
		first.Range.By *= int64(m)
		first.Range.To.Const -= int64(m-1) * step
		round := func(carried []Val, name int, ahead int64) []Val {
			r.names, r.shifts = map[int]int{old: name}, map[int]int64{old: ahead}
			defer func() { r.names, r.shifts = nil, nil }()
			return r.round(s.Loop, carried)
		}
		out := r.For(first, r.values(s.Loop.Init), func(carried []Val) []Val {
			for k := range m {
				carried = round(carried, first.Name, int64(k)*step)
			}
			return carried
		})
		out = r.For(x, out, func(carried []Val) []Val { return round(carried, old, 0) })
		r.last().Loop.After = 1 + first.Name
		r.set(s, out)
		return true
	})
}

// eachShared calls f for every For with steps that makes the same rounds for all values of the index
// lanes: its bounds depend neither on that index nor on a value.
func eachShared(n *Nest, lanes int, f func(s *Stmt)) {
	apart := map[int]bool{lanes: true} // indices that may differ from point to point
	same := func(l Lin) bool {
		return !slices.ContainsFunc(l.Terms, func(t Term) bool { return t.Sym.Kind == ValSym || t.Sym.Kind == IndexSym && apart[t.Sym.N] })
	}
	EachStmt(&n.Body, func(s *Stmt) {
		if s.Code != For {
			return
		}
		x := s.Loop.Index
		if apart[x.Name] = !same(x.Range.From); x.Range.Kind == Steps && !apart[x.Name] && same(x.Range.To) {
			f(s)
		}
	})
}

// mostNames is the most indices of a nest whose loops Repeat changes: targets have room for so many
// counters.
const mostNames = 32

// repeats reports a loop with a body that Repeat may write several times.
func repeats(l *Loop, lanes int) bool {
	along := Sym{IndexSym, l.Index.Name}
	return !Some(l.Body.Stmts, func(s *Stmt) bool {
		alongLanes := s.Code == Load && len(s.At) == 2 && s.Mem.Kind != LocalMem && s.At[0].Coef(Sym{IndexSym, lanes}) != 0 && s.At[1].Coef(along) != 0
		return s.Code == For || s.Code == Break || s.Code == Reduce || s.Code == Apply || alongLanes
	})
}

// Length returns the number of statements that b executes, at most 2^30. It counts known rounds of
// inner loops, and bodies of functions. It leaves out blocks that hardly ever run (Rare).
func Length(b *Block) int { return LengthBy(b, func(*Stmt) int { return 1 }) }

// LengthBy is Length where so many rounds of an inner loop count as one.
func LengthBy(b *Block, lanes func(s *Stmt) int) int {
	if b == nil {
		return 0
	}
	n := 0
	for i := range b.Stmts {
		s := &b.Stmts[i]
		n += 1 + LengthBy(s.Then, lanes)
		if s.Imm != Rare {
			n += LengthBy(s.Else, lanes)
		}
		switch {
		case s.Loop != nil:
			rounds := int64(1)
			if r, ok := knownRounds(s); ok {
				rounds = min(r, 1<<20)
			}
			k := lanes(s)
			n += (int(rounds) + k - 1) / k * LengthBy(&s.Loop.Body, lanes)
		case s.Func != nil:
			n += LengthBy(&s.Func.Body, lanes)
		}
		if n > 1<<30 {
			return 1 << 30
		}
	}
	return n
}

// VectorRounds is the least number of independent rounds of a loop, in a nest of one point, that
// vectors evaluate in fewer instructions than code without the loop.
const VectorRounds = 8

// short reports a For of known rounds with at most this many statements that vectors do not evaluate.
func short(n *Nest, s *Stmt, most int) bool {
	rounds, ok := knownRounds(s)
	return ok && rounds*int64(Length(&s.Loop.Body)) <= int64(most) &&
		(len(n.Space) > 0 || rounds < VectorRounds || !RoundsApart(n, s))
}
