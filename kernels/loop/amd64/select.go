package amd64

// This file selects instructions for scalar operations, a lane a point.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

var (
	floatBinary = [256]pair{loop.Add: {VADDPD, VADDPS}, loop.Sub: {VSUBPD, VSUBPS}, loop.Mul: {VMULPD, VMULPS}, loop.Div: {VDIVPD, VDIVPS}}
	intBinary   = [256]Op{loop.Add: VPADDQ, loop.Sub: VPSUBQ, loop.Mul: VPMULLQ, loop.Min: VPMINSQ, loop.Max: VPMAXSQ,
		loop.And: VPANDQ, loop.Or: VPORQ, loop.Xor: VPXORQ, loop.Shl: VPSLLVQ, loop.Shr: VPSRLVQ, loop.Sar: VPSRAVQ}
	maskBinary = [256]Op{loop.And: KANDW, loop.Or: KORW, loop.Xor: KXORW, loop.Eq: KXNORW, loop.Ne: KXORW, loop.Lt: KANDNW}
	shifts     = [256]Op{loop.Shl: VPSLLQ, loop.Shr: VPSRLQ, loop.Sar: VPSRAQ}
	// rounding is the immediate of a rounding, with exceptions suppressed.
	rounding = [256]uint8{loop.Nearest: 8, loop.Floor: 9, loop.Ceil: 10}
	// ordered is the immediate of a comparison of floats: quiet, false of nan, but that Ne is true
	// of it.
	ordered = [256]uint8{loop.Lt: 0x11, loop.Le: 0x12, loop.Eq: 0x00, loop.Ne: 0x04}
	// signed is the immediate of a comparison of integers.
	nanOf  = map[bool]loop.Word{false: math.Float64bits(math.NaN()), true: loop.Word(math.Float32bits(float32(math.NaN())))}
	signed = [256]uint8{loop.Eq: 0, loop.Lt: 1, loop.Le: 2, loop.Ne: 4}
)

// operation lowers one scalar operation.
func (l *lowering) operation(s *loop.Stmt, in []operand) operand {
	e := l.frame.types[s.Args[0]]
	if o, ok := l.folded(s, in, e); ok {
		return o
	}
	c := s.Code
	if e == types.I64 {
		if o, ok := l.decided(s, in); ok {
			return o
		}
	}
	switch {
	case c == loop.Select && in[0].konst:
		return in[2-in[0].word]
	case c == loop.Select:
		if v := l.lesser(in); v != 0 {
			return operand{v: v}
		}
		return operand{v: l.merged(l.vector(in[0]), in[1], in[2])}
	case e == types.Bool:
		if k := slices.IndexFunc(in, func(o operand) bool { return o.konst && o.word == 1 }); k >= 0 && c == loop.And {
			return in[1-k]
		}
		v := l.logic(s, in)
		if x, y := in[0].known().bound, in[len(in)-1].known().bound; c == loop.And && x[0] != 0 && x[0] == y[1] {
			return l.knows(operand{v: v}, facts{bound: [2]virt{x[0], x[0]}})
		}
		return operand{v: v}
	case e == types.I64:
		if v := l.differing(c, in); v != 0 {
			return operand{v: v}
		}
		v, f := l.integer(s, in), facts{differ: differences(c, in)}
		switch k := in[len(in)-1]; {
		case c == loop.Shl && k.konst && k.word == 1:
			f.twice = in[0].v
		case c == loop.Eq && k.konst && k.word == 0:
			f.twice = in[0].known().twice
		}
		return l.knows(operand{v: v}, f)
	}
	if c == loop.Div && e == types.F64 {
		if v := l.quotient(in[0], in[1]); v != 0 {
			return operand{v: v}
		}
	}
	switch {
	case c == loop.Add && in[1].konst && in[1].word == 0 && in[0].plus && in[0].summed: // 0 changes -0 alone
		return in[0]
	case floatBinary[c] != pair{}:
		return operand{v: l.binary(floatBinary[c].of(e), e, in[0], in[1])}
	case c == loop.Lt:
		v := l.compare(pair{VCMPPDK, VCMPPSK}.of(e), e, in[0], in[1], ordered[c])
		f := facts{less: [2]virt{l.vector(in[0]), l.vector(in[1])}}
		if in[1].konst && e == types.F64 && in[1].word == math.Float64bits(0x1p63) {
			f.bound[1] = in[0].v
		}
		return l.knows(operand{v: v}, f)
	case c == loop.Le && in[0].konst && e == types.F64 && in[0].word == math.Float64bits(-0x1p63):
		v := l.compare(VCMPPDK, e, in[0], in[1], ordered[c])
		return l.knows(operand{v: v}, facts{bound: [2]virt{in[1].v}})
	case ordered[c] != 0 || c == loop.Eq:
		return operand{v: l.compare(pair{VCMPPDK, VCMPPSK}.of(e), e, in[0], in[1], ordered[c])}
	case rounding[c] != 0:
		return operand{v: l.unary(pair{VRNDSCALEPD, VRNDSCALEPS}.of(e), e, in[0], rounding[c])}
	}
	switch c {
	case loop.FMA:
		if b := in[1]; l.target == avx2 && b.konst && loop.ScalarOf(e, b.word).F == -1 { // where it takes a move more
			return operand{v: l.binary(pair{VSUBPD, VSUBPS}.of(e), e, in[2], in[0])}
		}
		return operand{v: l.fma(e, in)}
	case loop.Neg:
		v := l.bits(VXORPD, VXORPS, e, in[0], 1<<63, 1<<31)
		return l.knows(operand{v: v}, facts{negate: in[0].v})
	case loop.Abs:
		return operand{v: l.bits(VANDPD, VANDPS, e, in[0], math.MaxInt64, math.MaxInt32)}
	case loop.Sqrt:
		if l.roots && e == types.F64 {
			return operand{v: l.root(in[0])}
		}
		return operand{v: l.unary(pair{VSQRTPD, VSQRTPS}.of(e), e, in[0], 0)}
	case loop.Min, loop.Max:
		return operand{v: l.extreme(c, e, in[0], in[1])}
	case loop.Scale:
		return operand{v: l.binary(VSCALEFPD, e, in[0], in[1])}
	case loop.ToF64:
		return operand{v: l.unary(VCVTPS2PD, types.F64, operand{v: l.vector(in[0])}, 0)}
	case loop.ToF32:
		return operand{v: l.unary(VCVTPD2PS, types.F64, in[0], 0)}
	case loop.ToI64:
		if e == types.F32 {
			return operand{v: l.unary(VCVTTPS2QQ, types.F64, operand{v: l.vector(in[0])}, 0)}
		}
		x := l.vector(in[0])
		return operand{v: l.recentOf(vectorClass, sum{address: x, size: isWord}, func() step { return step{Inst: Inst{Op: VCVTTPD2QQ, Len: l.length}, b: x} })}
	case loop.ToBool:
		return operand{v: l.compare(pair{VCMPPDK, VCMPPSK}.of(e), e, in[0], constantOf(e, 0), 0x04)}
	case loop.Bits:
		if e == types.F64 {
			return operand{v: l.vector(in[0])}
		}
		return operand{v: l.unary(VPMOVZXDQ, types.F64, operand{v: l.vector(in[0])}, 0)}
	}
	unsupported(s.Origin, "%s of %v", c.Operation().Name, e)
	return operand{}
}

// differences are the values that a word tells to differ.
func differences(c loop.Code, in []operand) (d [4]virt) {
	switch {
	case c == loop.Xor && !in[0].konst && !in[1].konst:
		return [4]virt{in[0].v, in[1].v}
	case c == loop.Or:
		if x, y := in[0].known().differ, in[1].known().differ; x[0] != 0 && y[0] != 0 && x[2] == 0 && y[2] == 0 {
			return [4]virt{x[0], x[1], y[0], y[1]}
		}
	}
	return d
}

// differing adds differences to a word, an instruction for two values; 0: it is another operation, or
// the target has no such instruction. What an exact sum has lost is collected so.
func (l *lowering) differing(c loop.Code, in []operand) virt {
	if c != loop.Or || l.vexOnly() {
		return 0
	}
	x, d := in[0], in[1].known().differ
	if d[0] == 0 {
		x, d = in[1], in[0].known().differ
	}
	if of := x.known().differ; d[0] == 0 || x.konst && x.word == 0 || of[0] != 0 && of[2] == 0 && d[2] == 0 {
		return 0 // or it is two differences, which something may be added to
	}
	v := l.vector(x)
	for k := 0; k < 4 && d[k] != 0; k += 2 {
		v = l.emit(&step{Inst: Inst{Len: l.length}, fused: fusedStep{is: true, table: differTable}, a: d[k], b: d[k+1], c: v, dst: l.fresh(vectorClass)})
	}
	return v
}

// lesser is a select between the two numbers that its condition compares, or 0. The instructions
// give the second number where the comparison is false, as the select does.
func (l *lowering) lesser(in []operand) virt {
	e, less := in[1].elem, in[0].known().less
	if less[0] == 0 || !e.IsFloat() {
		return 0
	}
	x, y := in[1], in[2]
	switch [2]virt{l.vector(x), l.vector(y)} {
	case less:
		return l.binary(pair{VMINPD, VMINPS}.of(e), e, x, y)
	case [2]virt{less[1], less[0]}:
		return l.binary(pair{VMAXPD, VMAXPS}.of(e), e, x, y)
	}
	return 0
}

// folded computes an operation on constants.
func (l *lowering) folded(s *loop.Stmt, in []operand, e types.Elem) (operand, bool) {
	for _, o := range in {
		if !o.konst {
			return operand{}, false
		}
	}
	words := l.words[:0]
	for _, o := range in {
		words = append(words, o.word)
	}
	l.words = words
	if !s.Code.Defined(e, words...) { // behind a check that fails
		return operand{traits: traits{konst: true}}, true
	}
	return operand{traits: traits{konst: true}, word: s.Code.Eval(e, words...)}, true
}

// bits combines the bits of a float with a constant.
func (l *lowering) bits(op64, op32 Op, e types.Elem, o operand, w64, w32 loop.Word) virt {
	if e == types.F32 {
		return l.binary(op32, e, o, constantOf(e, w32))
	}
	return l.binary(op64, e, o, constantOf(e, w64))
}

// fma is a*b + c rounded once; operands that were negated give their sign to the instruction.
func (l *lowering) fma(e types.Elem, in []operand) virt {
	a, b, c := in[0], in[1], in[2]
	f := fusedStep{is: true, single: e == types.F32}
	positive := func(o *operand, minus *bool) {
		if v := o.known().negate; v != 0 {
			*minus, o.v = !*minus, v
		}
	}
	positive(&a, &f.minusProduct)
	positive(&b, &f.minusProduct)
	positive(&c, &f.minusAddend)
	x, y, z := l.vector(a), l.vector(b), l.vector(c)
	s := l.next()
	s.Len, s.fused, s.a, s.b, s.c, s.dst = l.vlen(e), f, x, y, z, l.fresh(vectorClass)
	return l.emitted()
}

// The truth tables of c | a^b, and of a&b if c is set, else a|b.
const differTable, greaterTable = 0xbe, 0xd4

// extreme is the lesser or greater of two floats as the language has it: a nan wins, -0 is below 0.
// VMIN and VMAX give their second operand where the two compare equal or one is nan. With a
// constant that comes first one instruction does, unless it is a nan or the lesser zero of Min. The
// greater zero of Max is added to what may be -0.
func (l *lowering) extreme(c loop.Code, e types.Elem, a, b operand) virt {
	op := pair{VMINPD, VMINPS}.of(e)
	if c == loop.Max {
		op = pair{VMAXPD, VMAXPS}.of(e)
	}
	if a.konst {
		a, b = b, a
	}
	if b.konst {
		k := b
		switch f := loop.ScalarOf(e, b.word).F; {
		case f != f, f == 0 && c == loop.Min && math.Signbit(f):
		case f == 0 && c == loop.Max && !math.Signbit(f):
			return l.binary(pair{VADDPD, VADDPS}.of(e), e, inRegister(e, l.binary(op, e, k, a)), k)
		default:
			return l.binary(op, e, k, a)
		}
	}
	a.v, b.v = l.vector(a), l.vector(b)
	a.konst, b.konst = false, false
	if l.embeds && !a.rounds && !b.rounds {
		return l.ranged(c, e, a.v, b.v)
	}
	if a.plus {
		a, b = b, a
	}
	x := inRegister(e, l.binary(op, e, a, b))
	if c == loop.Max && b.plus && !a.plus && !l.embeds { // x is right unless a is nan
		return l.merged(l.compare(pair{VCMPPDK, VCMPPSK}.of(e), e, a, a, 3), a, x)
	}
	y := inRegister(e, l.binary(op, e, b, a))
	// The two differ in zeros of both signs and where one is nan. The bits of both are a nan then,
	// and -0.
	if c == loop.Min || a.plus && !l.embeds {
		return l.binary(pair{VORPD, VORPS}.of(e), e, x, y)
	}
	if l.embeds {
		sign := l.constantVector(types.I64, 1<<63|loop.Word(0x80000000)*loop.Word(8/e.Size()-1))
		return l.emit(&step{Inst: Inst{Len: l.vlen(e)}, fused: fusedStep{is: true, table: greaterTable}, a: x.v, b: y.v, c: sign, dst: l.fresh(vectorClass)})
	}
	differ := inRegister(e, l.binary(pair{VXORPD, VXORPS}.of(e), e, x, y))
	both := inRegister(e, l.binary(pair{VORPD, VORPS}.of(e), e, x, differ))
	return l.binary(pair{VSUBPD, VSUBPS}.of(e), e, both, differ) // -0 - -0 is 0
}

// Numbers of VRANGE: the immediates of the lesser and the greater of two.
const lesserImm, greatestImm = 4, 5

// What marks, among recent values, the comparison that comes before a VRANGE, distances in bytes of
// elements from the first, and integers made of floats.
const isOrdered, isDistance, isWord = -3, -4, -5

// ranged is extreme by VRANGE, which orders zeros as the language does. Of a nan and a number it gives
// the number, so it leaves those lanes as they are, which is a nan. Both extremes of a pair share the
// comparison. A value that is carried takes the other form, in which rounds wait 5 cycles for one
// another instead of 7.
func (l *lowering) ranged(c loop.Code, e types.Elem, a, b virt) virt {
	s := step{Inst: Inst{Op: pair{VRANGEPD, VRANGEPS}.of(e), Len: l.vlen(e), Imm: lesserImm}, a: a, b: b, c: l.constantVector(e, nanOf[e == types.F32])}
	if c == loop.Max {
		s.Imm = greatestImm
	}
	s.mask = l.recentOf(maskClass, sum{address: min(a, b), offset: max(a, b), size: isOrdered}, func() step {
		return step{Inst: Inst{Op: pair{VCMPPDK, VCMPPSK}.of(e), Len: s.Len, Imm: orderedImm}, a: a, b: b}
	})
	s.dst = l.fresh(vectorClass)
	return l.emit(&s)
}

// neverMinus reports a float that is no -0, as far as the operation tells.
func neverMinus(c loop.Code, e types.Elem, in []operand) bool {
	plus := func(k int) bool {
		return in[k].plus || in[k].konst && (loop.ScalarOf(e, in[k].word).F != 0 || !math.Signbit(loop.ScalarOf(e, in[k].word).F))
	}
	switch c {
	case loop.Sub: // equal numbers give 0
		return plus(0)
	case loop.Add:
		return plus(0) || plus(1)
	case loop.Mul:
		return in[0].v == in[1].v && in[0].v != 0
	case loop.Max:
		return plus(0) && plus(1)
	}
	return c == loop.Abs
}

// logic is an operation on bools.
func (l *lowering) logic(s *loop.Stmt, in []operand) virt {
	if op := maskBinary[s.Code]; op == KXNORW && l.halved() {
		return l.not(l.mask(KXORW, l.vector(in[0]), l.vector(in[1])))
	} else if op != noOp {
		return l.mask(op, l.vector(in[0]), l.vector(in[1]))
	}
	switch s.Code {
	case loop.Not:
		return l.not(l.vector(in[0]))
	case loop.Le: // not a, or b
		return l.mask(KORW, l.not(l.vector(in[0])), l.vector(in[1]))
	case loop.ToF64, loop.ToF32, loop.ToI64: // one in the lanes of the mask, 0 elsewhere
		e := map[loop.Code]types.Elem{loop.ToF64: types.F64, loop.ToF32: types.F32, loop.ToI64: types.I64}[s.Code]
		op := pair{VBROADCASTSD, VBROADCASTSS}.of(e)
		m := l.constant(e, s.Code.Eval(types.Bool, 1))
		m.Broadcast = false
		return l.emit(&step{Inst: Inst{Op: op, Len: l.vlen(e), InMem: true, Mem: m, Zero: true}, mask: l.vector(in[0]), dst: l.fresh(vectorClass)})
	}
	unsupported(s.Origin, "%s of bool", s.Code.Operation().Name)
	return 0
}

// integer is an operation on i64.
func (l *lowering) integer(s *loop.Stmt, in []operand) virt {
	c, e := s.Code, types.I64
	if op := shifts[c]; op != noOp && in[1].konst {
		n := uint8(min(in[1].word, 64))
		return l.emit(&step{Inst: Inst{Op: op, Len: l.length, Imm: n}, b: l.vector(in[0]), dst: l.fresh(vectorClass)})
	}
	if op := intBinary[c]; op != noOp {
		for k, o := range in { // a state that begins with 0
			if (c == loop.Or || c == loop.Xor) && o.konst && o.word == 0 {
				return l.vector(in[1-k])
			}
		}
		return l.binary(op, e, in[0], in[1])
	}
	if signed[c] != 0 || c == loop.Eq {
		return l.compare(VPCMPQ, e, in[0], in[1], signed[c])
	}
	zero := constantOf(e, 0)
	switch c {
	case loop.Neg:
		return l.binary(VPSUBQ, e, zero, in[0])
	case loop.Not:
		return l.binary(VPXORQ, e, in[0], constantOf(e, math.MaxUint64))
	case loop.Abs:
		return l.unary(VPABSQ, e, in[0], 0)
	case loop.IDiv, loop.Mod:
		return l.divide(s, in[0], in[1])
	case loop.MulHighU:
		return words{l}.upperHalf(in[0], in[1])
	case loop.ToF64:
		if x := l.spanOf(in[0]); l.vexOnly() && x.least >= -1<<51 && x.most < 1<<51 {
			return l.binary(VSUBPD, types.F64, inRegister(types.F64, l.binary(VPADDQ, e, in[0], middleBits)), middleF64)
		}
		return l.unary(VCVTQQ2PD, e, in[0], 0)
	case loop.ToF32:
		return l.unary(VCVTQQ2PS, e, in[0], 0)
	case loop.ToBool:
		return l.compare(VPCMPQ, e, in[0], zero, 4)
	case loop.ToI64: // see loop.Packed
		return l.binary(VPSADBW, e, in[0], zero)
	case loop.F64Bits:
		return l.vector(in[0])
	}
	unsupported(s.Origin, "%s of i64", c.Operation().Name)
	return 0
}

// What follows writes the upper half of a product.

// words writes expressions on vectors of 64-bit words.
type words struct{ *lowering }

func (w words) of(v virt) operand { return inRegister(types.I64, v) }

func (w words) op(op Op, a, b operand) operand { return w.of(w.binary(op, types.I64, a, b)) }

// right is a >> n, without sign.
func (w words) right(a operand, n uint8) operand {
	return w.of(w.emit(&step{Inst: Inst{Op: VPSRLQ, Len: w.length, Imm: n}, b: w.vector(a), dst: w.fresh(vectorClass)}))
}

// upperHalf is that of a product, of halves of 32 bits as one multiplies on paper.
func (w words) upperHalf(a, b operand) virt {
	a, b = w.of(w.vector(a)), w.of(w.vector(b))
	ah, bh := w.right(a, 32), w.right(b, 32)
	low := w.op(VPMULUDQ, a, b)
	t := w.op(VPADDQ, w.op(VPMULUDQ, ah, b), w.right(low, 32))
	u := w.op(VPADDQ, w.op(VPMULUDQ, a, bh), w.op(VPANDQ, t, constantOf(types.I64, math.MaxUint32)))
	high := w.op(VPADDQ, w.op(VPADDQ, w.op(VPMULUDQ, ah, bh), w.right(t, 32)), w.right(u, 32))
	return high.v
}
