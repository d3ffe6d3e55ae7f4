package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// forceCase is the operands of a pass of forces.
type forceCase struct {
	columns, lanes      [3][]float64
	softening, strength []float64
	back                bool
}

// run is the pass's chains.
func (c *forceCase) run(rows int) (chains [3][ForceLanes]float64, sure bool) {
	f := Forces{Softening: unsafe.Pointer(&c.softening[0]), Strength: unsafe.Pointer(&c.strength[0]), Back: c.back}
	if len(c.strength) > 1 {
		f.Step = 8
	}
	for k := range 3 {
		f.Columns[k], f.Lanes[k], f.Chains[k] = unsafe.Pointer(&c.columns[k][0]), unsafe.Pointer(&c.lanes[k][0]), unsafe.Pointer(&chains[k][0])
	}
	sure = f.Run(rows)
	return chains, sure
}

// want is what the chain of that coordinate is in a lane.
func (c *forceCase) want(rows, coordinate, lane int) (chain float64) {
	for j := range rows {
		var d [3]float64
		for k := range d {
			if d[k] = c.columns[k][j] - c.lanes[k][lane]; c.back {
				d[k] = c.lanes[k][lane] - c.columns[k][j]
			}
		}
		r2 := float64(float64(d[0]*d[0])+float64(d[1]*d[1])) + float64(d[2]*d[2])
		r2 += c.softening[lane%8]
		w := c.strength[j%len(c.strength)] / float64(r2*math.Sqrt(r2))
		chain = math.FMA(w, d[coordinate], chain)
	}
	return chain
}

// Chains have the bits of their definition wherever the pass is sure of them, and it is sure of all
// ordinary ones.
func TestForces(t *testing.T) {
	if !haveAVX512 {
		t.Skip("no AVX-512")
	}
	if !HaveForces() {
		t.Fatal("this processor's roots by multiply-adds are not right near the middles")
	}
	r := rand.New(rand.NewPCG(17, 4))
	unsure := 0
	for round := range 400 {
		rows := ForceRows + r.IntN(60)
		odd := round%4 == 3
		draw := func(n, scale int) []float64 {
			x := make([]float64, n)
			for i := range x {
				if x[i] = math.Ldexp(r.NormFloat64(), scale); odd && r.IntN(200) == 0 {
					x[i] = []float64{0, math.Copysign(0, -1), math.Inf(1), math.NaN(), 1e-200, 1e200, 5e-324, math.MaxFloat64}[r.IntN(8)]
				}
			}
			return x
		}
		c := forceCase{softening: make([]float64, 8), strength: draw([]int{1, rows}[round%2], r.IntN(60)-30), back: round%3 == 0}
		Fill(c.softening, []float64{1e-2, 1, 1e-12}[r.IntN(3)])
		scale := r.IntN(40) - 20
		if round%8 == 1 { // terms below the least number, and zeros of either sign
			scale = -12
			Fill(c.softening, 1)
			Fill(c.strength, 0x1p-1060)
		}
		for k := range 3 {
			c.columns[k], c.lanes[k] = draw(rows, scale), draw(ForceLanes, scale)
			copy(c.lanes[k], c.columns[k][:min(rows, 5)]) // itself, at no distance
		}
		got, sure := c.run(rows)
		if !sure {
			if unsure++; !odd {
				t.Fatalf("round %d: ordinary forces are not sure", round)
			}
			continue
		}
		for k := range got {
			for lane, v := range got[k] {
				if want := c.want(rows, k, lane); math.Float64bits(v) != math.Float64bits(want) && !(v != v && want != want) {
					t.Fatalf("%s: coordinate %d of lane %d is %x, want %x", fmt.Sprint("round ", round, ", ", rows, " rows"), k, lane, v, want)
				}
			}
		}
	}
	if unsure == 0 || unsure > 99 {
		t.Errorf("%d rounds of 100 with odd numbers were not sure", unsure)
	}
}
