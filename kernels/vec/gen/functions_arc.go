package main

// This file defines the inverses of sine, cosine and tangent.
//
// Arguments are brought below 1/2 by identities of which every step is a sum of two numbers; there
// a power series is one rounding away from the leading term (J.-M. Muller, "Elementary Functions",
// 3rd ed., 2016, 11.4 and 11.5).

import "math/big"

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
