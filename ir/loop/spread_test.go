package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestSpread: a carried variance or norm, of a number of elements that is known or that the run tells,
// has the bits of the class where its check holds, which is so of numbers of similar size and of equal
// ones; where a square is too large or too small, or an element is not finite, the check fails.
func TestSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	huge := []float64{1e200, -1e160, 1e-170, 5e-324, math.Inf(1), math.NaN(), 0x1p-460}
	for _, class := range []Class{Var, Stddev, Norm} {
		for _, e := range []types.Elem{types.F64, types.F32} {
			if class == Norm && e == types.F32 {
				continue
			}
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
				got, ok := spreadOf(t, nests, class, e, list, n%2 == 0)
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
	if _, ok := spreadOf(t, map[int]*Nest{}, Var, types.F64, list, false); ok {
		t.Error("equal numbers whose squares are rounded are certain")
	}
	if _, ok := spreadOf(t, map[int]*Nest{}, Norm, types.F64, list, false); ok {
		t.Error("a norm of squares that underflow is certain")
	}
	list = []Word{0, fromFloat(types.F64, math.Copysign(0, -1))}
	if y, ok := spreadOf(t, map[int]*Nest{}, Norm, types.F64, list, true); !ok || y != 0 {
		t.Errorf("the norm of zeros is %x, certain: %v", y, ok)
	}
	list = []Word{fromFloat(types.F64, 1), fromFloat(types.F64, 0x1p-27), fromFloat(types.F64, 0x1p-27)} // 1 + 2^-53, in the middle of two floats
	if _, ok := spreadOf(t, map[int]*Nest{}, Norm, types.F64, list, true); ok {
		t.Error("a sum of squares in the middle of two floats is certain")
	}
}

// spreadOf is a variance or norm carried over a list. nests has what was built for lists of a length.
// told: the run tells the length.
func spreadOf(t *testing.T, nests map[int]*Nest, c Class, e types.Elem, list []Word, told bool) (Word, bool) {
	t.Helper()
	nest := nests[len(list)]
	if nest == nil {
		b := New()
		m := Mem{Kind: ParamMem, N: b.Param(DenseParam, e)}
		out := b.Result(c.Gives(e), Num(1), Num(1))
		element := func(k int) Val { return b.Load(m, Num(0), Num(int64(k))) }
		n := Known(len(list))
		if told {
			n = Told(b, b.Load(Mem{Kind: ParamMem, N: b.Param(ScalarParam, types.I64)}))
		}
		var s interface {
			Begin(b *Builder) []Val
			Add(b *Builder, state []Val, v Val) []Val
			End(b *Builder, state []Val) Val
		} = RootOf(n)
		if c != Norm {
			s = SpreadOf(b, c, n, element(0))
		}
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
	operands := []value.Value{in}
	if told {
		operands = append(operands, value.I64(int64(len(list))))
	}
	y, err := nest.Eval(operands, Env{})
	if err != nil {
		return 0, false
	}
	return WordOf(y[0].(*value.Dense).At(0, 0)), true
}
