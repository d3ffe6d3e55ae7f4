package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestNear: a reduction carried by sums of numbers of about one size has the bits of its class where
// its check holds, which is so of numbers of about one size; of others it claims nothing wrong.
func TestNear(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 3))
	odd := []float64{1e200, -1e160, 1e-170, 5e-324, math.Inf(1), math.NaN(), 0x1p-460, 0, math.Copysign(0, -1), -1}
	sure := []string{"uniform", "similar", "bits", "zeros", "equal", "products"}
	kinds := append([]string{"wide", "falling", "middle", "cancel", "odd", "narrow", "whole", "shifted", "outlier", "signs", "halves"}, sure...)
	for _, class := range []Class{Sum, Mean, Norm, Var, Stddev} {
		held, tried := map[string]int{}, map[string]int{}
		nests := map[int]*Nest{}
		for range 6000 {
			kind := kinds[r.IntN(len(kinds))]
			n := LeastNear + r.IntN(40)
			if r.IntN(20) == 0 {
				n = []int{500, 1023, 1024}[r.IntN(3)]
			}
			list := make([]Word, n)
			first := r.NormFloat64() * math.Ldexp(1, r.IntN(60)-30)
			for k := range list {
				x := r.NormFloat64()
				switch kind {
				case "uniform":
					x = r.Float64()
				case "bits":
					x = float64(r.IntN(2))
				case "whole":
					x = float64(r.IntN(256) - 20)
				case "zeros":
					x = r.Float64() * float64(r.IntN(2))
				case "products":
					x = r.Float64() * r.Float64()
				case "equal":
					x = first
				case "wide":
					x = math.Ldexp(x, r.IntN(80)-40)
				case "falling":
					x = math.Ldexp(x, -2*k)
				case "middle": // 2^53 + 1, and a little more
					x = []float64{1 << 53, 1, 0x1p-40}[min(k, 2)] * float64(min(1, max(0, 4-k)))
				case "cancel":
					if k%2 == 1 {
						x = -toF64(list[k-1])
					}
				case "halves": // the same of the sum of squares
					x = []float64{3 << 26, 1, 1, 1, 1, 0x1p-40, 0}[min(k, 6)]
				case "narrow": // the difference is a few units in the last place
					x = math.Float64frombits(math.Float64bits(first) + r.Uint64N(3))
				case "shifted":
					x = 1e6 + x*1e-6
				case "outlier":
					if r.IntN(10) == 0 {
						x = math.Ldexp(x, r.IntN(2000)-1000)
					}
				case "signs":
					x = math.Copysign(first, x)
				case "odd":
					if x = odd[r.IntN(len(odd))]; k%2 == 0 {
						x = first
					}
				}
				list[k] = fromFloat(types.F64, x)
			}
			got, ok := nearOf(t, nests, class, list)
			want := class.Info().fold(types.F64, [][]Word{list})
			tried[kind]++
			if ok {
				held[kind]++
				if got != want {
					t.Fatalf("%s, %s: %x, not %x, of %v", class.Info().Name, kind, got, want, list)
				}
			}
		}
		for _, kind := range sure {
			if held[kind] < tried[kind]*98/100 || tried[kind] < 100 {
				t.Errorf("%s: %d of %d %s lists are certain", class.Info().Name, held[kind], tried[kind], kind)
			}
		}
		if kind := "outlier"; held[kind] > tried[kind]*9/10 {
			t.Errorf("%s: %d of %d %s lists are certain: the check cannot fail", class.Info().Name, held[kind], tried[kind], kind)
		}
	}
}

// TestNearOf: what has no such form is refused.
func TestNearOf(t *testing.T) {
	b := New()
	x, y := b.Const(types.F64, 0), b.Const(types.F32, 0)
	if NearOf(b, Sum, LeastNear-1, []Val{x}) != nil || NearOf(b, Sum, MostNear+1, []Val{x}) != nil || NearOf(b, Sum, 40, []Val{y}) != nil ||
		NearOf(b, Var, mostNearSquares+1, []Val{x}) != nil || NearOf(b, Greatest, 40, []Val{x}) != nil {
		t.Error("a reduction without a form has one")
	}
}

// TestNearWork: how many operations an element costs, which is the time of a window of them.
func TestNearWork(t *testing.T) {
	for class, most := range map[Class]int{Sum: 9, Mean: 9, Norm: 4, Var: 10, Stddev: 10} {
		b := New()
		v := b.Load(Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}, Num(0), Num(0))
		x := NearOf(b, class, 49, []Val{v})
		state := x.Begin(b)
		before, costs := len(b.Nest.Body.Stmts), 0
		x.Add(b, state, v)
		for _, s := range b.Nest.Body.Stmts[before:] {
			if s.Code != Bits && s.Code != Neg { // which are no instructions
				costs++
			}
		}
		if costs != most {
			t.Errorf("%s: %d operations, want %d", class.Info().Name, costs, most)
		}
	}
}

// nearOf is a class carried over a list of f64. nests has what was built for lists of a length.
func nearOf(t *testing.T, nests map[int]*Nest, c Class, list []Word) (Word, bool) {
	t.Helper()
	nest := nests[len(list)]
	if nest == nil {
		b := New()
		m := Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}
		out := b.Result(types.F64, Num(1), Num(1))
		element := func(k int) Val { return b.Load(m, Num(0), Num(int64(k))) }
		x := NearOf(b, c, len(list), []Val{element(0), element(len(list) / 2), element(len(list) - 1)})
		state := x.Begin(b)
		for k := range list {
			state = x.Add(b, state, element(k))
		}
		b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), x.End(b, state))
		if err := b.Nest.Verify(); err != nil {
			t.Fatal(err)
		}
		nest = b.Nest
		nests[len(list)] = nest
	}
	in := value.New(types.F64, 1, len(list))
	for k, w := range list {
		in.F64[k] = toF64(w)
	}
	y, err := nest.Eval([]value.Value{in}, Env{})
	if err != nil {
		return 0, false
	}
	return WordOf(y[0].(*value.Dense).At(0, 0)), true
}

// TestMasked checks that a sum of many numbers is sure where a mask leaves few or none, however the
// mask is written. A sum of numbers that no mask makes zero watches nothing.
func TestMasked(t *testing.T) {
	const n = 2 * watchedBelow
	masks := map[string]func(b *Builder, v, zero Val) Val{
		"a choice": func(b *Builder, v, zero Val) Val { return b.Op(Select, b.Op(Lt, zero, v), v, zero) },
		"a choice of an integer zero": func(b *Builder, v, _ Val) Val {
			none := b.Op(ToF64, b.Const(types.I64, 0))
			return b.Op(Select, b.Op(Lt, v, none), none, v)
		},
		"a truth value": func(b *Builder, v, zero Val) Val {
			return b.Op(Mul, v, b.Op(ToF64, b.Op(ToI64, b.Op(Lt, zero, v))))
		},
		"what is above zero": func(b *Builder, v, zero Val) Val { return b.Op(Max, zero, v) },
		"a product of a quotient": func(b *Builder, v, zero Val) Val {
			two := b.Const(types.F64, math.Float64bits(2))
			return b.Op(Mul, two, b.Op(Div, b.Op(Max, v, zero), two))
		},
	}
	for name, mask := range masks {
		b := New()
		m := Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}
		out := b.Result(types.F64, Num(1), Num(1))
		zero := b.Const(types.F64, 0)
		element := func(k Lin) Val { return mask(b, b.Load(m, Num(0), k), zero) }
		x := NearOf(b, Sum, n, []Val{element(Num(0)), element(Num(n / 2)), element(Num(n - 1))})
		k := Index{Name: b.Name("k"), Range: Range{Kind: Steps, To: Num(n), By: 1}}
		state := b.For(k, x.Begin(b), func(st []Val) []Val { return x.Add(b, st, element(Of(IndexSym, k.Name))) })
		b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), x.End(b, state))
		for left := range 4 {
			in, want := value.New(types.F64, 1, n), 0.0
			for k := range in.F64 {
				in.F64[k] = -0.3
			}
			for k := range left {
				in.F64[17+k] = 0.75 * float64(k+1)
				want += in.F64[17+k]
			}
			if y, err := b.Nest.Eval([]value.Value{in}, Env{}); err != nil {
				t.Errorf("%s leaves %d: %v", name, left, err)
			} else if got := y[0].(*value.Dense).F64[0]; got != want {
				t.Errorf("%s leaves %d: the sum is %v, want %v", name, left, got, want)
			}
		}
	}
	b := New()
	v := b.Load(Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}, Num(0), Num(0))
	for _, v := range []Val{v, b.Op(Add, v, b.Const(types.F64, 0)), b.Op(Select, b.Op(Lt, v, v), v, b.Op(Neg, v))} {
		if NearOf(b, Sum, n, []Val{v}).watched {
			t.Errorf("a sum without a mask is watched:\n%s", b.Nest)
		}
	}
	for _, masked := range []bool{true, false} {
		if x := TermsOf(Sum, types.F64, FastLevels); !x.Bounded(n, masked) || x.watched != masked {
			t.Errorf("masked %v: a bounded sum is watched: %v", masked, x.watched)
		}
	}
}
