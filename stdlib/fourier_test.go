package stdlib_test

import (
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// fft against gonum's, and the same bytes on every engine, in bodies, too.
func TestFourier(t *testing.T) {
	text := `
z = randn(60, 2, seed = 3)
x = randn(77, 1, seed = 4)
emit z as "z"
emit fft(z) as "fft"
emit ifft(fft(z)) - z as "back"
emit fft(x) as "real"
emit conv(x, z[:, 0]) - fftconv(x, z[:, 0]) as "conv"
emit parfor i in 0..3 { t(fft(z[i..i + 5, :])[:, 1]) } as "bodies"
emit fft(unique([3, 1, 1])) as "of as many as the run tells"
emit f64(fft(zeros(0, 1)).rows) as "of none"
`
	got := values(t, text, "")
	z := got.get(t, "z")
	n, _ := z.Dims()
	c := make([]complex128, n)
	for i := range c {
		c[i] = complex(z.At(i, 0), z.At(i, 1))
	}
	want := fourier.NewCmplxFFT(n).Coefficients(nil, c)
	f := got.get(t, "fft")
	for k, w := range want {
		if d := complex(f.At(k, 0), f.At(k, 1)) - w; real(d)*real(d)+imag(d)*imag(d) > 1e-26 {
			t.Errorf("element %d: %v %v, gonum has %v", k, f.At(k, 0), f.At(k, 1), w)
		}
	}
	for _, label := range []string{"back", "conv"} {
		if d := largest(got.get(t, label)); d > 1e-13 {
			t.Errorf("%s is off by %v", label, d)
		}
	}
	alike(t, text, "")
	same, err := run(text, "", way{ranks: 3, threads: 1})
	if first, err2 := run(text, "", way{}); err != nil || err2 != nil || same != first {
		t.Errorf("3 ranks: %v %v, other bytes", err, err2)
	}
}
