package amd64

// This file rewrites a program for AVX2, which lacks masks, embedded broadcasts and many operations
// on words. A mask becomes a vector of 64-bit words, whatever the lanes hold; an instruction under
// a mask becomes one without and a blend. The rules for single operations are in legal_integer.go
// and legal_float.go.

// legalizer is the program while it is rewritten.
type legalizer struct {
	program
	asm *Asm
}

// legalizeAVX2 replaces all steps that AVX2 does not have.
func legalizeAVX2(p *program, a *Asm) {
	g := &legalizer{asm: a}
	g.classes, g.source = p.classes, p.source
	g.steps = make([]step, 0, 2*len(p.steps))
	for _, s := range p.steps {
		g.step(s)
	}
	for v, c := range g.classes {
		if c == maskClass {
			g.classes[v] = vectorClass
		}
	}
	*p = g.program
}

// replaced are instructions that differ from those of AVX2 in name alone.
var replaced = map[Op]Op{VPANDQ: VPAND, VPANDNQ: VPANDN, VPORQ: VPOR, VPXORQ: VPXOR, VRNDSCALEPD: VROUNDPD, VRNDSCALEPS: VROUNDPS,
	KANDW: VPAND, KANDNW: VPANDN, KORW: VPOR, KXORW: VPXOR, KMOVW: VMOVAPD}

// step appends what a step becomes.
func (g *legalizer) step(s step) {
	if s.scalar != nil {
		g.steps = append(g.steps, s)
		return
	}
	mask := s.mask
	s.mask, s.keeps = 0, false
	g.memory(&s)
	f := &forms[s.Op]
	single := f.elem == 4 && f.src != wHalf || f.dst == wHalf // the lanes that a mask limits have 32 bits
	blends := s.Op == VBLENDMPD || s.Op == VBLENDMPS
	compares := forms[s.Op].dst == wK
	if mask != 0 && single && !compares {
		mask = g.narrow(mask)
	}
	switch {
	case blends:
		g.blend(s.Op == VBLENDMPS, s.a, g.second(&s), mask)
	case mask == 0:
		g.value(s)
	case compares && !forms[s.Op].ofMasks():
		g.op(VPAND, L256, g.value(s), mask)
	case s.Zero:
		s.Zero = false
		if w, ok := g.word(&s); ok { // a constant in the lanes of the mask
			g.with(VPAND, mask, w, 0)
		} else {
			g.op(VPAND, s.Len, g.value(s), mask)
		}
	default:
		v := s.b
		if s.Op != VMOVAPD && s.Op != VMOVUPS {
			v = g.value(s)
		}
		g.blend(single, s.dst, v, mask)
	}
	last := &g.steps[len(g.steps)-1] // it makes the value
	last.dst, last.effect = s.dst, s.effect
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
	if s.fused != nil || forms[s.Op].elem != 8 {
		panic("BUG: a broadcast operand that is not expected")
	}
	from := s.Mem
	from.Broadcast = false
	s.b = g.emit(step{Inst: Inst{Op: VBROADCASTSD, Len: s.Len, InMem: true, Mem: from}})
	s.InMem, s.Mem = false, Mem{}
}

// value appends the steps that make the value of s, the last one giving it.
func (g *legalizer) value(s step) virt {
	if s.fused != nil {
		return g.emit(s)
	}
	f := &forms[s.Op]
	if (s.Op == KXORW || s.Op == KXNORW) && s.a == 0 { // a constant; the registers do not matter
		op := VXORPD
		if s.Op == KXNORW {
			op = VPCMPEQQ
		}
		return g.emit(step{Inst: Inst{Op: op, Len: L256}})
	}
	if rule := rules[s.Op]; rule != nil {
		return rule(g, &s)
	}
	if op, ok := replaced[s.Op]; ok {
		if f.ofMasks() {
			s.Len = L256
		}
		s.Op = op
	}
	if f := &forms[s.Op]; f.vexW == no || f.ofMasks() {
		panic("BUG: AVX2 has no rule for " + f.name)
	}
	return g.emit(s)
}

// rules make the value of a step that AVX2 has no instruction for. The last step of a rule makes
// the value, in a register of its own.
var rules map[Op]func(g *legalizer, s *step) virt

func init() {
	rules = map[Op]func(g *legalizer, s *step) virt{
		KNOTW:      func(g *legalizer, s *step) virt { return g.not(s.b) },
		KXNORW:     func(g *legalizer, s *step) virt { return g.not(g.op(VPXOR, L256, s.a, s.b)) },
		VCMPPDK:    func(g *legalizer, s *step) virt { s.Op = VCMPPD; return g.emit(*s) },
		VCMPPSK:    compareSingle,
		VPCMPQ:     compareWords,
		VPCMPUQ:    compareUnsigned,
		VALIGNQ:    turn,
		VPMULLQ:    multiply,
		VPMINSQ:    extremeWord,
		VPMAXSQ:    extremeWord,
		VPSRAQ:     shiftArithmetic,
		VPSRAVQ:    shiftArithmetic,
		VPABSQ:     absolute,
		VPLZCNTQ:   leadingZeros,
		VPMOVQD:    lowHalves,
		VPMOVM2Q:   func(g *legalizer, s *step) virt { s.Op = VMOVAPD; return g.emit(*s) },
		VPMOVQ2M:   func(g *legalizer, s *step) virt { return g.sign(s.b) },
		VCVTQQ2PD:  func(g *legalizer, s *step) virt { return g.toDouble(g.second(s)) },
		VCVTQQ2PS:  toSingle,
		VCVTTPD2QQ: func(g *legalizer, s *step) virt { return g.toWord(g.second(s)) },
		VCVTTPS2QQ: func(g *legalizer, s *step) virt { return g.toWord(g.op(VCVTPS2PD, L256, 0, g.second(s))) },
		VSCALEFPD:  scale,
	}
}

// emit appends a step with a fresh result.
func (g *legalizer) emit(s step) virt {
	s.dst = g.fresh(vectorClass)
	s.effect = false
	g.steps = append(g.steps, s)
	return s.dst
}

// op is a instruction of registers; a may be 0.
func (g *legalizer) op(op Op, length Len, a, b virt) virt {
	return g.emit(step{Inst: Inst{Op: op, Len: length}, a: a, b: b})
}

// with is an instruction whose second operand is a constant in all lanes.
func (g *legalizer) with(op Op, a virt, w uint64, imm uint8) virt {
	return g.emit(step{Inst: Inst{Op: op, Len: L256, InMem: true, Mem: g.asm.Const(w, w, w, w), Imm: imm}, a: a})
}

// shift is a shift by a constant.
func (g *legalizer) shift(op Op, a virt, n uint8) virt {
	return g.emit(step{Inst: Inst{Op: op, Len: L256, Imm: n}, b: a})
}

// constant is a constant in a register.
func (g *legalizer) constant(w uint64) virt {
	if w == 0 {
		return g.emit(step{Inst: Inst{Op: VXORPD, Len: L256}})
	}
	return g.emit(step{Inst: Inst{Op: VBROADCASTSD, Len: L256, InMem: true, Mem: g.asm.Const(w)}})
}

// second is the last operand in a register.
func (g *legalizer) second(s *step) virt {
	if !s.InMem {
		return s.b
	}
	return g.emit(step{Inst: Inst{Op: VMOVUPD, Len: L256, InMem: true, Mem: s.Mem}})
}

// word is the last operand if it is a constant.
func (g *legalizer) word(s *step) (w uint64, ok bool) {
	at := s.Mem
	if !s.InMem {
		at = g.source[s.b]
	}
	if at.Constant == 0 {
		return 0, false
	}
	return g.asm.consts[at.Constant-1].words[0], true
}

// blend is b in the lanes of the mask, a in the others.
func (g *legalizer) blend(single bool, a, b, mask virt) virt {
	i := Inst{Op: VBLENDVPD, Len: L256}
	if single {
		i = Inst{Op: VBLENDVPS, Len: L128}
	}
	return g.emit(step{Inst: i, a: a, b: b, c: mask})
}

// not is the other lanes.
func (g *legalizer) not(mask virt) virt {
	return g.with(VPXOR, mask, 1<<64-1, 0)
}

// narrow is a mask of 32-bit lanes.
func (g *legalizer) narrow(mask virt) virt {
	upper := g.emit(step{Inst: Inst{Op: VEXTRACTF128, Len: L256, Imm: 1}, a: mask})
	return g.emit(step{Inst: Inst{Op: VSHUFPS, Len: L128, Imm: 0x88}, a: mask, b: upper})
}
