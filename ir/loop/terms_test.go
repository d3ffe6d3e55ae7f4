package loop

import (
	"math"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestBoundedSums: a bounded sum is sure over any range of exponents and of both signs, but for sums
// next to the middle of two floats; where it is sure it is the exact sum rounded once. Of a number
// that is not finite, or of sums that cancel, it claims nothing that is wrong.
func TestBoundedSums(t *testing.T) {
	for _, c := range []struct {
		name  string
		elem  types.Elem
		words int
		told  int64 // how many contributions the compiler knows of
	}{
		{"two words", types.F64, FastLevels, watchedBelow},
		{"two words, watched", types.F64, FastLevels, -1},
		{"three words", types.F64, 3, watchedBelow},
		{"three words, watched", types.F64, 3, 10},
		{"f32", types.F32, FastLevels, -1},
	} {
		t.Run(c.name, func(t *testing.T) { boundedSums(t, c.elem, c.words, c.told) })
	}
}

func boundedSums(t *testing.T, e types.Elem, words int, told int64) {
	r := rand.New(rand.NewPCG(5, 9))
	held, tried := map[string]int{}, map[string]int{}
	for seed := range 600 {
		kinds := []string{"wide", "falling", "similar", "middle", "signs", "cancel", "odd", "tiny", "whole"}
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
			case "middle": // 2^53 + 1, and a little more, in several lanes or in one
				step := []int{1, 8}[seed/2%2]
				x = []float64{1 << 53, 1, 0x1p-60}[min(k/step, 2)] * float64(min(1, max(0, 4-k/step)))
				if k%step != step/2 {
					x = 0
				}
			case "signs":
				x = math.Ldexp(r.NormFloat64(), -r.IntN(200))
			case "cancel":
				if x = math.Ldexp(x, -r.IntN(200)); k > 0 && k%2 == 1 {
					x = -toF64(list[k-1])
				}
			case "whole": // no error
				x = math.Round(r.NormFloat64() * 1000)
			case "odd":
				x = []float64{x, math.Inf(1), math.NaN(), math.MaxFloat64, 0, 5e-324}[r.IntN(6)]
			}
			list[k] = fromFloat(e, x)
		}
		if kind == "cancel" {
			r.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		}
		got, ok := boundedOf(t, e, words, told, list, 1+7*(seed%2))
		tried[kind]++
		if !ok {
			continue
		}
		held[kind]++
		if want := Sum.Info().fold(e, [][]Word{list}); got != want {
			t.Fatalf("%s: %x, not %x, of %v", kind, got, want, list)
		}
	}
	for _, kind := range []string{"wide", "falling", "similar", "signs", "whole"} {
		// Two large numbers often add up to a middle of two floats; then small ones decide.
		if held[kind] < tried[kind]*8/10 || tried[kind] < 30 {
			t.Errorf("%d of %d %s sums are sure", held[kind], tried[kind], kind)
		}
	}
	if e == types.F32 || words > FastLevels {
		return
	}
	for _, kind := range []string{"middle", "cancel"} {
		if held[kind] > tried[kind]*9/10 {
			t.Errorf("%d of %d %s sums are sure: the check cannot fail", held[kind], tried[kind], kind)
		}
	}
}

// boundedOf is a bounded sum as a loop carries it, and whether it is sure. It merges the states of 1 or
// 8 lanes.
func boundedOf(t *testing.T, e types.Elem, words int, told int64, list []Word, lanes int) (Word, bool) {
	t.Helper()
	b := New()
	m := Mem{Kind: ParamMem, N: b.Param(DenseParam, e)}
	out := b.Result(e, Num(1), Num(1))
	terms := TermsOf(Sum, e, words)
	if !terms.Bounded(told, false) {
		t.Fatal("a sum has no bound")
	}
	states := make([][]Val, lanes)
	for k := range states {
		states[k] = terms.Begin(b)
	}
	for k := range list {
		s := &states[k%lanes]
		*s = terms.Add(b, *s, []Val{b.Load(m, Num(0), Num(int64(k)))})
	}
	n := len(list)
	for by := lanes / 2; by > 0; by /= 2 {
		n += MergeTerms / 3
		for k := range by {
			states[k] = b.Apply(terms.Merge(), append(states[k], states[k+by]...)...)
		}
	}
	b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), terms.EndBounded(b, states[0], b.Const(types.F64, math.Float64bits(float64(n)))))
	if err := b.Nest.Verify(); err != nil {
		t.Fatal(err)
	}
	in := value.New(e, 1, len(list))
	for k, w := range list {
		in.Set(0, k, ScalarOf(e, w))
	}
	y, err := b.Nest.Eval([]value.Value{in}, Env{})
	if err != nil {
		return 0, false
	}
	return WordOf(y[0].(*value.Dense).At(0, 0)), true
}

// TestFirstTermsNotFinite: a sum that starts with its first contribution claims nothing of numbers
// that are not finite, wherever they are.
func TestFirstTermsNotFinite(t *testing.T) {
	for _, levels := range []int{FastLevels, 3} {
		for at := range 4 {
			b := New()
			m := Mem{Kind: ParamMem, N: b.Param(DenseParam, types.F64)}
			out := b.Result(types.F64, Num(1), Num(1))
			terms := TermsOf(Sum, types.F64, levels)
			state := terms.First(b, []Val{b.Load(m, Num(0), Num(0))})
			for k := range 3 {
				state = terms.Add(b, state, []Val{b.Load(m, Num(0), Num(int64(k+1)))})
			}
			b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), terms.End(b, state))
			in := value.New(types.F64, 1, 4)
			for k := range 4 {
				in.F64[k] = float64(k + 1)
			}
			if y, err := b.Nest.Eval([]value.Value{in}, Env{}); err != nil || y[0].(*value.Dense).F64[0] != 10 {
				t.Errorf("%d words: %v, %v", levels, y, err)
			}
			in.F64[at] = math.Inf(1)
			if y, err := b.Nest.Eval([]value.Value{in}, Env{}); err == nil && y[0].(*value.Dense).F64[0] != math.Inf(1) {
				t.Errorf("%d words, contribution %d: %v", levels, at, y[0].(*value.Dense).F64)
			}
		}
	}
}

// TestBoundedOthers: a reduction that is no sum of floats has no bound, whatever is asked for.
func TestBoundedOthers(t *testing.T) {
	for _, c := range []Class{Norm, Least, Count} {
		e := types.F64
		if c == Count {
			e = types.Bool
		}
		terms := TermsOf(c, e, FastLevels)
		if terms.Bounded(watchedBelow, false) {
			t.Errorf("%s is bounded", c.Info().Name)
		}
		b := New()
		if got, want := len(terms.Begin(b)), len(terms.state().Types); got != want {
			t.Errorf("%s begins with %d words, want %d", c.Info().Name, got, want)
		}
	}
}

// TestTermsOfAllClasses: a loop that carries a reduction of any class gives what the class says.
func TestTermsOfAllClasses(t *testing.T) {
	tried := 0
	for class := Sum; class < lastClass; class++ {
		for _, e := range class.Info().On {
			if TermsOf(class, e, FastLevels) == nil {
				continue
			}
			tried++
			d := value.New(e, 9, 9)
			for k := range 81 {
				x := value.F64(float64((k*37)%19)*1.1 - 9)
				if e == types.I64 || e == types.Bool {
					x = value.I64(int64(x.F) % 3)
				} else if k%17 == 5 && (class == Least || class == ArgGreatest) {
					x.F = math.NaN()
				}
				d.Set(k/9, k%9, x)
			}
			b := New()
			b.Param(DenseParam, e)
			rows := Of(RowsSym, 0)
			i := b.Index("i", Range{To: rows, By: 1})
			terms := TermsOf(class, e, FastLevels)
			x := Index{b.Name("q"), Range{To: Of(IndexSym, i), By: 1}}
			state := b.For(x, terms.Begin(b), func(state []Val) []Val {
				v := b.Load(Mem{Kind: ParamMem}, Of(IndexSym, i), Of(IndexSym, x.Name))
				in := []Val{v, v}[:class.Info().Args]
				if class == ArgLeast || class == ArgGreatest {
					in[1] = b.IndexValue(x.Name)
				}
				return terms.Add(b, state, in)
			})
			b.Result(class.Gives(e), rows, Num(1))
			b.Store(Mem{Kind: ResultMem}, Of(IndexSym, i), Num(0), terms.End(b, state))
			got, err := b.Done().Eval([]value.Value{d}, Env{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range 9 {
				in := make([][]Word, class.Info().Args)
				for q := range i {
					w := WordOf(d.At(i, q))
					for k := range in {
						in[k] = append(in[k], w)
					}
					if class == ArgLeast || class == ArgGreatest {
						in[1][q] = Word(q)
					}
				}
				if want := ScalarOf(class.Gives(e), class.Fold(e, in)); !got[0].(*value.Dense).At(i, 0).Same(want) {
					t.Errorf("%s of %d %v: %v, want %v", class.Info().Name, i, e, got[0].(*value.Dense).At(i, 0), want)
				}
			}
		}
	}
	if tried < 26 {
		t.Errorf("%d reductions are carried by loops", tried)
	}
}

// TestFirstTerms: a state that starts with its first contribution has all of them.
func TestFirstTerms(t *testing.T) {
	for class := Sum; class < lastClass; class++ {
		for _, e := range class.Info().On {
			for n := 1; n < 9 && TermsOf(class, e, FastLevels) != nil; n++ {
				b, terms, words := New(), TermsOf(class, e, FastLevels), make([][]Word, class.Info().Args)
				var state []Val
				for k := range n {
					x := value.F64(float64((k*37)%19)*1.1 - 9)
					if !e.IsFloat() {
						x = value.I64(int64(x.F) % 3)
					}
					var in []Val
					for j := range words {
						w, of := WordOf(x.Convert(e)), e
						if j == 1 && (class == ArgLeast || class == ArgGreatest) {
							w, of = Word(k), types.I64
						}
						words[j], in = append(words[j], w), append(in, b.Const(of, w))
					}
					if k == 0 {
						state = terms.First(b, in)
					} else {
						state = terms.Add(b, state, in)
					}
				}
				b.Result(class.Gives(e), Num(1), Num(1))
				b.Store(Mem{Kind: ResultMem}, Num(0), Num(0), terms.End(b, state))
				got, err := b.Done().Eval(nil, Env{})
				if err != nil {
					t.Fatal(err)
				}
				if want := ScalarOf(class.Gives(e), class.Fold(e, words)); !got[0].(*value.Dense).At(0, 0).Same(want) {
					t.Errorf("%s of %d %v: %v, want %v", class.Info().Name, n, e, got[0].(*value.Dense).At(0, 0), want)
				}
			}
		}
	}
}

// TestLeftOut: 1 and a bit less than half of a unit in the last place are 1, but nothing is sure if a
// contribution of up to eight units has been left out.
func TestLeftOut(t *testing.T) {
	for _, levels := range []int{FastLevels, FastLevels + 1} {
		for _, told := range []int64{3, -1, 1 << 20} {
			for _, out := range []bool{false, true} {
				b, terms := New(), TermsOf(Sum, types.F64, levels)
				terms.Bounded(told, false)
				state, c := terms.Begin(b), Word(0)
				if out {
					c = 1
				}
				for _, x := range []float64{1, 0x0.ep-53} {
					state = terms.Add(b, state, []Val{b.Const(types.F64, math.Float64bits(x))})
				}
				state = terms.LeftOut(b, state, b.Const(types.Bool, c), 0x1p-49)
				b.Result(types.F64, Num(1), Num(1))
				b.Store(Mem{Kind: ResultMem}, Num(0), Num(0), terms.EndBounded(b, state, b.Const(types.F64, math.Float64bits(3))))
				got, err := b.Done().Eval(nil, Env{})
				if out != (err != nil) {
					t.Fatalf("%v: a contribution was left out: %v, but the sum ends with %v", terms, out, err)
				}
				if !out && got[0].(*value.Dense).F64[0] != 1 {
					t.Errorf("%v: %v", terms, got[0])
				}
			}
		}
	}
}

// TestLostBitsAddUp: each of a thousand contributions is too small to change the last word. Together
// they lift the sum over the middle of two floats, so that it is not sure.
func TestLostBitsAddUp(t *testing.T) {
	const n = 1002
	for _, told := range []int64{n, 1 << 20} {
		b, terms := New(), TermsOf(Sum, types.F64, FastLevels)
		terms.Bounded(told, false)
		state := terms.Begin(b)
		for k := range n {
			x := 0x0.ep-107
			if k < 2 {
				x = []float64{1, (1 - 0x1p-48) * 0x1p-53}[k]
			}
			state = terms.Add(b, state, []Val{b.Const(types.F64, math.Float64bits(x))})
		}
		b.Result(types.F64, Num(1), Num(1))
		b.Store(Mem{Kind: ResultMem}, Num(0), Num(0), terms.EndBounded(b, state, b.Const(types.F64, math.Float64bits(n))))
		if got, err := b.Done().Eval(nil, Env{}); err == nil {
			t.Errorf("%v: the sum is %v for sure", terms, got[0])
		}
	}
}

// TestBalanced: a tree of contributions to an extreme gives what they give one by one, in fewer
// steps that wait for each other. Other reductions have no tree.
func TestBalanced(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	if (TermsOf(Sum, types.F64, FastLevels)).Balanced(New(), 3, nil) != nil {
		t.Error("a tree of an exact sum")
	}
	for _, e := range []types.Elem{types.F64, types.F32} {
		for _, c := range []Class{Least, Greatest} {
			for n := 1; n < 20; n++ {
				b := New()
				m := Mem{Kind: ParamMem, N: b.Param(DenseParam, e)}
				terms := TermsOf(c, e, FastLevels)
				in := func(k int) []Val { return []Val{b.Load(m, Num(0), Num(int64(k)))} }
				one := terms.Begin(b)
				for k := range n {
					one = terms.Add(b, one, in(k))
				}
				tree := terms.Balanced(b, n, in)
				for k, s := range [][]Val{one, tree} {
					out := b.Result(e, Num(1), Num(1))
					b.Store(Mem{Kind: ResultMem, N: out}, Num(0), Num(0), terms.End(b, s))
					if depth, most := depthOf(b.Nest, s[0]), 1+[]int{n, 5}[k]; depth > most {
						t.Errorf("%d steps of %d contributions, want %d", depth, n, most)
					}
				}
				if err := b.Nest.Verify(); err != nil {
					t.Fatal(err)
				}
				for range 20 {
					x := value.New(e, 1, n)
					for k := range n {
						x.Set(0, k, ScalarOf(e, fromFloat(e, []float64{r.NormFloat64(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1}[min(r.IntN(60), 6)])))
					}
					y, err := b.Nest.Eval([]value.Value{x}, Env{})
					if err != nil {
						t.Fatal(err)
					}
					if p, q := y[0].(*value.Dense).At(0, 0), y[1].(*value.Dense).At(0, 0); !p.Same(q) {
						t.Fatalf("%v, one by one %v, of %v", q, p, x)
					}
				}
			}
		}
	}
}

// depthOf counts the extremes on the longest way to a value.
func depthOf(n *Nest, v Val) (depth int) {
	s := FactsOf(n).made[v]
	for _, x := range s.Args {
		depth = max(depth, depthOf(n, x))
	}
	if s.Code == Min || s.Code == Max {
		depth++
	}
	return depth
}
