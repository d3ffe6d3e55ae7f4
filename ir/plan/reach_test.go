package plan_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/plan"
)

// TestPickedByRank draws gathers that bring each rank the rows of a range that a number of the run
// moves. It compares what they bring with the rows that the numbers of the range name one by one.
func TestPickedByRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	brought, exact := 0, 0
	for range 20000 {
		rows, ranks, size := 1+r.IntN(20), 1+r.IntN(4), 1+r.IntN(3)
		at := int64(r.IntN(5*rows) - 2*rows)
		if r.IntN(20) == 0 {
			at = math.MaxInt64 - int64(r.IntN(9))
		}
		need := make([][]plan.Range, ranks)
		for q := range need {
			if from := r.IntN(rows); r.IntN(5) > 0 {
				need[q] = []plan.Range{{From: from, To: from + size + r.IntN(rows)}}
			}
		}
		attrs := op.MakeAttrs(op.Attr{Name: plan.Pick, Val: op.Int(size)}).With(plan.Reach, plan.ReachOf(need))
		low, high := math.MinInt, math.MaxInt
		if r.IntN(2) == 0 {
			low = r.IntN(rows)
			high = low + r.IntN(rows-low)
			attrs = attrs.With(plan.Within, op.Ints(low, high+1))
		}
		for to := range ranks {
			wants := map[int]bool{}
			for _, x := range need[to] {
				for k := x.From; k <= x.To-size; k++ {
					first := max(low, min(int(at)+k, high)) // which may overflow, as in a program
					for j := first; j < first+size; j++ {
						wants[((j%rows)+rows)%rows] = true
					}
				}
			}
			for owner := range ranks {
				lo, hi := plan.WindowOf(owner, ranks, rows, op.Val{})
				got := plan.Picked([]int64{at}, attrs, owner, to, ranks, rows)
				if got.From < lo || got.To > hi || got.From > got.To {
					t.Fatalf("rank %d gets the rows %v of rank %d, which has %d..%d", to, got, owner, lo, hi)
				}
				n := 0
				for i := lo; i < hi; i++ {
					if has := i >= got.From && i < got.To; wants[i] && !has {
						t.Fatalf("rank %d needs row %d of rank %d and gets %v: number %d, %s", to, i, owner, got, at, attrs)
					} else if wants[i] {
						n++
					}
				}
				if brought++; n == got.To-got.From {
					exact++
				}
			}
		}
	}
	if exact < brought*8/10 {
		t.Errorf("%d of %d ranges have no more rows than are needed", exact, brought)
	}
}
