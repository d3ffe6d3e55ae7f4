package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// With its moves each rank has the mean. Ranks with more than it give to ranks with less.
func TestMoves(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		totals := make([]float64, n)
		for i := range totals {
			totals[i] = math.Floor(r.ExpFloat64() * 100)
		}
		mean, have := meanOf(totals), append([]float64{}, totals...)
		list := Moves(totals)
		for k, m := range list {
			if m.Work <= 0 || totals[m.From] <= mean || totals[m.To] >= mean {
				t.Errorf("%v: %+v, and the mean is %g", totals, m, mean)
			}
			if k > 0 && (m.From < list[k-1].From || m.To < list[k-1].To) {
				t.Errorf("%v: moves are not in the order of ranks: %+v", totals, list)
			}
			have[m.From] -= m.Work
			have[m.To] += m.Work
		}
		for i := range have {
			if math.Abs(have[i]-mean) > 1e-9*(1+mean) {
				t.Errorf("%v: rank %d has %g after all moves, not %g", totals, i, have[i], mean)
			}
		}
		if len(list) >= max(n, 1) {
			t.Errorf("%d moves among %d ranks", len(list), n)
		}
	}
}

// Parts takes each bin at most once, and almost the work of each move, but no dear bin.
func TestMovedParts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		costs := make([]float64, 500)
		sum := 0.
		for i := range costs {
			costs[i] = r.Float64()
			sum += costs[i]
		}
		costs[499-r.IntN(20)] = 40
		gives := []Move{{0, 1, sum / 8}, {0, 2, sum / 100}, {0, 5, sum / 3}}
		taken := make([]bool, len(costs))
		for k, spans := range Parts(gives, sum, costs) {
			work := 0.
			for j, x := range spans {
				if x.From >= x.Past || j > 0 && x.Past > spans[j-1].From {
					t.Fatalf("spans %v", spans)
				}
				for i := x.From; i < x.Past; i++ {
					if taken[i] || costs[i] > 2*sum/100 {
						t.Errorf("bin %d of cost %g moves, before: %v", i, costs[i], taken[i])
					}
					taken[i] = true
					work += costs[i]
				}
			}
			if work > gives[k].Work || work < gives[k].Work-.1 {
				t.Errorf("work of %g moves, %g wanted", work, gives[k].Work)
			}
		}
	}
}

func TestStaying(t *testing.T) {
	spans := [][2]int{{2, 4}, {4, 5}, {8, 12}}
	for _, c := range []struct {
		lo, hi int
		want   [][2]int
	}{
		{0, 10, [][2]int{{0, 2}, {5, 8}}}, {3, 5, nil}, {4, 7, [][2]int{{5, 7}}}, {9, 20, [][2]int{{12, 20}}}, {6, 6, nil}, {20, 22, [][2]int{{20, 22}}},
	} {
		var got [][2]int
		Staying(c.lo, c.hi, len(spans), func(k int) (lo, hi int) { return spans[k][0], spans[k][1] }, func(lo, hi int) { got = append(got, [2]int{lo, hi}) })
		if !slices.Equal(got, c.want) {
			t.Errorf("of %d..%d stay %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}
