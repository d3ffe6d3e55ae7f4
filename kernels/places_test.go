package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// TestPlaces compares the places of masks that are mostly false, mostly true and between with their
// definition. Masks lie in one piece, across, or apart, and a rank has some of them.
func TestPlaces(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	d := table.Must("places")
	rng := rand.New(rand.NewPCG(5, 6))
	var spare *value.Dense
	for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 500} {
		for _, share := range []float64{0, 0.03, 0.2, 0.26, 0.6, 1} {
			whole := value.New(types.Bool, n, 3)
			for i := range whole.Bool {
				if rng.Float64() < share {
					whole.Bool[i] = 1
				}
			}
			apart := whole.View(0, 1, n, 1)
			column := apart.Clone()
			row := value.New(types.Bool, 1, n)
			copy(row.Bool, column.Bool)
			for shape, mask := range []*value.Dense{column, row, apart} {
				axis := op.MakeAttrs(op.Attr{Name: "axis", Val: op.Int(shape % 2)})
				for _, part := range [][2]int{{0, 0}, {n / 3, n}, {0, n / 2}, {n / 4, n - n/8}} {
					c := &op.Call{Def: d, Attrs: axis, In: []value.Value{mask, value.I64(int64(n))}, Type: types.DenseOf(types.I64, types.Unknown, 1), Spare: &spare}
					if shape != 1 && part[0] < part[1] {
						c.Lo, c.Hi = part[0], part[1]
					}
					if err := d.Kernel(c); err != nil {
						t.Fatal(err)
					}
					var want []int64
					lo, hi := define.OwnRows(c, n)
					for i := lo; i < hi; i++ {
						if column.Bool[i] != 0 {
							want = append(want, int64(i))
						}
					}
					if got := c.Result(); !slices.Equal(got.I64, want) {
						t.Fatalf("%d of share %v, shape %d, %v: %v, want %v", n, share, shape, part, got.I64, want)
					}
				}
			}
		}
	}
}
