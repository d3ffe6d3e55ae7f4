package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// This file compares the special functions with values of high precision: the Taylor series of erf,
// Stirling's series far out for the gamma function. They share nothing with special.go, whose
// polynomials interpolate.

// erf is 2/sqrt(pi) times the sum of (-1)^n x^(2n+1) / (n! (2n+1)); p has twice the bits of
// exp(x^2), which its terms cancel.
func (p precise) erf(x *big.Float) *big.Float {
	sum, power, z := p.new().Set(x), p.new().Set(x), p.new().Mul(x, x)
	for n := 1; ; n++ {
		power.Quo(power.Neg(power.Mul(power, z)), p.of(float64(n)))
		term := p.new().Quo(power, p.of(float64(2*n+1)))
		if term.Sign() == 0 || term.MantExp(nil) < sum.MantExp(nil)-int(p.bits) {
			break
		}
		sum.Add(sum, term)
	}
	sum.Mul(sum, p.of(2))
	return sum.Quo(sum, p.new().Sqrt(bigPi.of(p)))
}

// of is pi.
func (c piCache) of(p precise) *big.Float { return p.new().Mul(c.half(p), p.of(2)) }

// forSquare is as many bits as erf needs at x.
func forSquare(x float64) precise { return precise{300 + uint(4.4*x*x)} }

// bernoulli is the numbers B2, B4, .., B80.
var bernoulli = func() []*big.Rat {
	b := []*big.Rat{big.NewRat(1, 1)}
	var even []*big.Rat
	for n := int64(1); n <= 80; n++ {
		sum := new(big.Rat)
		for k := range n {
			c := new(big.Rat).SetInt(new(big.Int).Binomial(n+1, k))
			sum.Add(sum, c.Mul(c, b[k]))
		}
		b = append(b, sum.Mul(sum.Neg(sum), big.NewRat(1, n+1)))
		if n%2 == 0 {
			even = append(even, b[n])
		}
	}
	return even
}()

// stirling is log(Gamma(x)) for x above 60, to some 90 digits.
func (p precise) stirling(x *big.Float) *big.Float {
	s := p.new().Mul(p.new().Sub(x, p.of(.5)), p.log(x))
	s.Sub(s, x)
	s.Add(s, p.new().Mul(p.of(.5), p.log(p.new().Mul(p.of(2), bigPi.of(p)))))
	power := p.new().Set(x)
	for k, b := range bernoulli {
		n := float64(2 * (k + 1))
		t := p.new().Quo(p.new().SetRat(b), p.of(n*(n-1)))
		s.Add(s, t.Quo(t, power))
		power.Mul(power, p.new().Mul(x, x))
	}
	return s
}

// gamma is Gamma(x), from 64 further up.
func (p precise) gamma(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		s, _ := p.sinCos(p.new().Mul(bigPi.of(p), x))
		s.Mul(s, p.gamma(p.new().Sub(p.of(1), x)))
		return s.Quo(bigPi.of(p), s)
	}
	product, y := p.of(1), p.new().Set(x)
	for range 64 {
		product.Mul(product, y)
		y.Add(y, p.of(1))
	}
	g := p.exp(p.stirling(y))
	return g.Quo(g, product)
}

// special is the function of that name at x.
func special(name string, x float64) (*big.Float, precise) {
	p := precise{400}
	switch name {
	case "erf":
		p = forSquare(x)
		return p.erf(p.of(x)), p
	case "erfc":
		p = forSquare(x)
		return p.new().Sub(p.of(1), p.erf(p.of(x))), p
	case "normcdf":
		p = forSquare(x)
		y := p.erf(p.new().Quo(p.of(x), p.new().Sqrt(p.of(2))))
		return y.Mul(y.Add(y, p.of(1)), p.of(.5)), p
	case "gamma":
		return p.gamma(p.of(x)), p
	}
	if x > 100 {
		return p.stirling(p.of(x)), p
	}
	y := p.gamma(p.of(x))
	return p.log(y.Abs(y)), p
}

// specialUlps is how far y is from the value at x, and whether that says something.
func specialUlps(name string, near, x, y float64) (float64, bool) {
	if math.IsInf(y, 0) || math.Abs(y) < 0x1p-1022 || y != y {
		return 0, false
	}
	size := math.Abs(y)
	if x < 0 {
		size = max(size, near)
	}
	unit := math.Nextafter(size, math.Inf(1)) - size
	var d *big.Float
	if name == "normquantile" { // a step of Newton's iteration from y
		cdf, p := special("normcdf", y)
		d = p.new().Sub(cdf, p.of(x))
		density := p.exp(p.new().Mul(p.of(-.5), p.new().Mul(p.of(y), p.of(y))))
		d.Mul(d, p.new().Sqrt(p.new().Mul(p.of(2), bigPi.of(p))))
		d.Quo(d, density)
	} else {
		want, p := special(name, x)
		d = p.new().Sub(want, p.of(y))
	}
	u, _ := d.Float64()
	return math.Abs(u) / unit, true
}

// specialArguments are ranges from which the test draws.
var specialArguments = map[string][][2]float64{
	"erf": {{-1, 1}, {-6, 6}, {0.45, 0.6}}, "erfc": {{-6, 28}, {0.4, 2}, {-1, 1}}, "normcdf": {{-38, 9}, {-3, 3}},
	"gamma": {{0, 172}, {-171, 0}, {-4, 4}}, "lgamma": {{0, 3}, {2, 20}, {11, 1e5}, {0.9, 1.1}, {1.9, 2.1}, {-40, 0}}, "normquantile": {{0, 1}, {0, 0.1}, {0.9, 1}, {0, 1e-20}},
}

func TestSpecialFunctionsAreAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	n := 60
	if testing.Short() {
		n = 20
	}
	for _, f := range Special {
		worst, where, tried := 0.0, 0.0, 0
		for _, in := range specialArguments[f.Name] {
			for range n {
				x := in[0] + (in[1]-in[0])*r.Float64()
				if u, ok := specialUlps(f.Name, f.Near, x, f.F(x)); ok {
					tried++
					if u > worst {
						worst, where = u, x
					}
				}
			}
		}
		t.Logf("%-12s %.3f ulp at %v of %d", f.Name, worst, where, tried)
		if worst > f.Ulps || tried < n {
			t.Errorf("%s: %v ulp at %v; %v is what it says, %d tried", f.Name, worst, where, f.Ulps, tried)
		}
	}
}

// Values of tables: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, tables 6.1,
// 7.1 and 26.1, and the factorials.
func TestSpecialTables(t *testing.T) {
	for _, c := range []struct {
		f         func(float64) float64
		x, want   float64
		tolerance float64
	}{
		{Erf, 0.5, 0.5204998778, 5e-11}, {Erf, 1, 0.8427007929, 5e-11}, {Erf, 2, 0.995322265, 5e-10},
		{Normcdf, 1, 0.841344746068543, 5e-16}, {Normcdf, 2, 0.977249868051821, 5e-16}, {Normcdf, 3, 0.998650101968370, 5e-16},
		{Gamma, 1.5, 0.8862269255, 5e-11}, {Gamma, 1.25, 0.9064024771, 5e-11}, {Gamma, 0.5, 1.772453850905516, 4e-16}, {Gamma, -0.5, -3.544907701811032, 9e-16},
		{Lgamma, 1.5, -0.1207822376, 5e-11}, {Lgamma, 0.5, 0.5723649429247001, 2e-16}, {Normquantile, 0.975, 1.959963984540054, 5e-16},
		{Normquantile, 0.5, 0, 0}, {Normquantile, 0.01, -2.3263478740408408, 1e-15},
	} {
		if got := c.f(c.x); math.Abs(got-c.want) > c.tolerance {
			t.Errorf("at %v: %v, want %v", c.x, got, c.want)
		}
	}
	factorial := big.NewInt(1)
	for n := int64(1); n <= 170; n++ {
		want, _ := new(big.Float).SetInt(factorial).Float64() // (n - 1)!
		if got := Gamma(float64(n)); math.Abs(got-want) > want*0x1p-53 || n <= 27 && got != want {
			t.Errorf("gamma(%d) = %v, want %v", n, got, want)
		}
		factorial.Mul(factorial, big.NewInt(n))
	}
}

func TestSpecialEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	zero := math.Copysign(0, -1)
	for name, cases := range map[string][][2]float64{
		"erf":          {{inf, 1}, {-inf, -1}, {0, 0}, {zero, zero}, {nan, nan}, {1e-310, 1.128379167095513e-310}, {7, 1}},
		"erfc":         {{inf, 0}, {-inf, 2}, {0, 1}, {nan, nan}, {30, 0}, {-7, 2}},
		"normcdf":      {{inf, 1}, {-inf, 0}, {0, 0.5}, {nan, nan}, {-40, 0}, {40, 1}},
		"normquantile": {{0, -inf}, {1, inf}, {0.5, 0}, {-0.1, nan}, {1.1, nan}, {nan, nan}, {inf, nan}},
		"gamma":        {{inf, inf}, {-inf, nan}, {0, inf}, {zero, -inf}, {-1, nan}, {-170, nan}, {172, inf}, {nan, nan}, {-200.5, zero}, {-201.5, 0}, {5, 24}, {1e-310, inf}, {1, 1}, {2, 1}},
		"lgamma":       {{inf, inf}, {-inf, inf}, {0, inf}, {-3, inf}, {nan, nan}, {1, 0}, {2, 0}, {1e308, inf}},
	} {
		for _, f := range Special {
			if f.Name != name {
				continue
			}
			for _, c := range cases {
				if got := f.F(c[0]); math.Float64bits(got) != math.Float64bits(c[1]) && !(got != got && c[1] != c[1]) {
					t.Errorf("%s(%v) = %v, want %v", name, c[0], got, c[1])
				}
			}
		}
	}
}
