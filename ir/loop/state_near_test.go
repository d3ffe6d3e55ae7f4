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
	}{
		{"uniform", 0, one(r.Float64), true},
		{"of both signs", 3, one(func() float64 { return 8*r.Float64() - 4 }), true},
		{"nearly the largest of one sign", 0, one(func() float64 { return 1 - 0x1p-9 - 0x1p-53 }), true},
		{"nearly the largest of the other sign", 0, one(func() float64 { return -1 + 0x1p-9 + 0x1p-53 }), true},
		{"all bits that there is room for", 0, one(func() float64 { return (1 + r.Float64()) * 0x1p-24 }), true},
		{"some bits too small", 0, func(i int) float64 { return map[bool]float64{true: 0x1.8p-80}[i == 777] }, false},
		{"too large", 0, one(func() float64 { return 32 * r.Float64() }), false},
		{"one far too large", 0, func(i int) float64 { return map[bool]float64{true: 0x1p300}[i == 777] }, false},
		{"there and back", 0, func(i int) float64 { return map[int]float64{776: 0x1p300, 777: -0x1p300}[i] }, false},
		{"a nan", 0, func(i int) float64 { return map[bool]float64{true: math.NaN()}[i == 5] }, false},
		{"an infinity", 0, func(i int) float64 { return map[bool]float64{true: math.Inf(-1)}[i == 5] }, false},
		{"huge", 2000, one(r.Float64), false},
		{"large", 880, one(func() float64 { return r.Float64() * 0x1p880 }), true},
		{"tiny", -890, one(func() float64 { return r.Float64() * 0x1p-890 }), true},
	} {
		st := StateOf(Sum, types.F64, NearLevels)
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
		if got := st.Exact(words); got != c.exact {
			t.Errorf("%s: exact is %v, want %v", c.name, got, c.exact)
		}
		if !c.exact {
			continue
		}
		var sum total
		st.Sums(words, 1, 0, &sum, &sum)
		if got := sum.of(); got.Cmp(want) != 0 {
			t.Errorf("%s: the sum is %v, want %v", c.name, got, want)
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
