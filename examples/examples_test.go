package examples_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow"
	"flow/ir"
)

// This file tests the programs in this folder: what they print, on every way to run them and with
// every tile size, and that what their comments promise is so.

var update = flag.Bool("update", false, "rewrite testdata/*.txt")

// way is a way to run a program; the zero value is the engine on all processors.
type way struct {
	threads, ranks int
	disable        []string
	eval           bool // by the definitions of the operators, one at a time
}

// compile compiles a program; set is "name=value name=value".
func compile(text, set string, w way) (*flow.Program, error) {
	o := flow.CompileOptions{Disable: w.disable, Ranks: w.ranks, Verify: true}
	for _, s := range strings.Fields(set) {
		name, value, _ := strings.Cut(s, "=")
		o.Set = append(o.Set, flow.Setting{Name: name, Text: value})
	}
	return flow.Compile(context.Background(), "example.flow", []byte(text), o)
}

// run is what a program prints.
func run(text, set string, w way) (string, error) {
	p, err := compile(text, set, w)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	if w.eval {
		err = p.Evaluate(&out)
	} else {
		_, err = p.Run(context.Background(), flow.RunOptions{Stdout: &out, Threads: w.threads})
	}
	return out.String(), err
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// small says for each example how it is run here: params that let the evaluator run it in no time,
// and others that must print the same bytes.
var small = map[string]struct {
	set  string
	same []string
}{
	"cholesky.flow":    {"n=90 nb=16", []string{"n=90 nb=1000", "n=90 nb=90", "n=90 nb=31", "n=90 nb=7"}},
	"cholesky_eq.flow": {"n=90 nb=16", []string{"n=90 nb=1000", "n=90 nb=31", "n=90 nb=7"}},
	"cc.flow":          {"n=60 e=70", nil},
	"gnmf.flow":        {"n=100 m=40 k=3 rounds=4", nil},
	"linreg.flow":      {"n=200 m=5 method=cg", nil},
	"heat2d.flow":      {"n=16 steps=40", nil},
	"kmeans.flow":      {"n=200 d=5 k=4 cap=6", nil},
	"multilogreg.flow": {"n=120 d=3 cap=2", nil},
	"pagerank.flow":    {"n=40 e=150", nil},
	"pca.flow":         {"n=300 k=3", nil},
	"mandelbrot.flow":  {"w=60 h=34 cap=60", nil},
	"nbody.flow":       {"n=20 steps=6", nil},
	"pi.flow":          {"n=3000", nil},
	"lu.flow":          {"n=60 nb=16", []string{"n=60 nb=1000", "n=60 nb=31", "n=60 nb=7"}},
	"normal.flow":      {"n=500", nil},
	"qr.flow":          {"n=120 m=30", nil},
	"solve.flow":       {"n=60", nil},
	"xplusxt.flow":     {"n=70", nil},
}

// Every example prints its golden file: by definition, on any number of threads and ranks, whatever
// passes are left out, with any tile size.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("*.flow")
	if err != nil || len(files) != len(small) {
		t.Fatalf("%d examples and %d rows in the table: %v", len(files), len(small), err)
	}
	ways := []way{{threads: 1}, {threads: 2}, {threads: 3}, {threads: 1, ranks: 3},
		{threads: 2, disable: []string{"fuse"}}, {threads: 2, disable: []string{"partition"}},
		{threads: 2, disable: []string{"merge-equal", "narrow", "order"}}, {threads: 2, disable: []string{"hoist"}}}
	for _, name := range files {
		t.Run(name, func(t *testing.T) {
			row, ok := small[name]
			if !ok {
				t.Fatal("the table has no row for it")
			}
			text := read(t, name)
			golden := filepath.Join("testdata", strings.TrimSuffix(name, ".flow")+".txt")
			got, err := run(text, row.set, way{eval: true})
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want := read(t, golden)
			if got != want {
				t.Errorf("by definition it prints\n%swant\n%s", got, want)
			}
			check := func(set string, w way) {
				got, err := run(text, set, w)
				if err != nil {
					t.Errorf("%s %+v: %v", set, w, err)
				} else if got != want {
					t.Errorf("%s %+v: it prints\n%swant\n%s", set, w, got, want)
				}
			}
			for _, w := range ways {
				check(row.set, w)
			}
			for _, set := range row.same {
				check(set, way{threads: 2})
			}
		})
	}
}

// An empty matrix, a matrix of one element, and one smaller than its tile are matrices.
func TestSmallest(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"cholesky.flow", "n=0", "residual: 0\nlog det: 0\n"},
		{"cholesky.flow", "n=0 single=true", "residual: 0\nlog det: 0\n"},
		{"cholesky_eq.flow", "n=0", "residual: 0\nlog det: 0\n"},
		{"lu.flow", "n=0", "residual: 0\nlog |det|: 0\n"},
	} {
		for _, w := range []way{{}, {eval: true}} {
			if got, err := run(read(t, c.name), c.set, w); err != nil || got != c.want {
				t.Errorf("%s %s: %v\n%swant\n%s", c.name, c.set, err, got, c.want)
			}
		}
	}
	for name, sets := range map[string][]string{
		"cholesky.flow":    {"n=1", "n=1 nb=1", "n=2 nb=1", "n=3 single=true"},
		"cholesky_eq.flow": {"n=1", "n=1 nb=1", "n=2 nb=1"},
		"lu.flow":          {"n=1", "n=1 nb=1", "n=2 nb=1"},
		"solve.flow":       {"n=2", "n=3"},
		"xplusxt.flow":     {"n=1", "n=3"},
		"normal.flow":      {"n=12 d=1", "n=12 d=11"},
		"qr.flow":          {"n=2 m=2", "n=3 m=2"},
	} {
		for _, set := range sets {
			want, err := run(read(t, name), set, way{eval: true})
			if err != nil {
				t.Errorf("%s %s: %v", name, set, err)
				continue
			}
			if got, err := run(read(t, name), set, way{}); err != nil || got != want {
				t.Errorf("%s %s: %v\n%swant\n%s", name, set, err, got, want)
			}
		}
	}
}

// sends counts the tasks that send a token, by kernel.
func sends(t *testing.T, text, set string) map[string]int {
	t.Helper()
	p, err := compile(text, set, way{})
	if err != nil {
		t.Fatal(err)
	}
	g, n := p.Compiled().Plan.Graph, map[string]int{}
	for i := range g.Nodes {
		if _, _, _, sent := g.Dest(ir.ID(i)); sent {
			n[g.Nodes[i].Op.Name]++
		}
	}
	return n
}

// The loops, the equations and the library send the tokens of the textbook's formula, and the same
// factor.
func TestCholeskyTwoWays(t *testing.T) {
	loops, equations := read(t, "cholesky.flow"), read(t, "cholesky_eq.flow")
	for _, nt := range []int{0, 1, 2, 5, 9} {
		set := fmt.Sprintf("n=%d nb=8", max(0, nt*8-3))
		want := map[string]int{"potrf": nt, "trsm": nt * (nt - 1) / 2, "syrk": nt * (nt - 1) / 2, "gemm": nt * (nt - 1) * (nt - 2) / 6}
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		if got := sends(t, equations, set); !maps.Equal(got, want) {
			t.Errorf("cholesky_eq.flow with %d x %d tiles sends %v, want %v", nt, nt, got, want)
		}
		for kernel := range want {
			want[kernel] *= 2 // once written out, once by the library
		}
		if got := sends(t, loops, set); !maps.Equal(got, want) {
			t.Errorf("cholesky.flow with %d x %d tiles sends %v, want %v", nt, nt, got, want)
		}
	}
	const emit = "\nemit all L1 as \"factor\"\n"
	for _, w := range []way{{threads: 2}, {eval: true}} {
		a, err := run(loops+emit, "n=61 nb=8", w)
		if err != nil {
			t.Fatal(err)
		}
		b, err := run(equations+emit, "n=61 nb=8", w)
		if err != nil {
			t.Fatal(err)
		}
		if a != b || strings.Count(a, "\n") < 61 {
			t.Errorf("the loops and the equations print different factors:\n%s\n%s", a, b)
		}
	}
}
