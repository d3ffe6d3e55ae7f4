package kernels

import (
	"math"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

// drawOf is what the row of that name makes of these attributes.
func drawOf(t *testing.T, table *op.Table, name string, attrs ...op.Attr) *value.Dense {
	t.Helper()
	v, ok := rowtest.Check(t, table.Must(name), op.MakeAttrs(attrs...), nil)
	if !ok {
		t.Fatalf("%s is refused", name)
	}
	return v.(*value.Dense)
}

func intAttr(name string, n int) op.Attr { return op.Attr{Name: name, Val: op.Int(n)} }

// The distributions, by the statistics of Kolmogorov and Pearson. The bounds are passed by chance
// once in a thousand seeds; the seeds are fixed.
func TestDistributions(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	const n = 20000
	x := drawOf(t, table, "randexp", intAttr("n", n), intAttr("seed", 11))
	far := 0.0
	for k := 1; k <= 40; k++ {
		at, below := float64(k)*0.1, 0
		for _, v := range x.F64 {
			if v <= at {
				below++
			}
		}
		far = max(far, math.Abs(float64(below)/n-(1-math.Exp(-at))))
	}
	if far > 1.95/math.Sqrt(n) {
		t.Errorf("randexp: the distribution function is off by %v", far)
	}
	const sides = 7
	counts := [sides]float64{}
	for _, v := range drawOf(t, table, "randint", intAttr("n", n), intAttr("m", 1), intAttr("lo", -3), intAttr("hi", -3+sides), intAttr("seed", 11)).I64 {
		counts[v+3]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - n/sides) * (c - n/sides) / (n / sides)
	}
	if chi > 22.46 { // 6 degrees of freedom
		t.Errorf("randint: %v, chi squared %v", counts, chi)
	}
	whole := drawOf(t, table, "randint", intAttr("n", 64), intAttr("m", 1), intAttr("lo", math.MinInt64), intAttr("hi", math.MaxInt64), intAttr("seed", 1))
	up := 0
	for _, v := range whole.I64 {
		if v > 0 {
			up++
		}
	}
	if up < 16 || up > 48 {
		t.Errorf("randint of all integers: %d of 64 are positive", up)
	}
	orders := map[[3]int64]float64{}
	for seed := range 6000 {
		p := drawOf(t, table, "sample", intAttr("n", 3), intAttr("k", 3), intAttr("seed", seed))
		orders[[3]int64(p.I64)]++
	}
	chi = 0
	for _, c := range orders {
		chi += (c - 1000) * (c - 1000) / 1000
	}
	if len(orders) != 6 || chi > 20.5 { // 5 degrees of freedom
		t.Errorf("sample: orders of 3 of 6000 seeds: %v, chi squared %v", orders, chi)
	}
}

// A seed of the run makes the numbers that the same seed makes before it.
func TestSeedsOfTheRun(t *testing.T) {
	table, err := Table("")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range table.Rows() {
		if d.Seeded == "" {
			continue
		}
		found++
		s := table.Must(d.Seeded)
		for _, seed := range []int{0, 5, -1, math.MaxInt64, math.MinInt64} {
			attrs := op.MakeAttrs(constructors[d.Name]...)
			want, ok := rowtest.Check(t, d, attrs.With("seed", op.Int(seed)), nil)
			got, also := rowtest.Check(t, s, attrs, []value.Value{value.I64(int64(seed))})
			if !ok || !also || rowtest.Differ(got, want) != "" {
				t.Errorf("%s, seed %d: %s", d.Name, seed, rowtest.Differ(got, want))
			}
		}
		for _, bad := range []types.Type{types.ScalarOf(types.F64), types.DenseOf(types.I64, 1, 1)} {
			if _, err := s.Type(&op.Sig{Def: s, Attrs: op.MakeAttrs(constructors[d.Name]...), In: []types.Type{bad}}); err == nil {
				t.Errorf("%s takes a seed of type %v", s.Name, bad)
			}
		}
	}
	if found < 7 {
		t.Errorf("%d rows take seeds of the run", found)
	}
}
