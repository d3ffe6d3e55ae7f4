package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// oracle rounds the exact sum of finite numbers with math/big, which shares nothing with the code
// under test.
func oracle(x []float64) (float64, float32) {
	sum := new(big.Float).SetPrec(4096)
	for _, v := range x {
		sum.Add(sum, new(big.Float).SetFloat64(v))
	}
	f, _ := sum.Float64()
	g, _ := sum.Float32()
	if sum.Sign() == 0 {
		return 0, 0
	}
	return f, g
}

// kinds are generators of hard data.
var kinds = map[string]func(r *rand.Rand) float64{
	"uniform":   func(r *rand.Rand) float64 { return r.Float64() },
	"normal":    func(r *rand.Rand) float64 { return r.NormFloat64() },
	"wide":      func(r *rand.Rand) float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) },
	"subnormal": func(r *rand.Rand) float64 { return math.Float64frombits(r.Uint64N(1<<53) | r.Uint64()<<63) },
	"huge":      func(r *rand.Rand) float64 { return math.Ldexp(r.Float64()-0.5, 1024) },
	"bits": func(r *rand.Rand) float64 {
		for {
			if v := math.Float64frombits(r.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
				return v
			}
		}
	},
	"powers": func(r *rand.Rand) float64 {
		return math.Ldexp([]float64{-1, 1, 0}[r.IntN(3)], []int{-1074, -150, -149, -53, 0, 1, 53, 54, 1023}[r.IntN(9)])
	},
	"float32": func(r *rand.Rand) float64 { return float64(math.Float32frombits(r.Uint32() &^ (1 << 30))) },
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

func TestRoundAgainstBig(t *testing.T) {
	for name, gen := range kinds {
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		for round := range 300 {
			x := make([]float64, r.IntN(600))
			for i := range x {
				x[i] = gen(r)
			}
			if round%3 == 0 { // cancel most of it
				for i := 1; i < len(x); i += 2 {
					x[i] = -x[i-1]
				}
				r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			}
			f, g := oracle(x)
			var one, many Sum
			for _, v := range x {
				one.Add(v)
			}
			many.AddSlice(x)
			if !same(one.Round(), f) || !same(many.Round(), f) {
				t.Fatalf("%s, %d elements: Add %v, AddSlice %v, want %v", name, len(x), one.Round(), many.Round(), f)
			}
			if one.Round32() != g {
				t.Fatalf("%s: Round32 %v, want %v", name, one.Round32(), g)
			}
		}
	}
}

// Ties and near-ties at the rounding boundary, where one sticky bit far away decides.
func TestTies(t *testing.T) {
	for _, x := range [][]float64{
		{1, 0x1p-53}, {1, 0x1p-53, 0x1p-1074}, {1, 0x1p-53, -0x1p-1074}, {1 + 0x1p-52, 0x1p-53},
		{-1, -0x1p-53}, {-1, -0x1p-53, 0x1p-1074}, {math.MaxFloat64, 0x1p970}, {math.MaxFloat64, 0x1p969},
		{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, {0x1p-1074, -0x1p-1074}, {math.Copysign(0, -1)}, {},
		{0x1p-149, 0x1p-150}, {0x1p-150}, {0x1p-150, 0x1p-1074}, {0x1p128, -0x1p103}, {0x1p128, -0x1p104},
	} {
		var s Sum
		for _, v := range x {
			s.Add(v)
		}
		f, g := oracle(x)
		if !same(s.Round(), f) || s.Round32() != g {
			t.Errorf("%v: %v %v, want %v %v", x, s.Round(), s.Round32(), f, g)
		}
	}
}

func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{inf, 1}, inf}, {[]float64{-inf, math.MaxFloat64}, -inf}, {[]float64{inf, -inf}, nan},
		{[]float64{nan, inf}, nan}, {[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
	} {
		for _, pad := range []int{0, 1000} {
			x := append(make([]float64, pad), c.x...)
			var s Sum
			s.AddSlice(x)
			if got := s.Round(); !same(got, c.want) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%v after %d zeros: %v, want %v", c.x, pad, got, c.want)
			}
		}
	}
}

// Any grouping and order gives not only the same float but the same words.
func TestMergeInAnyGrouping(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 50 {
		x := make([]float64, 1+r.IntN(9000))
		for i := range x {
			x[i] = math.Ldexp(r.NormFloat64(), r.IntN(200))
			if round%5 == 0 && r.IntN(len(x)) == 0 {
				x[i] = math.Inf(r.IntN(2)*2 - 1)
			}
		}
		var whole Sum
		whole.AddSlice(x)
		want := make([]int64, Words)
		whole.PutWords(want)
		r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
		var parts Sum
		var words [][]int64
		for rest := x; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			var p Sum
			p.AddSlice(rest[:n])
			w := make([]int64, Words)
			p.PutWords(w)
			q := FromWords(w)
			parts.Merge(&q)
			rest, words = rest[n:], append(words, w)
		}
		got := make([]int64, Words)
		parts.PutWords(got)
		JoinWords(words[0], words...)
		if fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(words[0]) != fmt.Sprint(want) {
			t.Fatal("words differ between groupings")
		}
	}
}

func TestSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for range 100 {
		x := make([]float64, r.IntN(700))
		sum := new(big.Float).SetPrec(4096)
		for i := range x {
			x[i] = math.Ldexp(r.NormFloat64(), r.IntN(600)-300)
			v := new(big.Float).SetPrec(200).SetFloat64(x[i])
			sum.Add(sum, v.Mul(v, v))
		}
		var s Sum
		s.AddSquares(x)
		want, _ := sum.Float64()
		if !same(s.Round(), want) {
			t.Fatalf("%v, want %v", s.Round(), want)
		}
	}
	var s Sum
	s.AddSquares([]float64{1e200, 1})
	if !math.IsInf(s.Round(), 1) {
		t.Errorf("1e200 squared: %v", s.Round())
	}
}

// Sums of many integers, beyond 64 bits too, are rounded once.
func TestAddInts(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	for round := range 300 {
		x := make([]int64, r.IntN(50))
		for i := range x {
			x[i] = int64(r.Uint64()) >> r.IntN(64)
			if round%3 == 0 {
				x[i] = math.MinInt64 + int64(r.IntN(3))
			}
			if round%3 == 1 && x[i] < 0 {
				x[i] = math.MaxInt64
			}
		}
		var sum Sum
		all := new(big.Int)
		for _, v := range x {
			all.Add(all, big.NewInt(v))
		}
		sum.AddInts(x)
		if want, _ := new(big.Float).SetInt(all).Float64(); !same(sum.Round(), want) {
			t.Fatalf("%v: %v, want %v", x, sum.Round(), want)
		}
	}
}

func BenchmarkAddSlice(b *testing.B) {
	for _, n := range []int{32, 128, 512, 4096, 65536} {
		x := make([]float64, n)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range x {
			x[i] = r.NormFloat64()
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			for b.Loop() {
				var s Sum
				s.AddSlice(x)
			}
		})
	}
}

// TestBinsOfAllExponents adds numbers of all exponents by way of the bins, subnormal ones, zeros and
// both signs among them, more than go between two emptyings; then an infinity in the middle.
func TestBinsOfAllExponents(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float64, 3*batch+5)
	for round := range 6 {
		var one, many Sum
		for i := range x {
			x[i] = math.Float64frombits(r.Uint64())
			if e := math.Float64bits(x[i]) >> fracBits & expMask; e == expMask {
				x[i] = math.MaxFloat64
			} else if round == 1 {
				x[i] = math.Ldexp(math.Abs(x[i]), -int(e)-60)
			} else if round == 2 {
				x[i] = -math.MaxFloat64
			}
		}
		if round == 5 {
			x[batch+77] = math.Inf(-1)
		}
		for _, v := range x {
			one.Add(v)
		}
		many.addBins(x)
		var a, b [Words]int64
		one.PutWords(a[:])
		many.PutWords(b[:])
		if a != b {
			t.Errorf("round %d: %v by the bins, %v one by one", round, many.Round(), one.Round())
		}
	}
}
