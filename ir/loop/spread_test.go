package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestSpread: a carried variance has the bits of the class where its check holds, which is so of
// numbers of similar size and of equal ones; where a square is too large or too small, or an
// element is not finite, the check fails.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	huge := []float64{1e200, -1e160, 1e-170, 5e-324, math.Inf(1), math.NaN(), 0x1p-460}
	for _, class := range []Class{Var, Stddev} {
		for _, e := range []types.Elem{types.F64, types.F32} {
			held, tried := map[string]int{}, map[string]int{}
			nests := map[int]*Nest{}
			for range 2000 {
				n := 1 + r.IntN(70)
				kinds := []string{"similar", "equal", "shifted", "wide", "odd", "narrow", "whole"}
				kind := kinds[r.IntN(len(kinds))]
				list := make([]Word, n)
				first := r.NormFloat64() * math.Ldexp(1, r.IntN(40)-20)
				for k := range list {
					x := r.NormFloat64()
					switch kind {
					case "equal":
						x = first
					case "shifted":
						x = 1e6 + x*1e-6
					case "wide":
						x = math.Ldexp(x, r.IntN(60)-30)
					case "odd":
						if x = huge[r.IntN(len(huge))]; n > 3 && k%2 == 0 {
							x = first
						}
					case "narrow": // the difference is a few units in the last place
						x = math.Float64frombits(math.Float64bits(first) + r.Uint64N(3))
					case "whole":
						x = float64(r.IntN(256))
					}
					list[k] = fromFloat(e, x)
				}
				got, ok := spreadOf(t, nests, class, e, list)
				want := class.Info().fold(e, [][]Word{list})
				tried[kind]++
				if ok {
					held[kind]++
					if got != want {
						t.Fatalf("%s of %v, %s: %x, not %x, of %v", class.Info().Name, e, kind, got, want, list)
					}
				}
			}
			for _, kind := range []string{"similar", "equal", "shifted", "wide", "whole"} {
				if held[kind] < tried[kind]*99/100 || tried[kind] < 100 {
					t.Errorf("%s of %v: %d of %d %s lists are certain", class.Info().Name, e, held[kind], tried[kind], kind)
				}
			}
		}
	}
	list := []Word{fromFloat(types.F64, 1e-170), fromFloat(types.F64, 1e-170), fromFloat(types.F64, 1e-170)}
	if _, ok := spreadOf(t, map[int]*Nest{}, Var, types.F64, list); ok {
		t.Error("equal numbers whose squares are rounded are certain")
	}
}

// spreadOf is a variance carried over a list. nests has what was built for lists of a length.
func spreadOf(t *testing.T, nests map[int]*Nest, c Class, e types.Elem, list []Word) (Word, bool) {
	t.Helper()
	nest := nests[len(list)]
	if nest == nil {
		b := New()
		m := Mem{Kind: ParamMem, N: b.Param(DenseParam, e)}
		out := b.Result(c.Gives(e), Num(1), Num(1))
		element := func(k int) Val { return b.Load(m, Num(0), Num(int64(k))) }
		s := SpreadOf(b, c, len(list), element(0))
		state := s.Begin(b)
		for k := range list {
			state = s.Add(b, state, element(k))
		}
		b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), s.End(b, state))
		if err := b.Nest.Verify(); err != nil {
			t.Fatal(err)
		}
		nest = b.Nest
		nests[len(list)] = nest
	}
	in := value.New(e, 1, len(list))
	for k, w := range list {
		in.Set(0, k, ScalarOf(e, w))
	}
	y, err := nest.Eval([]value.Value{in}, Env{})
	if err != nil {
		return 0, false
	}
	return WordOf(y[0].(*value.Dense).At(0, 0)), true
}
