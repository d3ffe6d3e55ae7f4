package scan

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/loop/launch"
	"flow/kernels/rowtest"
)

// TestScans: running reductions of matrices of all shapes, in one piece and as parts of others, are
// what the definition gives, in loops and without.
func TestScans(t *testing.T) {
	family := define.Resolved(Rows())
	target, err := launch.Target()
	if err != nil {
		t.Fatal(err)
	}
	defer func(from int64) { launch.PaysFrom = from }(launch.PaysFrom)
	rng := rand.New(rand.NewPCG(1, 2))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300}
	for _, launch.PaysFrom = range []int64{0, math.MaxInt64} {
		for _, d := range family {
			if d.Rate != "cumulative" {
				continue
			}
			begun := launch.Begun.Load()
			for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
				for _, n := range [][2]int{{1, 1}, {2, 1}, {9, 1}, {1000, 1}, {40, 2}, {17, 3}, {30, 8}, {5, 70}, {90, 41}, {7, 150}, {3, 2000}, {8, 5}, {16, 101}, {1, 30}, {3, 6}} {
					rows, cols := n[0], n[1]
					a := value.New(e, rows+1, cols+rng.IntN(2)).View(rng.IntN(2), 0, rows, cols)
					for i := range rows {
						for j := range cols {
							x := rng.NormFloat64()
							if rng.IntN(40) == 0 {
								x = special[rng.IntN(len(special))]
							}
							a.Set(i, j, value.F64(x).Convert(e))
						}
					}
					typ, err := d.Type(&op.Sig{Def: d, In: []types.Type{a.Type()}})
					if err != nil {
						t.Fatal(err)
					}
					call := &op.Call{Def: d, In: []value.Value{a}, Type: typ, Attrs: op.MakeAttrs()}
					want, err := d.Ref(call)
					if err != nil {
						t.Fatal(err)
					}
					call.Out = value.New(typ.Elem, rows+2, cols+3).View(1, 2, rows, cols)
					if err := d.Kernel(call); err != nil {
						t.Fatal(err)
					}
					if s := rowtest.Differ(call.Out, want); s != "" {
						t.Errorf("%s of %v: %s", d.Name, a.Type(), s)
					}
				}
			}
			if ran := launch.Begun.Load() > begun; ran != (launch.PaysFrom == 0 && target != launch.Interp) {
				t.Errorf("%s: loops ran: %v", d.Name, ran)
			}
		}
	}
}
