//go:build linux && amd64

package amd64

import (
	"strconv"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestZeroAdded: 0 is added to what may be -0 alone, as a sum of the columns of a row adds it.
func TestZeroAdded(t *testing.T) {
	for body, additions := range map[string]int{
		"v2 = mul v0, v0\n v3 = add v2, v1":                                   0,
		"v2 = mul v0, v0\n v3 = add v2, v2\n v4 = add v3, v1":                 1,
		"v2 = sub v1, v0\n v3 = add v2, v1":                                   0,
		"v2 = neg v0\n v3 = mul v2, v0\n v4 = add v3, v1":                     1,
		"v2 = neg v0\n v3 = add v2, v1":                                       1,
		"v2 = abs v0\n v3 = add v2, v1":                                       1, // of a nan that signals it makes a quiet one
		"v2 = f64 -0\n v3 = mul v0, v0\n v4 = mul v3, v2\n v5 = add v4, v1":   1,
		"v2 = f64 -0\n v3 = mul v0, v0\n v4 = add v3, v2":                     1,
		"v2 = mul v0, v0\n v3 = add v1, v2\n v4 = f64 0.01\n v5 = add v3, v4": 2, // it comes second in sums
	} {
		for _, on := range []*target{avx512, avx2} {
			t.Run(string(on.name), func(t *testing.T) {
				n, err := loop.Parse(`
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = f64 0
  `+body+`
  store out0[i, 0] v`+strconv.Itoa(strings.Count(body, "=")+1)+`
} : (f64[%0.rows, 1])`, loop.Standard{})
				if err != nil {
					t.Fatal(err)
				}
				l := lowered(on, n, make([]Layout, 1), make([]Layout, 1), loop.FastLevels, Schedule{together: 1}, &workshop{})
				if got := l.stepsOf(VADDPD, 1) + l.stepsOf(VADDPD, 2); got != 2*additions { // whole vectors, and the rest
					t.Errorf("%d additions, want %d:\n%s", got, 2*additions, body)
				}
				m, x := need(t, on), value.New(types.F64, len(edges), 1)
				copy(x.F64, edges)
				checkEdges(t, m, on, n, x, []*value.Dense{value.New(types.F64, x.Rows, 1)}, []string{body})
			})
		}
	}
}

// TestPowerOfConstant: the first square of a power takes no instructions for the rest of the factor,
// which is 0.
func TestPowerOfConstant(t *testing.T) {
	for exponent, want := range map[string]int{"4": 4, "5": 6, "6": 6, "8": 7, "15": 13} {
		l := loweringOf(t, `
nest(%0: f64[]) (i: 0..%0.rows) {
  v0 = load %0[i, 0]
  v1 = f64 `+exponent+`
  v2 = call pow(v0, v1)
  store out0[i, 0] v2
} : (f64[%0.rows, 1])`, Schedule{together: 1})
		got := 0
		for _, s := range l.steps { // up to the other ways to make a power
			if s.jumps {
				break
			}
			if s.fused.is && s.fused.table == 0 {
				got++
			}
		}
		if got != want {
			t.Errorf("%d multiply-adds for x ^ %s, want %d", got, exponent, want)
		}
	}
}
