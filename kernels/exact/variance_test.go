package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// varianceOracle is the variance in fractions, of squares as AddSquares takes them, rounded once to
// either type. Sums are integers in fixed units, because sums of fractions look for common factors
// after every number. All numbers of the tests are multiples of the unit.
func varianceOracle(x []float64) (float64, float32) {
	const unit = 1200
	sum, squares := new(big.Int), new(big.Int)
	for _, v := range x {
		h, l := Square(v)
		addUnits(sum, v, unit)
		addUnits(squares, h, 2*unit)
		addUnits(squares, l, 2*unit)
	}
	// (n squares - sum sum) / n n
	n := big.NewInt(int64(len(x)))
	v := new(big.Int).Mul(n, squares)
	if v.Sub(v, sum.Mul(sum, sum)); v.Sign() < 0 {
		v.SetInt64(0)
	}
	below := new(big.Int).Lsh(n.Mul(n, n), 2*unit)
	variance := new(big.Rat).SetFrac(v, below)
	f, _ := variance.Float64()
	g, _ := variance.Float32()
	return f, g
}

// addUnits adds v to a sum in units of 2^-unit.
func addUnits(sum *big.Int, v float64, unit int) {
	mant, exp := math.Frexp(v)
	m := big.NewInt(int64(mant * (1 << 53)))
	if exp += unit - 53; exp < 0 {
		if q, r := new(big.Int).QuoRem(m, new(big.Int).Lsh(big.NewInt(1), uint(-exp)), new(big.Int)); r.Sign() == 0 {
			sum.Add(sum, q)
			return
		}
		panic("a number is no multiple of the unit")
	}
	sum.Add(sum, m.Lsh(m, uint(exp)))
}

// spreads are generators of rows whose variances are easy, cancel, or are hard to round.
var spreads = map[string]func(r *rand.Rand, x []float64){
	"uniform":  func(r *rand.Rand, x []float64) { each(x, r.Float64) },
	"normal":   func(r *rand.Rand, x []float64) { each(x, r.NormFloat64) },
	"integers": func(r *rand.Rand, x []float64) { each(x, func() float64 { return float64(r.IntN(9) - 4) }) },
	"truths":   func(r *rand.Rand, x []float64) { each(x, func() float64 { return float64(r.IntN(2)) }) },
	"constant": func(r *rand.Rand, x []float64) { v := r.NormFloat64(); each(x, func() float64 { return v }) },
	"far": func(r *rand.Rand, x []float64) {
		at := math.Ldexp(1+r.Float64(), r.IntN(60))
		each(x, func() float64 { return at + r.Float64() })
	},
	"nearly constant": func(r *rand.Rand, x []float64) {
		v := r.NormFloat64()
		each(x, func() float64 { return v })
		x[r.IntN(len(x))] = math.Nextafter(v, 2)
	},
	"wide": func(r *rand.Rand, x []float64) {
		each(x, func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(400)-200) })
	},
	"tiny": func(r *rand.Rand, x []float64) {
		each(x, func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(40)-560) })
	},
	"large": func(r *rand.Rand, x []float64) { each(x, func() float64 { return math.Ldexp(r.NormFloat64(), 500) }) },
	"halves": func(r *rand.Rand, x []float64) { // two numbers: a variance is the square of half their difference, often half a unit from a float
		each(x, func() float64 { return float64(r.Int64N(1 << 28)) })
		clear(x[min(2, len(x)):])
	},
}

func each(x []float64, f func() float64) {
	for i := range x {
		x[i] = f()
	}
}

// Variances of sums, and of sums of three floats, are the fraction rounded once, whichever way they are
// found.
func TestVariance(t *testing.T) {
	for name, fill := range spreads {
		r := rand.New(rand.NewPCG(77, uint64(len(name))))
		for range 150 {
			n := 1 + r.IntN(70)
			x := make([]float64, n)
			for range 16 {
				fill(r, x)
				want, want32 := varianceOracle(x)
				var s, q Sum
				s.AddSlice(x)
				q.AddSquares(x)
				if got := VarianceOf(&s, &q, n, false); !same(got, want) {
					t.Fatalf("%s: variance of %v is %v, want %v", name, x, got, want)
				}
				if got := VarianceOf(&s, &q, n, true); got != float64(want32) {
					t.Fatalf("%s: float32 variance of %v is %v, want %v", name, x, got, want32)
				}
				var a, b Parts
				var ok, both bool
				a.Term[0], a.Term[1], ok = pair(x)
				b.Term[0], b.Term[1], b.Term[2], both = triple(x)
				if !ok || !both {
					continue
				}
				if got, ok := Variance(&a, &b, n, false); ok && !same(got, want) {
					t.Fatalf("%s: variance of the row %v is %v, want %v", name, x, got, want)
				}
				if got, ok := Variance(&a, &b, n, true); ok && got != float64(want32) {
					t.Fatalf("%s: float32 variance of the row %v is %v, want %v", name, x, got, want32)
				}
			}
		}
	}
}

// Ordinary data never need integers of any length, nor memory: what cancels neither.
func TestVarianceDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"uniform", "normal", "integers", "truths", "constant", "far", "nearly constant"} {
		r := rand.New(rand.NewPCG(5, 5))
		x := make([]float64, 64)
		var s, q Sum
		if n := testing.AllocsPerRun(200, func() {
			spreads[name](r, x)
			s.Reset()
			q.Reset()
			s.AddSlice(x)
			q.AddSquares(x)
			_ = VarianceOf(&s, &q, len(x), false)
		}); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Parts hold the exact sum of what they take, and refuse what they would lose.
func TestPartsAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	refused := 0
	for range 2000 {
		var p Parts
		var want Sum
		for range 1 + r.IntN(40) {
			x := math.Ldexp(r.NormFloat64(), r.IntN(90))
			switch r.IntN(200) {
			case 0:
				x = []float64{math.Inf(1), math.NaN(), math.MaxFloat64}[r.IntN(3)]
			case 1:
				x = math.Ldexp(x, -300)
			}
			if before := p; p.Add(x) {
				want.Add(x)
			} else if refused++; before != p {
				t.Fatalf("%v refuse %v and become %v", before, x, p)
			}
		}
		if got, ok := p.Round(); ok && got != want.Round() {
			t.Fatalf("%v are %v, want %v", p, got, want.Round())
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
}
