//go:build amd64

package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Loops on bools and integers give what the plain loops give, at every length.
func TestBoolsEqualLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1}
	for n := range 70 {
		a, b := make([]float64, n), make([]float64, n)
		i, j := make([]int64, n), make([]int64, n)
		c := make([]uint8, n)
		for k := range n {
			a[k], b[k] = special[r.IntN(len(special))], special[r.IntN(len(special))]
			i[k], j[k] = r.Int64()>>r.IntN(63)-3, r.Int64N(5)-3
			if k%3 == 0 {
				i[k] = j[k]
			}
			if k%11 == 0 {
				i[k], j[k] = math.MinInt64+int64(k%2), math.MaxInt64
			}
			c[k] = uint8(r.IntN(2))
		}
		bools := func(name string, f func(dst []uint8, a, b []float64), plain func(dst []uint8, a, b []float64)) {
			got, want := make([]uint8, n), make([]uint8, n)
			f(got, a, b)
			plain(want, a, b)
			if string(got) != string(want) {
				t.Errorf("%s of %d: %v, want %v\n%v\n%v", name, n, got, want, a, b)
			}
		}
		ints := func(name string, f func(dst []uint8, a, b []int64), plain func(dst []uint8, a, b []int64)) {
			got, want := make([]uint8, n), make([]uint8, n)
			f(got, i, j)
			plain(want, i, j)
			if string(got) != string(want) {
				t.Errorf("%s of %d: %v, want %v\n%v\n%v", name, n, got, want, i, j)
			}
		}
		bools("==", EqF64, Eq[float64])
		bools("!=", NeF64, Ne[float64])
		bools("<", LtF64, Lt[float64])
		bools("<=", LeF64, Le[float64])
		bools(">", GtF64, Gt[float64])
		bools(">=", GeF64, Ge[float64])
		ints("==", EqI64, Eq[int64])
		ints("!=", NeI64, Ne[int64])
		ints("<", LtI64, Lt[int64])
		ints("<=", LeI64, Le[int64])
		ints(">", GtI64, Gt[int64])
		ints(">=", GeI64, Ge[int64])
		arith := func(name string, f, plain func(dst, a, b []int64)) {
			got, want := make([]int64, n), make([]int64, n)
			f(got, i, j)
			plain(want, i, j)
			for k := range got {
				if got[k] != want[k] {
					t.Errorf("%d %s %d is %d, want %d", i[k], name, j[k], got[k], want[k])
				}
			}
		}
		arith("+", AddI64, Add[int64])
		arith("-", SubI64, Sub[int64])
		arith("*", MulI64, Mul[int64])
		sel, wide, ints64 := make([]float64, n), make([]float64, n), make([]int64, n)
		SelectF64(sel, c, a, b)
		SelectI64(ints64, c, i, j)
		F64OfI64(wide, i)
		for k := range n {
			x, y := b[k], j[k]
			if c[k] == 1 {
				x, y = a[k], i[k]
			}
			if math.Float64bits(sel[k]) != math.Float64bits(x) || ints64[k] != y || wide[k] != float64(i[k]) {
				t.Fatalf("element %d of %d: selected %v and %d, want %v and %d; %d as a float is %v", k, n, sel[k], ints64[k], x, y, i[k], wide[k])
			}
		}
	}
}

// Both instruction sets give the bits of the plain loops.
func TestNarrowBools(t *testing.T) {
	wide, narrow := haveAVX512, haveAVX2
	defer func() { haveAVX512, haveAVX2 = wide, narrow }()
	haveAVX512 = false
	TestBoolsEqualLoops(t)
	haveAVX2 = false
	TestBoolsEqualLoops(t)
}
