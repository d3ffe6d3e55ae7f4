package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/kernels/vec"
)

// columnSum is the sum of x by a Column whose bias suits elements up to greatest.
func columnSum(x []float64, greatest float64) (float64, bool) {
	lanes := 2 * vec.PassLanes()
	n := (len(x) + lanes - 1) / lanes
	c := Column{State: new(vec.ColumnState)}
	c.Begin(Exponent(greatest, n))
	buf := make([]float64, n*lanes)
	copy(buf, x)
	for ; len(buf) > 0; buf = buf[lanes:] {
		c.Add(buf[:lanes])
	}
	return c.Round(n)
}

// What a column vouches for is the exact sum rounded once, with a bias that is right, too small or too large.
func TestColumnAgainstBig(t *testing.T) {
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(21, uint64(len(name))))
		vouched := 0
		const rounds = 600
		for round := range rounds {
			x := make([]float64, 1+r.IntN(700))
			greatest := 0.0
			for i := range x {
				x[i] = gen(r)
				greatest = max(greatest, math.Abs(x[i]))
			}
			if round%4 == 3 { // cancel all of it, or all but one
				for i := 1; i < len(x); i += 2 {
					x[i] = -x[i-1]
				}
				r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			}
			scale := []float64{1, 1, 0x1p-6, 0x1p9}[r.IntN(4)]
			got, ok := columnSum(x, min(greatest*scale, math.MaxFloat64))
			if !ok {
				continue
			}
			vouched++
			if want, _ := oracle(x); !same(got, want) {
				t.Fatalf("%s, %d elements, round %d: %v, want %v", name, len(x), round, got, want)
			}
		}
		if (name == "uniform" || name == "normal") && vouched < rounds/2 {
			t.Errorf("%s: only %d of %d sums are vouched for", name, vouched, rounds)
		}
	}
}

// Ties, and sums that differ from one by the least number there is, are refused or right.
func TestColumnTies(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	exactly := 0
	for range 20000 {
		x := []float64{1, 0x1p-53, math.Ldexp(float64(r.IntN(3)-1), -54-r.IntN(1000))}
		for range r.IntN(40) { // terms that cancel
			v := math.Ldexp(r.NormFloat64(), -r.IntN(60))
			x = append(x, v, -v)
		}
		for range r.IntN(3) {
			x[0] = math.Nextafter(x[0], 2)
		}
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		got, ok := columnSum(x, 4)
		if want, _ := oracle(x); ok && !same(got, want) {
			t.Fatalf("%v: %v, want %v", x, got, want)
		}
		if ok {
			exactly++
		}
	}
	for _, x := range [][]float64{{0, 0}, {math.Copysign(0, -1)}, {3, -3}, {1, 2, 3, -6}, {0.5, 0.25}} {
		got, ok := columnSum(x, 8)
		if want, _ := oracle(x); !ok || !same(got, want) {
			t.Errorf("%v: %v, %v, want %v", x, got, ok, want)
		}
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64} {
		if _, ok := columnSum([]float64{1, v, 2}, 1); ok {
			t.Errorf("%v is summed", v)
		}
	}
	t.Logf("%d of 20000 near ties are vouched for", exactly)
}
