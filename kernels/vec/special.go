package vec

import "math"

// This file holds the error function, the gamma function and the normal distribution. Every product
// that is added to something is converted to float64 or is an operand of math.FMA, so that no
// compiler fuses what is not written fused, and a result has the same bits on every processor.
// Bounds of errors are in Special; special_test.go tests them.

// Special are the functions of this file. Ulps is how far each may be from the exact value, in
// units of the last place of the result: as measured against values of high precision, and rounded
// up. The bounds are those of results above 2.2e-308. Near is the least size that the unit is taken
// of: lgamma has zeros between its poles, where its error is not relative.
var Special = []struct {
	Name       string
	F          func(float64) float64
	Ulps, Near float64
}{
	{"erf", Erf, 3.5, 0}, {"erfc", Erfc, 5.5, 0}, {"gamma", Gamma, 3, 0}, {"lgamma", Lgamma, 4, 1}, {"normcdf", Normcdf, 6, 0}, {"normquantile", Normquantile, 4, 0},
}

// at is the polynomial at distance u from the middle of its interval, as the sum of two numbers:
// the first has at least half of the value.
func at(hi, lo float64, c []float64, u float64) (float64, float64) {
	p := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		p = c[i] + float64(p*u)
	}
	return hi, lo + float64(p*u)
}

// scaledErfc is exp(x^2) erfc(x) for x from 1/4 to 28.
func scaledErfc(x float64) float64 {
	t := 4 / (4 + x)
	i := int(t * 16)
	p := &erfcxOf[i-2]
	a, b := at(p.hi, p.lo, p.c[:], t-(float64(i)+0.5)/16)
	return t * (a + b)
}

// smallErf is erf(x) for x from -1/2 to 1/2.
func smallErf(x float64) float64 {
	p := &erfOver[0]
	a, b := at(p.hi, p.lo, p.c[:], float64(x*x)-0.125)
	return x * (a + b)
}

// expSquare is exp(-x^2 scale), scale being 1 or 1/2; the part of the square that rounding loses is
// a factor of its own.
func expSquare(x, scale float64) float64 {
	h := float64(x * x)
	l := math.FMA(x, x, -h)
	p := Exp(-h * scale)
	return p - float64(p*float64(l*scale))
}

// Erf is the error function of x, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.
func Erf(x float64) float64 {
	switch y := math.Abs(x); {
	case y <= 0.5:
		return smallErf(x)
	case y < 6: // from 5.93 on it rounds to 1
		return math.Copysign(1-float64(expSquare(y, 1)*scaledErfc(y)), x)
	case y >= 6:
		return math.Copysign(1, x)
	}
	return x
}

// Erfc is 1 - erf(x), accurate where that is small.
func Erfc(x float64) float64 {
	switch {
	case x < -6:
		return 2
	case x < -0.5:
		return 2 - float64(expSquare(x, 1)*scaledErfc(-x))
	case x <= 0.5:
		return 1 - smallErf(x)
	case x < 28:
		return expSquare(x, 1) * scaledErfc(x)
	case x >= 28:
		return 0
	}
	return x
}

// Normcdf is the distribution function of the standard normal distribution.
func Normcdf(x float64) float64 {
	y := math.Abs(x) * (1 / math.Sqrt2)
	switch {
	case x != x:
		return x
	case y <= 0.5:
		return 0.5 + float64(0.5*smallErf(x*(1/math.Sqrt2)))
	case y >= 28 && x < 0:
		return 0
	case y >= 28:
		return 1
	}
	p := float64(0.5 * expSquare(x, 0.5) * scaledErfc(y))
	if x > 0 {
		return 1 - p
	}
	return p
}

// Normquantile is the x of which Normcdf is p: -inf of 0, inf of 1, NaN outside.
func Normquantile(p float64) float64 {
	switch {
	case !(p >= 0 && p <= 1):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	if q := p - 0.5; math.Abs(q) < 0.43 {
		s := float64(q * q)
		i := int(s * 32)
		f := &quantileOver[i]
		a, b := at(f.hi, f.lo, f.c[:], s-(float64(i)+0.5)/32)
		return q * (a + b)
	}
	tail, sign := p, -1.0
	if p > 0.5 {
		tail, sign = 1-p, 1
	}
	r := math.Sqrt(-Log(tail))
	t := 1 / r
	i := int(t * 32)
	f := &quantileTail[i-1]
	a, b := at(f.hi, f.lo, f.c[:], t-(float64(i)+0.5)/32)
	return sign * (r * (a + b))
}

// gammaNear is Gamma(1 + z) for z from 0 to 1, as the sum of two numbers.
func gammaNear(z float64) (float64, float64) {
	i := min(int(z*8), len(gammaOf)-1)
	p := &gammaOf[i]
	return at(p.hi, p.lo, p.c[:], z-(float64(i)+0.5)/8)
}

// times is (hi + lo) x, the product of a sum of two numbers.
func times(hi, lo, x float64) (float64, float64) {
	p := float64(hi * x)
	if math.IsInf(p, 0) {
		return p, 0
	}
	e := math.FMA(hi, x, -p) + float64(lo*x)
	s := p + e
	return s, e - (s - p)
}

// Gamma is the gamma function, by Gamma(x + 1) = x Gamma(x) from its values between 1 and 2: inf or
// -inf at a zero, NaN at the negative integers, whose sides have different signs.
func Gamma(x float64) float64 {
	switch {
	case x != x || math.IsInf(x, -1):
		return math.NaN()
	case x > 172:
		return math.Inf(1)
	case x == 0:
		return 1 / x
	}
	n := math.Floor(x)
	if x < 0 && n == x {
		return math.NaN()
	}
	if x >= 1 {
		hi, lo := 1.0, 0.0
		if f := x - n; f > 0 {
			a, b := gammaNear(f)
			hi = a + b
			lo = b - (hi - a)
		}
		for k := 1.0; k < n; k++ {
			if hi, lo = times(hi, lo, x-k); math.IsInf(hi, 0) {
				return hi
			}
		}
		return hi
	}
	if x < -190 { // below the least number
		if math.Mod(n, 2) == 0 {
			return 0
		}
		return math.Copysign(0, -1)
	}
	// Gamma(1 + f) / ((x + 0) (x + 1) .. (x - n)), f = x - n, with the product in two parts,
	// neither of which overflows.
	a, b := gammaNear(x - n)
	g := a + b
	hi, lo := 1.0, 0.0
	for k := 0.0; k <= -n; k++ {
		if hi, lo = times(hi, lo, x+k); math.Abs(hi) > 1e150 {
			g /= hi
			g, hi, lo = g-float64(g*(lo/hi)), 1, 0
		}
	}
	if g /= hi; math.IsInf(g, 0) {
		return g
	}
	return g - float64(g*(lo/hi))
}

// lgammaNear is log(Gamma(x)) for x from 1 to 2.5.
func lgammaNear(x float64) float64 {
	return float64((x-1)*(x-2)) * lgammaRest(x-1)
}

// Lgamma is the natural logarithm of the absolute value of the gamma function: inf at zero and at
// the negative integers.
func Lgamma(x float64) float64 {
	switch {
	case x != x:
		return x
	case math.IsInf(x, 0):
		return math.Inf(1)
	case x <= 0 && math.Floor(x) == x:
		return math.Inf(1)
	case x < -30: // Gamma(x) Gamma(-x) = -pi / (x sin(pi x))
		s := math.Abs(Sin(math.Pi * (x - math.RoundToEven(x))))
		return Log(math.Pi/s) - Log(-x) - Lgamma(-x)
	case x < 0:
		return Log(math.Abs(Gamma(x)))
	case x == 1 || x == 2:
		return 0 // not -0
	case x < 1: // Gamma(x) = Gamma(1 + x) / x
		return float64(float64(x*(x-1))*lgammaRest(x)) - Log(x)
	case x < 2.5:
		return lgammaNear(x)
	case x < 12:
		hi, lo := 1.0, 0.0
		y := x
		for y >= 2.5 {
			y--
			hi, lo = times(hi, lo, y)
		}
		return Log(hi) + lgammaNear(y)
	case x > 1e17:
		return x * (Log(x) - 1)
	}
	// Stirling's series.
	const half = 0.5 * 0.83787706640934548356 // (log(2 pi) - 1) / 2
	z := 1 / x
	w := float64(z * z)
	s := float64(w*(-1.0/1680)) + 1.0/1260
	s = float64(w*s) - 1.0/360
	s = float64(w*s) + 1.0/12
	s = float64(z*(float64(w*float64(w*float64(w*float64(w/1188)))))) + float64(z*s)
	return float64((x-0.5)*(Log(x)-1)) + (half + s)
}

// lgammaRest is log(Gamma(1 + x)) / (x (x - 1)) for x from 0 to 1.5.
func lgammaRest(x float64) float64 {
	i := min(int(x*8), len(lgammaOver)-1)
	p := &lgammaOver[i]
	a, b := at(p.hi, p.lo, p.c[:], x-(float64(i)+0.5)/8)
	return a + b
}
