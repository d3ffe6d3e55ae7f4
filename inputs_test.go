package flow

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// This file runs programs on the real inputs of testdata/inputs and on generated ones whose answers
// are known, on every engine, the definition among them. realdata_test.go has the larger inputs,
// which need not be at hand.

// program is the text of an example.
func program(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// near demands the number under a label, within a relative error.
func near(t *testing.T, out, label string, want, tolerance float64) {
	t.Helper()
	if got := labelled(t, out, label); !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s is %.17g, want %.17g", label, got, want)
	}
}

// The regression of the body mass of penguins on what is measured of them is that of NumPy's lstsq.
func TestPenguins(t *testing.T) {
	set := []Setting{{Name: "data", Text: filepath.Join("testdata", "inputs", "penguins.csv")}, {Name: "d", Text: "3"}}
	out := everywhere(t, "normal.flow", program(t, "normal.flow"), set, engines(7))
	near(t, out, "R2", 0.7614704841272497, 1e-12)
	near(t, out, "intercept", -6424.764698098586, 1e-12)
}

// beam writes the stiffness matrix of a cantilever of n Euler-Bernoulli elements, which deflects
// and turns at every node but the clamped one, and returns its path and the logarithm of its
// determinant. The element of length L and stiffness EI has the matrix EI/L^3 [12 6L -12 6L; 6L
// 4L^2 -6L 2L^2; -12 -6L 12 -6L; 6L 2L^2 -6L 4L^2]. Its clamped flexibility has the determinant
// L^4/(12 EI^2), and those of a chain multiply, because moving a load along it is a shear.
func beam(t *testing.T, n int) (path string, logDet float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(13, 1))
	k := map[[2]int]float64{}
	for e := range n {
		l, ei := 0.5+r.Float64(), 1e6*(1+r.Float64())
		logDet += math.Log(12 * ei * ei / (l * l * l * l))
		c := ei / (l * l * l)
		element := [4][4]float64{{12, 6 * l, -12, 6 * l}, {6 * l, 4 * l * l, -6 * l, 2 * l * l}, {-12, -6 * l, 12, -6 * l}, {6 * l, 2 * l * l, -6 * l, 4 * l * l}}
		for i := range 4 {
			for j := range i + 1 {
				if row, col := 2*e-2+i, 2*e-2+j; col >= 0 {
					k[[2]int{row, col}] += c * element[i][j]
				}
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", 2*n, 2*n, len(k))
	for i := range 2 * n {
		for j := range i + 1 {
			if x, ok := k[[2]int{i, j}]; ok {
				fmt.Fprintf(&b, "%d %d %v\n", i+1, j+1, x)
			}
		}
	}
	return written(t, "beam.mtx", b.String()), logDet
}

// written is the path of a new file with a text in it.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A beam's stiffness factors with a residual of rounding errors and the determinant that mechanics
// says, written out as tasks and as equations.
func TestBeam(t *testing.T) {
	path, logDet := beam(t, 120)
	set := []Setting{{Name: "file", Text: path}, {Name: "nb", Text: "64"}}
	out := everywhere(t, "cholesky.flow", program(t, "cholesky.flow"), set, engines(7))
	if r := labelled(t, out, "residual"); !(r < 5e-16) {
		t.Errorf("relative residual %g, want below 5e-16", r)
	}
	near(t, out, "log det", logDet, 1e-10)
	if eq := everywhere(t, "cholesky_eq.flow", program(t, "cholesky_eq.flow"), set, engines(8)[:4]); eq != out {
		t.Errorf("the equations print\n%swant, as the tasks\n%s", eq, out)
	}
}

// spread is what cc.flow prints of a graph, found one edge at a time: components by joining sets,
// the sum of the labels and the rounds by passing the greatest label on.
func spread(vertices int, edges [][2]int) (components, sum, rounds float64) {
	parent := make([]int, vertices)
	for v := range parent {
		parent[v] = v
	}
	root := func(v int) int {
		for parent[v] != v {
			v = parent[v]
		}
		return v
	}
	for _, e := range edges {
		parent[root(e[0])] = root(e[1])
	}
	label, next := make([]int, vertices), make([]int, vertices)
	for v := range vertices {
		if label[v] = v + 1; root(v) == v {
			components++
		}
	}
	for ; ; rounds++ {
		copy(next, label)
		for _, e := range edges {
			next[e[0]] = max(next[e[0]], label[e[1]])
			next[e[1]] = max(next[e[1]], label[e[0]])
		}
		if slices.Equal(next, label) {
			break
		}
		copy(label, next)
	}
	for _, l := range label {
		sum += float64(l)
	}
	return components, sum, rounds
}

// The components of the karate club and of a generated graph with many components, loops, edges
// both ways and edges that occur twice are those that are found one edge at a time.
func TestComponentsOfSmallGraphs(t *testing.T) {
	karate := filepath.Join("testdata", "inputs", "karate.txt")
	text, err := os.ReadFile(karate)
	if err != nil {
		t.Fatal(err)
	}
	var club [][2]int
	for l := range strings.Lines(string(text)) {
		var e [2]int
		if n, _ := fmt.Sscan(l, &e[0], &e[1]); n == 2 {
			club = append(club, e)
		}
	}
	if len(club) != 78 {
		t.Fatalf("%d edges", len(club))
	}
	const n = 400 // the definition takes the square of it
	r := rand.New(rand.NewPCG(5, 5))
	edges := [][2]int{{n - 1, n - 1}}
	var b strings.Builder
	fmt.Fprintf(&b, "# generated\n%d %d\n", n-1, n-1)
	for range 260 {
		e := [2]int{r.IntN(n), r.IntN(n)}
		edges = append(edges, e)
		fmt.Fprintf(&b, "%d\t%d\n", e[0], e[1])
		if r.IntN(4) == 0 {
			fmt.Fprintf(&b, "%d %d\n%d %d\n", e[0], e[1], e[1], e[0])
		}
	}
	for _, c := range []struct {
		name, path string
		vertices   int
		edges      [][2]int
	}{{"karate", karate, 34, club}, {"generated", written(t, "g.txt", b.String()), n, edges}} {
		out := everywhere(t, "cc.flow", program(t, "cc.flow"), []Setting{{Name: "graph", Text: c.path}}, engines(7))
		components, sum, rounds := spread(c.vertices, c.edges)
		near(t, out, "components", components, 0)
		near(t, out, "label sum", sum, 0)
		near(t, out, "rounds", rounds, 0)
	}
}
