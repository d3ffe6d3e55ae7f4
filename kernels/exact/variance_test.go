package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// varianceOracle is the variance in fractions, of squares as AddSquares takes them, rounded once to
// either type.
func varianceOracle(x []float64) (float64, float32) {
	sum, squares := new(big.Rat), new(big.Rat)
	for _, v := range x {
		h, l := Square(v)
		for _, p := range []struct {
			to *big.Rat
			v  float64
		}{{sum, v}, {squares, h}, {squares, l}} {
			p.to.Add(p.to, new(big.Rat).SetFloat64(p.v))
		}
	}
	n := new(big.Rat).SetInt64(int64(len(x)))
	sum.Quo(sum, n)
	squares.Quo(squares, n)
	squares.Sub(squares, sum.Mul(sum, sum))
	if squares.Sign() < 0 {
		squares.SetInt64(0)
	}
	f, _ := squares.Float64()
	g, _ := squares.Float32()
	return f, g
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
