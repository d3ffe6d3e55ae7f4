package amd64

// This file writes what no vector instruction does: general registers do it for one lane after the
// other, operands and results in scratch memory.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// room is vector k of the scratch memory of lane-by-lane code.
func room(k int32) Mem { return At(scratchReg, roomAt+k*slotBytes) }

// roomLane is the word of lane R11 of that vector.
func roomLane(k int32) Mem { return Indexed(scratchReg, R11, 8, roomAt+k*slotBytes) }

// keepRoom stores a vector of words, and another unless it is 0, where lane-by-lane code finds them.
func (l *lowering) keepRoom(first int32, v, next virt) {
	l.emit(&step{a: v, b: next, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.store(m, types.I64, r.a, NoReg, room(first))
		if next != 0 {
			m.vec.store(m, types.I64, r.b, NoReg, room(first+1))
		}
	}})
}

// eachLane writes a loop over the lanes of a mask, at least one. It has the number of the lane in
// R11; body may change RAX, RDX and R10.
func (m *maker) eachLane(mask Reg, body func()) {
	m.StoreG(room(3), RDX)
	m.vec.bits(m, mask)
	m.Mov(R9, RAX)
	top := m.Label()
	m.Bind(top)
	m.BitScan(R11, R9)
	body()
	m.Lea(R10, At(R9, -1))
	m.ArithG(AndG, R9, R10)
	m.Jump(NotEqual, top)
	m.LoadG(RDX, room(3))
}

// divide lowers a division of integers that rounds down, or its rest. The quotient of two numbers
// below 2^52 rounded to f64 reaches no integer that the true one does not: that is at least 1/|b|
// away, and half a unit in the last place of a/b is less. Others are divided lane by lane. A division
// by a known positive number below 2^51 is a product with its reciprocal (dividedBy).
func (l *lowering) divide(s *loop.Stmt, a, b operand) virt {
	e, rest := types.I64, s.Code == loop.Mod
	if n := b.word; b.konst && int64(n) > 0 && n&(n-1) == 0 {
		if rest {
			return l.binary(VPANDQ, e, a, constantOf(e, n-1))
		}
		shift := uint8(0)
		for n>>shift != 1 {
			shift++
		}
		return l.emit(&step{Inst: Inst{Op: VPSRAQ, Len: l.length, Imm: shift}, b: l.vector(a), dst: l.fresh(vectorClass)})
	}
	skip := l.asm.Label()
	var far virt // a mask of the lanes with large numbers, which divideLane divides
	out := l.fresh(vectorClass)
	if l.vexOnly() {
		near, large := l.divideSmall(rest, a, b)
		l.move(out, near, 0, true)
		a.v, b.v = l.vector(a), l.vector(b)
		l.emit(&step{a: large, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			w := ^uint64(1<<52 - 1)
			m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: r.a, InMem: true, Mem: m.Const(w, w, w, w)})
			m.Jump(Equal, skip)
		}})
		upper := l.emit(&step{Inst: Inst{Op: VPSRLQ, Len: l.length, Imm: 52}, b: large, dst: l.fresh(vectorClass)})
		far = l.compare(VPCMPQ, e, inRegister(e, upper), constantOf(e, 0), signed[loop.Ne])
	} else if n := int64(b.word); b.konst && !a.konst && n > 1 && n < 1<<51 {
		d := l.dividedBy(a, b)
		if x := l.spanOf(a); x.least >= -1<<51 && x.most < 1<<51 {
			return l.nearest(rest, d)
		}
		l.move(out, inRegister(e, l.nearest(rest, d)), 0, true)
		a.v, b.v = l.vector(a), l.vector(b)
		far = l.under(l.compare(VPCMPUQ, e, inRegister(e, d.large), constantOf(e, 1<<52), 5)) // not below
		l.jumpIfNone(skip, far)
	} else {
		a.v, b.v = l.vector(a), l.vector(b)
		a.konst, b.konst = false, false
		l.move(out, l.divideNear(rest, a, b), 0, true)
		size := l.binary(VPORQ, e, inRegister(e, l.unary(VPABSQ, e, a, 0)), inRegister(e, l.unary(VPABSQ, e, b, 0)))
		far = l.under(l.compare(VPCMPUQ, e, inRegister(e, size), constantOf(e, 1<<52), 5)) // not below
		l.jumpIfNone(skip, far)
	}
	l.keepRoom(0, a.v, b.v)
	l.emit(&step{a: out, mask: far, dst: out, effect: true, scalar: func(m *maker, dst Reg, r regs) {
		m.vec.store(m, types.I64, r.a, NoReg, room(2))
		m.eachLane(r.mask, func() { m.divideLane(rest) })
		m.vec.load(m, types.I64, dst, NoReg, room(2))
	}})
	l.bind(skip)
	return out
}

// divideNear returns the quotient or the rest of numbers whose magnitudes are below 2^52.
func (l *lowering) divideNear(rest bool, a, b operand) operand {
	e, f := types.I64, types.F64
	x := inRegister(f, l.unary(VCVTQQ2PD, e, a, 0))
	y := inRegister(f, l.unary(VCVTQQ2PD, e, b, 0))
	q := inRegister(f, l.binary(VDIVPD, f, x, y))
	q.v = l.unary(VRNDSCALEPD, f, q, rounding[loop.Floor])
	if rest { // exact
		q.v = l.multiplyAdd(true, q, y, x, 0)
	}
	return inRegister(e, l.unary(VCVTTPD2QQ, f, q, 0))
}

// nearest returns the quotient of d, rounded down, or its rest. If the rest is negative, the quotient
// that d has is one too large.
func (l *lowering) nearest(rest bool, d *divided) virt {
	e, f := types.I64, types.F64
	less := l.compare(VCMPPDK, f, d.rest, numberF64(0), ordered[loop.Lt])
	if rest {
		more := inRegister(f, l.binary(VADDPD, f, d.rest, numberF64(float64(int64(d.b)))))
		return l.unary(VCVTTPD2QQ, f, inRegister(f, l.merged(less, more, d.rest)), 0)
	}
	q := inRegister(e, l.binary(VPSUBQ, e, d.shifted, middleBits))
	return l.merged(less, inRegister(e, l.binary(VPSUBQ, e, q, constantOf(e, 1))), q)
}

// middle is 1.5 * 2^52. The bits of middle plus an integer from -2^51 to below 2^51 are those of the
// f64 middle plus it, so an addition and a subtraction convert it, either way.
const middle = 0x1.8p52

var (
	middleBits = constantOf(types.I64, math.Float64bits(middle))
	middleF64  = numberF64(middle)
)

func numberF64(x float64) operand {
	return constantOf(types.F64, math.Float64bits(x))
}

// smallF64 returns an integer from -2^51 to below 2^51 as f64. For other numbers it sets bits from 52
// on in large, which collects them; a constant outside is in large, too.
func (l *lowering) smallF64(o operand, large *virt) operand {
	e, f := types.I64, types.F64
	if n := int64(o.word); o.konst && n >= -1<<51 && n < 1<<51 {
		return numberF64(float64(n))
	}
	above := l.binary(VPADDQ, e, o, constantOf(e, 1<<51))
	if *large != 0 {
		above = l.binary(VPORQ, e, inRegister(e, *large), inRegister(e, above))
	}
	*large = above
	return inRegister(f, l.binary(VSUBPD, f, inRegister(f, l.binary(VPADDQ, e, o, middleBits)), middleF64))
}

// divideSmall returns the quotient or the rest of numbers from -2^51 to below 2^51. In a lane that
// counts and has another number, large is at least 2^52 and the result is wrong.
func (l *lowering) divideSmall(rest bool, a, b operand) (near operand, large virt) {
	e, f := types.I64, types.F64
	if n := int64(b.word); b.konst && n > 1 && n < 1<<51 {
		d := l.dividedBy(a, b)
		if rest {
			more := l.binary(VADDPD, f, d.rest, numberF64(float64(n))) // where the rest is negative
			return l.wholeOf(l.emit(&step{Inst: Inst{Op: VBLENDVPD, Len: l.length}, a: d.rest.v, b: more, c: d.rest.v, dst: l.fresh(vectorClass)})), d.large
		}
		less := l.compare(VCMPPDK, f, d.rest, numberF64(0), ordered[loop.Lt])
		q := inRegister(e, l.binary(VPADDQ, e, d.shifted, inRegister(e, less))) // -1 where it is less
		return inRegister(e, l.binary(VPSUBQ, e, q, middleBits)), d.large
	}
	x := l.smallF64(a, &large)
	y := l.smallF64(b, &large)
	large = l.inLanes(large)
	near.v = l.unary(VRNDSCALEPD, f, inRegister(f, l.binary(VDIVPD, f, x, y)), rounding[loop.Floor])
	if rest {
		near.v = l.multiplyAdd(true, inRegister(f, near.v), y, x, 0)
	}
	return l.wholeOf(near.v), large
}

// inLanes returns large in the lanes that count, where masks are vectors.
func (l *lowering) inLanes(large virt) virt {
	if l.active == 0 || !l.vexOnly() {
		return large
	}
	return l.binary(VPANDQ, types.I64, inRegister(types.I64, large), inRegister(types.I64, l.active))
}

// wholeOf returns a whole f64 from -2^51 to below 2^51 as i64.
func (l *lowering) wholeOf(v virt) operand {
	above := l.binary(VADDPD, types.F64, inRegister(types.F64, v), middleF64)
	return inRegister(types.I64, l.binary(VPSUBQ, types.I64, inRegister(types.I64, above), middleBits))
}

// dividedBy divides a by the constant b, unless that has been done. A product with the reciprocal of b,
// rounded to the nearest integer, is the quotient, or the next one if the rest is then negative: the
// reciprocal is wrong by 2^-53 of itself, and the quotient is less than 2^50, so the rest is at most
// 5/8 of the divisor.
func (l *lowering) dividedBy(a, b operand) *divided {
	f := types.F64
	for k := range l.divided {
		if d := &l.divided[k]; d.a == a.v && d.b == b.word && d.active == l.active {
			return d
		}
	}
	d := divided{a: a.v, b: b.word, active: l.active}
	x := l.smallF64(a, &d.large)
	d.large = l.inLanes(d.large)
	n := float64(int64(b.word))
	d.shifted = inRegister(f, l.multiplyAdd(false, x, numberF64(1/n), middleF64, 0))
	q := inRegister(f, l.binary(VSUBPD, f, d.shifted, middleF64))
	d.rest = inRegister(f, l.multiplyAdd(true, q, numberF64(n), x, 0))
	l.divided = append(l.divided, d)
	return &l.divided[len(l.divided)-1]
}

// divideLane divides word R11 of vector 0 of the room by that of vector 1. The instruction traps on
// -2^63 / -1 and on 0.
func (m *maker) divideLane(rest bool) {
	minus, exact, store, next := m.Label(), m.Label(), m.Label(), m.Label()
	m.LoadG(RAX, roomLane(0))
	m.LoadG(R10, roomLane(1))
	m.Test(R10, R10)
	m.Jump(Equal, next)
	m.ArithImm(CmpG, R10, -1)
	m.Jump(Equal, minus)
	m.SignExtend()
	m.IDiv(R10)
	m.Test(RDX, RDX)
	m.Jump(Equal, exact)
	m.ArithG(XorG, R10, RDX) // the rest has the sign of the dividend: of another sign than the divisor it is one short
	m.Jump(Sign.Not(), exact)
	m.ArithImm(SubG, RAX, 1)
	m.ArithMem(AddG, RDX, roomLane(1))
	m.Bind(exact)
	if rest {
		m.Mov(RAX, RDX)
	}
	m.Goto(store)
	m.Bind(minus)
	m.Neg(RAX)
	if rest {
		m.MovImm(RAX, 0)
	}
	m.Bind(store)
	m.StoreG(roomLane(2), RAX)
	m.Bind(next)
}

// scatterBools stores a byte a lane at base + index in the lanes that count; base leaves its
// address in RAX.
func (l *lowering) scatterBools(v, index virt, base func(m *maker)) {
	l.keepRoom(0, l.emit(&step{Inst: Inst{Op: VPMOVM2Q, Len: l.length}, b: v, dst: l.fresh(vectorClass)}), index)
	st := step{mask: l.active}
	skip := l.asm.Label()
	if l.active != 0 {
		l.jumpIfNone(skip, l.active)
	}
	st.scalar = func(m *maker, _ Reg, r regs) {
		base(m)
		m.StoreG(room(2), RAX)
		m.eachLane(r.mask, func() {
			m.LoadG(R10, roomLane(1))
			m.ArithMem(AddG, R10, room(2))
			m.LoadG(RAX, roomLane(0))
			m.ArithImm(AndG, RAX, 1)
			m.StoreG8(At(R10, 0), RAX)
		})
		m.Bind(skip)
	}
	l.emit(&st)
}

// gatherBools loads a byte a lane from base + index. The word of 8 bytes that holds it lies on the
// same page.
func (l *lowering) gatherBools(index virt, base func(m *maker)) virt {
	e := types.I64
	vec := func(v virt) operand { return inRegister(e, v) }
	konst := func(w loop.Word) operand { return constantOf(e, w) }
	at := vec(l.binary(VPADDQ, e, vec(index), vec(l.broadcastG(base))))
	aligned := l.binary(VPANDQ, e, at, konst(^loop.Word(7)))
	words := l.gather(e, aligned, 1, func(m *maker) { m.MovImm(RAX, 0) })
	shift := l.emit(&step{Inst: Inst{Op: VPSLLQ, Len: l.length, Imm: 3}, b: l.binary(VPANDQ, e, at, konst(7)), dst: l.fresh(vectorClass)})
	byt := l.binary(VPANDQ, e, vec(l.binary(VPSRLVQ, e, vec(words), vec(shift))), konst(0xff))
	return l.compare(VPCMPQ, e, vec(byt), konst(0), 4)
}
