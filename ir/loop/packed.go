package loop

import (
	"slices"

	"flow/ir/types"
)

// This file counts bools eight at a time, in the bytes of a word.

// Packed returns n with loops over consecutive bools that count, such as
//
//	for c: 0..m (s = 0) { next s + to_i64 (x[i, c] and y[j, c]) }
//
// as two loops: one makes eight rounds at a time, and one makes the rest (see Loop.After). follow
// reports whether a load reads consecutive elements of memory as the index of that name ascends. The
// bounds of such a loop are the same for all values of the index lanes.
//
// The result is for targets alone: the evaluator cannot run it. A load of i64 from bools reads eight of
// them as the bytes of a word, and to_i64 of an i64 is the sum of its bytes.
func Packed(n *Nest, lanes int, follow func(s *Stmt, index int) bool) *Nest {
	loops := map[*Stmt]*packing{}
	consts := map[Val]Word{}
	EachStmt(&n.Body, func(s *Stmt) {
		if s.Code == Const {
			consts[s.Dst] = s.Imm
		}
	})
	eachShared(n, lanes, func(s *Stmt) {
		rounds, known := knownRounds(s)
		if s.Loop.Index.Range.By != 1 || s.Loop.After > 0 || known && rounds < 2*wordBools {
			return
		}
		p := &packing{nest: n, loop: s.Loop, consts: consts, defs: map[Val]*Stmt{}, follow: follow}
		if p.counts() {
			loops[s] = p
		}
	})
	if len(loops) == 0 || len(n.Names)+len(loops) > mostNames {
		return n
	}
	return copied(n, func(r *rewriter, s *Stmt) bool {
		p := loops[s]
		if p == nil {
			return false
		}
		x := s.Loop.Index
		x.Range = r.rng(x.Range)
		first := x
		first.Name = r.Name(r.Nest.Names[x.Name])
		first.Range.By = wordBools
		first.Range.To.Const -= wordBools - 1
		out := r.For(first, r.values(s.Loop.Init), func(carried []Val) []Val {
			r.names = map[int]int{x.Name: first.Name}
			defer func() { r.names = nil }()
			words := map[Val]Val{}
			for k, v := range p.counted {
				word := []Val{p.word(r, v, words)}
				count := r.fresh(types.I64)
				r.add(Stmt{Code: ToI64, Dst: count, N: 1, Args: word})
				carried[k] = r.Op(Add, carried[k], count)
			}
			return carried
		})
		out = r.For(x, out, func(carried []Val) []Val { return r.round(s.Loop, carried) })
		r.last().Loop.After = 1 + first.Name
		r.set(s, out)
		return true
	})
}

// wordBools is the number of bools in a word, and trueWord is the word whose bools are all true.
const wordBools, trueWord = 8, 0x0101010101010101

// packing is a loop that counts bools.
type packing struct {
	nest    *Nest
	loop    *Loop
	consts  map[Val]Word
	defs    map[Val]*Stmt // in the loop, by result
	follow  func(s *Stmt, index int) bool
	counted []Val // by carried value: the bool that it counts
}

// counts reports whether the loop only counts bools that can be packed, and notes them in counted.
func (p *packing) counts() bool {
	for i := range p.loop.Body.Stmts {
		s := &p.loop.Body.Stmts[i]
		if s.Code != Const && s.Code != Load && s.Code != IndexOf && !s.Code.IsOp() {
			return false
		}
		p.defs[s.Dst] = s
	}
	for k, v := range p.loop.Body.Yield {
		s := p.defs[v]
		if s == nil || s.Code != Add || p.nest.Types[v] != types.I64 { // the float whose word is 1 may be added
			return false
		}
		of := slices.Index(s.Args, p.loop.Carry+Val(k))
		if of < 0 {
			return false
		}
		d := p.defs[s.Args[1-of]]
		switch {
		case d == nil:
			return false
		case d.Code == Select && p.is(d.Args[1], 1) && p.is(d.Args[2], 0):
		case d.Code != ToI64:
			return false
		}
		if !p.packs(d.Args[0]) {
			return false
		}
		p.counted = append(p.counted, d.Args[0])
	}
	return len(p.counted) > 0
}

// is reports whether v is the constant w.
func (p *packing) is(v Val, w Word) bool {
	x, ok := p.consts[v]
	return ok && x == w
}

// packs reports whether v is a bool whose values in eight rounds can be computed as one word.
func (p *packing) packs(v Val) bool {
	s := p.defs[v]
	switch {
	case p.nest.Types[v] != types.Bool: // integers may be compared
		return false
	case v >= p.loop.Carry && v < p.loop.Carry+Val(len(p.loop.Init)):
		return false
	case s == nil: // the same in all rounds
		return true
	case s.Code == Load:
		own := func(x Sym) bool { return x.Kind == ValSym && p.defs[Val(x.N)] != nil }
		return s.Mem.Kind == ParamMem && len(s.At) == 2 && p.follow(s, p.loop.Index.Name) && !s.At[0].Any(own) && !s.At[1].Any(own)
	case s.Code == Const:
		return true
	case s.Code == And || s.Code == Or || s.Code == Xor || s.Code == Ne || s.Code == Eq || s.Code == Not:
		return !slices.ContainsFunc(s.Args, func(v Val) bool { return !p.packs(v) })
	}
	return false
}

// word writes the word that holds the values of bool v in eight rounds. words has those already
// written.
func (p *packing) word(r *rewriter, v Val, words map[Val]Val) (w Val) {
	if w, ok := words[v]; ok {
		return w
	}
	defer func() { words[v] = w }()
	constant := func(is bool) Val {
		if is {
			return r.Const(types.I64, trueWord)
		}
		return r.Const(types.I64, 0)
	}
	s := p.defs[v]
	if s == nil {
		return r.Op(Select, r.now[v], constant(true), constant(false))
	}
	r.where = s.Origin
	var args []Val
	for _, v := range s.Args {
		args = append(args, p.word(r, v, words))
	}
	switch s.Code {
	case Const:
		return constant(s.Imm != 0)
	case Load:
		w = r.fresh(types.I64)
		r.add(Stmt{Code: Load, Dst: w, N: 1, Mem: s.Mem, At: each(s.At, r.form)})
		return w
	case Not:
		return r.Op(Xor, args[0], constant(true))
	case Eq:
		return r.Op(Xor, r.Op(Xor, args[0], args[1]), constant(true))
	case Ne:
		return r.Op(Xor, args...)
	}
	return r.Op(s.Code, args...)
}
