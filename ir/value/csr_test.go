package value

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"flow/ir/types"
)

// Some rows of a range of rows: the others are empty.
func TestCSROnly(t *testing.T) {
	for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
		m := NewCSR(e, 7, 3, 9)
		copy(m.Ptr, []int64{0, 2, 2, 5, 6, 8, 9, 9})
		copy(m.Col, []int32{0, 2, 0, 1, 2, 1, 0, 2, 1})
		for at := range m.Col {
			m.SetEntry(at, I64(int64(at+1)))
		}
		for _, list := range [][]int32{nil, {2}, {3, 5}, {2, 3, 4, 5}, {4}} {
			got := m.View(2, 4).Only(list, 2)
			if err := got.Check(); err != nil {
				t.Fatal(err)
			}
			for i := range 4 {
				for j := range 3 {
					want := Scalar{Elem: e}
					if slices.Contains(list, int32(i+2)) {
						want = m.At(i+2, j)
					}
					if got.At(i, j) != want {
						t.Errorf("%v, rows %v: element (%d, %d) is %v, not %v", e, list, i, j, got.At(i, j), want)
					}
				}
			}
		}
	}
}

// Check finds each kind of mistake, and names the first place in the row.
func TestCSRCheck(t *testing.T) {
	for _, x := range []struct {
		elem types.Elem
		ptr  []int64
		col  []int32
		want string
	}{
		{types.Bool, []int64{0, 2, 2, 5}, []int32{0, 3, 0, 1, 3}, "<nil>"},
		{types.Bool, []int64{0, 2, 2, 5}, []int32{0, 4, 0, 1, 3}, "row 0: column 4 after 0, of 4 columns"},
		{types.Bool, []int64{0, 2, 2, 5}, []int32{0, 3, 0, 0, 3}, "row 2: column 0 after 0, of 4 columns"},
		{types.Bool, []int64{0, 2, 2, 5}, []int32{0, 3, 2, 1, 3}, "row 2: column 1 after 2, of 4 columns"},
		{types.Bool, []int64{0, 2, 2, 5}, []int32{-1, 3, 0, 1, 3}, "row 0: column -1 after -1, of 4 columns"},
		{types.Bool, []int64{0, 2, 2, 5}, []int32{0, -1 << 31, 0, 1, 3}, "row 0: column -2147483648 after 0, of 4 columns"},
		{types.Bool, []int64{0, 2, 1, 5}, []int32{0, 3, 0, 1, 3}, "row 1 lies at 2..1"},
		{types.Bool, []int64{0, 2, 2, 6}, []int32{0, 3, 0, 1, 3}, "row pointers 0..6 of 5 entries"},
		{types.I64, []int64{0, 2, 2, 5}, []int32{0, 3, 0, 1, 3}, "row 2: a zero is stored in column 1"},
	} {
		m := NewCSR(x.elem, 3, 4, len(x.col))
		copy(m.Ptr, x.ptr)
		copy(m.Col, x.col)
		for k := range m.I64 {
			m.I64[k] = int64(k - 3)
		}
		if got := fmt.Sprint(m.Check()); got != x.want {
			t.Errorf("%v of columns %v from %v: %s, not %s", x.elem, x.col, x.ptr, got, x.want)
		}
	}
}

// TestAddEqual: of entries at one place one is left, with their sum in the order in which they came, or
// none if it is zero. Rows whose columns ascend are left as they are, and moved up.
func TestAddEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	type place struct{ row, col int }
	for _, e := range []types.Elem{types.Bool, types.F64, types.F32, types.I64} {
		number := func(x float64) Scalar {
			if e == types.Bool {
				return Bool(true)
			}
			return F64(x).Convert(e)
		}
		for trial := range 40 {
			lengths, cols := make([]int32, 1+r.IntN(50)), 2+30*(trial%3)
			for i := range lengths {
				lengths[i] = r.Int32N(9)
			}
			m, want := NewCSR(e, len(lengths), cols, Entries(lengths)), map[place]Scalar{}
			m.SetLengths(lengths)
			for i := range m.Rows {
				for k := int(m.Ptr[i]); k < int(m.Ptr[i+1]); k++ {
					at, x := place{i, r.IntN(cols)}, number(float64(r.IntN(7)-3))
					if e.IsFloat() {
						x = number(float64(r.IntN(7)-3) / 10) // sums in another order are rounded otherwise
					}
					m.Col[k] = int32(at.col)
					m.SetEntry(k, x)
					if want[at] = number(want[at].Float() + x.Float()); !want[at].True() {
						delete(want, at)
					}
				}
			}
			m.AddEqual()
			if err := m.Check(); err != nil {
				t.Fatalf("%v, trial %d: %v", e, trial, err)
			}
			if m.NNZ() != len(want) {
				t.Fatalf("%v, trial %d: %d entries, not %d", e, trial, m.NNZ(), len(want))
			}
			for at, x := range want {
				if got := m.At(at.row, at.col); got != x {
					t.Fatalf("%v, trial %d, place %v: %v, not %v", e, trial, at, got, x)
				}
			}
		}
	}
}

// TestAddEqualBytes: AddEqual allocates no more than AddEqualBytes says.
func TestAddEqualBytes(t *testing.T) {
	for _, e := range []types.Elem{types.Bool, types.F64, types.F32, types.I64} {
		lengths := []int32{1000, 70_000, 100_000, 40_000}
		m := NewCSR(e, len(lengths), 1<<30, Entries(lengths))
		m.SetLengths(lengths)
		for i := range lengths { // of them the row of 100,000 is in order
			for k := m.Ptr[i]; k < m.Ptr[i+1]; k++ {
				if m.Col[k] = int32(m.Ptr[i+1] - k); i == 2 {
					m.Col[k] = int32(k)
				}
				m.SetEntry(int(k), F64(1).Convert(e))
			}
		}
		want := m.AddEqualBytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m.AddEqual()
		runtime.ReadMemStats(&after)
		if took := int64(after.TotalAlloc - before.TotalAlloc); want < 8*70_000 || want > 16*70_000 || took > want+16<<10 {
			t.Errorf("%v: AddEqual allocates %d bytes, AddEqualBytes %d", e, took, want)
		}
	}
}
