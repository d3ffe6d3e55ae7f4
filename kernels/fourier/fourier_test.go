package fourier

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
	"flow/kernels/vec"
)

// roots returns all roots of n, whatever its factors are.
func roots(n int) []complex128 {
	p := &plan{n: n, w: make([]complex128, directRoots(n))}
	p.direct(0, len(p.w))
	out := make([]complex128, n)
	for k := range out {
		out[k] = p.root(k)
	}
	return out
}

// transformed is the transform of z by its definition.
func transformed(t *testing.T, z []complex128, inverse bool) []complex128 {
	out := make([]complex128, len(z))
	matrix := func(z []complex128) *value.Dense {
		return &value.Dense{Elem: types.F64, Rows: len(z), Cols: 2, Stride: 2, F64: floats(z)}
	}
	if err := compute(matrix(z), matrix(out), inverse, true); err != nil {
		t.Fatal(err)
	}
	return out
}

// sumOfTransform is the transform by its definition, with sums that do not round.
func sumOfTransform(z []complex128) []complex128 {
	n := len(z)
	w := roots(n)
	out := make([]complex128, n)
	for k := range out {
		re, im := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300)
		add := func(to *big.Float, x, y float64) {
			p := new(big.Float).SetPrec(300).SetFloat64(x)
			to.Add(to, p.Mul(p, new(big.Float).SetFloat64(y)))
		}
		for j, v := range z {
			r := w[j*k%n]
			add(re, real(v), real(r))
			add(re, -imag(v), imag(r))
			add(im, real(v), imag(r))
			add(im, imag(v), real(r))
		}
		a, _ := re.Float64()
		b, _ := im.Float64()
		out[k] = complex(a, b)
	}
	return out
}

// The transform is its sum, for lengths of all kinds, and the inverse is its inverse.
func TestFourier(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 7))
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 30, 37, 49, 61, 64, 67, 97, 122, 128, 134, 143, 169, 210, 243, 257, 331} {
		z := make([]complex128, n)
		norm := 0.0
		for i := range z {
			z[i] = complex(r.NormFloat64(), r.NormFloat64())
			norm = math.Hypot(norm, math.Hypot(real(z[i]), imag(z[i])))
		}
		bound := 4e-16 * math.Log2(2*float64(n)) * norm
		want := sumOfTransform(z)
		got := transformed(t, z, false)
		back := transformed(t, got, true)
		far := func(a, b []complex128) float64 {
			d := 0.0
			for i := range a {
				d = max(d, math.Hypot(real(a[i]-b[i]), imag(a[i]-b[i])))
			}
			return d
		}
		if d := far(got, want); !(d <= bound) {
			t.Errorf("n = %d: off by %v, the bound is %v", n, d, bound)
		}
		if d := far(back, z); !(d <= bound) {
			t.Errorf("n = %d: the inverse is off by %v, the bound is %v", n, d, bound)
		}
	}
}

// The roots are those of math, and have the symmetries of the circle to the bit.
func TestRoots(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8, 12, 13, 100, 1024, 1009} {
		w := roots(n)
		for k, v := range w {
			s, c := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
			if math.Hypot(real(v)-c, imag(v)-s) > 1e-15*8 {
				t.Errorf("n = %d, k = %d: %v, want %v", n, k, v, complex(c, s))
			}
			if k > 0 && 2*k != n && v != conjugate(w[n-k]) {
				t.Errorf("n = %d: roots %d and %d are no conjugates", n, k, n-k)
			}
		}
	}
	if w := roots(8); w[2] != complex(0, -1) || w[4] != complex(-1, 0) || w[6] != complex(0, 1) || real(w[1]) != -imag(w[1]) {
		t.Errorf("the eighth roots are %v", w)
	}
}

// The roots that follow from others by the symmetries are those that root computes, to the bit.
func TestRootsBySymmetry(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 28, 36, 96, 1000, 1024, 4100} {
		for k, z := range roots(n) {
			w := root(k, n)
			if math.Float64bits(real(z)) != math.Float64bits(real(w)) || math.Float64bits(imag(z)) != math.Float64bits(imag(w)) {
				t.Fatalf("root %d of %d is %v, not %v", k, n, z, w)
			}
		}
	}
}

func TestFourierRefuses(t *testing.T) {
	for _, name := range []string{"fft", "ifft"} {
		d := rowtest.RowNamed(t, Rows(), name)
		if _, ok := rowtest.Check(t, d, nil, []value.Value{value.New(types.F64, 4, 3)}); ok {
			t.Errorf("%s takes three columns", name)
		}
		if _, ok := rowtest.Check(t, d, nil, []value.Value{value.F64(1)}); ok {
			t.Errorf("%s takes a scalar", name)
		}
		for _, e := range []types.Elem{types.F64, types.F32, types.I64, types.Bool} {
			for _, cols := range []int{1, 2} {
				if v, ok := rowtest.Check(t, d, nil, []value.Value{value.New(e, 6, cols)}); !ok || v.Type().Cols != 2 {
					t.Errorf("%s of %v: %v", name, e, v)
				}
			}
		}
		if v, ok := rowtest.Check(t, d, nil, []value.Value{value.New(types.F64, 0, 1)}); !ok || v.Type().Rows != 0 {
			t.Errorf("%s of nothing: %v", name, v)
		}
	}
}

// A length with a large factor has the bits of the definition, too.
func TestConvolutions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	for _, n := range []int{67, 134, 331, 1009, 2018, 4 * 1009, 20011} {
		x := rowtest.RandomDense(r, []types.Elem{types.F64, types.I64, types.F32}[n%3], n, 1+n%2)
		for _, inverse := range []bool{false, true} {
			z := make([]complex128, n)
			for i := range z {
				if z[i] = complex(x.At(i, 0).Float(), 0); x.Cols == 2 {
					z[i] = complex(real(z[i]), x.At(i, 1).Float())
				}
			}
			want, got := transformed(t, z, inverse), value.New(types.F64, n, 2)
			if lengthOf(n).s == 0 {
				continue
			}
			if err := op.RunAll(begin(x, got, inverse, 1), units); err != nil {
				t.Fatal(err)
			}
			for i, v := range floats(want) {
				if math.Float64bits(v) != math.Float64bits(got.F64[i]) {
					t.Fatalf("n = %d, inverse %v: float %d is %v, not %v", n, inverse, i, got.F64[i], v)
				}
			}
		}
	}
}

// The transform of columns has the bits of the steps of whole lengths.
func TestColumns(t *testing.T) {
	for _, n := range []int{64, 256, 512, 1024, 1000, 1155, 4096, 7442, 3720, 12288, 9 * 11 * 13 * 4, 48 * 59, 1 << 15, 1 << 16, 3 << 15, 9 * 25 * 49, 61 * 61 * 8} {
		p := planOf(n)
		if p.s == 0 {
			if n > 255 && vec.HasComplex() {
				t.Errorf("n = %d has no columns", n)
			}
			continue
		}
		r := rand.New(rand.NewPCG(5, uint64(n)))
		x := make([]float64, 2*n)
		for i := range x {
			x[i] = r.NormFloat64()
			if r.IntN(9) == 0 {
				x[i] = math.Copysign(0, x[i])
			}
		}
		for k := range 4 {
			x := operand{x: x, step: 2 - k/2, real: k/2 > 0, conjugate: k%2 > 0}
			z := make([]complex128, n)
			for i := range z {
				if z[i] = complex(x.x[i*x.step], 0); !x.real {
					z[i] = complex(x.x[2*i], x.x[2*i+1])
				}
			}
			want := transformed(t, z, x.conjugate)
			if k%2 > 0 { // from direct roots alone
				all := *p
				p = &all
				p.w, p.lines = p.w[:directRoots(n)], nil
			}
			var w scratch
			between, got := make([]float64, line*p.s*blocks(p.c)), make([]float64, 2*n)
			for b := range blocks(p.c) {
				p.firstSteps(&w, x, between, b)
			}
			for b := range blocks(p.s) {
				p.secondSteps(&w, between, got, x.conjugate, b)
			}
			for i, v := range floats(want) {
				if math.Float64bits(v) != math.Float64bits(got[i]) {
					t.Fatalf("n = %d, case %d: float %d is %v, not %v", n, k, i, got[i], v)
				}
			}
		}
	}
}
