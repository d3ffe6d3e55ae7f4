package main

// This file defines sine, cosine and tangent.
//
// x = n pi/2 + r, |r| <= pi/4. Up to 2^30, pi/2 is three numbers, the first product and difference
// of which are exact with a fused multiply-add (W. Cody & W. Waite; S. Boldo, M. Daumas & R.-C. Li,
// "Formally verified argument reduction with a fused multiply-add", 2009). Beyond, only those bits
// of 2/pi are used that say something of n modulo 4 and of the fraction (M. Payne & R. Hanek,
// "Radian reduction for trigonometric functions", 1983): four pieces of 52 bits, whose products
// with the significand are taken exactly. r is a sum of two numbers in both.

import (
	"math"
	"math/big"
)

const (
	nearRadians = 0x1p30
	piecePad    = 64 // zero bits before those of 2/pi: of the exponents just above nearRadians
)

// piBits is 2/pi in binary: bit i after the point is bit piecePad + i - 1 of the table, counted
// from the top.
var piBits = func() *table {
	x := inverse(pi())
	x.Mul(x, big.NewFloat(2))
	const count = 21
	t := &table{name: "piBits", doc: "is 64 zero bits and the first 1280 of 2/pi.", words: []uint64{0}}
	x.SetMantExp(x, 64*(count-1))
	n, _ := x.Int(nil)
	for i := count - 2; i >= 0; i-- {
		t.words = append(t.words, new(big.Int).Rsh(n, uint(64*i)).Uint64())
	}
	return t
}()

// radians is x = n pi/2 + r + rl; quadrant has n modulo 4 in its low bits.
func (f *function) radians(x *value) (quadrant, r, rl *value) {
	half := pi()
	half.Quo(half, big.NewFloat(2))
	p := parts(half, 53, 53, 53)
	inv, _ := inverse(half).Float64()
	n, quadrant := f.integral(x, k(inv))
	far := f.fnma(n, k(p[0]), x)
	next := f.mul(n, k(-p[1]))
	r, e := f.twoSum(far, next)
	rl = f.fma(n, k(-p[2]), f.add(e, f.fms(n, k(-p[1]), next)))
	a := f.abs(x)
	out := f.whenAll(f.less(k(nearRadians), a), []*value{quadrant, r, rl}, func() []*value {
		q, h, l := f.farRadians(f.pick(f.less(k(nearRadians), a), x, k(2*nearRadians)), p)
		return []*value{q, h, l}
	})
	return out[0], out[1], out[2]
}

// farRadians is the same for 2^30 < |x|. With x = M 2^E, M of 53 bits, the bits of 2^E 2/pi from
// weight 2 down are K, and M K is x 2/pi but for multiples of 4.
func (f *function) farRadians(x *value, p []float64) (quadrant, r, rl *value) {
	bits := f.bitsOf(x)
	exponent := f.and(f.shiftRight(bits, 52), w(0x7ff)) // E + 1075
	m := f.numberOf(f.or(f.and(bits, w(0x800fffffffffffff)), w(1075<<52)))
	first := f.minus(exponent, w(1075+2-piecePad)) // the bit of weight 2 is number E-1 after the point
	piece := func(j int) *value {
		at := f.plus(first, w(uint64(52*j)))
		index, off := f.shiftRight(at, 6), f.and(at, w(63))
		upper := f.shiftLeftBy(f.lookup(piBits, index), off)
		lower := f.shiftRightBy(f.lookup(piBits, f.plus(index, w(1))), f.minus(w(64), off))
		bits := f.shiftRight(f.or(upper, lower), 12)
		c := f.sub(f.numberOf(f.or(bits, w(0x4330000000000000))), k(0x1p52))
		return f.mul(c, k(math.Ldexp(1, -50-52*j)))
	}
	product := func(j int) (h, l *value) {
		c := piece(j)
		h = f.mul(m, c)
		return h, f.fms(m, c, h)
	}
	h, l := product(0)
	h = f.fnma(f.round(f.mul(h, k(.25))), k(4), h) // modulo 4
	s, e := f.twoSum(h, l)
	h, l = product(1)
	s, e1 := f.twoSum(s, h)
	n, quadrant := f.integral(s, k(1))
	g := f.sub(s, n)
	// g and all that is left, which is below 2^-47, in descending order
	e, low := f.twoSum(e, e1)
	e, t := f.twoSum(e, l)
	low = f.add(low, t)
	h, l = product(2)
	e, t = f.twoSum(e, h)
	low = f.add(f.add(low, t), f.fma(m, piece(3), l))
	g, t = f.twoSum(g, e)
	g, gl := f.twoSum(g, f.add(t, low))
	r = f.mul(g, k(p[0]))
	return quadrant, r, f.fma(gl, k(p[0]), f.fma(g, k(p[1]), f.fms(g, k(p[0]), r)))
}

// sinCos is sin(r + rl) = r + s and cos(r + rl) = c + d.
func (f *function) sinCos(r, rl *value) (s, c, d *value) {
	sign := func(k int64) int64 { return 1 - 2*(k&1) }
	// (sin(r)/r - 1)/r^2 and (cos(r) - 1 + r^2/2)/r^4
	ps := series(func(k int64) *big.Rat { return over(-sign(k), factorial(2*k+3)) }).polynomial(6, 0, .62)
	pc := series(func(k int64) *big.Rat { return over(sign(k), factorial(2*k+4)) }).polynomial(6, 0, .62)
	z := f.mul(r, r)
	half := f.mul(z, k(.5))
	s = f.fma(f.mul(z, r), f.polynomial(z, ps), f.fnma(half, rl, rl))
	c = f.sub(k(1), half)
	low := f.sub(f.sub(k(1), c), half)
	low = f.fnma(r, rl, f.fma(f.fms(r, r, z), k(-.5), low))
	return s, c, f.fma(f.mul(z, z), f.polynomial(z, pc), low)
}

// circular is sin(x + turns pi/2).
func (f *function) circular(x *value, turns uint64) *value {
	quadrant, r, rl := f.radians(x)
	if turns > 0 {
		quadrant = f.plus(quadrant, w(turns))
	}
	s, c, d := f.sinCos(r, rl)
	odd := f.negative(f.shiftLeft(quadrant, 63))
	y := f.pick(odd, f.add(c, d), f.add(r, s))
	y = f.xor(y, f.numberOf(f.shiftLeft(f.and(quadrant, w(2)), 62)))
	return f.pick(f.equal(f.abs(x), k(math.Inf(1))), nan, y)
}

var trigFunctions = []*function{
	define("sin", "is the sine of x radians.", func(f *function, x *value) *value {
		return f.tiny(x, 0x1p-27, f.circular(x, 0))
	}),
	define("cos", "is the cosine of x radians.", func(f *function, x *value) *value {
		return f.circular(x, 1)
	}),
	define("tan", "is the tangent of x radians.", func(f *function, x *value) *value {
		quadrant, r, rl := f.radians(x)
		s, c, d := f.sinCos(r, rl)
		odd := f.negative(f.shiftLeft(quadrant, 63))
		s, sl := f.fastTwoSum(r, s)
		c, cl := f.fastTwoSum(c, d)
		top, topl := f.pick(odd, c, s), f.pick(odd, cl, sl)
		below, belowl := f.pick(odd, s, c), f.pick(odd, sl, cl)
		inv := f.div(k(1), below)
		q := f.mul(top, inv)
		rest := f.add(f.fnma(q, below, top), f.fnma(q, belowl, topl))
		y := f.fma(rest, inv, q)
		y = f.xor(y, f.numberOf(f.shiftLeft(quadrant, 63))) // -1/tan in odd quadrants
		y = f.pick(f.equal(f.abs(x), k(math.Inf(1))), nan, y)
		return f.tiny(x, 0x1p-27, y)
	}),
}

// Inverses: arguments are brought below 1/2 by identities of which every step is a sum of two numbers;
// there a power series is one rounding away from the leading term (J.-M. Muller, "Elementary
// Functions", 3rd ed., 2016, 11.4 and 11.5).

// halfPi is pi/2 as the sum of two numbers.
func halfPi() []float64 {
	half := pi()
	return parts(half.Mul(half, big.NewFloat(.5)), 53, 53)
}

// arcTail is (atan(t) - t) for |t| <= 1/2, without t's own low part: t z P(z), z = t^2.
func (f *function) arcTail(t *value) (tail, z *value) {
	// (atan(t)/t - 1)/t^2, the sum of -(-1)^k/(2k+3) z^k
	p := series(func(k int64) *big.Rat { return over(2*(k&1)-1, big.NewInt(2*k+3)) }).polynomial(13, 0, .25)
	z = f.mul(t, t)
	return f.mul(f.mul(t, z), f.polynomial(z, p)), z
}

// quotient is n/(d + dl) = t + tl.
func (f *function) quotient(n, d, dl *value) (t, tl *value) {
	inv := f.div(k(1), d)
	t = f.mul(n, inv)
	return t, f.mul(f.fnma(t, dl, f.fnma(t, d, n)), inv)
}

// arc is what asin and acos share: |x| <= 1 is brought to s + r = asin of |x|, or of sqrt((1 -
// |x|)/2) where big holds: |x| > 1/2.
func (f *function) arc(x *value) (s, r, big *value) {
	a := f.abs(x)
	big = f.less(k(.5), a)
	z := f.pick(big, f.mul(f.sub(k(1), a), k(.5)), f.mul(x, x))
	root := f.sqrt(z)
	// Of 0 the remainder is 0, and 2^-200 is lost in every other root.
	rootLow := f.div(f.fnma(root, root, z), f.add(f.add(root, root), k(0x1p-200)))
	s = f.pick(big, root, a)
	low := f.pick(big, rootLow, k(0))
	p := arcsine.polynomial(14, 0, .25)
	r = f.fma(f.mul(s, z), f.polynomial(z, p), f.fma(f.mul(z, k(.5)), low, low))
	return s, r, big
}

// arcsine is (asin(s)/s - 1)/s^2, the sum of (2j)!/(4^j j!^2 (2j+1)) z^(j-1) from j = 1 on.
var arcsine = series(func(k int64) *big.Rat {
	j := k + 1
	below := new(big.Int).Mul(factorial(j), factorial(j))
	below.Mul(below, new(big.Int).Lsh(big.NewInt(2*j+1), uint(2*j)))
	return new(big.Rat).SetFrac(factorial(2*j), below)
})

// arcValue is base + factor (s + r), nan where |x| > 1; base is 0 or greater than what is added to it.
func (f *function) arcValue(x, base, baseLow, factor, s, r *value) *value {
	h, l := f.fastTwoSum(base, f.mul(s, factor))
	y := f.add(h, f.add(l, f.fma(factor, r, baseLow)))
	return f.pick(f.less(k(1), f.abs(x)), nan, y)
}

var arcFunctions = []*function{
	define("asin", "is the angle whose sine is x.", func(f *function, x *value) *value {
		p := halfPi()
		s, r, big := f.arc(x)
		y := f.arcValue(x, f.pick(big, k(p[0]), k(0)), f.pick(big, k(p[1]), k(0)), f.pick(big, k(-2), k(1)), s, r)
		return f.or(y, f.signOf(x))
	}),
	define("acos", "is the angle whose cosine is x.", func(f *function, x *value) *value {
		p := halfPi()
		s, r, big := f.arc(x)
		// pi/2 - asin(x); of large |x| it is 2 asin(sqrt((1-x)/2)), and pi less that of -x
		below := f.less(x, k(0))
		units := f.pick(big, f.pick(below, k(2), k(0)), k(1))
		factor := f.pick(big, f.pick(below, k(-2), k(2)), f.pick(below, k(1), k(-1)))
		return f.arcValue(x, f.mul(units, k(p[0])), f.mul(units, k(p[1])), factor, s, r)
	}),
	define("atan", "is the angle whose tangent is x.", func(f *function, x *value) *value {
		p := halfPi()
		a := f.lesser(k(0x1p60), f.abs(x)) // beyond, the result is the same
		// atan(a) = atan(c) + atan((a - c)/(1 + a c)) for c of 0, 1 or infinity, here -u/v
		middle, far := f.less(k(.5), a), f.less(k(2.5), a)
		u := f.pick(far, k(0), k(1))
		v := f.pick(middle, k(1), k(0))
		n := f.fms(u, a, v) // exact
		d := f.fma(v, a, u)
		t, tl := f.quotient(n, d, f.fma(v, a, f.sub(u, d)))
		tail, z := f.arcTail(t)
		units := f.pick(far, k(1), f.pick(middle, k(.5), k(0)))
		h, l := f.fastTwoSum(f.mul(units, k(p[0])), t)
		y := f.add(h, f.add(l, f.fma(units, k(p[1]), f.add(f.fnma(z, tl, tl), tail))))
		return f.or(y, f.signOf(x))
	}),
}

var angleFunctions = []*function{
	define2("atan2", "is the angle of the point (y, x): its abscissa comes second.", func(f *function, v, u *value) *value {
		quarter := pi()
		p := parts(quarter.Mul(quarter, big.NewFloat(.25)), 50, 53)
		a, b := f.abs(v), f.abs(u)
		steep := f.less(b, a)
		num, den := f.lesser(a, b), f.pick(steep, a, b)
		far := f.equal(den, k(inf))
		num = f.pick(far, f.pick(f.equal(num, k(inf)), k(1), k(0)), num)
		den = f.pick(far, k(1), den)
		den = f.pick(f.equal(den, k(0)), k(1), den)
		// neither 1/d nor what is left of a division may leave the normal range
		scale := f.pick(f.less(den, k(0x1p-900)), k(0x1p200), f.pick(f.less(k(0x1p1000), den), k(0x1p-100), k(1)))
		n, d := f.mul(num, scale), f.mul(den, scale)
		// n/d, or with atan(c) = pi/4 + atan((c - 1)/(c + 1)) where that is above 1/2
		middle := f.less(f.mul(d, k(.5)), n)
		sum, low := f.fastTwoSum(d, n)
		t, tl := f.quotient(f.pick(middle, f.sub(n, d), n), f.pick(middle, sum, d), f.pick(middle, low, k(0)))
		tail, z := f.arcTail(t)
		// base pi/4 + sign atan(t)
		back := f.bitsOf(u)
		base := f.pick(middle, k(1), k(0))
		steep = f.less(f.abs(u), f.abs(v))
		base = f.pick(steep, f.sub(k(2), base), base)
		base = f.pick(f.negative(back), f.sub(k(4), base), base)
		sign := f.pick(steep, k(-1), k(1))
		sign = f.xor(sign, f.signOf(u))
		h, l := f.fastTwoSum(f.mul(base, k(p[0])), f.mul(sign, t))
		y := f.add(h, f.add(l, f.fma(base, k(p[1]), f.mul(sign, f.add(f.fnma(z, tl, tl), tail)))))
		// a small angle is the quotient
		small := f.pick(f.less(num, f.mul(den, k(0x1p-30))), f.div(num, den), y)
		y = f.pick(f.equal(base, k(0)), small, y)
		y = f.or(y, f.signOf(v))
		return f.pick(f.equal(u, u), f.pick(f.equal(v, v), y, v), u)
	}),
}
