package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// onEachSet runs f with the machine of each instruction set.
func onEachSet(t *testing.T, f func(t *testing.T)) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	have := haveAVX512
	defer func() { haveAVX512 = have }()
	for _, wide := range []bool{false, true} {
		if haveAVX512 = wide; wide && !have {
			continue
		}
		t.Run(map[bool]string{false: "AVX2", true: "AVX-512"}[wide], f)
	}
}

func here(x []float64) PassOperand  { return PassOperand{unsafe.Pointer(&x[0]), PassHere} }
func along(x []float64) PassOperand { return PassOperand{unsafe.Pointer(&x[0]), PassRow} }

func step(op uint64, a ...PassOperand) PassStep {
	s := PassStep{Op: op}
	copy(s.Arg[:], a)
	return s
}

// hard draws numbers near halves of units, of all sizes, zeros of either sign, and some that are no number.
func hard(r *rand.Rand) float64 {
	switch r.IntN(12) {
	case 0:
		return math.Copysign(0, float64(r.IntN(2))-0.5)
	case 1, 2:
		return math.Ldexp(float64(1-2*r.IntN(2)), r.IntN(120)-60)
	case 3:
		return math.Ldexp(r.NormFloat64(), -1060-r.IntN(10))
	case 4:
		return math.Ldexp(float64(1+r.Int64N(1<<53)), -r.IntN(110))
	case 5:
		return math.Ldexp(float64(r.IntN(1<<24)-1<<23), r.IntN(40)-60)
	case 6:
		if r.IntN(60) == 0 {
			return []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64}[r.IntN(5)]
		}
	}
	return math.Ldexp(r.NormFloat64(), r.IntN(80)-40)
}

// sum3Of is the exact sum rounded once; zero is +0.
func sum3Of(x ...float64) float64 {
	sum := new(big.Float).SetPrec(2300)
	for _, v := range x {
		sum.Add(sum, new(big.Float).SetPrec(2300).SetFloat64(v))
	}
	if f, _ := sum.Float64(); f != 0 {
		return f
	}
	return 0
}

func TestPassSteps(t *testing.T) {
	onEachSet(t, func(t *testing.T) {
		n := 3 * PassGroup()
		a, b, c, got, work := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, PassRows)
		r := rand.New(rand.NewPCG(11, 12))
		for range 300 {
			for i := range n {
				if a[i], b[i], c[i] = hard(r), hard(r), hard(r); r.IntN(4) == 0 {
					c[i] = -a[i]
				}
			}
			number := []float64{hard(r)}
			for name, k := range map[string]struct {
				code []PassStep
				want func(i int) float64
			}{
				"add":        {[]PassStep{step(PassLoad, along(a)), step(PassAdd, along(b))}, func(i int) float64 { return a[i] + b[i] }},
				"sub":        {[]PassStep{step(PassLoad, along(a)), step(PassSub, along(b))}, func(i int) float64 { return a[i] - b[i] }},
				"subFrom":    {[]PassStep{step(PassLoad, along(a)), step(PassSubFrom, along(b))}, func(i int) float64 { return b[i] - a[i] }},
				"mul":        {[]PassStep{step(PassLoad, along(a)), step(PassMul, along(b))}, func(i int) float64 { return a[i] * b[i] }},
				"div":        {[]PassStep{step(PassLoad, along(a)), step(PassDiv, along(b))}, func(i int) float64 { return a[i] / b[i] }},
				"divInto":    {[]PassStep{step(PassLoad, along(a)), step(PassDivInto, along(b))}, func(i int) float64 { return b[i] / a[i] }},
				"sqrt":       {[]PassStep{step(PassLoad, along(a)), step(PassSqrt)}, func(i int) float64 { return math.Sqrt(a[i]) }},
				"spread":     {[]PassStep{step(PassSpread, here(number))}, func(i int) float64 { return number[0] }},
				"difference": {[]PassStep{step(PassDifference, along(a), along(b), here(work)), step(PassLoad, here(work))}, func(i int) float64 { return a[i] - b[i] }},
				"sum3": {[]PassStep{step(PassSum3, along(a), along(b), along(c))}, func(i int) float64 {
					return threeOf(a[i], b[i], c[i])
				}},
				"squares3": {[]PassStep{step(PassSquares3, along(a), along(b), along(c))}, func(i int) float64 {
					return threeOf(a[i]*a[i], b[i]*b[i], c[i]*c[i])
				}},
			} {
				var s PassState
				s.Start()
				Pass(append(k.code, step(PassStore, along(got)), PassStep{}), &s, 3)
				for i := range n {
					want := k.want(i)
					if math.Float64bits(got[i]) != math.Float64bits(want) && !(math.IsNaN(got[i]) && (math.IsNaN(want) || name == "sum3" || name == "squares3")) {
						t.Fatalf("%s of %v, %v, %v: %v, want %v", name, a[i], b[i], c[i], got[i], want)
					}
					if finite := a[i]-a[i] == 0 && b[i]-b[i] == 0 && c[i]-c[i] == 0; name == "sum3" && finite && math.IsNaN(got[i]) && max(math.Abs(a[i]), math.Abs(b[i]), math.Abs(c[i])) < 1e300 {
						t.Fatalf("%v + %v + %v is refused", a[i], b[i], c[i])
					}
				}
			}
		}
	})
}

// threeOf is the sum of three rounded once, NaN where the machine need not know it.
func threeOf(x ...float64) float64 {
	for _, v := range x {
		if v-v != 0 {
			return math.NaN()
		}
	}
	return sum3Of(x...)
}

// Columns take what the definition in ColumnState says, in this group and the one before, with and without a mask.
func TestPassColumns(t *testing.T) {
	onEachSet(t, func(t *testing.T) {
		n, l := 3*PassGroup(), PassLanes()
		a, b := make([]float64, n), make([]float64, n)
		r := rand.New(rand.NewPCG(13, 14))
		for round := range 200 {
			for i := range n {
				a[i], b[i] = hard(r), 1+r.Float64()
			}
			var got, want ColumnState
			for k := range l {
				bias := math.Ldexp(1.5, []int{-3, 20, 70}[round%3])
				for _, v := range []int{0, 1, 6} {
					got[v*l+k], want[v*l+k] = bias, bias
				}
			}
			products, tail := round&1 != 0, 1+r.IntN(PassGroup())
			state := PassOperand{unsafe.Pointer(&got[0]), PassHere}
			op := step(PassColumn, PassOperand{unsafe.Pointer(&a[0]), PassBefore}, PassOperand{}, state)
			if products {
				op = step(PassProducts, PassOperand{unsafe.Pointer(&a[0]), PassBefore}, PassOperand{unsafe.Pointer(&b[0]), PassBefore}, state)
			}
			last := op
			last.Op++
			var s PassState
			s.Tail(tail)
			s.Start()
			Pass([]PassStep{{}}, &s, 1)
			Pass([]PassStep{op, {}}, &s, 2)
			Pass([]PassStep{last, {}}, &s, 1)
			or := func(at int, x uint64) { want[at] = math.Float64frombits(math.Float64bits(want[at]) | x) }
			for i := range n {
				v := a[i]
				if products {
					v *= b[i]
				}
				if i >= 2*PassGroup()+tail {
					v = 0
				}
				k := i % (2 * l)
				next := want[k] + v
				rest := v - (next - want[k])
				want[k] = next
				want[2*l+k] += rest
				or(4*l+k%l, math.Float64bits(next)^math.Float64bits(want[6*l]))
				or(5*l+k%l, math.Float64bits(rest))
			}
			for k := range want[:7*l] {
				if x, y := math.Float64bits(got[k]), math.Float64bits(want[k]); x != y && !(math.IsNaN(got[k]) && math.IsNaN(want[k])) {
					t.Fatalf("round %d, vector %d, lane %d: %x, want %x", round, k/l, k%l, x, y)
				}
			}
		}
	})
}
