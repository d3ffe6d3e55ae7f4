package main

// This file writes the reductions of a slice that lies in a first-level cache: the least or
// greatest element, and how many elements are zero. Running results stay in registers.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is a type of elements.
type lanes struct {
	suffix, elem string
	bits         int
	float        bool
}

var laneTypes = []lanes{{"F64", "float64", 64, true}, {"F32", "float32", 32, true}, {"I64", "int64", 64, false}}

// reductions writes leastF64 and the like.
func (e *emitter) reductions() {
	for _, l := range laneTypes {
		e.extreme("least"+l.suffix+e.name, l, false)
		e.extreme("greatest"+l.suffix+e.name, l, true)
		e.zeros("zeros"+l.suffix+e.name, l)
	}
}

// extreme writes one function. Its last vector overlaps the one before, which changes no extreme.
func (e *emitter) extreme(name string, l lanes, greatest bool) {
	e.Function(name)
	e.SignatureExpr("func(x *" + l.elem + ", bytes int, best *" + l.elem + ")")
	e.Doc(name + " sets best to that of so many bytes of x, at least a vector. NaN wins, and -0 is less than 0.")
	e.Pragma("noescape")
	x, n := e.param("x"), e.param("bytes")
	best := e.vectors(e.abreast())
	var sign reg.VecVirtual
	if l.float && greatest { // -min(-a, -b)
		sign = e.signs(l.bits)
	}
	take := func(from operand.Mem, v reg.VecVirtual) {
		y := e.vector()
		if sign != nil {
			e.VXORPD(from, sign, y)
		} else {
			e.VMOVUPD(from, y)
		}
		e.better(l, greatest, y, v)
	}
	first := operand.Mem{Base: x}
	for _, v := range best {
		if sign != nil {
			e.VXORPD(first, sign, v)
		} else {
			e.VMOVUPD(first, v)
		}
	}
	last := e.GP64()
	e.MOVQ(n, last)
	e.SUBQ(operand.Imm(uint64(e.bytes)), last)
	e.groups(n, func(i reg.Register) {
		for k, v := range best {
			take(at(x, i, k*e.bytes), v)
		}
	}, func(i reg.Register) { take(at(x, i, 0), best[0]) })
	take(at(x, last, 0), best[0])
	e.across(best, l.bits, func(from, to reg.VecVirtual) { e.better(l, greatest, from, to) })
	if sign != nil {
		e.VXORPD(sign, best[0], best[0])
	}
	out := e.param("best")
	if l.bits == 64 {
		e.VMOVSD(best[0].AsX(), operand.Mem{Base: out})
	} else {
		e.VMOVSS(best[0].AsX(), operand.Mem{Base: out})
	}
	e.finish()
}

// zeros writes one function.
func (e *emitter) zeros(name string, l lanes) {
	e.Function(name)
	e.SignatureExpr("func(x *" + l.elem + ", bytes int) int")
	e.Doc(name + " is how many elements are zero of so many bytes of x, whole vectors and less than 2^32 of them.")
	e.Pragma("noescape")
	x, n := e.param("x"), e.param("bytes")
	count := e.vectors(e.abreast())
	for _, v := range count {
		e.VXORPD(v, v, v)
	}
	zero := e.vector()
	e.VXORPD(zero, zero, zero)
	var one reg.VecVirtual
	if e.bytes == 64 {
		one = e.vector()
		e.VPTERNLOGD(operand.Imm(0xff), one, one, one)
	}
	take := func(from operand.Mem, v reg.VecVirtual) {
		var zeros reg.Register // a mask, or all bits of each element that is zero
		if e.bytes == 64 {
			zeros = e.K()
		} else {
			zeros = e.vector()
		}
		switch {
		case !l.float:
			e.VPCMPEQQ(from, zero, zeros)
		case l.bits == 64:
			e.VCMPPD(operand.Imm(0), from, zero, zeros)
		default:
			e.VCMPPS(operand.Imm(0), from, zero, zeros)
		}
		less := e.VPSUBQ
		if l.bits == 32 {
			less = e.VPSUBD
		}
		if e.bytes == 64 {
			less(one, v, zeros, v)
		} else {
			less(zeros, v, v)
		}
	}
	e.groups(n, func(i reg.Register) {
		for k, v := range count {
			take(at(x, i, k*e.bytes), v)
		}
	}, func(i reg.Register) { take(at(x, i, 0), count[0]) })
	e.across(count, l.bits, func(from, to reg.VecVirtual) {
		if l.bits == 64 {
			e.VPADDQ(from, to, to)
		} else {
			e.VPADDD(from, to, to)
		}
	})
	r := e.GP64()
	if l.bits == 64 {
		e.VMOVQ(count[0].AsX(), r)
	} else {
		e.VMOVD(count[0].AsX(), r.As32())
	}
	e.Store(r, e.ReturnIndex(0))
	e.finish()
}

// abreast is how many running results hide the latency of one operation, without needing more
// registers than there are.
func (e *emitter) abreast() int { return e.bytes / 8 }

// groups runs many for offsets of groups of vectors below n, then one for those of single vectors.
func (e *emitter) groups(n reg.Register, many, one func(i reg.Register)) {
	i, end := e.GP64(), e.GP64()
	e.XORQ(i, i)
	for _, part := range []struct {
		label string
		size  int
		body  func(i reg.Register)
	}{{"many", e.abreast() * e.bytes, many}, {"one", e.bytes, one}} {
		e.MOVQ(n, end)
		e.ANDQ(operand.I32(int32(-part.size)), end)
		e.JMP(operand.LabelRef(part.label + "test"))
		e.Label(part.label)
		part.body(i)
		e.ADDQ(operand.I32(int32(part.size)), i)
		e.Label(part.label + "test")
		e.CMPQ(i, end)
		e.JLT(operand.LabelRef(part.label))
	}
}

// across folds vectors to the lowest lane of the first: f folds its first argument into its second.
func (e *emitter) across(v []reg.VecVirtual, bits int, f func(from, to reg.VecVirtual)) {
	for n := len(v) / 2; n > 0; n /= 2 {
		for k := range n {
			f(v[n+k], v[k])
		}
	}
	swapped := e.vector()
	if e.bytes == 64 {
		e.VSHUFF64X2(operand.Imm(0x4e), v[0], v[0], swapped)
		f(swapped, v[0])
		e.VSHUFF64X2(operand.Imm(0xb1), v[0], v[0], swapped)
	} else {
		e.VPERM2F128(operand.Imm(1), v[0], v[0], swapped)
	}
	f(swapped, v[0])
	e.VSHUFPD(operand.Imm(1), v[0], v[0], swapped)
	f(swapped, v[0])
	if bits == 32 {
		e.VPERMILPS(operand.Imm(0xb1), v[0], swapped)
		f(swapped, v[0])
	}
}

// signs is a vector of the sign bits of elements.
func (e *emitter) signs(bits int) reg.VecVirtual {
	s := e.vector()
	if e.bytes == 64 {
		e.VPTERNLOGD(operand.Imm(0xff), s, s, s)
	} else {
		e.VPCMPEQD(s, s, s)
	}
	if bits == 64 {
		e.VPSLLQ(operand.Imm(63), s, s)
	} else {
		e.VPSLLD(operand.Imm(31), s, s)
	}
	return s
}

// better is v = the lesser of y and v, as in arithmetic; of integers perhaps the greater. y is left.
func (e *emitter) better(l lanes, greatest bool, y, v reg.VecVirtual) {
	other := e.vector()
	switch {
	case l.float && l.bits == 64:
		e.VMINPD(y, v, other)
		e.VMINPD(v, y, v)
		e.VORPD(other, v, v)
	case l.float:
		e.VMINPS(y, v, other)
		e.VMINPS(v, y, v)
		e.VORPS(other, v, v)
	case e.bytes == 64 && greatest:
		e.VPMAXSQ(y, v, v)
	case e.bytes == 64:
		e.VPMINSQ(y, v, v)
	case greatest:
		e.VPCMPGTQ(v, y, other) // y > v
		e.VBLENDVPD(other, y, v, v)
	default:
		e.VPCMPGTQ(y, v, other) // v > y
		e.VBLENDVPD(other, y, v, v)
	}
}
