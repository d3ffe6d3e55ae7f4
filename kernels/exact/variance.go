package exact

// This file rounds a variance, (n q - s^2) / n^2 for the sum s of n numbers and the sum q of their
// squares: once, though most of the leading bits may cancel.
//
// Sums come as unevaluated sums of three floats, so that all products are exact as pairs (T. Dekker
// 1971, by fused multiply-add). Their sum is taken by a cascade, which loses less than 2^-140 of
// the largest; the quotient has some hundred bits. Where the bound of the errors leaves no doubt
// the rounding is that of the fraction (A. Ziv, "Fast evaluation of elementary mathematical
// functions with correctly rounded last bit", ACM TOMS 17, 1991), else integers of any length tell.

import (
	"math"
	"math/big"
)

// Parts is a sum as the unevaluated sum of floats of falling magnitude.
type Parts struct {
	Term [3]float64
	// Rest says that something below 2^-155 of the first may be missing.
	Rest bool
}

// Add adds x and reports whether the parts hold the sum. If not, they stay as they are: a fourth
// part would be needed, or x or the sum is not finite.
func (p *Parts) Add(x float64) bool {
	a, x := TwoSum(p.Term[0], x)
	if p.Term[1] == 0 && p.Term[2] == 0 { // the other additions would change nothing, and each waits for the last
		if x-x != 0 {
			return false
		}
		p.Term = [3]float64{a, x, 0}
		return true
	}
	b, x := TwoSum(p.Term[1], x)
	c, x := TwoSum(p.Term[2], x)
	if x != 0 {
		return false
	}
	p.Term = [3]float64{a, b, c}
	return true
}

// Round is the float64 nearest to the sum, if ok.
func (p *Parts) Round() (sum float64, ok bool) {
	if p.Term[2] == 0 && !p.Rest {
		sum = p.Term[0] + p.Term[1] + 0 // a sum of 0 is +0
		return sum, sum-sum == 0
	}
	sum, ok = round3(p.Term[0], p.Term[1], p.Term[2])
	return sum, ok && !p.Rest
}

// Round32 is the float32 nearest to the sum, if ok.
func (p *Parts) Round32() (sum float32, ok bool) {
	x := Pair{p.Term[0], p.Term[1]}
	sum = x.Round32() + 0
	return sum, p.Term[2] == 0 && !p.Rest && sum-sum == 0
}

// The magnitudes between which no product of two parts, and no error of one, leaves the normal
// numbers.
const (
	leastPart    = 0x1p-450
	greatestPart = 0x1p450
)

// usable reports that products of the parts are exact as pairs.
func (p *Parts) usable() bool {
	for _, v := range &p.Term {
		if a := math.Abs(v); !(a >= leastPart && a <= greatestPart) && v != 0 {
			return false
		}
	}
	return true
}

// product is a * b as the rounded product and its error.
func product(a, b float64) (h, l float64) {
	h = float64(a * b) // not fused with an addition that follows
	return h, math.FMA(a, b, -h)
}

// total is a cascade of sums and their errors; what the last one loses is only noted.
type total struct {
	a, b, c float64
	lost    uint64
}

func (t *total) add(v float64) {
	var e float64
	t.a, e = TwoSum(t.a, v)
	t.b, e = TwoSum(t.b, e)
	t.c, e = TwoSum(t.c, e)
	t.lost |= inexact(e)
}

// addProduct adds a * b, exactly.
func (t *total) addProduct(a, b float64) {
	h, l := product(a, b)
	t.add(h)
	t.add(l)
}

// quotient is a variance as the float64 nearest to high + low, high, which are within slack of it;
// ok is false where that cannot be told.
func quotient(s, q *Parts, n int) (high, low, slack float64, ok bool) {
	if n <= 0 || n > 1<<53 || !s.usable() || !q.usable() {
		return 0, 0, 0, false
	}
	m := float64(n)
	var d total
	d.addProduct(m, q.Term[0])
	d.addProduct(-s.Term[0], s.Term[0])
	rest := s.Rest || q.Rest
	if q.Term[1] != 0 || s.Term[1] != 0 { // of small integers none is
		d.addProduct(m, q.Term[1])
		d.addProduct(-2*s.Term[0], s.Term[1])
		d.addProduct(-s.Term[1], s.Term[1])
	}
	if q.Term[2] != 0 {
		d.addProduct(m, q.Term[2])
	}
	if s.Term[2] != 0 {
		d.addProduct(-2*s.Term[0], s.Term[2])
		d.add(-2 * s.Term[1] * s.Term[2])
		rest = true
	}
	if d.lost != 0 {
		rest = true
	}
	t, u := TwoSum(d.b, d.c)
	high, t = TwoSum(d.a, t)
	high, low = TwoSum(high, t+u)
	if rest {
		slack = (m*q.Term[0] + s.Term[0]*s.Term[0]) * 0x1p-140
	}
	if high == 0 && low == 0 {
		return 0, 0, 0, !rest // no doubt: all elements are equal
	}
	if !(high > slack) {
		return 0, 0, 0, false
	}
	square, error := product(m, m)
	v := high / square
	p, e := product(v, square)
	w := ((high - p) - e - v*error + low) / square
	high, low = TwoSum(v, w)
	return high, low, slack/square*2 + high*0x1p-98, true
}

// Variance is the variance of n numbers of which s is the sum and q that of the squares: never
// negative, though squares too small for a float64 are missing in q. It is rounded once to a
// float64, or to a float32 if narrow. n is not 0 and both sums are finite.
func Variance(s, q *Parts, n int, narrow bool) (v float64, ok bool) {
	high, low, slack, ok := quotient(s, q, n)
	if !ok {
		return 0, false
	}
	// The rounding is beyond doubt if that of everything within slack of high + low is the same.
	if narrow {
		f := float32(math.Nextafter(high, 0))
		return float64(f), f == float32(math.Nextafter(high, math.Inf(1))) && slack < high*0x1p-54 || high == 0
	}
	return high, high+(low+slack) == high && high+(low-slack) == high
}

// VarianceOf is Variance of exact sums, of any n: NaN of no numbers, and where one is not finite;
// infinite where a square is not.
func VarianceOf(s, q *Sum, n int, narrow bool) float64 {
	switch {
	case n == 0 || s.flags != 0:
		return math.NaN()
	case q.flags != 0:
		return math.Inf(1)
	}
	var a, b Parts
	wholeS, _ := s.Expand(&a.Term)
	wholeQ, _ := q.Expand(&b.Term)
	a.Rest, b.Rest = !wholeS, !wholeQ
	if v, ok := Variance(&a, &b, n, narrow); ok {
		return v
	}
	f := longVariance(s, q, n)
	if narrow {
		x, _ := f.Float32()
		return float64(x)
	}
	x, _ := f.Float64()
	return x
}

// longVariance is a variance in some 70 bits, the lowest of which stands for all that follow, so
// that rounding it is rounding the fraction.
func longVariance(sum, squares *Sum, n int) *big.Float {
	s, es := sum.integer()
	q, eq := squares.integer()
	q.Mul(q, big.NewInt(int64(n)))
	s.Mul(s, s)
	e := min(eq, 2*es)
	q.Lsh(q, uint(eq-e))
	if q.Sub(q, s.Lsh(s, uint(2*es-e))).Sign() <= 0 {
		return new(big.Float)
	}
	den := big.NewInt(int64(n))
	den.Mul(den, den)
	shift := max(0, 70+den.BitLen()-q.BitLen())
	if _, rest := q.QuoRem(q.Lsh(q, uint(shift)), den, s); rest.Sign() != 0 {
		q.SetBit(q, 0, 1)
	}
	f := new(big.Float).SetInt(q)
	return f.SetMantExp(f, e-shift)
}

// integer is the sum as x * 2^e with x odd or 0.
func (s *Sum) integer() (x *big.Int, e int) {
	var a [limbs]int64
	low, top, sign := s.magnitude(&a)
	x = new(big.Int)
	if top < 0 {
		return x, 0
	}
	var l big.Int
	for i := top; i >= low; i-- {
		x.Lsh(x, 32)
		x.Add(x, l.SetInt64(a[i]))
	}
	if sign < 0 {
		x.Neg(x)
	}
	z := x.TrailingZeroBits()
	return x.Rsh(x, z), 32*low + unit + int(z)
}
