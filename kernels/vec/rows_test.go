package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows of integers that end at the bound, that do not, and that start from beyond it.
func TestExtremeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for trial := range 200 {
		n, spread := 1+r.IntN(300), []int64{2, 5, 1 << 20, 1 << 31}[trial%4]
		x, narrow := make([]int64, n), make([]int32, n)
		for k := range x {
			x[k] = min(r.Int64N(spread)-spread/2, math.MaxInt32)
		}
		if trial%7 == 0 {
			x[r.IntN(n)] = math.MinInt32
		}
		if least, greatest := Narrow(narrow, x); least != slices.Min(x) || greatest != slices.Max(x) {
			t.Fatalf("of %d to %d: %d to %d", slices.Min(x), slices.Max(x), least, greatest)
		}
		rows := r.IntN(60)
		ptr, col := []int64{0}, []int32(nil)
		for range rows {
			for range r.IntN(1 + r.IntN(100)) {
				col = append(col, int32(r.IntN(n)))
			}
			ptr = append(ptr, int64(len(col)))
		}
		for range r.IntN(200) {
			col = append(col, 0)
		}
		starts, most, least := make([]int64, rows), make([]int64, rows), make([]int64, rows)
		for i := range starts {
			starts[i] = []int64{0, math.MinInt64, math.MaxInt64, r.Int64N(spread) - spread/2}[r.IntN(4)]
			most[i], least[i] = starts[i], starts[i]
			for _, j := range col[ptr[i]:ptr[i+1]] {
				most[i], least[i] = max(most[i], x[j]), min(least[i], x[j])
			}
		}
		for name, f := range map[string]struct {
			run   func(out, ptr []int64, col, x []int32, bound int64)
			bound int64
			want  []int64
		}{
			"max": {MaxRows, slices.Max(x), most}, "min": {MinRows, slices.Min(x), least}, "max, far bound": {MaxRows, math.MaxInt32, most}, "min, far bound": {MinRows, math.MinInt32, least},
		} {
			got := slices.Clone(starts)
			if f.run(got, ptr, col, narrow, f.bound); !slices.Equal(got, f.want) {
				t.Fatalf("%s of %v: %v, not %v", name, starts, got, f.want)
			}
			got = slices.Clone(starts) // without entries to read ahead, rows run in plain Go
			if f.run(got, ptr, col[:ptr[rows]:ptr[rows]], narrow, f.bound); !slices.Equal(got, f.want) {
				t.Fatalf("%s of %v in plain Go: %v, not %v", name, starts, got, f.want)
			}
		}
	}
}

// Of no elements there is no extreme, and numbers that do not fit are seen.
func TestNarrow(t *testing.T) {
	if least, greatest := Narrow(nil, nil); least != math.MaxInt64 || greatest != math.MinInt64 {
		t.Errorf("of none: %d to %d", least, greatest)
	}
	for n := 1; n < 230; n++ {
		x, dst := make([]int64, n), make([]int32, n+1)
		for i := range x {
			x[i] = int64(i) - 7
		}
		x[n/2], x[n-1] = 1<<40, -1<<50
		dst[n] = 99
		if least, greatest := Narrow(dst[:n], x); least != slices.Min(x) || greatest != slices.Max(x) || dst[n] != 99 {
			t.Fatalf("%d elements: %d to %d, %d after them", n, least, greatest, dst[n])
		}
		ptr, among := make([]int64, n+1), []int64(nil)
		for i := range x {
			if ptr[i+1] = ptr[i] + int64(i*i%7%3); i/64%2 == 1 { // a full word
				ptr[i+1]++
			}
			if ptr[i] < ptr[i+1] {
				among = append(among, x[i])
			}
		}
		leastOf, greatestOf := int64(math.MaxInt64), int64(math.MinInt64)
		if len(among) > 0 {
			leastOf, greatestOf = slices.Min(among), slices.Max(among)
		}
		marks, low := make([]uint64, (n+63)/64), make([]int32, n)
		for i := range x {
			if ptr[i] < ptr[i+1] {
				marks[i/64] |= 1 << (i % 64)
			}
		}
		if least, greatest := NarrowMarked(low, x, marks); least != leastOf || greatest != greatestOf {
			t.Fatalf("marked of %v: %d to %d, not %d to %d", x, least, greatest, leastOf, greatestOf)
		}
		for i, v := range x {
			if marks[i/64]>>(i%64)&1 != 0 && low[i] != int32(v) || dst[i] != int32(v) {
				t.Fatalf("element %d of %d: %d, not the low half of %d", i, n, dst[i], v)
			}
		}
	}
}
