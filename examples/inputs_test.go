package examples_test

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// This file runs the examples on the penguins of testdata/inputs. What is expected was computed by
// NumPy.

const penguins = "data=../testdata/inputs/penguins.csv"

// wants demands the number under a label within a relative error.
func wants(t *testing.T, out, label string, want, tolerance float64) {
	t.Helper()
	if got := number(t, out, label); !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %.17g, want %.17g", label, got, want)
	}
}

// Least squares, by three methods and the library's.
func TestPenguinRegression(t *testing.T) {
	for _, c := range [][2]string{{"normal.flow", " d=3"}, {"linreg.flow", " m=3"}, {"linreg.flow", " m=3 method=cg"}} {
		set := penguins + c[1]
		out := on(t, c[0], set, set, set)
		wants(t, out, "R2", 0.7614704841272497, 1e-12)
		wants(t, out, "intercept", -6424.764698098586, 1e-11)
	}
	lm := "T = read(\"" + strings.TrimPrefix(penguins, "data=") + "\")\nemit lm(cbind(ones(T.rows, 1), T[:, 0..3]), T[:, 3])[0, 0] as \"intercept\""
	out, err := run(lm, "", way{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, out, "intercept", -6424.764698098586, 1e-11)
}

// The eigenvalues of the covariances of the standardised columns.
func TestPenguinComponents(t *testing.T) {
	set := penguins + " d=4 k=2"
	out := on(t, "pca.flow", set, set)
	wants(t, out, "share of the variance", 0.8815679694372635, 1e-13)
	_, variances, _ := strings.Cut(out, "variances:\n")
	for i, want := range []float64{2.7618306521157283, 0.7747821988818526} {
		got, err := strconv.ParseFloat(strings.SplitN(variances, "\n", 3)[i], 64)
		if err != nil || !(math.Abs(got-want) < 1e-13) {
			t.Errorf("variance %d is %v (%v), want %v", i, got, err, want)
		}
	}
}

// The same clusters in as many rounds.
func TestPenguinClusters(t *testing.T) {
	set := penguins + " d=4 k=3"
	out := on(t, "kmeans.flow", set, set, set)
	wants(t, out, "rounds", 15, 0)
	wants(t, out, "inertia", 29652295.49313034, 1e-13)
	if !strings.Contains(out, "sizes:\n117\n81\n144\n") {
		t.Errorf("the clusters have other sizes than 117, 81 and 144:\n%s", out)
	}
}

// Newton's method with the whole Hessian ends at the same loss and weights: bills and flippers tell
// the three species apart.
func TestPenguinClasses(t *testing.T) {
	set := penguins + " d=4 first=1 k=3"
	out := on(t, "multilogreg.flow", set, set)
	wants(t, out, "mean loss", 0.004590647228510883, 1e-10)
	wants(t, out, "norm of the weights", 36.06447478968551, 1e-7)
	wants(t, out, "share of rows classified right", 1, 0)
}

// A graph of 34 vertices, each a path of at most four edges away from the last.
func TestKarateComponents(t *testing.T) {
	graph := "graph=" + filepath.Join("..", "testdata", "inputs", "karate.txt")
	out := on(t, "cc.flow", graph, graph, graph)
	wants(t, out, "components", 1, 0)
	wants(t, out, "label sum", 34*34, 0)
	wants(t, out, "rounds", 4, 0)
}
