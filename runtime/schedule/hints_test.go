package schedule_test

import (
	"testing"

	"flow/runtime/schedule"
)

// A rank asks the near rank with most work left, then a distant one, and no rank whose work is done by
// now. A hint is used once, and a later hint replaces an earlier one about the same rank.
func TestHints(t *testing.T) {
	var h schedule.Hints
	all := func(int32) bool { return true }
	near := func(rank int32) bool { return rank < 5 }
	learn := func(rank int32, left, at float64) { h.Learn(schedule.Hint{Rank: rank, Left: left, At: at}) }
	victim := func(now float64, want int32) {
		t.Helper()
		if got := h.Victim(now, 0.5, near, all); got != want {
			t.Errorf("at %v rank %d is asked, not %d; hints %v", now, got, want, h)
		}
	}
	victim(0, -1)
	learn(7, 9, 0)
	learn(2, 3, 0)
	learn(3, 4, 0)
	victim(1, 3)
	victim(1, 2)
	victim(1, 7)
	victim(1, -1)

	learn(2, 3, 0)
	learn(7, 9, 0)
	victim(2.75, 7) // a quarter of a second of rank 2 is too little
	victim(2.75, -1)
	victim(2.25, 2)

	learn(4, 9, 0)
	learn(4, 0, 1) // it has nothing left
	victim(1, -1)

	for rank := range int32(5) { // the one that promises least has no room
		learn(rank, float64(10-rank), 0)
	}
	if best := h.Best(1, func(rank int32) bool { return rank > 0 }); best.Rank != 1 {
		t.Errorf("the best hint of others than rank 0 is %v", best)
	}
	for _, want := range []int32{0, 1, 2, 4, -1} {
		victim(1, want)
	}
}
