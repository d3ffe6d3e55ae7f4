package machine

// This file writes kernels for the least or greatest element of a slice in a first-level cache. Running
// results stay in registers.

import "flow/kernels/loop/amd64"

// lanes is a type of elements.
type lanes struct {
	name  string
	bits  int
	float bool
}

var laneTypes = [...]lanes{{"F64", 64, true}, {"F32", 32, true}, {"I64", 64, false}}

// Extremes are the kernels of this file. They reduce one or more rows. The first row is at x, and rows
// are step bytes apart. A kernel sets element i from best on to the least or greatest element of row i.
// The bytes of a row are at least a vector. The extreme of a row with a NaN is NaN, and -0 is less
// than 0. They are listed by type (F64, F32, I64): the least, then the greatest.
var Extremes = [...][2]*Kernel{extremes(laneTypes[0]), extremes(laneTypes[1]), extremes(laneTypes[2])}

func extremes(l lanes) [2]*Kernel {
	return [2]*Kernel{extreme("Least"+l.name, l, false), extreme("Greatest"+l.name, l, true)}
}

func extreme(name string, l lanes, greatest bool) *Kernel {
	return of(name, "x bytes best rows step", func(e *emitter) { e.extreme(l, greatest) })
}

// extreme writes one kernel. Its last vector overlaps the one before, which changes no extreme.
func (e *emitter) extreme(l lanes, greatest bool) {
	x, n, out, rows, step := e.param("x"), e.param("bytes"), e.param("best"), e.param("rows"), e.param("step")
	best := e.vectors(e.abreast())
	sign := e.block
	signed := l.float && greatest // -min(-a, -b)
	if signed {
		sign = e.signs(l.bits)
	}
	e.label("row")
	take := func(from mem, v reg) {
		y := e.vector()
		if signed {
			e.v(amd64.VXORPD, from, sign, y)
		} else {
			e.v(amd64.VMOVUPD, from, y)
		}
		e.better(l, greatest, y, v)
	}
	first := mem{base: x}
	for _, v := range best {
		if signed {
			e.v(amd64.VXORPD, first, sign, v)
		} else {
			e.v(amd64.VMOVUPD, first, v)
		}
	}
	last := e.general()
	e.mov(n, last)
	e.sub(e.bytes, last)
	e.groups(n, func(i reg) {
		for k, v := range best {
			take(at(x, i, k*e.bytes), v)
		}
	}, func(i reg) { take(at(x, i, 0), best[0]) })
	take(at(x, last, 0), best[0])
	e.across(best, l.bits, func(from, to reg) { e.better(l, greatest, from, to) })
	if signed {
		e.v(amd64.VXORPD, sign, best[0], best[0])
	}
	if l.bits == 64 {
		e.v(amd64.VMOVSD, best[0].x(), mem{base: out})
	} else {
		e.v(amd64.VMOVSS, best[0].x(), mem{base: out})
	}
	e.add(step, x)
	e.add(l.bits/8, out)
	e.dec(rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.finish()
}

// abreast is how many running results hide the latency of one operation, without needing more
// registers than there are.
func (e *emitter) abreast() int { return e.bytes / 8 }

// groups runs many for offsets of groups of vectors below n, then one for those of single vectors.
func (e *emitter) groups(n reg, many, one func(i reg)) {
	i, end := e.general(), e.general()
	e.clear(i)
	for _, part := range []struct {
		label string
		size  int
		body  func(i reg)
	}{{"many", e.abreast() * e.bytes, many}, {"one", e.bytes, one}} {
		e.mov(n, end)
		e.and(-part.size, end)
		e.jump(part.label + "test")
		e.label(part.label)
		part.body(i)
		e.add(part.size, i)
		e.label(part.label + "test")
		e.cmp(i, end)
		e.jumpIf(amd64.Less, part.label)
	}
}

// across folds vectors to the lowest lane of the first: f folds its first argument into its second.
func (e *emitter) across(v []reg, bits int, f func(from, to reg)) {
	for n := len(v) / 2; n > 0; n /= 2 {
		for k := range n {
			f(v[n+k], v[k])
		}
	}
	swapped := e.vector()
	if e.set == AVX512 {
		e.v(amd64.VSHUFF64X2, 0x4e, v[0], v[0], swapped)
		f(swapped, v[0])
		e.v(amd64.VSHUFF64X2, 0xb1, v[0], v[0], swapped)
	} else {
		e.v(amd64.VPERM2F128, 1, v[0], v[0], swapped)
	}
	f(swapped, v[0])
	e.v(amd64.VSHUFPD, 1, v[0], v[0], swapped)
	f(swapped, v[0])
	if bits == 32 {
		e.v(amd64.VPERMILPS, 0xb1, v[0], swapped)
		f(swapped, v[0])
	}
}

// signs is a vector of the sign bits of elements.
func (e *emitter) signs(bits int) reg {
	s := e.vector()
	if e.set == AVX512 {
		e.v(amd64.VPTERNLOGQ, 0xff, s, s, s)
	} else {
		e.v(amd64.VPCMPEQQ, s, s, s)
	}
	if bits == 64 {
		e.v(amd64.VPSLLQ, 63, s, s)
	} else {
		e.v(amd64.VPSLLD, 31, s, s)
	}
	return s
}

// better is v = the lesser of y and v, as lesser is; of integers perhaps the greater. y is left.
func (e *emitter) better(l lanes, greatest bool, y, v reg) {
	switch other := e.of(v.length); {
	case l.float:
		e.lesser(l, y, v, v)
	case e.set == AVX512 && greatest:
		e.v(amd64.VPMAXSQ, y, v, v)
	case e.set == AVX512:
		e.v(amd64.VPMINSQ, y, v, v)
	case greatest:
		e.v(amd64.VPCMPGTQ, v, y, other) // y > v
		e.v(amd64.VBLENDVPD, other, y, v, v)
	default:
		e.v(amd64.VPCMPGTQ, y, v, other) // v > y
		e.v(amd64.VBLENDVPD, other, y, v, v)
	}
}

// lesser writes d = min(a, b). VMINPD returns its second source if the two compare equal or unordered.
// So both orders of operands are computed. They differ for zeros and NaNs alone; the or of both keeps a
// minus and a NaN.
func (e *emitter) lesser(l lanes, b, a, d reg) {
	less := amd64.VMINPD
	if l.bits == 32 {
		less = amd64.VMINPS
	}
	other := e.of(d.length)
	e.v(less, b, a, other)
	e.v(less, a, b, d)
	e.v(amd64.VORPD, other, d, d)
}

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

// What follows writes the error-free sums: package exact says what they are for.

// The kernels sum elements, or their squares. Each runs several chains side by side. A chain is a
// vector s of sums and a vector t of the rounding errors of s. For squares, whose low halves are as
// long as their high ones, it also has a vector u of the rounding errors of t. A round takes a vector
// at x for each chain, and moves x by step bytes. acc receives the vectors s, t (and u) of every chain,
// and then a vector that is not zero (but for signs) where an error of the last level was lost.
var (
	SumF64     = cascade("SumF64", false)
	SquaresF64 = cascade("SquaresF64", true)
)

func cascade(name string, squares bool) *Kernel {
	return of(name, "x rounds step acc", func(e *emitter) { e.cascade(squares) })
}

func (e *emitter) cascade(squares bool) {
	chains, levels := 4, 2
	if squares {
		chains, levels = 2, 3
	}
	x, n, step, acc := e.param("x"), e.param("rounds"), e.param("step"), e.param("acc")
	sums := make([][]reg, levels)
	all := []reg{}
	for l := range sums {
		sums[l] = e.vectors(chains)
		all = append(all, sums[l]...)
	}
	bad := e.vector()
	all = append(all, bad)
	for _, r := range all {
		e.v(amd64.VXORPD, r, r, r)
	}
	e.jump("test")
	e.label("loop")
	for k := range chains {
		v := e.vector()
		e.v(amd64.VMOVUPD, mem{base: x, disp: k * e.bytes}, v)
		down := func(v reg, level int) { // v into that level, errors into those below
			for l := level; l < levels; l++ {
				v = e.twoSum(sums[l][k], v)
			}
			e.v(amd64.VORPD, v, bad, bad)
		}
		if !squares {
			down(v, 0)
			continue
		}
		h := e.vector()
		e.v(amd64.VMULPD, v, v, h)
		low := e.vector()
		e.v(amd64.VMOVAPD, h, low)
		e.v(amd64.VFMSUB231PD, v, v, low)
		down(h, 0)
		down(low, 1)
	}
	e.add(step, x)
	e.dec(n)
	e.label("test")
	e.cmp(n, 0)
	e.jumpIf(amd64.Greater, "loop")
	for k, r := range all {
		e.v(amd64.VMOVUPD, r, mem{base: acc, disp: k * e.bytes})
	}
	e.finish()
}

// twoSum adds v to s and returns the exact rounding error (D. Knuth, TAOCP 2, 4.2.2).
func (e *emitter) twoSum(s, v reg) reg {
	sum, part, err := e.vector(), e.vector(), e.vector()
	e.v(amd64.VADDPD, v, s, sum)
	e.v(amd64.VSUBPD, s, sum, part) // what of v arrived
	e.v(amd64.VSUBPD, part, sum, err)
	e.v(amd64.VSUBPD, err, s, err) // what of s did not
	e.v(amd64.VSUBPD, part, v, part)
	e.v(amd64.VADDPD, part, err, err)
	e.v(amd64.VMOVAPD, sum, s)
	return err
}
