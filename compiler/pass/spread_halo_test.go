package pass

import (
	"math/rand/v2"
	"testing"

	"flow/ir/plan"
)

// TestReadsThroughAnother draws a node that reads a matrix through another node. It compares what each rank
// needs of the matrix with what its rows read one by one. Reads are rows, stencils, reversals and elements
// (reshapes).
func TestReadsThroughAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	known := 0
	for range 20000 {
		rows := []int{4, 6, 8, 12}
		top, middle, below := rows[r.IntN(4)], rows[r.IntN(4)], rows[r.IntN(4)]
		a, b := drawnNeed(r, top, middle), drawnNeed(r, middle, below)
		got := rowReads{needs: []plan.Need{a}}.through(rowReads{needs: []plan.Need{b}}, middle)
		if got.whole {
			continue
		}
		if known++; a.Per > 1 || b.Per > 1 {
			known++
		}
		const ranks = 3
		for rank := range ranks {
			has := make([]bool, below)
			for _, s := range plan.Needed(got.needs, rank, ranks, below) {
				for i := s.From; i < s.To; i++ {
					has[i] = true
				}
			}
			lo, hi := plan.WindowOf(rank, ranks, top, a.Unit)
			for i := lo; i < hi; i++ {
				for j := range rowsRead(a, i, middle) {
					for k := range rowsRead(b, j, below) {
						if !has[k] {
							t.Fatalf("row %d needs row %d, through row %d of %d: %+v of %+v gives %+v", i, k, j, middle, a, b, got.needs)
						}
					}
				}
			}
		}
	}
	if known < 1000 {
		t.Errorf("only %d reads are known", known)
	}
}

// drawnNeed draws what a node of so many rows reads of a matrix of below rows.
func drawnNeed(r *rand.Rand, rows, below int) plan.Need {
	n := ownRows(rows)
	switch r.IntN(4) {
	case 0:
		n.Lo = r.IntN(5) - 2
		n.Hi = n.Lo + 1 + r.IntN(3)
	case 1:
		n.By, n.Lo, n.Hi = -1, rows-1, rows
	case 2:
		n.Per = 2 + r.IntN(3)
		n.By = 1 + r.IntN(5)
		n.Hi = n.By
	}
	if r.IntN(3) == 0 {
		n.From = r.IntN(rows)
		n.To = n.From + r.IntN(rows-n.From) + 1
	}
	return n
}

// rowsRead returns the rows of a matrix of so many that row i reads.
func rowsRead(n plan.Need, i, rows int) map[int]bool {
	out := map[int]bool{}
	if i < n.From || i >= n.To {
		return out
	}
	for k := n.By*i + n.Lo; k < n.By*i+n.Hi; k++ {
		if per := max(1, n.Per); k >= 0 && k/per < rows {
			out[k/per] = true
		}
	}
	return out
}
