package machine

// This file writes searches: where an element lies in a slice.

import "flow/kernels/loop/amd64"

// Find is the kernels of this file, for F64, F32 and I64.
var Find = [...]*Kernel{find(laneTypes[0]), find(laneTypes[1]), find(laneTypes[2])}

// equal compares the elements at from with v: a mask, or all bits of each that is equal. Numbers
// compare, so a NaN equals nothing.
func (e *emitter) equal(l lanes, from mem, v reg) reg {
	var r reg
	if e.set == AVX512 {
		r = e.mask()
	} else {
		r = e.vector()
	}
	predicate := 0
	switch {
	case l.float && l.bits == 64:
		e.v(amd64.VCMPPD, predicate, from, v, r)
	case l.float:
		e.v(amd64.VCMPPS, predicate, from, v, r)
	case e.set == AVX512:
		e.v(amd64.VPCMPQ, predicate, from, v, r)
	default:
		e.v(amd64.VPCMPEQQ, from, v, r)
	}
	return r
}

// find is the kernel whose result is the number of the first of so many bytes of x, whole vectors,
// that equals the element at v; -1 if none does.
func find(l lanes) *Kernel {
	return of("Find"+l.name, "x bytes v", func(e *emitter) { e.find(l) })
}

func (e *emitter) find(l lanes) {
	x, n, p := e.param("x"), e.param("bytes"), e.param("v")
	v := e.vector()
	if l.bits == 64 {
		e.v(amd64.VBROADCASTSD, mem{base: p}, v)
	} else {
		e.v(amd64.VBROADCASTSS, mem{base: p}, v)
	}
	i, bits := e.general(), e.general()
	e.clear(i)
	e.jump("test")
	e.label("loop")
	same := e.equal(l, at(x, i, 0), v)
	switch {
	case e.set == AVX512 && l.bits == 64:
		e.v(amd64.KMOVB, same, bits)
	case e.set == AVX512:
		e.v(amd64.KMOVW, same, bits)
	case l.bits == 64:
		e.v(amd64.VMOVMSKPD, same, bits)
	default:
		e.v(amd64.VMOVMSKPS, same, bits)
	}
	e.test(bits)
	e.jumpIf(amd64.NotEqual, "found")
	e.add(e.bytes, i)
	e.label("test")
	e.cmp(i, n)
	e.jumpIf(amd64.Less, "loop")
	e.mov(-1, i)
	e.jump("end")
	e.label("found")
	e.lowest(bits, bits)
	e.shr(map[int]int{64: 3, 32: 2}[l.bits], i)
	e.add(bits, i)
	e.label("end")
	e.store(i, 0)
	e.finish()
}
