package loop

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"flow/ir/types"
)

// A near state has the exact sum of its numbers, or says that it has not.
func TestNearStates(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	one := func(f func() float64) func(int) float64 { return func(int) float64 { return f() } }
	const n = NearCount / 4
	for _, c := range []struct {
		name  string
		e     int
		of    func(i int) float64
		exact bool
		wide  bool // sums of three words are exact
	}{
		{"uniform", 0, one(r.Float64), true, true},
		{"of both signs", 3, one(func() float64 { return 8*r.Float64() - 4 }), true, true},
		{"nearly the largest of one sign", 0, one(func() float64 { return 1 - 0x1p-9 - 0x1p-53 }), true, true},
		{"nearly the largest of the other sign", 0, one(func() float64 { return -1 + 0x1p-9 + 0x1p-53 }), true, true},
		{"all bits that there is room for", 0, one(func() float64 { return (1 + r.Float64()) * 0x1p-24 }), true, true},
		{"some bits too small", 0, func(i int) float64 { return map[bool]float64{true: 0x1.8p-80}[i == 777] }, false, true},
		{"all bits of a wide range", 0, one(func() float64 { return math.Ldexp(1+r.Float64(), r.IntN(60)-53) }), false, true},
		{"bits below a wide range", 0, func(i int) float64 { return map[bool]float64{true: 0x1.8p-107}[i == 777] }, false, false},
		{"too large", 0, one(func() float64 { return 32 * r.Float64() }), false, true},
		{"too large for a wide range", 0, one(func() float64 { return 0x1p14 * r.Float64() }), false, false},
		{"one far too large", 0, func(i int) float64 { return map[bool]float64{true: 0x1p300}[i == 777] }, false, false},
		{"there and back", 0, func(i int) float64 { return map[int]float64{776: 0x1p300, 777: -0x1p300}[i] }, false, false},
		{"a nan", 0, func(i int) float64 { return map[bool]float64{true: math.NaN()}[i == 5] }, false, false},
		{"an infinity", 0, func(i int) float64 { return map[bool]float64{true: math.Inf(-1)}[i == 5] }, false, false},
		{"huge", 2000, one(r.Float64), false, false},
		{"large", 880, one(func() float64 { return r.Float64() * 0x1p880 }), true, true},
		{"tiny", -890, one(func() float64 { return r.Float64() * 0x1p-890 }), true, true},
	} {
		for levels, exact := range map[int]bool{NearLevels: c.exact, NearLevels - 1: c.wide} {
			st := StateOf(Sum, types.F64, levels)
			if !st.Near() {
				t.Fatal("no near state")
			}
			add, open := st.Add(), st.Open()
			var words, from []Word
			for k := range st.Types {
				from = append(from, st.From(k, c.e))
			}
			words = append(words, from...)
			want := new(big.Float).SetPrec(4000)
			for i := range n {
				x := c.of(i)
				if x-x == 0 {
					want.Add(want, big.NewFloat(x))
				}
				words = add.Eval(append(append([]Word{}, words...), math.Float64bits(x))...)
			}
			words = open.Eval(append(append([]Word{}, words...), from...)...)
			if got := st.Exact(words); got != exact {
				t.Errorf("%s, %d words: exact is %v, want %v", c.name, -levels, got, exact)
			}
			if !exact {
				continue
			}
			var sum total
			for _, squares := range []bool{false, true} {
				first, n := st.Words(squares)
				for _, w := range words[first:][:n] {
					sum.Add(math.Float64frombits(w))
				}
			}
			if got := sum.of(); got.Cmp(want) != 0 {
				t.Errorf("%s, %d words: the sum is %v, want %v", c.name, -levels, got, want)
			}
		}
	}
}

// begun returns what a state of numbers of size 2^e begins with, and some states that have begun.
func begun(st *State, e, lanes int) (from []Word, states [][]Word) {
	for k := range st.Types {
		from = append(from, st.From(k, e))
	}
	for range lanes {
		states = append(states, slices.Clone(from))
	}
	return from, states
}

// joined joins states in pairs and opens the last one.
func joined(st *State, from []Word, states [][]Word) []Word {
	for n := len(states) / 2; n > 0; n /= 2 {
		for k := range n {
			states[k] = st.Join().Eval(slices.Concat(states[k], states[k+n], from)...)
		}
	}
	return st.Open().Eval(slices.Concat(states[0], from)...)
}

// A state with a bound gives the sum or mean, rounded once, or doubts it.
func TestNearestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	one := func(f func() float64) func(int) float64 { return func(int) float64 { return f() } }
	at := func(x map[int]float64) func(int) float64 { return func(i int) float64 { return x[i] } }
	const most = 1 << 30 // of the doubts
	for _, c := range []struct {
		name   string
		n      int
		of     func(i int) float64
		doubts int // in 40 rows
	}{
		{"uniform", 200, one(r.Float64), 12},
		{"uniform, many", NearMost, one(r.Float64), 2},
		{"squares", 200, one(func() float64 { return math.Pow(r.NormFloat64(), 2) }), 8},
		{"normal", 64, one(r.NormFloat64), 10},
		{"exponentials", 300, one(func() float64 { return math.Exp(-100 * r.Float64()) }), 8},
		{"whole", 90, one(func() float64 { return float64(1 + r.IntN(9)) }), 0},
		{"large", 90, one(func() float64 { return 1e3 * r.Float64() }), 10},
		{"small", 90, one(func() float64 { return 1e-3 * r.Float64() }), 12},
		{"zeros", 90, one(func() float64 { return 0 }), most},
		{"too large", 90, one(func() float64 { return 0x1p20 * r.Float64() }), most},
		{"of all sizes", 90, one(func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(200)-100) }), most},
		{"a tie that the least decides", 90, at(map[int]float64{3: 1, 20: 0x1p-53, 60: 0x1p-300}), most},
		{"a tie that the least decides otherwise", 90, at(map[int]float64{3: 1, 20: 0x1p-53, 60: -0x1p-300}), most},
		{"nearly a tie", 90, func(i int) float64 { return map[int]float64{3: 1, 20: 0x1p-53}[i] - float64(i%7)*0x1p-106 }, most},
		{"there and back", 90, at(map[int]float64{1: 0x1p300, 2: -0x1p300, 3: 1}), most},
		{"beyond the binade and back", 90, at(map[int]float64{1: 0x1p20, 9: -0x1p20, 10: 1.1, 17: 0.3}), most},
		{"lanes that leave the binade together", 90, func(i int) float64 {
			return map[int]float64{0: 0x1p-32, 8: 0x1p-40}[i] + map[bool]float64{true: 0x1p18}[i < 8]
		}, most},
		{"a nan", 90, at(map[int]float64{5: math.NaN()}), most},
		{"an infinity", 90, at(map[int]float64{5: math.Inf(1)}), most},
	} {
		for _, class := range []Class{Sum, Mean} {
			st, doubts := StateOf(class, types.F64, BoundLevels), 0
			if !st.Bound() || StateOf(class, types.F32, BoundLevels).Bound() {
				t.Fatal("the state has no bound, or that of f32 has one")
			}
			for range 40 {
				from, states := begun(st, 0, 8)
				in := make([]Word, c.n)
				for i := range in {
					in[i] = math.Float64bits(c.of(i))
					states[i%8] = st.Add().Eval(slices.Concat(states[i%8], in[i:i+1])...)
				}
				out := []float64{0}
				if doubt := st.Nearest(out, 1, joined(st, from, states), c.n, 0, nil); len(doubt) > 0 {
					doubts++
				} else if want := class.Fold(types.F64, [][]Word{in}); math.Float64bits(out[0]) != want {
					t.Fatalf("%s: %v of class %s, want %v", c.name, out[0], class.Info().Name, math.Float64frombits(want))
				}
				if c.n == NearMost && doubts == 0 { // takes long
					break
				}
			}
			if doubts > c.doubts {
				t.Errorf("%s, class %s: %d doubts", c.name, class.Info().Name, doubts)
			}
		}
	}
}

// total adds without rounding.
type total struct{ x big.Float }

func (s *total) Add(x float64) { s.of().Add(s.of(), new(big.Float).SetFloat64(x)) }

func (s *total) of() *big.Float {
	if s.x.Prec() == 0 {
		s.x.SetPrec(4000)
	}
	return &s.x
}
