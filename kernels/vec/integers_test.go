//go:build amd64

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Integers become floats as in the language, and selections give what they select, at every length.
func TestSelected(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1}
	for n := range 70 {
		a, b := make([]float64, n), make([]float64, n)
		i, j := make([]int64, n), make([]int64, n)
		c := make([]uint8, n)
		for k := range n {
			a[k], b[k] = special[r.IntN(len(special))], special[r.IntN(len(special))]
			i[k], j[k] = r.Int64()>>r.IntN(63)-3, r.Int64N(5)-3
			if k%3 == 0 {
				i[k] = j[k]
			}
			if k%11 == 0 {
				i[k], j[k] = math.MinInt64+int64(k%2), math.MaxInt64
			}
			c[k] = uint8(r.IntN(2))
		}
		sel, wide, ints64 := make([]float64, n), make([]float64, n), make([]int64, n)
		Select(sel, c, a, b)
		Select(ints64, c, i, j)
		Convert(wide, i)
		for k := range n {
			x, y := b[k], j[k]
			if c[k] == 1 {
				x, y = a[k], i[k]
			}
			if math.Float64bits(sel[k]) != math.Float64bits(x) || ints64[k] != y || wide[k] != float64(i[k]) {
				t.Fatalf("element %d of %d: selected %v and %d, want %v and %d; %d as a float is %v", k, n, sel[k], ints64[k], x, y, i[k], wide[k])
			}
		}
	}
}

// Both instruction sets give the bits of the plain loops.
func TestNarrowIntegers(t *testing.T) {
	wide, narrow := haveAVX512, haveAVX2
	defer func() { haveAVX512, haveAVX2 = wide, narrow }()
	haveAVX512 = false
	TestSelected(t)
	haveAVX2 = false
	TestSelected(t)
}
