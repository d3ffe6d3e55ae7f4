package construct

import (
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestFillSample compares rows of a sample that are drawn together, in any window, with rows that are
// drawn alone.
func TestFillSample(t *testing.T) {
	for _, n := range []int{1, 2, 5, 16, 17, 127, 128, 129, 1025, 4097, 20000, 1 << 40} {
		for seed := range 3 {
			for _, replace := range []bool{false, true} {
				a := op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "seed", Val: op.Int(seed - 1)}, op.Attr{Name: "replace", Val: op.Bool(replace)})
				for _, r0 := range []int{0, n / 3} {
					out := value.New(types.I64, min(n-r0, 700), 3).View(0, 1, min(n-r0, 700), 1)
					fillSample(a, out, r0, 0)
					for i := range out.Rows {
						if want := Drawn(a, r0+i); out.At(i, 0).I != want {
							t.Fatalf("number %d of %d, seed %d, replace %v: %v, not %d", r0+i, n, seed-1, replace, out.At(i, 0), want)
						}
					}
				}
			}
		}
	}
}
