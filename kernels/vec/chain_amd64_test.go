package vec

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// linked is link o of a chain by the plain loops: x = x o y.
func linked(o uint64, x, y []float64) {
	switch o {
	case LinkAdd:
		Add(x, x, y)
	case LinkSub:
		Sub(x, x, y)
	case LinkSubFrom:
		Sub(x, y, x)
	case LinkMul:
		Mul(x, x, y)
	case LinkDiv:
		Div(x, x, y)
	case LinkDivInto:
		Div(x, y, x)
	case LinkSqrt:
		rootF64(x, x)
	case LinkAbs:
		AbsF64(x, x)
	case LinkNeg:
		Neg(x, x)
	case LinkMin:
		Min(x, x, y)
	case LinkMax:
		Max(x, x, y)
	}
}

// chainOf is the links of a random chain over whole operands x and constants c, and the same one by plain loops.
func chainOf(r *rand.Rand, n int, x [][]float64, c, temp, dst []float64) (code []Link, want []float64) {
	all := ^uint64(0)
	p := func(v []float64) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
	want = make([]float64, n)
	copy(want, x[0])
	code = append(code, Link{[]uint64{LinkLoad, LinkLoadAsk}[r.IntN(2)], p(x[0]), all})
	for k := range r.IntN(3) { // past the end, too
		code = append(code, Link{LinkAsk, p(x[k]), all})
	}
	var kept []float64
	for range 1 + r.IntN(8) {
		o := uint64(LinkAdd + r.IntN(LinkMax-LinkAdd+1))
		y, l := x[r.IntN(len(x))], Link{Op: o, Walk: all}
		switch l.Base = p(y); {
		case r.IntN(3) == 0:
			y, l.Base, l.Walk = make([]float64, n), p(c), 0
			if r.IntN(2) == 0 {
				l.Op = Same(o)
			}
			for i := range y {
				y[i] = c[0]
			}
		case kept != nil && r.IntN(2) == 0:
			y, l.Base, l.Walk = kept, p(temp), 0
		}
		linked(o, want, y)
		code = append(code, l)
		if kept == nil && r.IntN(4) == 0 {
			kept = append([]float64(nil), want...)
			code = append(code, Link{LinkStore, p(temp), 0})
		}
	}
	return append(code, Link{[]uint64{LinkStore, LinkStream}[r.IntN(2)], p(dst), all}), want
}

// Both machines compute what the loops compute.
func TestChains(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	r := rand.New(rand.NewPCG(5, 5))
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	for round := range 400 {
		n := 64 * (1 + r.IntN(5))
		spread := []int{1, 1, 40, 600}[r.IntN(4)]
		x := make([][]float64, 2)
		for k := range x {
			x[k] = make([]float64, n)
			for i := range x[k] {
				x[k][i] = math.Ldexp(r.NormFloat64(), r.IntN(spread)-spread/2)
			}
		}
		if round%4 == 0 {
			special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 5e-324}
			for range 9 {
				x[r.IntN(2)][r.IntN(n)] = special[r.IntN(len(special))]
			}
		}
		c := make([]float64, 64)
		Fill(c, r.NormFloat64())
		temp, dst := make([]float64, 64), make([]float64, n+8)
		for uintptr(unsafe.Pointer(&dst[0]))%64 != 0 {
			dst = dst[1:]
		}
		dst = dst[:n]
		for _, lanes := range []int{4, 8} {
			if haveAVX512 = lanes == 8; haveAVX512 && !wide {
				continue
			}
			code, want := chainOf(rand.New(rand.NewPCG(6, uint64(round))), n, x, c, temp, dst)
			ChainF64(append(code, Link{Op: LinkEnd}), n)
			for i := range dst {
				if !same(dst[i], want[i]) {
					t.Fatalf("round %d, %d lanes: element %d is %v, want %v; %v", round, lanes, i, dst[i], want[i], code)
				}
			}
		}
	}
}

// What a link does with an operand that is the same for all elements, Same of it does with the first of them.
func TestSameLinks(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	values := []float64{1.25, -3, 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324}
	x, got, want := make([]float64, 64), make([]float64, 64), make([]float64, 64)
	for i := range x {
		x[i] = values[i%len(values)]
	}
	all := ^uint64(0)
	names := 0
	for _, lanes := range []int{4, 8} {
		if haveAVX512 = lanes == 8; haveAVX512 && !wide {
			continue
		}
		for o := uint64(LinkAdd); o <= LinkMax; o++ {
			if Same(o) == o {
				continue
			}
			names++
			for _, v := range values {
				c := make([]float64, 64)
				Fill(c, v)
				run := func(o uint64, to []float64) {
					ChainF64([]Link{{LinkLoad, unsafe.Pointer(&x[0]), all}, {Op: o, Base: unsafe.Pointer(&c[0])}, {LinkStore, unsafe.Pointer(&to[0]), all}, {Op: LinkEnd}}, 64)
				}
				run(o, want)
				Fill(c[1:], 99)
				Fill(c[1:8], v) // a vector of it
				run(Same(o), got)
				for i := range x {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("%d lanes, operation %d of %v and %v: %v, want %v", lanes, o, x[i], v, got[i], want[i])
					}
				}
			}
		}
	}
	if names < 8 {
		t.Errorf("%d operations have such a form: eight should", names)
	}
}

// A pair does what its two links do one after the other.
func TestPairLinks(t *testing.T) {
	if !haveAVX2 {
		t.Skip("no AVX2")
	}
	r := rand.New(rand.NewPCG(8, 8))
	wide := haveAVX512
	defer func() { haveAVX512 = wide }()
	x, got, want := make([]float64, 128), make([]float64, 128), make([]float64, 128)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	all := ^uint64(0)
	p := func(x []float64) unsafe.Pointer { return unsafe.Pointer(&x[0]) }
	found := 0
	for _, lanes := range []int{4, 8} {
		if haveAVX512 = lanes == 8; haveAVX512 && !wide {
			continue
		}
		for first := uint64(LinkAddSame); first <= LinkMaxSame; first++ {
			for second := uint64(LinkAddSame); second <= LinkMaxSame; second++ {
				o := Pair(first, second)
				if o == 0 {
					continue
				}
				found++
				both := []float64{r.NormFloat64(), r.NormFloat64()}
				a, b := make([]float64, 8), make([]float64, 8)
				Fill(a, both[0])
				Fill(b, both[1])
				ChainF64([]Link{{LinkLoad, p(x), all}, {Op: first, Base: p(a)}, {Op: second, Base: p(b)}, {LinkStore, p(want), all}, {}}, 128)
				ChainF64([]Link{{LinkLoad, p(x), all}, {Op: o, Base: p(both)}, {LinkStore, p(got), all}, {}}, 128)
				for i := range x {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("%d lanes, operations %d and %d of %v and %v: %v, want %v", lanes, first, second, x[i], both, got[i], want[i])
					}
				}
			}
		}
	}
	if found < len(pairLinks) {
		t.Errorf("%d pairs were tried of %d", found, len(pairLinks))
	}
}
