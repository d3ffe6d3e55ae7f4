package stdlib_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// This file tests data.flow against maps of Go.

func TestEncode(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for trial := range 24 {
		n, kinds := 1+r.IntN(60), 1+r.IntN(12)
		x := make([]float64, n)
		words := make([]string, n)
		for i := range x {
			x[i] = float64(r.IntN(kinds)-kinds/2) / 2
			if r.IntN(9) == 0 {
				x[i] = []float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1)}[r.IntN(3)]
			}
			words[i] = strings.ToLower(strings.Replace(fmt.Sprint(x[i]), "+", "", 1))
			if !strings.ContainsAny(words[i], ".nf") {
				words[i] += ".0"
			}
		}
		convert := []string{"", "f32", "bool"}[trial%3]
		if convert == "bool" {
			for i := range x {
				if x[i] = 1; words[i] == "0.0" || words[i] == "-0.0" {
					x[i] = 0
				}
			}
		}
		text := fmt.Sprintf("x = %s([%s])\nc, v = encode(x)\nd, w = encode(x, ascending = false)\n"+
			"emit f64(c) as \"codes\"\nemit f64(v) as \"values\"\nemit f64(d) as \"first codes\"\nemit f64(w) as \"first values\"\n", convert, strings.Join(words, ", "))
		got := values(t, text, "")
		check := func(label string, dictionary []float64) {
			t.Helper()
			want := mat.NewDense(n, 1, nil)
			for i := range x {
				want.Set(i, 0, float64(slices.IndexFunc(dictionary, func(y float64) bool { return y == x[i] || y != y && x[i] != x[i] })))
			}
			if g := got.get(t, label+"codes"); !same(g, want) {
				t.Errorf("%d: %scodes of %v are %v", trial, label, words, mat.Formatted(g))
			}
			if g := got.get(t, label+"values"); !same(g, mat.NewDense(len(dictionary), 1, dictionary)) {
				t.Errorf("%d: %svalues of %v are %v, want %v", trial, label, words, mat.Formatted(g), dictionary)
			}
		}
		var appear []float64
		for _, y := range x {
			if y == 0 {
				y = 0
			}
			if !slices.ContainsFunc(appear, func(z float64) bool { return z == y || z != z && y != y }) {
				appear = append(appear, y)
			}
		}
		ascend := slices.Clone(appear)
		slices.SortFunc(ascend, func(a, b float64) int {
			switch {
			case a < b || b != b && a == a:
				return -1
			case a > b || a != a && b == b:
				return 1
			}
			return 0
		})
		check("", ascend)
		check("first ", appear)
		if trial < 3 {
			alike(t, text, "")
		}
	}
}

func TestEncodeSizes(t *testing.T) {
	text := `
c, v = encode(zeros(0, 1), ascending = false)
emit c.rows + v.rows as "empty"
w, u = encode(unique(floor(9 * rand(50, 1, seed = 3))), ascending = false)
emit f64(w - argsort(w)) as "as many as the run tells"
`
	got := values(t, text, "")
	if got.get(t, "empty").At(0, 0) != 0 || largest(got.get(t, "as many as the run tells")) != 0 {
		t.Errorf("%v", got)
	}
}

// TestEncodeManyRows: encode looks up many rows of few values in a table, and sorts others. The bytes
// are the same, for every type.
func TestEncodeManyRows(t *testing.T) {
	text := `
n = 6000
k = randint(n, 1, -3, 4, seed = 5)
fn both(x) {
  codes, values = encode(x)
  assert identical(values, unique(x)), "other values"
  y = take(values, codes)
  all(y == x or isnan(f64(y)) and isnan(f64(x)))
}
emit i64(both(k) and both(k * 1_000_000_000_000_000_001) and both(k > 0) and both(f32(k) / 3)) as "few"
emit i64(both(ifelse(k == 1, nan, ifelse(k == 2, -0.0, k / 7))) and both(1 / f64(k))) as "odd ones"
emit i64(both(k * n + seq(0, n)) and both(rand(n, 1, seed = 6))) as "many"
emit i64(both(k[k > -2]) and both(f64(k[k > 2])) and both(k[k > 9])) as "as many as the run tells"
`
	got := values(t, text, "")
	for _, label := range []string{"few", "odd ones", "many", "as many as the run tells"} {
		if got.get(t, label).At(0, 0) != 1 {
			t.Errorf("%s: the codes name other values", label)
		}
	}
	alike(t, text, "")
}

func TestOnehotColumns(t *testing.T) {
	text := `
X = [[1, 7.5, 3, 0], [0, 8.5, 4, 2]]
emit onehot_columns(X, [2, -1, 0, 3]) as "all kinds"
emit onehot_columns(X[:, 0..1], [-1]) as "as it is"
emit f64(onehot_columns(X, [0, 0, 0, 0]).cols) as "none"
`
	got := values(t, text, "")
	for label, want := range map[string]*mat.Dense{
		"all kinds": mat.NewDense(2, 6, []float64{0, 1, 7.5, 1, 0, 0, 1, 0, 8.5, 0, 0, 1}),
		"as it is":  mat.NewDense(2, 1, []float64{1, 0}), "none": mat.NewDense(1, 1, []float64{0}),
	} {
		if g := got.get(t, label); !same(g, want) {
			t.Errorf("%s: %v, want %v", label, mat.Formatted(g), mat.Formatted(want))
		}
	}
	if _, err := run("emit onehot_columns(ones(2, 2), [1])", "", way{}); err == nil || !strings.Contains(err.Error(), "1 sizes for 2 columns") {
		t.Errorf("too few sizes: %v", err)
	}
	if _, err := run("emit onehot_columns(ones(2, 1), [1])", "", way{}); err == nil {
		t.Errorf("a code that is too large passed")
	}
}

func TestSparsity(t *testing.T) {
	out, err := run("emit sparsity(sparse(eye(5)))\nemit sparsity([0, 1, 0, nan])\nemit sparsity(zeros(0, 3))\nemit sparsity(eye(2) > 0)", "", way{})
	if want := "0.2\n0.5\nnan\n0.5\n"; err != nil || out != want {
		t.Errorf("%v %s", err, out)
	}
}
