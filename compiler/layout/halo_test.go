package layout

import (
	"math/rand/v2"
	"testing"

	"flow/ir/plan"
)

// TestReadsThroughAnother draws a node that reads a matrix through another node. It compares what each
// rank needs of the matrix with what its rows read one by one. Reads are rows, stencils, reversals and
// elements (reshapes).
func TestReadsThroughAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	s := &spreader{ranks: 3}
	most := 0
	for range 20000 {
		rows := []int{4, 6, 8, 12}
		top, middle, below := rows[r.IntN(4)], rows[r.IntN(4)], rows[r.IntN(4)]
		a, b := drawnNeed(r, top), drawnNeed(r, middle)
		got := rowMap{needs: []need{b}}.of(rowReads{rows: rowsFor([]need{a}, s.windows(top), middle)}, middle, below, false)
		for rank, list := range got.rows {
			has, wants := map[int]bool{}, map[int]bool{}
			for k, x := range list {
				if x.From >= x.To || x.To > below || k > 0 && x.From <= list[k-1].To {
					t.Fatalf("rank %d gets the ranges %v of %d rows", rank, list, below)
				}
				for i := x.From; i < x.To; i++ {
					has[i] = true
				}
			}
			lo, hi := plan.WindowOf(rank, s.ranks, top, s.unit[top])
			for i := lo; i < hi; i++ {
				for j := range rowsRead(a, i, middle) {
					for k := range rowsRead(b, j, below) {
						if wants[k] = true; !has[k] {
							t.Fatalf("row %d needs row %d, through row %d of %d: %+v of %+v gives %v", i, k, j, middle, a, b, list)
						}
					}
				}
			}
			if len(has) == len(wants) {
				most++
			}
		}
	}
	if most < 3*20000*9/10 { // strides and reshapes leave no gaps
		t.Errorf("of 60000 lists %d have no more than is read", most)
	}
}

// drawnNeed draws what a node of so many rows reads of a matrix.
func drawnNeed(r *rand.Rand, rows int) need {
	n := sameRow(rows)
	switch r.IntN(4) {
	case 0:
		n.lo = r.IntN(5) - 2
		n.hi = n.lo + 1 + r.IntN(3)
	case 1:
		n.by, n.lo, n.hi = -1, rows-1, rows
	case 2:
		n.per = 2 + r.IntN(3)
		n.by = 1 + r.IntN(5)
		n.hi = n.by
	}
	if r.IntN(3) == 0 {
		n.from = r.IntN(rows)
		n.to = n.from + r.IntN(rows-n.from) + 1
	}
	return n
}

// rowsRead returns the rows of a matrix of so many that row i reads.
func rowsRead(n need, i, rows int) map[int]bool {
	out := map[int]bool{}
	if i < n.from || i >= n.to {
		return out
	}
	for k := n.by*i + n.lo; k < n.by*i+n.hi; k++ {
		if per := max(1, n.per); k >= 0 && k/per < rows {
			out[k/per] = true
		}
	}
	return out
}
