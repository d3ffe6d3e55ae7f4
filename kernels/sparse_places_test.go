package kernels

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// Arguments that share the memory that says where their elements are give what those give that do
// not, whole or a range of rows.
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
