package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/kernels/vec/machine"
)

// Rows of every length, read ahead or not, give what the plain loops give.
func TestSparseRows(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for trial := range 60 {
		rows, n := r.IntN(200), 1+r.IntN(500)
		ptr := []int64{int64(r.IntN(5))}
		for range rows {
			length := r.IntN(12)
			switch r.IntN(20) {
			case 0:
				length = 0
			case 1:
				length = r.IntN(700)
			}
			ptr = append(ptr, ptr[len(ptr)-1]+int64(length))
		}
		entries := ptr[rows] + int64(r.IntN(200))
		if trial%4 == 0 {
			entries = ptr[rows]
		}
		col, val := make([]int32, entries), make([]float64, entries)
		for k := range col {
			col[k], val[k] = int32(r.IntN(n)), r.NormFloat64()
		}
		xi, xf := make([]int64, n), make([]float64, n)
		for k := range xi {
			xi[k], xf[k] = r.Int64()-r.Int64(), math.Exp(20*r.NormFloat64())
		}
		start := []int64{0, math.MinInt64, math.MaxInt64}[trial%3]
		most, least := make([]int64, rows), make([]int64, rows)
		sum, dot := make([]float64, rows), make([]float64, rows)
		for i := range rows {
			most[i], least[i] = start, start
		}
		longest := MaxRowsI64(most, ptr, col, xi, slices.Max(xi))
		if l := MinRowsI64(least, ptr, col, xi, slices.Min(xi)); l != longest {
			t.Fatalf("longest rows %d and %d", longest, l)
		}
		SumRowsF64(sum, ptr, col, xf)
		DotRowsF64(dot, ptr, col, val, xf)
		odd := make([]float64, n) // numbers that an instruction treats otherwise than max and min do
		for k := range odd {
			odd[k] = []float64{xf[k], -xf[k], 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), -xf[k]}[r.IntN(7)]
			if trial%3 == 0 && r.IntN(40) == 0 {
				odd[k] = math.Float64frombits(0xfff8000000000000 | uint64(r.IntN(9)))
			}
		}
		for _, f := range []Extremes{{}, {Least: true}, {Plus: true, Start: math.Inf(-1)}, {Plus: true, Least: true, Start: math.Inf(1)}, {Start: -1}} {
			for _, v := range [][]float64{nil, val} {
				got := make([]float64, rows)
				n, l := f.F64(got, ptr, col, v, odd)
				long := int64(0)
				for i := range n {
					want := f.Start
					long = max(long, ptr[i+1]-ptr[i])
					for k := ptr[i]; k < ptr[i+1]; k++ {
						p := odd[col[k]]
						switch {
						case v != nil && f.Plus:
							p += v[k]
						case v != nil:
							p *= v[k]
						}
						if f.Least {
							want = min(want, p)
						} else {
							want = max(want, p)
						}
					}
					if want != want {
						want = math.NaN()
					}
					if math.Float64bits(want+0) != math.Float64bits(got[i]) {
						t.Fatalf("%+v: row %d of %d entries: %v, not %v", f, i, ptr[i+1]-ptr[i], got[i], want)
					}
				}
				if l != long || haveGather && n < rows && ptr[n+1]+machine.Ahead <= entries {
					t.Fatalf("%d of %d rows, the longest %d, not %d", n, rows, l, long)
				}
			}
		}
		want := int64(0)
		for i := range rows {
			a, b, s, d := start, start, 0.0, 0.0
			for k := ptr[i]; k < ptr[i+1]; k++ {
				a, b = max(a, xi[col[k]]), min(b, xi[col[k]])
				s, d = s+xf[col[k]], math.FMA(val[k], xf[col[k]], d)
			}
			want = max(want, ptr[i+1]-ptr[i])
			if most[i] != a || least[i] != b || sum[i] != s || dot[i] != d {
				t.Fatalf("row %d of %d entries: max %d %d, min %d %d, sum %v %v, dot %v %v", i, ptr[i+1]-ptr[i], most[i], a, least[i], b, sum[i], s, dot[i], d)
			}
		}
		if longest != want {
			t.Fatalf("the longest row is %d, not %d", longest, want)
		}
	}
}

// Rows of integers of 32 and 64 bits that end at the bound, that do not, and that start from beyond it.
func TestExtremeRows(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for trial := range 200 {
		n, spread := 1+r.IntN(300), []int64{2, 5, 1 << 20, 1 << 32}[trial%4]
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
		lo, hi := slices.Min(x), slices.Max(x)
		for name, f := range map[string]struct {
			run  func(out []int64) int64
			want []int64
		}{
			"max i64":               {func(out []int64) int64 { return MaxRowsI64(out, ptr, col, x, hi) }, most},
			"min i64":               {func(out []int64) int64 { return MinRowsI64(out, ptr, col, x, lo) }, least},
			"max i32":               {func(out []int64) int64 { return MaxRowsI32(out, ptr, col, narrow, hi) }, most},
			"min i32":               {func(out []int64) int64 { return MinRowsI32(out, ptr, col, narrow, lo) }, least},
			"max i64, far bound":    {func(out []int64) int64 { return MaxRowsI64(out, ptr, col, x, math.MaxInt64) }, most},
			"min i64, far bound":    {func(out []int64) int64 { return MinRowsI64(out, ptr, col, x, math.MinInt64) }, least},
			"max in plain Go":       {func(out []int64) int64 { return maxRows(out, ptr, col, narrow, hi) }, most},
			"min in plain Go":       {func(out []int64) int64 { return minRows(out, ptr, col, narrow, lo) }, least},
			"max in plain Go, wide": {func(out []int64) int64 { return maxRows(out, ptr, col, x, hi) }, most},
		} {
			got, longest := slices.Clone(starts), int64(0)
			for i := range rows {
				longest = max(longest, ptr[i+1]-ptr[i])
			}
			if l := f.run(got); l != longest || !slices.Equal(got, f.want) {
				t.Fatalf("%s of %v: %v, not %v; the longest row is %d, not %d", name, starts, got, f.want, l, longest)
			}
		}
	}
}

// Of no elements there is no extreme, and numbers that do not fit are seen.
func TestNarrow(t *testing.T) {
	if least, greatest := Narrow(nil, nil); least != math.MaxInt64 || greatest != math.MinInt64 {
		t.Errorf("of none: %d to %d", least, greatest)
	}
	for n := 1; n < 40; n++ {
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
			ptr[i+1] = ptr[i] + int64(i*i%7%3)
			if ptr[i] < ptr[i+1] {
				among = append(among, x[i])
			}
		}
		copied := make([]int32, n+1)
		copied[n] = 99
		least, greatest, leastOf, greatestOf := NarrowRows(copied[:n], x, ptr)
		if least != slices.Min(x) || greatest != slices.Max(x) || !slices.Equal(copied, dst) {
			t.Fatalf("%d elements with rows: %d to %d, %v", n, least, greatest, copied)
		}
		if len(among) == 0 {
			if leastOf != math.MaxInt64 || greatestOf != math.MinInt64 {
				t.Fatalf("of %d empty rows: %d to %d", n, leastOf, greatestOf)
			}
		} else if leastOf != slices.Min(among) || greatestOf != slices.Max(among) {
			t.Fatalf("of %v: %d to %d", among, leastOf, greatestOf)
		}
		marks, low := make([]uint64, 1), make([]int32, n)
		for i := range x {
			if ptr[i] < ptr[i+1] {
				marks[0] |= 1 << i
			}
		}
		if least, greatest := NarrowMarked(low, x, marks); least != leastOf || greatest != greatestOf {
			t.Fatalf("marked of %v: %d to %d, not %d to %d", x, least, greatest, leastOf, greatestOf)
		}
		for i, v := range x {
			if marks[0]>>i&1 != 0 && low[i] != int32(v) || dst[i] != int32(v) {
				t.Fatalf("element %d of %d: %d, not the low half of %d", i, n, dst[i], v)
			}
		}
	}
}
