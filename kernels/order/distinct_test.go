package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// TestFewDistinct: few distinct elements are found without a sort. If there are more than the sample
// has told, all elements are sorted.
func TestFewDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, p := range []struct {
		name  string
		rare  int // of as many elements
		kinds int64
		sorts bool
	}{
		{"few", 0, 9, false}, {"one", 0, 1, false}, {"thousands", 0, 1500, false}, {"many", 0, 1 << 40, true},
		{"few and many rare ones", 40000, 9, true}, {"few and some rare ones", 3000, 9, false},
	} {
		for _, workers := range []int{1, 3} {
			x := value.New(types.I64, 200000+7*(workers-1), 1) // with three workers, units of several sizes
			for i := range x.I64 {
				x.I64[i] = r.Int64N(p.kinds) - 4
			}
			for i := range p.rare {
				x.I64[4*i] = int64(i) << 33
			}
			x.I64[len(x.I64)-1] = 1 << 62
			if workers == 1 { // else no element has key 0
				x.I64[7] = -1 << 63
			}
			c := &op.Call{In: []value.Value{x}, Type: types.DenseOf(types.I64, types.Unknown, 1)}
			b, err := beginUnique(c, workers)
			if err != nil {
				t.Fatal(err)
			}
			l := b.(*distinct)
			for again := true; again; {
				for u := range SortUnits {
					if err := l.Chunk(u%workers, u, u+1); err != nil {
						t.Fatal(err)
					}
				}
				if again, err = l.Next(); err != nil {
					t.Fatal(err)
				}
			}
			want := slices.Clone(x.I64)
			slices.Sort(want)
			if want = slices.Compact(want); !slices.Equal(c.Out.(*value.Dense).I64, want) {
				t.Errorf("%s, %d workers: %d distinct elements, want %d", p.name, workers, len(c.Out.(*value.Dense).I64), len(want))
			}
			if l.sorts != nil != p.sorts {
				t.Errorf("%s, %d workers: sorted: %v", p.name, workers, l.sorts != nil)
			}
		}
	}
}
