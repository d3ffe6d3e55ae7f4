package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
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

// Lists of any length, disjoint, equal or apart, are merged to their union, with the values of both; and counted as
// loops that branch count them.
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
		want := joined(nil, [][]int32{a, b})
		seen := newBitset(2 * n)
		if got := seen.countMet(a, b); got != countMet(a, b) || len(a)+len(b)-got != len(want) || slices.ContainsFunc(seen, func(w uint64) bool { return w != 0 }) {
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

// Arguments that share the memory that says where their elements are give what those give that do not, whole or a range
// of rows.
func TestSharedPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for trial := range 60 {
		e := elemsUnderTest[r.IntN(4)]
		a := anySparse(r, e, 1+r.IntN(20), r.IntN(30))
		if trial%10 == 0 {
			a = anySparse(r, e, 300, 12)
		}
		b := *a // other values
		b.F64, b.F32, b.I64 = slices.Clone(a.F64), slices.Clone(a.F32), slices.Clone(a.I64)
		slices.Reverse(b.F64)
		slices.Reverse(b.F32)
		slices.Reverse(b.I64)
		moved := b // row pointers of its own
		moved.Ptr = slices.Clone(b.Ptr)
		apart := b // the same places in other memory
		apart.Col = slices.Clone(b.Col)
		if a.NNZ() > 0 && (!a.SamePlaces(&b) || !a.SamePlaces(&moved) || a.SamePlaces(&apart) || a.Rows > 1 && a.SamePlaces(a.View(0, a.Rows-1))) {
			t.Fatalf("SamePlaces is wrong of %v", a)
		}
		for _, d := range rows(t) {
			switch d.For {
			case "add", "sub", "mul", "div", "min", "max", "ne", "and", "or", "xor", "ifelse":
			default:
				continue
			}
			for _, other := range []*value.CSR{a, &b, &moved, &apart} {
				in := []value.Value{a, other, a}[:len(d.Args)]
				if d.For == "ifelse" && e != types.Bool {
					continue
				}
				checkSparse(t, d, nil, in)
			}
		}
	}
}
