package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestBoundedSums: a sum of numbers that are not negative is sure over any range of exponents, but
// for sums next to the middle of two floats; where it is sure it is the exact sum rounded once. With
// a negative number, one that is not finite, or too many for the bound it claims nothing that is
// wrong.
func TestBoundedSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 9))
	held, tried := map[string]int{}, map[string]int{}
	for range 1500 {
		kinds := []string{"wide", "falling", "similar", "middle", "negative", "odd", "tiny"}
		kind := kinds[r.IntN(len(kinds))]
		list := make([]Word, 1+r.IntN(100))
		for k := range list {
			x := math.Abs(r.NormFloat64())
			switch kind {
			case "wide":
				x = math.Exp(-x * x * 300)
			case "falling":
				x = math.Ldexp(x, -3*k)
			case "tiny":
				x = math.Ldexp(x, -1000-r.IntN(80))
			case "middle": // 2^53 + 1, and a little more
				x = []float64{1 << 53, 1, 0x1p-60}[min(k, 2)] * float64(min(1, max(0, 4-k)))
			case "negative":
				x = math.Ldexp(r.NormFloat64(), -r.IntN(200))
			case "odd":
				x = []float64{x, math.Inf(1), math.NaN(), math.MaxFloat64, 0, 5e-324}[r.IntN(6)]
			}
			list[k] = fromFloat(types.F64, x)
		}
		got, ok := boundedOf(t, list)
		tried[kind]++
		if !ok {
			continue
		}
		held[kind]++
		if want := Sum.Info().fold(types.F64, [][]Word{list}); got != want {
			t.Fatalf("%s: %x, not %x, of %v", kind, got, want, list)
		}
	}
	for _, kind := range []string{"wide", "falling", "similar"} {
		// Two large numbers often add up to a middle of two floats; then small ones decide.
		if held[kind] < tried[kind]*8/10 || tried[kind] < 100 {
			t.Errorf("%d of %d %s sums are sure", held[kind], tried[kind], kind)
		}
	}
	for _, kind := range []string{"middle", "negative"} {
		if held[kind] > tried[kind]*9/10 {
			t.Errorf("%d of %d %s sums are sure: the check cannot fail", held[kind], tried[kind], kind)
		}
	}
}

// boundedOf is a bounded sum as a loop carries it, and whether it is sure.
func boundedOf(t *testing.T, list []Word) (Word, bool) {
	t.Helper()
	b := New()
	m := Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}
	out := b.Result(types.F64, Num(1), Num(1))
	terms := TermsOf(Sum, types.F64, FastLevels)
	if !terms.Bounded() {
		t.Fatal("a sum of two words has no bound")
	}
	state := terms.Begin(b)
	for k := range list {
		state = terms.Add(b, state, []Val{b.Load(m, Num(0), Num(int64(k)))})
	}
	n := b.Const(types.F64, math.Float64bits(float64(len(list))))
	b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), terms.EndBounded(b, state, n))
	if err := b.Nest.Verify(); err != nil {
		t.Fatal(err)
	}
	in := value.New(types.F64, 1, len(list))
	for k, w := range list {
		in.Set(0, k, scalarOf(types.F64, w))
	}
	y, err := b.Nest.Eval([]value.Value{in}, Env{})
	if err != nil {
		return 0, false
	}
	return WordOf(y[0].(*value.Dense).At(0, 0)), true
}
