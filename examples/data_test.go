package examples_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This file runs the examples on the larger real inputs, which need not be at hand; inputs_test.go
// has those that are.

// input is the path of a real input: in FLOW_DATA, or in ../shared/data beside the project.
func input(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("FLOW_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here; FLOW_DATA names the folder of the real inputs", path)
	}
	return path
}

// number is what a program printed under a label.
func number(t *testing.T, out, label string) float64 {
	t.Helper()
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, label+": "); ok {
			var x float64
			if _, err := fmt.Sscan(rest, &x); err == nil {
				return x
			}
		}
	}
	t.Fatalf("no number %q in\n%s", label, out)
	return 0
}

// on runs an example on an input with several thread counts and tile sizes, which must print the same.
func on(t *testing.T, name string, sets ...string) string {
	t.Helper()
	text, want := read(t, name), ""
	for i, set := range sets {
		got, err := run(text, set, way{threads: 1 + i%3})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			want = got
		} else if got != want {
			t.Errorf("%s: %s prints\n%swant, as with %s\n%s", name, set, got, sets[0], want)
		}
	}
	return want
}

func TestStiffnessMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("factorisations of order 2003")
	}
	file := "file=" + input(t, "bcsstk13.mtx.gz")
	out := on(t, "cholesky.flow", file, file+" nb=192", file+" nb=512")
	if r := number(t, out, "residual"); !(r < 5e-16) {
		t.Errorf("the residual is %g, want below 5e-16", r)
	}
	if d := number(t, out, "log det"); !(math.Abs(d-38330.0446) < 1e-4) {
		t.Errorf("the log-determinant is %v, want 38330.0446", d)
	}
	if eq := on(t, "cholesky_eq.flow", file); eq != out {
		t.Errorf("the equations print\n%swant, as the loops\n%s", eq, out)
	}
}

func TestWineQuality(t *testing.T) {
	data := "data=" + input(t, "winequality.csv")
	out := on(t, "normal.flow", data, data, data)
	if r := number(t, out, "R2"); !(math.Abs(r-0.29213688504020) < 1e-13) {
		t.Errorf("R2 is %.15f, want 0.29213688504020", r)
	}
	if w := number(t, out, "intercept"); !(math.Abs(w-55.7627496) < 1e-7) {
		t.Errorf("the intercept is %v, want 55.7627496", w)
	}
	// The library's least squares, which never squares the table, agrees.
	lm := fmt.Sprintf("T = read(%q)\nemit lm(cbind(ones(T.rows, 1), T[:, 0..11]), T[:, 11])[0, 0] as \"intercept\"", strings.TrimPrefix(data, "data="))
	got, err := run(lm, "", way{})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := number(t, got, "intercept"), number(t, out, "intercept"); !(math.Abs(a-b) < 1e-8) {
		t.Errorf("lm finds the intercept %v, normal.flow %v", a, b)
	}
}

// The eigenvalues are those of numpy.linalg.eigh of the standardised columns.
func TestWineComponents(t *testing.T) {
	data := "data=" + input(t, "winequality.csv")
	out := on(t, "pca.flow", data+" k=3", data+" k=3")
	if s := number(t, out, "share of the variance"); !(math.Abs(s-0.6436401480763) < 1e-12) {
		t.Errorf("three components have %.15f of the variance, want 0.6436401480763", s)
	}
	_, variances, _ := strings.Cut(out, "variances:\n")
	for i, want := range []float64{3.03033507, 2.49420993, 1.55658654} {
		got, err := strconv.ParseFloat(strings.SplitN(variances, "\n", 4)[i], 64)
		if err != nil || !(math.Abs(got-want) < 1e-8) {
			t.Errorf("variance %d is %v (%v), want %v", i, got, err, want)
		}
	}
}

// NumPy finds the same clusters in as many rounds.
func TestWineClusters(t *testing.T) {
	data := "data=" + input(t, "winequality.csv") + " d=11 k=4"
	out := on(t, "kmeans.flow", data, data, data)
	if r := number(t, out, "rounds"); r != 38 {
		t.Errorf("%v rounds, want 38", r)
	}
	if x := number(t, out, "inertia"); !(math.Abs(x/3038739.8682697676-1) < 1e-12) {
		t.Errorf("inertia %v, want 3038739.8682697676", x)
	}
	if !strings.Contains(out, "sizes:\n1372\n1101\n2033\n1991\n") {
		t.Errorf("the clusters have other sizes than 1372, 1101, 2033 and 1991:\n%s", out)
	}
}

// Newton's method with the whole Hessian, in NumPy, ends at the same loss and weights: red wines
// against white ones.
func TestWineClasses(t *testing.T) {
	data := "data=" + input(t, "winequality.csv") + " first=1 k=2"
	out := on(t, "multilogreg.flow", data, data)
	if x := number(t, out, "mean loss"); !(math.Abs(x-0.03300850033638) < 1e-12) {
		t.Errorf("mean loss %v, want 0.03300850033638", x)
	}
	if x := number(t, out, "norm of the weights"); !(math.Abs(x-6.53565934954) < 1e-7) {
		t.Errorf("norm of the weights %v, want 6.53565934954", x)
	}
}

// Least squares of wine quality, as NumPy's lstsq solves it: 13 digits of R2 and 9 of the
// intercept, by both methods.
func TestLinregOnWineQuality(t *testing.T) {
	data := "data=" + input(t, "winequality.csv") + " m=11"
	for _, method := range []string{"direct", "cg"} {
		set := data + " method=" + method
		out := on(t, "linreg.flow", set, set)
		if r2 := number(t, out, "R2"); math.Abs(r2-0.29213688504020) > 1e-13 {
			t.Errorf("%s: R2 %v", method, r2)
		}
		if i := number(t, out, "intercept"); math.Abs(i-55.7627496) > 1e-7 {
			t.Errorf("%s: intercept %v", method, i)
		}
	}
}
