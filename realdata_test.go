package flow

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This file runs programs on the larger real inputs, where they are at hand: FLOW_DATA, or
// ../shared/data beside the project. inputs_test.go has those that every checkout has.

// realInput is the path of a real input; the test is skipped where it is not.
func realInput(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("FLOW_DATA")
	if dir == "" {
		dir = filepath.Join("..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no %s here; FLOW_DATA names the folder of the real inputs", name)
	}
	return path
}

// labelled is the number that a program printed under a label.
func labelled(t *testing.T, out, label string) float64 {
	t.Helper()
	for _, l := range strings.Split(out, "\n") {
		if rest, ok := strings.CutPrefix(l, label+": "); ok {
			var x float64
			if _, err := fmt.Sscan(rest, &x); err != nil {
				t.Fatalf("%s: %v", label, err)
			}
			return x
		}
	}
	t.Fatalf("there is no %q in\n%s", label, out)
	return 0
}

// fastEngines is engines without the definition, which is too slow for real inputs.
func fastEngines() []engine { return engines(7)[1:] }

// largeEngines is one worker and a third of the other fast engines: each runs one of the three largest
// inputs, which take seconds of every engine. Small inputs run on all engines.
func largeEngines(input int) []engine { return part(fastEngines(), input) }

// The stiffness matrix of condition 1.1e10 factors as well as LAPACK does it, with the same bytes
// everywhere.
func TestStiffnessMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("factorisations of order 2003")
	}
	path := realInput(t, "bcsstk13.mtx.gz")
	text, err := os.ReadFile(filepath.Join("examples", "cholesky.flow"))
	if err != nil {
		t.Fatal(err)
	}
	out := everywhere(t, "cholesky.flow", text, []Setting{{Name: "file", Text: path}}, largeEngines(0))
	if r := labelled(t, out, "residual"); !(r < 5e-16) {
		t.Errorf("relative residual %g, want below 5e-16", r)
	}
	if d := labelled(t, out, "log det"); math.Abs(d-38330.0446) > 1e-4 {
		t.Errorf("log det %.6f, want 38330.0446", d)
	}
}

// The regression of wine quality explains what an independent computation says.
func TestWineQuality(t *testing.T) {
	path := realInput(t, "winequality.csv")
	text, err := os.ReadFile(filepath.Join("examples", "normal.flow"))
	if err != nil {
		t.Fatal(err)
	}
	out := everywhere(t, "normal.flow", text, []Setting{{Name: "data", Text: path}}, fastEngines())
	if r := labelled(t, out, "R2"); math.Abs(r-0.29213688504020) > 1e-10 {
		t.Errorf("R2 %.14f, want 0.29213688504020", r)
	}
}

// The components of both graphs, the sum of their labels and the rounds are what independent
// programs say, with the same bytes everywhere: fused or not, cut or not, on any number of ranks.
func TestComponents(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("examples", "cc.flow"))
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range []struct {
		file                    string
		components, sum, rounds float64
	}{
		{"soc-Epinions1.txt.gz", 11, 5_758_592_132, 11},
		{"web-NotreDame.txt.gz", 1, 106_099_381_441, 26},
	} {
		t.Run(c.file, func(t *testing.T) {
			if testing.Short() && c.components == 1 {
				t.Skip("a million and a half edges on every engine")
			}
			out := everywhere(t, "cc.flow", text, []Setting{{Name: "graph", Text: realInput(t, c.file)}}, largeEngines(1+k))
			if n, s, r := labelled(t, out, "components"), labelled(t, out, "label sum"), labelled(t, out, "rounds"); n != c.components || s != c.sum || r != c.rounds {
				t.Errorf("%v components, label sum %v, %v rounds; want %v, %v, %v", n, s, r, c.components, c.sum, c.rounds)
			}
		})
	}
}
