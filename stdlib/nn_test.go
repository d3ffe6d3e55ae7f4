package stdlib_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// This file tests nn.flow against loops over images, windows and pixels. Numbers are small
// integers, so results are equal, not near.

// layer is the sizes of a convolution or a pooling.
type layer struct{ n, c, h, w, k, kh, kw, sh, sw, ph, pw int }

func (l layer) oh() int { return (l.h+2*l.ph-l.kh)/l.sh + 1 }
func (l layer) ow() int { return (l.w+2*l.pw-l.kw)/l.sw + 1 }

// pixel is where the windows' pixel (a, b) of window (y, x) lies in an image of channel ch, and
// whether it does.
func (l layer) pixel(ch, y, x, a, b int) (at int, inside bool) {
	r, s := y*l.sh+a-l.ph, x*l.sw+b-l.pw
	return (ch*l.h+r)*l.w + s, r >= 0 && r < l.h && s >= 0 && s < l.w
}

// windows calls do for every window of every image of a channel, with the pixels that lie inside.
func (l layer) windows(X *mat.Dense, ch int, do func(img, y, x int, pixels map[[2]int]float64)) {
	for img := range l.n {
		for y := range l.oh() {
			for x := range l.ow() {
				in := map[[2]int]float64{}
				for a := range l.kh {
					for b := range l.kw {
						if at, ok := l.pixel(ch, y, x, a, b); ok {
							in[[2]int{a, b}] = X.At(img, at)
						}
					}
				}
				do(img, y, x, in)
			}
		}
	}
}

// add adds v to element (img, channel, y, x) of an output.
func (l layer) add(out *mat.Dense, img, ch, y, x int, v float64) {
	j := (ch*l.oh()+y)*l.ow() + x
	out.Set(img, j, out.At(img, j)+v)
}

func TestImageLayers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	program := func(l layer) (text, set string) {
		text = `
param n: i64
param c: i64
param h: i64
param w: i64
param k: i64
param kh: i64
param kw: i64
param sh: i64
param sw: i64
param ph: i64
param pw: i64
X = floor(9 * rand(n, c * h * w, seed = 1)) - 4
F = floor(9 * rand(k, c * kh * kw, seed = 2)) - 4
emit X as "X"
emit F as "F"
emit conv2d(X, F, c, h, w, kh, kw, sh, sw, ph, pw) as "conv"
emit conv2d(i64(X), i64(F), c, h, w, kh, kw, sh, sw, ph, pw) as "integers"
emit max_pool2d(X, c, h, w, kh, kw, sh, sw, ph, pw) as "max"
emit avg_pool2d(X, c, h, w, kh, kw, sh, sw, ph, pw) as "avg"
emit bias_add(X, seq(0, c)) as "bias"
`
		return text, fmt.Sprintf("n=%d c=%d h=%d w=%d k=%d kh=%d kw=%d sh=%d sw=%d ph=%d pw=%d", l.n, l.c, l.h, l.w, l.k, l.kh, l.kw, l.sh, l.sw, l.ph, l.pw)
	}
	for i := range 12 {
		l := layer{1 + r.IntN(4), 1 + r.IntN(3), 1 + r.IntN(7), 1 + r.IntN(7), 1 + r.IntN(4), 1, 1, 1 + r.IntN(3), 1 + r.IntN(3), r.IntN(2), r.IntN(3)}
		l.kh, l.kw = 1+r.IntN(min(4, l.h+l.ph)), 1+r.IntN(min(4, l.w+l.pw))
		text, set := program(l)
		got := values(t, text, set)
		X, F := got.get(t, "X"), got.get(t, "F")
		size := l.oh() * l.ow()
		conv, most, mean := mat.NewDense(l.n, l.k*size, nil), mat.NewDense(l.n, l.c*size, nil), mat.NewDense(l.n, l.c*size, nil)
		for ch := range l.c {
			l.windows(X, ch, func(img, y, x int, pixels map[[2]int]float64) {
				top, sum := math.Inf(-1), 0.0
				for at, v := range pixels {
					top, sum = max(top, v), sum+v
					for f := range l.k {
						l.add(conv, img, f, y, x, v*F.At(f, (ch*l.kh+at[0])*l.kw+at[1]))
					}
				}
				l.add(most, img, ch, y, x, top)
				l.add(mean, img, ch, y, x, sum/float64(len(pixels)))
			})
		}
		bias := mat.DenseCopyOf(X)
		bias.Apply(func(_, j int, v float64) float64 { return v + float64(j/(l.h*l.w)) }, X)
		for label, want := range map[string]*mat.Dense{"conv": conv, "integers": conv, "max": most, "avg": mean, "bias": bias} {
			if g := got.get(t, label); !same(g, want) {
				t.Errorf("%d: %s of %s is\n%v\nwant\n%v", i, label, set, mat.Formatted(g), mat.Formatted(want))
			}
		}
		if i < 3 { // the same bytes by the definitions of the operators and on other numbers of threads
			alike(t, text, set)
		}
	}
}

// same reports equal elements; a window that lies outside altogether has no mean.
func same(a, b *mat.Dense) bool {
	n, m := a.Dims()
	if p, q := b.Dims(); p != n || q != m {
		return false
	}
	for i := range n {
		for j := range m {
			if x, y := a.At(i, j), b.At(i, j); x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
				return false
			}
		}
	}
	return true
}

// alike fails unless every way of running the program prints the same.
func alike(t *testing.T, text, set string) {
	t.Helper()
	want, err := run(text, set, way{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []way{{eval: true}, {threads: 1}, {threads: 3}, {threads: 2, disable: []string{"fuse"}}} {
		if got, err := run(text, set, w); err != nil || got != want {
			t.Errorf("%s, %+v: %v, other bytes\n%s\nthan\n%s", set, w, err, got, want)
		}
	}
}

const dense = `
X = 3 * randn(40, 7, seed = 1)
emit softmax(X) as "softmax"
emit rowsum(softmax(X)) as "ones"
emit softmax(X + 1000) as "shifted"
emit exp(X) / rowsum(exp(X)) as "plain"
emit affine(X, ones(7, 2), [[1, 2]]) - (rowsum(X) @ ones(1, 2) + [[1, 2]]) as "affine"
emit batch_norm2d(i64(ones(3, 6)) * 7, [2, 3, 4], [1, 1, 1], [3, 3, 5], [4, 16, 1], tiny = 0) as "norm"
`

func TestDenseLayers(t *testing.T) {
	got := values(t, dense, "")
	for label, far := range map[string]float64{"ones": 4e-16, "shifted": 1e-12, "plain": 1e-15, "affine": 1e-14} {
		want := map[string]mat.Matrix{"ones": mat.NewDense(40, 1, slicesOf(40, 1)), "shifted": got["softmax"], "plain": got["softmax"], "affine": mat.NewDense(40, 2, nil)}[label]
		if d := apart(got.get(t, label), want); d > far {
			t.Errorf("%s is %g away", label, d)
		}
	}
	for i := range 3 { // gamma (7 - mean) / sqrt(variance) + beta
		for j, want := range []float64{5, 5, 4, 4, 9, 9} {
			if v := got.get(t, "norm").At(i, j); v != want {
				t.Errorf("norm (%d, %d) is %g, want %g", i, j, v, want)
			}
		}
	}
	alike(t, dense, "")
}

func slicesOf(n int, v float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

func TestLayersRefuse(t *testing.T) {
	const sizes = "c = 1, h = 3, w = 3, kh = 2, kw = 2"
	for program, want := range map[string]string{
		"emit conv2d(ones(1, 9), ones(1, 5), " + sizes + ")":                         "F has 5 columns",
		"emit conv2d(ones(1, 8), ones(1, 4), " + sizes + ")":                         "X has 8 columns",
		"emit max_pool2d(ones(1, 9), c = 1, h = 3, w = 3, kh = 4, kw = 2)":           "does not fit in 3 x 3 pixels",
		"emit avg_pool2d(ones(1, 9), " + sizes + ", sh = 0)":                         "steps are at least 1",
		"emit bias_add(ones(1, 9), ones(2, 1))":                                      "9 columns do not make 2 channels",
		"emit bias_add(ones(1, 9), ones(2, 2))":                                      "not a matrix of 2 x 2",
		"emit batch_norm2d(ones(1, 9), [1, 1, 1], [0, 0, 0], [0, 0, 0], ones(2, 1))": "",
	} {
		_, err := run(program, "", way{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", program, err, want)
		} else if strings.Contains(err.Error(), "BUG") {
			t.Errorf("%s: %v", program, err)
		}
	}
}
