package main

// This file defines the power.
//
// |x|^y = exp(y log|x|), with the logarithm as a sum of two numbers to about 2^-68, which y up to 2^62 and a result up to 2^1024
// leave good to 2^-58: x = 2^e m as for log, log(m) = 2s + s z (2/3 + z (2/5 + z Q(z))), s = (m-1)/(m+1), z = s^2, all but Q in
// twice the precision (fdlibm's e_pow.c argues that much of it is needed). What holds at the ends and for negative x is
// IEEE 754-2019, 9.2.1.

import "math/big"

// rational is a/b as the sum of two numbers.
func rational(a, b int64) []float64 {
	return parts(new(big.Float).SetPrec(seriesBits).SetRat(big.NewRat(a, b)), 53, 53)
}

// preciseLog is log(2^e m) = hi + lo for sqrt(1/2) <= m < sqrt(2); |lo| is at most half a unit of hi's last place.
func (f *function) preciseLog(e, m *value) (hi, lo *value) {
	d := f.add(m, k(1))
	s, sl := f.quotient(f.sub(m, k(1)), d, f.sub(m, f.sub(d, k(1))))
	z := f.mul(s, s)
	zl := f.fma(f.add(s, s), sl, f.fms(s, s, z))
	two3, two5 := rational(2, 3), rational(2, 5)
	// the sum of 2/(2k+7) z^k; |s| <= 0.1716
	q := series(func(k int64) *big.Rat { return over(2, big.NewInt(2*k+7)) }).polynomial(7, 0, .02945)
	c, cl := f.fastTwoSum(k(two5[0]), f.mul(z, f.polynomial(z, q)))
	cl = f.add(cl, k(two5[1]))
	p := f.mul(z, c)
	pl := f.fma(z, cl, f.fma(zl, c, f.fms(z, c, p)))
	c, cl = f.fastTwoSum(k(two3[0]), p)
	cl = f.add(cl, f.add(pl, k(two3[1])))
	p = f.mul(s, z)
	pl = f.fma(s, zl, f.fma(sl, z, f.fms(s, z, p)))
	t := f.mul(p, c)
	tl := f.fma(p, cl, f.fma(pl, c, f.fms(p, c, t)))
	h, l := f.fastTwoSum(f.add(s, s), t)
	l = f.add(l, f.add(f.add(sl, sl), tl))
	ln := parts(ln2(), 42, 53)
	h, low := f.fastTwoSum(f.mul(e, k(ln[0])), h)
	return f.fastTwoSum(h, f.add(low, f.fma(e, k(ln[1]), l)))
}

// power is x^y in general.
func (f *function) power(x, y *value) *value {
	a := f.abs(x)
	e, m := f.significand(a)
	l, ll := f.preciseLog(e, m)
	l = f.pick(f.less(a, k(inf)), l, a)
	l = f.pick(f.equal(a, k(0)), k(-inf), l)
	p := f.mul(y, l)
	pl := f.fma(y, ll, f.fms(y, l, p))
	pl = f.pick(f.less(f.abs(p), k(1000)), pl, k(0)) // beyond, the result is 0 or infinity
	p = f.lesser(k(1000), p)
	p = f.pick(f.less(p, k(-1000)), k(-1000), p)
	z := f.exponentOf(p, pl)
	r := f.scale(f.add(z.one, f.add(f.add(f.sub(k(1), z.one), z.r), z.t)), z.n, z.bits)
	r = f.pick(f.equal(f.abs(y), k(inf)), f.pick(f.equal(f.abs(x), k(1)), k(1), r), r) // (-1) to the infinite
	whole := f.equal(f.round(y), y)
	half := f.mul(y, k(.5))
	sign := f.pick(f.equal(f.round(half), half), k(0), f.pick(whole, f.signOf(x), k(0)))
	bad := f.pick(f.less(k(-inf), x), f.pick(whole, k(0), nan), k(0))
	r = f.or(r, f.pick(f.less(x, k(0)), f.or(bad, sign), sign))
	r = f.pick(f.equal(x, k(1)), k(1), r)
	return f.pick(f.equal(y, k(0)), k(1), r)
}

var powFunctions = []*function{
	define2("pow", "is x to the power y. The exponents that programs write most are products and a root: 2, 3, -1 and, of x that is not negative, 1.5.",
		func(f *function, x, y *value) *value {
			square := f.mul(x, x)
			r := f.pick(f.equal(y, k(2)), square, f.mul(square, x))
			root := f.equal(y, k(1.5))
			f.when(root, func(assign func(dst, v *value)) { assign(r, f.mul(x, f.sqrt(x))) })
			inverse := f.equal(y, k(-1))
			f.when(inverse, func(assign func(dst, v *value)) { assign(r, f.div(k(1), x)) })
			general := f.pick(f.equal(y, k(1.5)), f.pick(f.less(x, k(0)), k(1), k(0)), k(1))
			for _, c := range []float64{2, 3, -1} {
				general = f.pick(f.equal(y, k(c)), k(0), general)
			}
			f.when(f.equal(general, k(1)), func(assign func(dst, v *value)) { assign(r, f.power(x, y)) })
			return r
		}),
}
