//go:build linux && amd64

package amd64

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// TestQuotients divides by what no lane changes: an operand, an element of each row, a constant, a
// result of each row, and what an inner loop carries. Quotients of hard operands are among them:
// those next to the middle of two numbers, at the ends of the ranges in which no division is needed,
// and special ones.
func TestQuotients(t *testing.T) {
	m := need(t, avx512)
	r := rand.New(rand.NewPCG(3, 5))
	number := func() float64 {
		switch r.IntN(6) {
		case 0:
			return edges[r.IntN(len(edges))]
		case 1: // near the ends
			e := []int{leastDivisor, mostDivisor, leastDividend, mostDividend}[r.IntN(4)]
			return math.Ldexp(1+float64(r.IntN(3)-1)*0x1p-52, e) * float64(1-2*r.IntN(2))
		case 2: // few bits, or all of them
			return math.Ldexp(2-float64(r.IntN(1000))*0x1p-52, r.IntN(20)-10)
		case 3:
			return float64(r.IntN(2000) - 1000)
		}
		return math.Ldexp(1+r.Float64(), r.IntN(60)-30) * float64(1-2*r.IntN(2))
	}
	for range 120 {
		x, s := value.New(types.F64, 5, 61), value.New(types.F64, 5, 1)
		for i := range s.F64 {
			s.F64[i] = number()
		}
		for i := range x.F64 {
			if x.F64[i] = number(); r.IntN(3) == 0 { // a rounded product: a quotient near a number, or near a middle
				q := math.Ldexp(1+math.Floor(r.Float64()*0x1p53)*0x1p-53, r.IntN(20))
				x.F64[i] = q * s.F64[i/61]
			}
		}
		constant := s.F64[0]
		for k, body := range []string{
			"v0 = load %0[i, j]\nv1 = load %1\nv2 = div v0, v1",
			"v0 = load %0[i, j]\nv1 = load %2[i, 0]\nv2 = div v0, v1",
			fmt.Sprintf("v0 = load %%0[i, j]\nv1 = f64 %v\nv2 = div v0, v1", constant),
			"v0 = load %0[i, j]\nv1 = load %2[i, 0]\nv2 = sqrt v1\nv3 = div v0, v2",
			"v0 = load %0[i, j]\nv1 = load %2[i, 0]\nv2 = lt v0, v1\nv3 = if v2 {\nv4 = div v0, v1\nv5 = div v4, v1\nyield v5\n} else {\nv6 = div v1, v0\nyield v6\n}",
			"v0 = load %0[i, j]\nv1 = load %2[i, 0]\nv2, v3 = for q: 0..3 (v4 = v0, v5 = v1) {\nv6 = div v4, v5\nv7 = div v4, v1\nv8 = add v6, v7\nv9 = div v8, v0\nnext v9, v8\n}",
		} {
			result := "v3"
			if k < 3 {
				result = "v2"
			}
			text := fmt.Sprintf("nest(%%0: f64[], %%1: f64, %%2: f64[]) (i: 0..%%0.rows, j: 0..%%0.cols) {\n%s\nstore out0[i, j] %s\n} : (f64[%%0.rows, %%0.cols])", body, result)
			n, err := loop.Parse(text, loop.Standard{})
			if err != nil {
				if strings.Contains(body, "f64 ") { // the text of a special number
					continue
				}
				t.Fatalf("%v\n%s", err, text)
			}
			in := []value.Value{x, value.F64(s.F64[0]), s}
			out := value.New(types.F64, x.Rows, x.Cols)
			f, err := compile(m, avx512, n, in, []*value.Dense{out})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			f.run(0, x.Rows, 0, x.Cols)
			want, err := n.Eval(in, loop.Env{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range x.Rows {
				for j := range x.Cols {
					if got, y := out.At(i, j), want[0].(*value.Dense).At(i, j); !got.Same(y) {
						t.Fatalf("%v and %v give %v, want %v\n%s", x.At(i, j), s.At(i, 0), got, y, text)
					}
				}
			}
		}
	}
}

// TestDivisionByConstant: no vector is divided by a known integer, and a rest and a quotient of the
// same numbers share what comes before them.
func TestDivisionByConstant(t *testing.T) {
	n, err := loop.Parse("nest(%0: i64[]) (i: 0..%0.rows) {\nv0 = load %0[i, 0]\nv1 = i64 10\nv2 = mod v0, v1\nv3 = idiv v0, v1\nv4 = xor v2, v3\nstore out0[i, 0] v4\n} : (i64[%0.rows, 1])", loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	l := lowered(avx512, n, []Layout{{Unit: true}}, []Layout{{Unit: true}}, loop.FastLevels, Schedule{together: 1}, &workshop{})
	for op, most := range map[Op]int{VDIVPD: 0, VRNDSCALEPD: 0, VSUBPD: 2} {
		count := 0
		for depth := range 4 {
			count += l.stepsOf(op, depth)
		}
		if count > 2*most { // the loop over whole vectors and that over the rest
			t.Errorf("%d of %s, expected at most %d", count, forms[op].name, 2*most)
		}
	}
}
