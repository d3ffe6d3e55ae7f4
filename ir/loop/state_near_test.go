package loop

import (
	"math"
	"math/big"
	"math/rand/v2"
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

// total adds without rounding.
type total struct{ x big.Float }

func (s *total) Add(x float64) { s.of().Add(s.of(), new(big.Float).SetFloat64(x)) }

func (s *total) of() *big.Float {
	if s.x.Prec() == 0 {
		s.x.SetPrec(4000)
	}
	return &s.x
}
