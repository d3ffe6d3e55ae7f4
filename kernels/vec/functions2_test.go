package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// This file compares the functions of two numbers with values of high precision, and division and
// remainder with integers of any size.

// exactly2 is the function of that name to p bits, for finite arguments; x is above 0 for pow.
func (p precise) exactly2(name string, x, y float64) *big.Float {
	if name == "atan2" {
		return p.angle(p.of(x), p.of(y))
	}
	l := p.log(p.of(x))
	return p.exp(l.Mul(l, p.of(y)))
}

// pair is random arguments of f: moderate ones, those near the ends of the range, and those near 1.
func pair(r *rand.Rand, f Function[Two], k int) (x, y float64) {
	sign := func(v float64) float64 { return math.Copysign(v, r.Float64()-.5) }
	if f.Name == "atan2" {
		x, y = math.Ldexp(1+r.Float64(), r.IntN(8)), math.Ldexp(1+r.Float64(), r.IntN(8))
		if k%4 == 0 {
			x, y = math.Ldexp(1+r.Float64(), r.IntN(2040)-1020), math.Ldexp(1+r.Float64(), r.IntN(2040)-1020)
		}
		return sign(x), sign(y)
	}
	switch k % 4 {
	case 0: // the exponent that makes the result of any size
		x = math.Ldexp(1+r.Float64(), r.IntN(2000)-1000)
		return x, (1416*r.Float64() - 708) / math.Log(x)
	case 1: // of bases near 1
		x = .7 + .7*r.Float64()
		return x, (1416*r.Float64() - 708) / math.Log(x)
	case 2:
		x = 1 + sign(math.Ldexp(1+r.Float64(), -1-r.IntN(50)))
		return x, (1416*r.Float64() - 708) / math.Log(x)
	}
	return 10 * r.Float64(), float64(r.IntN(200)-100) / 4
}

// products reports that the power is one by definition.
func products(f Function[Two], x, y float64) bool {
	return f.Name == "pow" && (y == 2 || y == 3 || y == -1 || y == 1.5)
}

// No function is farther from the exact value than it says, nor says much more than it is.
func TestFunctionsOfTwoAreAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	n := 2400
	if testing.Short() {
		n = 400
	}
	p := precise{200}
	for _, f := range Functions2 {
		if f.Ulps == 0 {
			continue
		}
		worst, tried := 0.0, 0
		var at [2]float64
		for k := range n {
			x, y := pair(r, f, k)
			z := f.F(x, y)
			if math.IsNaN(z) || math.IsInf(z, 0) || math.Abs(z) < 0x1p-1022 || products(f, x, y) {
				continue
			}
			tried++
			unit := math.Nextafter(math.Abs(z), math.Inf(1)) - math.Abs(z)
			d := p.new().Sub(p.exactly2(f.Name, x, y), p.of(z))
			u, _ := d.Quo(d, p.of(unit)).Float64()
			if u = math.Abs(u); u > worst {
				worst, at = u, [2]float64{x, y}
			}
		}
		t.Logf("%-8s %.4f ulp at %v of %d", f.Name, worst, at, tried)
		if worst > f.Ulps || !testing.Short() && worst < f.Ulps-.4 || tried < n*3/4 {
			t.Errorf("%s: %v ulp at %v; %v is what it says", f.Name, worst, at, f.Ulps)
		}
	}
}

// Exponents that are products give the exact value rounded once, but for ties that 2^-100 decides.
func TestProductsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	p, tried := precise{400}, 0
	for k := range 4000 {
		x, y := math.Ldexp(1+r.Float64(), r.IntN(40)-20), float64(k%63-31)/2
		if y == math.Trunc(y) && k%2 == 0 {
			x = -x
		}
		if products(Functions2[0], x, y) || y == .5 {
			continue
		}
		tried++
		want, _ := p.exactly2("pow", math.Abs(x), y).Float64()
		if x < 0 && math.Mod(y, 2) != 0 {
			want = -want
		}
		if z := Pow(x, y); z != want {
			t.Fatalf("%v ^ %v = %v, want %v", x, y, z, want)
		}
		if z := Pow32(float64(float32(x)), y); math.Abs(z-Pow(float64(float32(x)), y)) > 0x1p-48*math.Abs(z) {
			t.Fatalf("%v ^ %v = %v as a float32", float32(x), y, z)
		}
	}
	if tried < 3000 {
		t.Error(tried)
	}
}

// Powers below the normal range are as near as is said of them.
func TestTinyPowersAreAccurate(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	p, f := precise{200}, Functions2[0]
	worst, tried := 0.0, 0
	for range 600 {
		x := math.Ldexp(1+r.Float64(), r.IntN(100)-50)
		y := (-708.4 - 36*r.Float64()) / math.Log(x)
		z := Pow(x, y)
		if z == 0 || z >= 0x1p-1022 {
			continue
		}
		tried++
		d := p.new().Sub(p.exactly2("pow", x, y), p.of(z))
		u, _ := d.Quo(d, p.of(0x1p-1074)).Float64()
		worst = max(worst, math.Abs(u))
	}
	t.Logf("%v ulp of %d", worst, tried)
	if worst > f.Tiny || worst < .5 || tried < 400 {
		t.Errorf("%v ulp of %d; %v is what it says", worst, tried, f.Tiny)
	}
}

// Powers that are doubles come out exactly, however they are computed.
func TestExactPowers(t *testing.T) {
	for base := int64(2); base < 1000; base++ {
		want := new(big.Int).SetInt64(base)
		for n := 2.; ; n++ {
			want.Mul(want, big.NewInt(base))
			if want.BitLen() > 53 {
				break
			}
			w, _ := new(big.Float).SetInt(want).Float64()
			for _, c := range [][3]float64{{float64(base), n, w}, {-float64(base), n, w * (1 - 2*math.Mod(n, 2))}, {w, 1 / n, float64(base)}} {
				if n := 1 / c[1]; n != math.Trunc(n) && c[1] < 1 || c[1] < 1 && math.Log2(n) != math.Trunc(math.Log2(n)) {
					continue // 1/n is rounded
				}
				if got := Pow(c[0], c[1]); got != c[2] {
					t.Fatalf("%v ^ %v = %v, want %v", c[0], c[1], got, c[2])
				}
			}
		}
	}
	for e := -1074.; e < 1024; e++ {
		if got := Pow(2, e); got != math.Ldexp(1, int(e)) {
			t.Fatalf("2 ^ %v = %v", e, got)
		}
	}
}

// What IEEE 754-2019, 9.2.1, says of pow and atan2.
func TestSpecialValuesOfTwo(t *testing.T) {
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	pi := math.Pi
	for name, cases := range map[string][][3]float64{
		"pow": {
			{nan, 0, 1}, {nan, zero, 1}, {inf, 0, 1}, {0, 0, 1}, {zero, zero, 1}, {-2, 0, 1}, {1, nan, 1}, {1, inf, 1}, {1, -inf, 1}, {1, 5.5, 1},
			{0, -5, inf}, {zero, -5, -inf}, {0, -4, inf}, {zero, -4, inf}, {0, -.5, inf}, {zero, -.5, inf}, {zero, -1, -inf}, {0, -1, inf},
			{0, -inf, inf}, {zero, -inf, inf}, {0, inf, 0}, {zero, inf, 0}, {0, 5, 0}, {zero, 5, zero}, {0, 4, 0}, {zero, 4, 0}, {zero, .5, 0},
			{zero, 3, zero}, {zero, 2, 0}, {zero, 1.5, 0}, {-1, inf, 1}, {-1, -inf, 1}, {.5, -inf, inf}, {-.5, -inf, inf}, {2, -inf, 0}, {-2, -inf, 0},
			{.5, inf, 0}, {-.5, inf, 0}, {2, inf, inf}, {-2, inf, inf}, {inf, -5, 0}, {inf, 5, inf}, {inf, .5, inf}, {inf, -inf, 0}, {inf, inf, inf},
			{-inf, -5, zero}, {-inf, -4, 0}, {-inf, -.5, 0}, {-inf, 5, -inf}, {-inf, 4, inf}, {-inf, .5, inf}, {-inf, inf, inf}, {-inf, -inf, 0},
			{-inf, 3, -inf}, {-inf, 1.5, inf}, {-inf, -1, zero}, {-2, .5, nan}, {-2, 1.5, nan}, {-2, -1e-300, nan}, {-1, .5, nan}, {-5e-324, 2.5, nan},
			{nan, 1, nan}, {2, nan, nan}, {-1, nan, nan}, {0, nan, nan}, {nan, nan, nan}, {nan, inf, nan}, {-2, 3, -8}, {-2, 5, -32}, {-2, 4, 16},
			{-2, 0x1p53, inf}, {-1, 0x1p53, 1}, {-1, 0x1p53 - 1, -1}, {-1, 0x1p52 + 1, -1}, {-1, 1e300, 1}, {2, 1024, inf}, {-2, 1025, -inf},
			{2, -1074, 5e-324}, {2, -1076, 0}, {-2, -1077, zero}, {5e-324, -1.0001, inf}, {5e-324, 1.5, 0}, {0x1p-1074, .5, 0x1p-537}, {10, 22, 1e22},
			{1.0000000000000002, 1e300, inf}, {.9999999999999999, 1e300, 0}, {4, .5, 2}, {5, 1, 5}, {5e-324, 1, 5e-324}, {1e308, 1, 1e308},
		},
		"atan2": {
			{0, 0, 0}, {zero, 0, zero}, {0, zero, pi}, {zero, zero, -pi}, {0, 1, 0}, {zero, 1, zero}, {0, -1, pi}, {zero, -1, -pi},
			{1, 0, pi / 2}, {1, zero, pi / 2}, {-1, 0, -pi / 2}, {-1, zero, -pi / 2}, {1, inf, 0}, {-1, inf, zero}, {1, -inf, pi}, {-1, -inf, -pi},
			{inf, 1, pi / 2}, {-inf, 1, -pi / 2}, {inf, -1, pi / 2}, {inf, inf, pi / 4}, {-inf, inf, -pi / 4}, {inf, -inf, 3 * pi / 4}, {-inf, -inf, -3 * pi / 4},
			{nan, 1, nan}, {1, nan, nan}, {nan, inf, nan}, {inf, nan, nan}, {nan, 0, nan}, {1, 1, pi / 4}, {5e-324, 5e-324, pi / 4}, {-5e-324, 5e-324, -pi / 4},
			{5e-324, 1, 5e-324}, {5e-324, 2, 0}, {5e-324, -1, pi}, {math.MaxFloat64, math.MaxFloat64, pi / 4}, {1e-300, 1e300, 0}, {3e-310, 3, 1e-310},
			{math.MaxFloat64, 5e-324, pi / 2}, {5e-324, math.MaxFloat64, 0}, {-1e308, 1e-308, -pi / 2},
		},
	} {
		f, ok := Function2Named(name)
		if !ok {
			t.Fatal(name)
		}
		for _, c := range cases {
			if got := f.F(c[0], c[1]); !same(got, c[2]) {
				t.Errorf("%s(%v, %v) = %v, want %v", name, c[0], c[1], got, c[2])
			}
		}
	}
}

// anyPair is numbers whose quotient may be of any size, or close to an integral number.
func anyPair(r *rand.Rand) (x, y float64) {
	x, y = math.Ldexp(r.Float64()-.5, r.IntN(2098)-1074), math.Ldexp(r.Float64()-.5, r.IntN(2098)-1074)
	switch r.IntN(5) {
	case 0:
		x = y * float64(r.IntN(1000)-500)
	case 1:
		x, y = float64(r.IntN(2000)-1000)/10, float64(r.IntN(200)-100)/10
	case 2:
		x = math.Nextafter(y*float64(r.IntN(100)), math.Inf(2*r.IntN(2)-1))
	case 3:
		y = math.Ldexp(x, -r.IntN(130)) * (1 + r.Float64())
	}
	return x, y
}

// Quotients and remainders are those of exact arithmetic, rounded once.
func TestDivisionIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	n := 40000
	if testing.Short() {
		n = 4000
	}
	long := 0
	for range n {
		x, y := anyPair(r)
		if y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) {
			continue
		}
		a, b := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
		q := new(big.Rat).Quo(a, b)
		quotient := new(big.Int).Div(q.Num(), q.Denom()) // Euclidean, by a positive number: the floor
		m := new(big.Rat).Sub(a, b.Mul(b, new(big.Rat).SetInt(quotient)))
		want, _ := m.Float64()
		if want == 0 {
			want = math.Copysign(0, y)
		}
		if got := Mod(x, y); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%v mod %v = %v, want %v", x, y, got, want)
		}
		floor, _ := new(big.Float).SetInt(quotient).Float64()
		if quotient.BitLen() > 53 {
			long++
			floor, _ = q.Float64()
			floor = math.Floor(floor)
		}
		if got := FloorDiv(x, y); got != floor {
			t.Fatalf("%v // %v = %v, want %v", x, y, got, floor)
		}
	}
	if long < n/20 {
		t.Errorf("only %d long quotients", long)
	}
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct{ x, y, mod, div float64 }{
		{1, inf, 1, 0}, {-1, inf, inf, -1}, {1, -inf, -inf, -1}, {-1, -inf, -1, 0}, {0, inf, 0, 0}, {zero, inf, 0, zero}, {0, -inf, zero, zero},
		{inf, 1, nan, inf}, {-inf, 1, nan, -inf}, {inf, inf, nan, nan}, {1, 0, nan, inf}, {-1, 0, nan, -inf}, {0, 0, nan, nan}, {1, zero, nan, -inf},
		{nan, 1, nan, nan}, {1, nan, nan, nan}, {nan, inf, nan, nan}, {inf, nan, nan, nan}, {zero, 1, 0, zero}, {0, -1, zero, zero}, {-4, 2, 0, -2},
		{4, -2, zero, -2}, {-5e-324, 1, 1, -1}, {1, .1, .09999999999999995, 9}, {math.MaxFloat64, 5e-324, 0, inf}, {5e-324, math.MaxFloat64, 5e-324, 0},
		{-7, 3, 2, -3}, {7, -3, -2, -3}, {0x1p53, 1, 0, 0x1p53}, {-0x1p60, 3, 2, math.Floor(-0x1p60 / 3)},
	} {
		if got := Mod(c.x, c.y); !same(got, c.mod) {
			t.Errorf("%v mod %v = %v, want %v", c.x, c.y, got, c.mod)
		}
		if got := FloorDiv(c.x, c.y); !same(got, c.div) {
			t.Errorf("%v // %v = %v, want %v", c.x, c.y, got, c.div)
		}
	}
}

// same reports the same bits, all NaNs being one.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}
