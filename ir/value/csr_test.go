package value

import (
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
