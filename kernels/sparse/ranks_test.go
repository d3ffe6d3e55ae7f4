package sparse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// partOf returns a matrix with about per entries in each row of some; the other rows are empty.
func partOf(rng *rand.Rand, e types.Elem, rows, per int, some func(i int) bool) *value.CSR {
	lengths := make([]int32, rows)
	for i := range lengths {
		if some(i) {
			lengths[i] = rng.Int32N(int32(2*per + 1))
		}
	}
	m := value.NewCSR(e, rows, 1<<20, value.Entries(lengths))
	m.SetLengths(lengths)
	for k := range m.Col {
		if m.Col[k] = rng.Int32N(1 << 20); e != types.Bool {
			m.SetEntry(k, value.F64(float64(1+rng.IntN(9))).Convert(e))
		}
	}
	return m
}

// TestJoinedRows: each row has the entries of all parts, in the order of ranks, whether few rows or
// most have entries from several, and however long they are.
func TestJoinedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, e := range []types.Elem{types.Bool, types.F64, types.F32, types.I64} {
		for trial := range 60 {
			rows, lo, ranks := 1+rng.IntN(200), rng.IntN(3)*17, 1+rng.IntN(4)
			parts := make([]*value.CSR, ranks)
			for r := range parts {
				every := 1 + rng.IntN(30)
				parts[r] = partOf(rng, e, rows, []int{1, 6, 40}[trial%3], func(i int) bool { return (i+r)%every < 1+every/3 })
			}
			got := joinedRows(types.SparseOf(e, lo+rows+trial%5, 1<<20), parts, lo, rows, false)
			for i := range got.Rows {
				var cols []int32
				var values []value.Scalar
				for _, m := range parts {
					if 0 <= i-lo && i-lo < rows {
						list, from := m.Row(i - lo)
						cols = append(cols, list...)
						for k := range list {
							values = append(values, m.Entry(from+k))
						}
					}
				}
				list, from := got.Row(i)
				if !slices.Equal(list, cols) {
					t.Fatalf("%v, trial %d, row %d: columns %v, not %v", e, trial, i, list, cols)
				}
				for k, v := range values {
					if got.Entry(from+k) != v {
						t.Fatalf("%v, trial %d, row %d: value %d is %v, not %v", e, trial, i, k, got.Entry(from+k), v)
					}
				}
			}
		}
	}
}

// TestTouched: the lists of a rank name the columns with entries, each in the row of the rank that has
// it, where ranks begin anywhere in a word of 64 columns.
func TestTouched(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for trial := range 60 {
		n, ranks := 3+rng.IntN(400), 2+rng.IntN(3)
		begin := make([]int, ranks+1)
		for r := range ranks - 1 {
			begin[r+1] = begin[r] + rng.IntN(n-begin[r])
		}
		begin[ranks] = n
		rank := rng.IntN(ranks)
		lo, hi := begin[rank], begin[rank+1]
		m := value.NewCSR(types.Bool, n, n, 0)
		for i := range n {
			for j := range int32(n) {
				if lo <= i && i < hi && rng.IntN(1+4*trial) < 2 {
					m.Col = append(m.Col, j)
				}
			}
			m.Ptr[i+1] = int64(len(m.Col))
		}
		c := &op.Call{In: []value.Value{m}, Type: types.SparseOf(types.Bool, ranks, n), Lo: lo, Hi: hi,
			Attrs: op.MakeAttrs(op.Attr{Name: "of", Val: op.Ints(begin...)}, op.Attr{Name: "units", Val: op.Ints(begin...)})}
		if lo == hi {
			continue // means all rows
		}
		if err := touched(c); err != nil {
			t.Fatal(err)
		}
		named := slices.Compact(slices.Sorted(slices.Values(m.Col)))
		for r := range ranks {
			var want []int32
			for _, j := range named {
				if r != rank && begin[r] <= int(j) && int(j) < begin[r+1] {
					want = append(want, j)
				}
			}
			if got, _ := c.Out.(*value.CSR).Row(r); !slices.Equal(got, want) {
				t.Fatalf("trial %d, rows %v, rank %d needs %v of rank %d, not %v", trial, begin, rank, got, r, want)
			}
		}
	}
}

// BenchmarkJoinedRows joins the parts of two ranks: of a graph in which most rows have entries from one
// rank alone, and of one in which they do not.
func BenchmarkJoinedRows(b *testing.B) {
	const rows = 180_000
	for _, every := range []int{20, 2} {
		rng := rand.New(rand.NewPCG(1, 2))
		parts := []*value.CSR{partOf(rng, types.Bool, rows, 3, func(int) bool { return true }), partOf(rng, types.Bool, rows, 3, func(i int) bool { return i%every == 0 })}
		b.Run(fmt.Sprint(every), func(b *testing.B) {
			for b.Loop() {
				joinedRows(types.SparseOf(types.Bool, 2*rows, 1<<20), parts, 0, rows, false)
			}
		})
	}
}
