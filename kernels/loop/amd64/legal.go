package amd64

// This file rewrites a program for AVX2, which lacks masks, embedded broadcasts and many operations
// on words. A mask becomes a vector of 64-bit words, whatever the lanes hold; an instruction under
// a mask becomes one without and a blend. The rules for single operations are in legal_rules.go.

import "math"

// legalizer is the program while it is rewritten.
type legalizer struct {
	program
	asm  *Asm
	made []uint8 // by virt of the original program: how many steps define it, at most 2
	// known holds how values are related to others. A value that several steps define is in none of its
	// relations, because it changes.
	known []related
}

// legalizeAVX2 replaces all steps that AVX2 does not have.
func legalizeAVX2(p *program, a *Asm) {
	g := &legalizer{program: *p, asm: a, made: p.shop.bytes.zeros(len(p.values)), known: p.shop.relations.zeros(2 * len(p.values))[:len(p.values)]}
	g.steps = p.shop.steps.list(2 * len(p.steps))
	for k := range p.steps {
		d := p.steps[k].dst
		g.made[d] = min(g.made[d]+1, 2)
	}
	for k := range p.steps {
		g.step(&p.steps[k])
	}
	for v := range g.values {
		if c := &g.values[v].class; *c == maskClass {
			*c = vectorClass
		}
	}
	*p = g.program
}

// step appends the legal form of a step. It changes s.
func (g *legalizer) step(s *step) {
	for _, v := range [...]*virt{&s.a, &s.b, &s.c, &s.mask, &s.index} { // copies become their originals (copy propagation)
		if same := g.known[*v].same; same != 0 {
			*v = same
		}
	}
	if s.scalar != nil {
		*g.appended() = *s
		return
	}
	mask, length := s.mask, s.Len
	s.mask, s.keeps = 0, false
	g.memory(s)
	f := &forms[s.Op]
	single := f.elem == 4 && f.src != wHalf || f.dst == wHalf // the lanes that a mask limits have 32 bits
	blends := s.Op == VBLENDMPD || s.Op == VBLENDMPS
	compares := forms[s.Op].dst == wK
	switch {
	case blends:
		g.blend(s.Op == VBLENDMPS, s.a, g.second(s), mask)
	case mask == 0 && g.known[s.a].magnitudeOf == 0 && g.plain(s):
		*g.appended() = *s
	case mask == 0:
		g.value(s)
	case compares && !forms[s.Op].ofMasks():
		g.and(L256, g.value(s), mask)
	case s.Zero:
		s.Zero = false
		if single {
			mask = g.narrow(mask)
		}
		if w, ok := g.word(s); ok { // a constant in the lanes of the mask
			if x := g.known[mask].opposite; x != 0 {
				g.with(VPANDN, x, w, 0)
			} else {
				g.with(VPAND, mask, w, 0)
			}
		} else {
			g.and(length, g.value(s), mask)
		}
	case g.counts(s): // a mask is -1 in its lanes
		g.op(VPSUBQ, L256, s.dst, mask)
	default:
		v := s.b
		if s.Op != VMOVAPD && s.Op != VMOVUPS {
			v = g.value(s)
		}
		g.blend(single, s.dst, v, mask)
	}
	last := &g.steps[len(g.steps)-1] // it makes the value
	last.dst, last.effect = s.dst, s.effect
	g.relate(last)
}

// counts reports whether a step adds the integer 1 to its result.
func (g *legalizer) counts(s *step) bool {
	w, ok := g.word(s)
	return ok && w == 1 && s.Op == VPADDQ && s.a == s.dst
}

// once reports whether exactly one step defines v. That holds for all values that legalization adds.
func (g *legalizer) once(v virt) bool { return v != 0 && (int(v) >= len(g.made) || g.made[v] == 1) }

// relate records how the result of a step is related to its operand.
func (g *legalizer) relate(s *step) {
	if !g.once(s.dst) || s.effect || s.mask != 0 {
		return
	}
	w, constant := g.word(s)
	switch {
	case s.Op == VMOVAPD && !s.InMem && g.once(s.b):
		g.known[s.dst] = related{same: s.b}
	case !constant || !g.once(s.a):
	case s.Op == VPXOR && w == 1<<64-1:
		g.known[s.dst] = related{opposite: s.a}
	case s.Op == VANDPD && w == math.MaxInt64, s.Op == VANDPS && w == magnitudes:
		g.known[s.dst] = related{magnitudeOf: s.a}
	}
}

// magnitudes and signs are masks of the bits of two f32.
const magnitudes, signs = math.MaxInt32 | math.MaxInt32<<32, 1<<63 | 1<<31

// negative returns the negation of a magnitude by one instruction: the original with the sign set. It
// returns 0 for any other step.
func (g *legalizer) negative(s *step) virt {
	x := g.known[s.a].magnitudeOf
	if x == 0 {
		return 0
	}
	w, ok := g.word(s)
	switch {
	case !ok:
		return 0
	case s.Op == VXORPD && w == signBit:
		s.Op = VORPD
	case s.Op == VXORPS && w == signs:
		s.Op = VORPS
	default:
		return 0
	}
	s.a = x
	return g.emit(s)
}

// and returns a and b. If one is a complement, its original is an operand of VPANDN.
func (g *legalizer) and(length Len, a, b virt) virt {
	if g.known[a].opposite == 0 {
		a, b = b, a
	}
	if x := g.known[a].opposite; x != 0 {
		return g.op(VPANDN, length, x, b)
	}
	return g.op(VPAND, length, b, a)
}

// memory makes a constant as long as the vector, and brings another element that is to be broadcast
// to a register.
func (g *legalizer) memory(s *step) {
	if !s.InMem || !s.Mem.Broadcast {
		return
	}
	if s.Mem.Constant != 0 {
		w := g.asm.consts[s.Mem.Constant-1].words[0]
		s.Mem = g.asm.Const(w, w, w, w)
		return
	}
	if s.fused.is || forms[s.Op].elem != 8 {
		panic("BUG: a broadcast operand that is not expected")
	}
	from := s.Mem
	from.Broadcast = false
	s.b = g.emit(&step{Inst: Inst{Op: VBROADCASTSD, Len: s.Len, InMem: true, Mem: from}})
	s.InMem, s.Mem = false, Mem{}
}

// value appends the steps that make the value of a step, the last one giving it. It may change the
// step, but not its result.
func (g *legalizer) value(s *step) virt {
	if v := g.negative(s); v != 0 {
		return v
	}
	if g.plain(s) {
		return g.emit(s)
	}
	if (s.Op == KXORW || s.Op == KXNORW) && s.a == 0 { // a constant; the registers do not matter
		op := VXORPD
		if s.Op == KXNORW {
			op = VPCMPEQQ
		}
		return g.emit(&step{Inst: Inst{Op: op, Len: L256}})
	}
	rule := rules[s.Op]
	if rule == nil {
		panic("BUG: AVX2 has no rule for " + forms[s.Op].name)
	}
	return rule(g, s)
}

// plain reports whether one instruction of AVX2 makes the value of a step. It then writes this
// instruction into s. A mask is a vector.
func (g *legalizer) plain(s *step) bool {
	f := &forms[s.Op]
	switch now := renamed[s.Op]; {
	case s.fused.is:
	case now != noOp && !(s.Op == KXORW && s.a == 0):
		if s.Op = now; f.ofMasks() {
			s.Len = L256
		}
	default:
		return rules[s.Op] == nil && f.vexW != no && !f.ofMasks()
	}
	return true
}

// rules make the value of a step that AVX2 has no instruction for. The last step of a rule makes
// the value, in a register of its own.
var rules [mostOps]func(g *legalizer, s *step) virt

// renamed holds the instruction of AVX2 for each one that differs from it in name alone. noOp:
// there is none.
var renamed = func() (list [mostOps]Op) {
	for _, x := range [][2]Op{{VCMPPDK, VCMPPD}, {VPMOVM2Q, VMOVAPD}, {VPANDQ, VPAND}, {VPORQ, VPOR}, {VPXORQ, VPXOR}, {VRNDSCALEPD, VROUNDPD},
		{VRNDSCALEPS, VROUNDPS}, {KORW, VPOR}, {KXORW, VPXOR}, {KMOVW, VMOVAPD}} {
		list[x[0]] = x[1]
	}
	return list
}()

func (g *legalizer) fresh(c class) virt {
	g.known = append(g.shop.relations.room(g.known, 1), related{})
	return g.program.fresh(c)
}

// emit appends a step with a fresh result.
func (g *legalizer) emit(from *step) virt {
	s := g.appended()
	*s = *from
	s.dst, s.effect = g.fresh(vectorClass), false
	g.relate(s)
	return s.dst
}

// op is an instruction of registers; a may be 0.
func (g *legalizer) op(op Op, length Len, a, b virt) virt {
	s := g.next()
	s.Op, s.Len, s.a, s.b, s.dst = op, length, a, b, g.fresh(vectorClass)
	g.relate(s)
	return s.dst
}

// with is an instruction whose second operand is a constant in all lanes.
func (g *legalizer) with(op Op, a virt, w uint64, imm uint8) virt {
	return g.emit(&step{Inst: Inst{Op: op, Len: L256, InMem: true, Mem: g.asm.Const(w, w, w, w), Imm: imm}, a: a})
}

// shift is a shift by a constant.
func (g *legalizer) shift(op Op, a virt, n uint8) virt {
	return g.emit(&step{Inst: Inst{Op: op, Len: L256, Imm: n}, b: a})
}

// constant is a constant in a register.
func (g *legalizer) constant(w uint64) virt {
	if w == 0 {
		return g.emit(&step{Inst: Inst{Op: VXORPD, Len: L256}})
	}
	return g.emit(&step{Inst: Inst{Op: VBROADCASTSD, Len: L256, InMem: true, Mem: g.asm.Const(w)}})
}

// second is the last operand in a register.
func (g *legalizer) second(s *step) virt {
	if !s.InMem {
		return s.b
	}
	return g.emit(&step{Inst: Inst{Op: VMOVUPD, Len: L256, InMem: true, Mem: s.Mem}})
}

// word is the last operand if it is a constant.
func (g *legalizer) word(s *step) (w uint64, ok bool) {
	at := s.Mem
	if !s.InMem {
		at = g.values[s.b].source
	}
	if at.Constant == 0 {
		return 0, false
	}
	return g.asm.consts[at.Constant-1].words[0], true
}

// blend is b in the lanes of the mask, a in the others.
func (g *legalizer) blend(single bool, a, b, mask virt) virt {
	if x := g.known[mask].opposite; x != 0 {
		a, b, mask = b, a, x
	}
	i := Inst{Op: VBLENDVPD, Len: L256}
	if single {
		i = Inst{Op: VBLENDVPS, Len: L128}
		mask = g.narrow(mask)
	}
	return g.emit(&step{Inst: i, a: a, b: b, c: mask})
}

// andNot returns the lanes of mask b that are not lanes of mask a.
func andNot(g *legalizer, s *step) virt {
	if x := g.known[s.a].opposite; x != 0 {
		return g.op(VPAND, L256, x, s.b)
	}
	return g.op(VPANDN, L256, s.a, s.b)
}

// not is the other lanes.
func (g *legalizer) not(mask virt) virt {
	if x := g.known[mask].opposite; x != 0 {
		return g.op(VMOVAPD, L256, 0, x)
	}
	return g.with(VPXOR, mask, 1<<64-1, 0)
}

// narrow is a mask of 32-bit lanes.
func (g *legalizer) narrow(mask virt) virt {
	upper := g.emit(&step{Inst: Inst{Op: VEXTRACTF128, Len: L256, Imm: 1}, a: mask})
	return g.emit(&step{Inst: Inst{Op: VSHUFPS, Len: L128, Imm: 0x88}, a: mask, b: upper})
}

// signBit is what turns an unsigned order into a signed one.
const signBit = 1 << 63
