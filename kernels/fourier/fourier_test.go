package fourier

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/rowtest"
)

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
		got := new(room).transform(append([]complex128(nil), z...), false)
		back := new(room).transform(append([]complex128(nil), got...), true)
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
