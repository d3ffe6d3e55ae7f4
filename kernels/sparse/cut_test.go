package sparse

import (
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestCutFilled: units follow each other from the first row with entries of any matrix to the last
// one.
func TestCutFilled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		rows := 1 + r.IntN(60)
		of := make([]*value.CSR, 1+r.IntN(3))
		first, last := rows, 0
		for k := range of {
			m := value.NewCSR(types.Bool, rows, 4, 0)
			lo := r.IntN(rows)
			hi := lo + r.IntN(rows-lo+1)
			for i := range rows {
				if m.Ptr[i+1] = m.Ptr[i]; lo <= i && i < hi && r.IntN(3) > 0 {
					n := 1 + r.IntN(4)
					m.Ptr[i+1] += int64(n)
					for j := range n {
						m.Col = append(m.Col, int32(j))
					}
					first, last = min(first, i), max(last, i+1)
				}
			}
			of[k] = m
		}
		units := 1 + r.IntN(9)
		c := cutFilled(units, of...)
		if first > last {
			first, last = 0, 0 // no entry
		}
		if from, to := c.begin(0), c.begin(units); from != first || to != last {
			t.Fatalf("%d units are rows %d..%d of %d, want %d..%d", units, from, to-1, rows, first, last-1)
		}
		for u := range units {
			if c.begin(u) > c.begin(u+1) {
				t.Fatalf("unit %d begins at row %d and the next one at %d", u, c.begin(u), c.begin(u+1))
			}
		}
	}
}
