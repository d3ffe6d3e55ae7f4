package vec

import "math"

// This file defines the gamma function and its logarithm, and lists the special functions. The gamma function
// is not generated because its number of rounds depends on the argument. The other special functions are
// generated (gen/functions_special.go). A product that is added to a number is converted to float64 or is an
// operand of math.FMA. So no compiler fuses the two, and a result has the same bits on every processor.
// special_test.go tests the bounds of errors.

// Special lists the error function, the gamma function and the normal distribution. Ulps is a bound of the
// error in units of the last place of the result. It was measured against values of high precision and
// rounded up. It holds for results above 2.2e-308. The unit is at least that of Near: lgamma has zeros
// between its poles, where its error is not relative.
var Special = []struct {
	Name       string
	F          func(float64) float64
	Ulps, Near float64
}{
	{"erf", Erf, 3.5, 0}, {"erfc", Erfc, 5.5, 0}, {"gamma", Gamma, 3, 0}, {"lgamma", Lgamma, 4, 1},
	{"normcdf", Normcdf, 6, 0}, {"normquantile", Normquantile, 4, 0},
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
