package main

// This file defines the power.
//
// |x|^y = exp(y log|x|), with the logarithm as a sum of two numbers to about 2^-66, which a result
// up to 2^1024 leaves good to 2^-56. x = 2^e m with m from 0.6953 to 1.3906, whose leading bits
// tell c near m: log(m) = log(c) + log(1 + f), f = m/c - 1 with its error, |f| <= 2^-6 (P. Tang,
// "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", 1990).
// At 1, c is 1, so that nothing cancels there. log(1 + f) is f - f^2/2, kept with its error, and
// f^3 P(f). What holds at the ends and for negative x is IEEE 754-2019, 9.2.1.

import (
	"math"
	"math/big"
)

// logBins is how many c there are, logFrom the least m. With steps of 1/64 below 1 and 1/32 above,
// 1 is a third into its bin.
const (
	logBins = 32
	logFrom = 1 - 1./128 - 19./64
)

// logTables are 1/c, and log(c) as the sum of a multiple of 2^-42 and a rest.
var logTables = func() (t [3]*table) {
	for i, doc := range []string{"is 1/c", "is log(c), a multiple of 2^-42", "is what is left of log(c)"} {
		t[i] = &table{name: "logBins" + []string{"Inverse", "High", "Low"}[i], doc: doc + ", for the bins of significands of Pow."}
	}
	edge := func(j int) float64 { return math.Float64frombits(math.Float64bits(logFrom) + uint64(j)<<47) }
	for j := range logBins {
		c := (edge(j) + edge(j+1)) / 2
		if edge(j) < 1 && 1 < edge(j+1) {
			c = 1
		}
		inverse := 1 / c
		l := logOfInverse(inverse)
		high := math.RoundToEven(toFloat(l)*0x1p42) * 0x1p-42
		low := toFloat(l.Sub(l, bigFloat(high)))
		for i, v := range []float64{inverse, high, low} {
			t[i].words = append(t[i].words, math.Float64bits(v))
		}
	}
	return t
}()

func toFloat(x *big.Float) float64 { v, _ := x.Float64(); return v }

// logOfInverse is -log(x) = 2 artanh((1-x)/(1+x)) for x near 1.
func logOfInverse(x float64) *big.Float {
	one := bigFloat(1)
	s := new(big.Float).Sub(one, bigFloat(x))
	s.Quo(s, new(big.Float).Add(one, bigFloat(x)))
	z := new(big.Float).Mul(s, s)
	sum := series(func(k int64) *big.Rat { return over(2, big.NewInt(2*k+1)) }).at(z)
	return sum.Mul(sum, s)
}

// preciseLog is log(a) = hi + lo for positive finite a, which is 2^54 times as large where small
// holds in place of 0: |lo| is at most half a unit of hi's last place.
func (f *function) preciseLog(a *value, correct func(e *value) *value) (hi, lo *value) {
	const bias = 1023 << 52
	bits := f.bitsOf(a)
	place := f.plus(bits, w(bias-math.Float64bits(logFrom)))
	exp := f.shiftRight(place, 52) // e + 1023
	bin := f.shiftRight(place, 47)
	m := f.numberOf(f.plus(f.minus(bits, f.shiftLeft(exp, 52)), w(bias)))
	e := f.sub(f.numberOf(f.or(exp, w(0x4330000000000000))), k(0x1p52+1023))
	e = correct(e)
	inverse, high, low := f.bin(logTables[0], bin), f.bin(logTables[1], bin), f.bin(logTables[2], bin)
	h := f.mul(m, inverse)
	dl := f.fms(m, inverse, h)
	d := f.sub(h, k(1)) // exact
	half := f.mul(d, k(-.5))
	g := f.fma(half, d, d)
	gl := f.fma(half, d, f.sub(d, g)) // exact
	// (log(1 + f) - f + f^2/2)/f^3, the sum of (-1)^k/(k+3) f^k
	p := series(func(k int64) *big.Rat { return over(1-2*(k&1), big.NewInt(k+3)) }).polynomial(7, -.0157, .0157)
	z := f.mul(d, d)
	gl = f.fma(f.mul(z, d), f.polynomialOf(d, z, p), gl)
	gl = f.add(gl, f.fnma(f.sub(d, z), dl, dl)) // dl/(1 + f)
	ln := parts(ln2(), 42, 53)
	h, l := f.fastTwoSum(f.fma(e, k(ln[0]), high), g) // the first exact
	return f.fastTwoSum(h, f.add(l, f.add(gl, f.fma(e, k(ln[1]), low))))
}

// powers is x^y by that of positive normal numbers a; correct repairs the exponent of a, which is
// 2^54 times a subnormal number. long tells that products carry what roundings lose.
func (f *function) powers(x, y *value, long bool, positive func(a *value, correct *value) *value) *value {
	// 2, 3, -1, 1.5 and 0.5 have at most one bit behind the first, as few other exponents have
	plain := f.equal(f.numberOf(f.shiftLeft(f.bitsOf(y), 13)), k(0))
	r := f.mul(x, x)
	out := f.whenAll(plain, []*value{r, k(1)}, func() []*value {
		v := f.pick(f.equal(y, k(2)), r, f.mul(r, x))
		rooted := f.equal(f.abs(f.sub(y, k(1))), k(.5)) // 1.5 and 0.5
		v = f.when(rooted, v, func() *value {
			root := f.sqrt(x)
			return f.pick(f.equal(y, k(.5)), f.add(root, k(0)), f.mul(x, root))
		})
		v = f.when(f.equal(y, k(-1)), v, func() *value { return f.div(k(1), x) })
		left := f.pick(rooted, f.pick(f.less(x, k(0)), k(1), k(0)), k(1))
		for _, c := range []float64{2, 3, -1} {
			left = f.pick(f.equal(y, k(c)), k(0), left)
		}
		return []*value{v, left}
	})
	near := f.pick(f.less(f.abs(y), k(mostFactors)), out[1], k(0)) // 1 where products remain to be tried
	twice := f.add(y, y)
	near = f.pick(f.equal(f.round(twice), twice), near, k(0))
	out = f.whenAll(f.equal(near, k(1)), out, func() []*value { return f.product(x, y, long) })
	return f.when(f.equal(out[1], k(1)), out[0], func() *value { return f.power(x, y, positive) })
}

// mostFactors bounds the exponents that are products. Few programs write a larger one, and a product is
// then no faster than exp of a logarithm.
const mostFactors = 16

// product is x^y for y that is a multiple of 0.5 below mostFactors, and 0; or any value, and 1, where
// the result is no normal number or near the end of these. Factors are multiplied from the top bit of y
// on (D. Knuth, "The Art of Computer Programming", volume 2, 4.6.3). A long product carries what each
// rounding lost, as a second number (T. Dekker, "A floating-point technique for extending the available
// precision", 1971), so that the result is good to 2^-100 before it is rounded.
func (f *function) product(x, y *value, long bool) []*value {
	type pair struct{ h, l *value }
	times := func(a, b pair) pair { // b.l is nil for 0
		h := f.mul(a.h, b.h)
		if !long {
			return pair{h, a.l}
		}
		l := f.fma(a.l, b.h, f.fms(a.h, b.h, h))
		if b.l != nil {
			l = f.fma(a.h, b.l, l)
		}
		return pair{h, l}
	}
	p := pair{x, k(0)}
	when := func(c *value, then func() pair) {
		out := f.whenAll(c, []*value{p.h, p.l}, func() []*value { v := then(); return []*value{v.h, v.l} })
		p = pair{out[0], out[1]}
	}
	n := f.abs(y)
	whole := f.floor(n)
	bits := f.bitsOf(f.add(whole, k(0x1p52)))
	p.h = f.pick(f.less(whole, k(1)), k(1), x)
	for bit := mostFactors / 4; bit > 0; bit /= 2 {
		when(f.less(k(float64(2*bit-1)), whole), func() pair {
			square := pair{f.mul(p.h, p.h), p.l}
			if long {
				square.l = f.fms(p.h, p.h, square.h)
			}
			if long && bit < mostFactors/4 { // of the first square p.l is 0
				second := f.less(k(float64(4*bit-1)), whole)
				square.l = f.pick(second, f.fma(p.h, p.l, f.fma(p.l, p.h, square.l)), square.l)
			}
			odd := f.less(w(0), f.and(bits, w(uint64(bit))))
			out := f.whenAll(odd, []*value{square.h, square.l}, func() []*value {
				v := times(square, pair{x, nil})
				return []*value{v.h, v.l}
			})
			return pair{out[0], out[1]}
		})
	}
	when(f.less(whole, n), func() pair {
		root := f.sqrt(x)
		if !long {
			return times(p, pair{root, nil})
		}
		return times(p, pair{root, f.mul(f.fnma(root, root, x), f.div(k(.5), root))})
	})
	when(f.less(y, k(0)), func() pair {
		v := f.div(k(1), p.h)
		if !long {
			return pair{v, p.l}
		}
		return pair{v, f.mul(v, f.fnma(v, p.l, f.fnma(v, p.h, k(1))))}
	})
	size := f.abs(p.h)
	left := f.pick(f.less(size, k(0x1p480)), f.pick(f.less(k(0x1p-480), size), k(0), k(1)), k(1))
	return []*value{f.add(p.h, p.l), left}
}

// power is x^y in general.
func (f *function) power(x, y *value, positive func(a, hard *value) *value) *value {
	bits := f.bitsOf(x) // of what is not positive and normal one of the differences has the top bit
	hard := f.negative(f.or(f.minus(bits, w(rootLeast)), f.minus(w(math.Float64bits(math.MaxFloat64)), bits)))
	a := f.abs(x)
	r := positive(a, hard)
	r = f.when(hard, r, func() *value {
		a := f.abs(x)
		v := f.pick(f.equal(f.abs(y), k(inf)), f.pick(f.equal(a, k(1)), k(1), r), r) // (-1) to the infinite
		v = f.pick(f.equal(a, k(0)), f.pick(f.less(y, k(0)), k(inf), k(0)), v)
		v = f.pick(f.equal(a, k(inf)), f.pick(f.less(y, k(0)), k(0), k(inf)), v)
		whole := f.equal(f.round(y), y)
		half := f.mul(y, k(.5))
		sign := f.pick(f.equal(f.round(half), half), k(0), f.pick(whole, f.signOf(x), k(0)))
		bad := f.pick(f.less(k(-inf), x), f.pick(whole, k(0), nan), k(0))
		v = f.or(v, f.pick(f.less(x, k(0)), f.or(bad, sign), sign))
		v = f.pick(f.equal(x, x), f.pick(f.equal(y, y), v, y), x)
		return f.pick(f.equal(y, k(0)), k(1), v)
	})
	return f.pick(f.equal(x, k(1)), k(1), r)
}

var powFunctions = []*function{
	define2("pow", "is x to the power y. The exponents that programs write most are products and roots: multiples of 0.5 of size below 16. All but 2, 3, -1, 1.5 and 0.5 of them are good to 2^-100 before they are rounded once, where neither they nor their inverses are beyond 2^480.",
		func(f *function, x, y *value) *value {
			return f.powers(x, y, true, func(a, hard *value) *value {
				small := f.less(f.abs(x), k(0x1p-1022))
				a = f.when(hard, a, func() *value { return f.pick(small, f.mul(a, k(0x1p54)), a) })
				l, ll := f.preciseLog(a, func(e *value) *value {
					return f.when(hard, e, func() *value { return f.pick(small, f.sub(e, k(54)), e) })
				})
				p := f.mul(y, l)
				pl := f.fma(y, ll, f.fms(y, l, p))
				pl = f.pick(f.less(f.abs(p), k(1000)), pl, k(0)) // beyond, the result is 0 or infinity
				p = f.between(p, -1000, 1000)
				z := f.exponentOf(p, pl)
				return f.scale(f.add(z.one, f.add(f.add(f.sub(k(1), z.one), z.r), z.t)), z.n)
			})
		}),
}
