package vec

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
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
		ordinary, large := make([]float64, PassRows), make([]float64, PassRows)
		Fill(large, 0x1p600)
		r := rand.New(rand.NewPCG(11, 12))
		for range 300 {
			for i := range n {
				if a[i], b[i], c[i] = hard(r), hard(r), hard(r); r.IntN(4) == 0 {
					c[i] = -a[i]
				}
			}
			number := []float64{hard(r)}
			Fill(ordinary, 0x1p-1022)
			for name, k := range map[string]struct {
				code []PassStep
				want func(i int) float64
			}{
				"add":       {[]PassStep{step(PassLoad, along(a)), step(PassAdd, along(b))}, func(i int) float64 { return a[i] + b[i] }},
				"sub":       {[]PassStep{step(PassLoad, along(a)), step(PassSub, along(b))}, func(i int) float64 { return a[i] - b[i] }},
				"subFrom":   {[]PassStep{step(PassLoad, along(a)), step(PassSubFrom, along(b))}, func(i int) float64 { return b[i] - a[i] }},
				"mul":       {[]PassStep{step(PassLoad, along(a)), step(PassMul, along(b))}, func(i int) float64 { return a[i] * b[i] }},
				"div":       {[]PassStep{step(PassLoad, along(a)), step(PassDiv, along(b))}, func(i int) float64 { return a[i] / b[i] }},
				"divInto":   {[]PassStep{step(PassLoad, along(a)), step(PassDivInto, along(b))}, func(i int) float64 { return b[i] / a[i] }},
				"sqrt":      {[]PassStep{step(PassLoad, along(a)), step(PassSqrt)}, func(i int) float64 { return math.Sqrt(a[i]) }},
				"sqrtBoth":  {[]PassStep{step(PassLoad, along(a)), step(PassSqrtBoth)}, func(i int) float64 { return math.Sqrt(a[i]) }},
				"rootTimes": {[]PassStep{step(PassLoad, along(a)), step(PassRootTimes)}, func(i int) float64 { return a[i] * math.Sqrt(a[i]) }},
				"rootTimes of ordinary ones": {[]PassStep{step(PassLoad, along(b)), step(PassAbs), step(PassMax, here(ordinary)), step(PassMin, here(large)), step(PassRootTimes)},
					func(i int) float64 {
						x := min(max(math.Abs(b[i]), ordinary[0]), large[0])
						return x * math.Sqrt(x)
					}},
				"spread": {[]PassStep{step(PassSpread, here(number))}, func(i int) float64 { return number[0] }},
				"rsqrt":  {[]PassStep{step(PassLoad, along(a)), step(PassRsqrt)}, func(i int) float64 { return Rsqrt(a[i]) }},
				"rsqrt of positive": {[]PassStep{step(PassLoad, along(b)), step(PassAbs), step(PassMax, here(ordinary)), step(PassRsqrt)},
					func(i int) float64 { return Rsqrt(max(math.Abs(b[i]), ordinary[0])) }},
				"square": {[]PassStep{step(PassLoad, along(a)), step(PassSquare)}, func(i int) float64 { return a[i] * a[i] }},
				"cube":   {[]PassStep{step(PassLoad, along(a)), step(PassCube)}, func(i int) float64 { return a[i] * a[i] * a[i] }},
				"abs":    {[]PassStep{step(PassLoad, along(a)), step(PassAbs)}, func(i int) float64 { return math.Abs(a[i]) }},
				"neg":    {[]PassStep{step(PassLoad, along(a)), step(PassNeg)}, func(i int) float64 { return -a[i] }},
				"min":    {[]PassStep{step(PassLoad, along(a)), step(PassMin, along(b))}, func(i int) float64 { return min(a[i], b[i]) }},
				"max":    {[]PassStep{step(PassLoad, along(a)), step(PassMax, along(b))}, func(i int) float64 { return max(a[i], b[i]) }},
				"dot": {[]PassStep{step(PassLoad, along(c)), step(PassStore, here(work)), step(PassLoad, along(a)), step(PassDot, along(b), PassOperand{}, here(work)), step(PassLoad, here(work))},
					func(i int) float64 { return math.FMA(a[i], b[i], c[i]) }},
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

// Over rows, where lanes are something else, the machine does what its steps say, row after row.
func TestPassOverRows(t *testing.T) {
	onEachSet(t, func(t *testing.T) {
		const rows = 37
		group := PassGroup()
		x, y, row := make([]float64, group), make([]float64, group), make([]float64, rows)
		work, dot := make([]float64, group), make([]float64, group)
		r := rand.New(rand.NewPCG(15, 16))
		for range 200 {
			for i := range group {
				x[i], y[i], dot[i] = hard(r), hard(r), 0
			}
			for i := range rows {
				row[i] = hard(r)
			}
			for name, k := range map[string]struct {
				code []PassStep
				next func(row, x, y, old float64) float64
			}{
				"rowDot": {[]PassStep{step(PassLoad, here(y)), step(PassRowDot, here(x), along(row), here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA(y, row-x, old) }},
				"rowDotBack": {[]PassStep{step(PassLoad, here(y)), step(PassRowDotBack, here(x), along(row), here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA(y, x-row, old) }},
				"rowSquare": {[]PassStep{step(PassRowSquare, here(x), along(row)), step(PassDot, here(y), PassOperand{}, here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA((row-x)*(row-x), y, old) }},
				"rowSquareAdd": {[]PassStep{step(PassLoad, here(y)), step(PassRowSquareAdd, here(x), along(row)), step(PassDot, here(y), PassOperand{}, here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA(y+float64((row-x)*(row-x)), y, old) }},
				"rowDifference": {[]PassStep{step(PassLoad, here(y)), step(PassRowDifference, here(x), along(row), here(work)), step(PassDot, here(work), PassOperand{}, here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA(y, row-x, old) }},
				"rowSquares": {[]PassStep{step(PassRowSquares, here(x), along(row)), step(PassRowSquareAdd, here(y), along(row)), step(PassRowSquareAdd, here(x), along(row)),
					step(PassDot, here(y), PassOperand{}, here(dot))}, func(row, x, y, old float64) float64 {
					return math.FMA(float64((row-x)*(row-x))+float64((row-y)*(row-y))+float64((row-x)*(row-x)), y, old)
				}},
				"rowDots": {[]PassStep{step(PassLoad, here(y)), step(PassRowDots, here(x), along(row), here(dot)), step(PassRowDot, here(y), along(row), here(dot)),
					step(PassRowDot, here(x), along(row), here(dot))}, func(row, x, y, old float64) float64 {
					return math.FMA(y, row-x, math.FMA(y, row-y, math.FMA(y, row-x, old)))
				}},
				"spread": {[]PassStep{step(PassSpread, along(row)), step(PassDot, here(y), PassOperand{}, here(dot))},
					func(row, x, y, old float64) float64 { return math.FMA(row, y, old) }},
			} {
				clear(dot)
				var s PassState
				s.StartRows()
				Pass(append(k.code, PassStep{}), &s, rows)
				for i := range group {
					want := 0.0
					for _, v := range row {
						want = k.next(v, x[i], y[i], want)
					}
					if math.Float64bits(dot[i]) != math.Float64bits(want) && !(math.IsNaN(dot[i]) && math.IsNaN(want)) {
						t.Fatalf("%s, lane %d: %v, want %v", name, i, dot[i], want)
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

// BenchmarkPassSteps is the least time of each step alone, in ns a vector of the accumulator, the dispatch of the step included.
func BenchmarkPassSteps(b *testing.B) {
	if !HavePass {
		b.Skip("this CPU runs no passes")
	}
	const rows = 2000
	x, y, z, w, row := make([]float64, PassRows), make([]float64, PassRows), make([]float64, PassRows), make([]float64, PassRows), make([]float64, rows)
	Uniform(row, 3, 0)
	for i := range x {
		x[i], y[i], z[i] = 1+float64(i)/64, 2+float64(i)/64, .5
	}
	two := func(s PassStep) []PassStep { return []PassStep{s, s} }
	for _, k := range []struct {
		name string
		code []PassStep // two steps
	}{
		{"nothing", nil},
		{"load", two(step(PassLoad, here(x)))},
		{"store", two(step(PassStore, here(w)))},
		{"add", two(step(PassAdd, here(z)))},
		{"mul", two(step(PassMul, here(z)))},
		{"sqrt", two(step(PassSqrt))},
		{"div", two(step(PassDiv, here(x)))},
		{"rsqrt", []PassStep{step(PassRsqrt), step(PassRsqrt)}},
		{"cube", []PassStep{step(PassCube), step(PassLoad, here(x))}},
		{"difference", two(step(PassDifference, here(x), here(y), here(w)))},
		{"sum3", two(step(PassSum3, here(x), here(y), here(z)))},
		{"squares3", two(step(PassSquares3, here(x), here(y), here(z)))},
		{"dot", []PassStep{step(PassDot, here(x), PassOperand{}, here(w)), step(PassDot, here(x), PassOperand{}, here(y))}},
		{"rowDot", []PassStep{step(PassRowDot, here(x), along(row), here(w)), step(PassRowDot, here(x), along(row), here(y))}},
		{"sqrtBoth", two(step(PassSqrtBoth))},
		{"rootTimes", []PassStep{step(PassRootTimes), step(PassLoad, here(x))}},
		{"rowSquareAdd", two(step(PassRowSquareAdd, here(x), along(row)))},
		{"rowDifference", two(step(PassRowDifference, here(x), along(row), here(w)))},
	} {
		b.Run(k.name, func(b *testing.B) {
			var s PassState
			clear(w)
			code := append([]PassStep{step(PassLoad, here(x))}, append(k.code, PassStep{})...)
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				start := time.Now()
				s.StartRows()
				Pass(code, &s, rows)
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least)/(rows*8*max(1, float64(len(k.code)))), "ns/vector")
		})
	}
}
