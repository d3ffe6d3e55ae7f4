package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// ascending is some columns of n, each with that probability.
func ascending(r *rand.Rand, n int, share float64) (list []int32) {
	for j := range n {
		if r.Float64() < share {
			list = append(list, int32(j))
		}
	}
	return list
}

// Lists of any length, disjoint, equal or apart, are merged to their union, with the values of
// both; and counted as loops that branch count them.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	shares := []float64{0, 0.01, 0.1, 0.5, 0.95, 1}
	for trial := range 600 {
		n := 1 + r.IntN(150)
		a, b := ascending(r, n, shares[r.IntN(6)]), ascending(r, n, shares[r.IntN(6)])
		if trial%5 == 0 { // one after the other
			for k := range b {
				b[k] += int32(n)
			}
		}
		if trial%7 == 0 {
			b = slices.Clone(a)
		}
		want := slices.Concat(a, b)
		slices.Sort(want)
		want = slices.Compact(want)
		if got := joined(make([]int32, 0, len(want)), a, b); !slices.Equal(got, want) {
			t.Fatalf("%v and %v become %v, not %v", a, b, got, want)
		}
		if got := met(nil, a, b); len(got) != len(a)+len(b)-len(want) || slices.ContainsFunc(got, func(j int32) bool { return !slices.Contains(a, j) || !slices.Contains(b, j) }) {
			t.Fatalf("%v and %v have %v in common", a, b, got)
		}
		seen := newBitset(2 * n)
		if got := seen.countMet(a, b); len(a)+len(b)-got != len(want) || slices.ContainsFunc(seen, func(w uint64) bool { return w != 0 }) {
			t.Fatalf("%v and %v have %d in common", a, b, got)
		}
		x, y := make([]uint64, len(a)), make([]uint64, len(b))
		for k := range x {
			x[k] = r.Uint64() | 1
		}
		for k := range y {
			y[k] = r.Uint64() | 1
		}
		dst, u, v := make([]int32, len(want)+1), make([]uint64, len(want)+1), make([]uint64, len(want)+1)
		for k := range u {
			dst[k], u[k], v[k] = -7, 7, 7
		}
		merge(dst[:len(want)], a, b, x, y, u[:len(want)], v[:len(want)])
		if !slices.Equal(dst[:len(want)], want) || dst[len(want)] != -7 || u[len(want)] != 7 || v[len(want)] != 7 {
			t.Fatalf("%v and %v become %v, not %v", a, b, dst, want)
		}
		for k, j := range want {
			p, q := uint64(0), uint64(0)
			if at, found := slices.BinarySearch(a, j); found {
				p = x[at]
			}
			if at, found := slices.BinarySearch(b, j); found {
				q = y[at]
			}
			if u[k] != p || v[k] != q {
				t.Fatalf("%v and %v, column %d: %d and %d, not %d and %d", a, b, j, u[k], v[k], p, q)
			}
		}
	}
}
