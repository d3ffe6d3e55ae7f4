package flow

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"flow/compiler"
	"flow/kernels"
)

// This file defines the oracle of the project: a program prints the same bytes on every engine.
// Everything that is a program goes through it: the examples of the operator rows, the blocks of
// the reference, examples/*.flow.

var update = flag.Bool("update", false, "rewrite the goldens in testdata")

// engine is one way to run a program.
type engine struct {
	name    string
	ranks   int
	threads int
	disable []string
	eval    bool // the reference evaluator
}

// engines is every way that must agree, the definition first. The seed draws which passes are left
// out.
func engines(seed uint64) []engine {
	list := []engine{{name: "eval", ranks: 1, eval: true}}
	for threads := 1; threads <= 3; threads++ {
		list = append(list, engine{name: fmt.Sprintf("local/%d", threads), ranks: 1, threads: threads})
	}
	for _, ranks := range []int{2, 3, 4, 5, 8} { // one is a local run
		list = append(list, engine{name: fmt.Sprintf("mem/%d", ranks), ranks: ranks, threads: 1})
	}
	list = append(list, engine{name: "unfused", ranks: 1, threads: 2, disable: []string{"fuse"}})
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 3 {
		var off []string
		for _, p := range compiler.Passes() {
			if !p.Required && rng.IntN(2) == 0 {
				off = append(off, p.Name)
			}
		}
		ranks := 1 + rng.IntN(4)
		list = append(list, engine{name: fmt.Sprintf("ranks %d without %v", ranks, off), ranks: ranks, threads: 2, disable: off})
	}
	return list
}

// part returns the definition and a third of the other engines, other ones for the next program, or all
// of them in make soak. Each engine runs its share of hundreds of small programs.
func part(list []engine, program int) []engine {
	if os.Getenv("FLOW_SOAK") != "" {
		return list
	}
	out := list[:1:1]
	for k, e := range list[1:] {
		if (k+program)%3 == 0 {
			out = append(out, e)
		}
	}
	return out
}

// output is what a program prints on an engine; an error is part of it, because a failure must be
// the same as well, but for the rank that it happened on.
func (e engine) output(name string, text []byte, sets []Setting) string {
	return e.outputOf(e.compiled(name, text, sets))
}

// compiled is a program as the engine takes it.
func (e engine) compiled(name string, text []byte, sets []Setting) (*Program, error) {
	return Compile(context.Background(), name, text, CompileOptions{Set: sets, Ranks: e.ranks, Disable: e.disable, Verify: true})
}

// outputOf is what a program prints that has been compiled for the engine, or was refused with err.
func (e engine) outputOf(p *Program, err error) string {
	var out bytes.Buffer
	if err == nil {
		if e.eval {
			err = p.Evaluate(&out)
		} else {
			_, err = p.Run(context.Background(), RunOptions{Stdout: &out, Threads: e.threads})
		}
	}
	if err != nil {
		fmt.Fprintf(&out, "FAILED: %s\n", onRank.ReplaceAllString(err.Error(), ""))
	}
	return out.String()
}

var onRank = regexp.MustCompile(`\n *= note: on rank \d+`)

// everywhere runs a program on every engine and returns what the definition prints. Engines that
// take the same plan take one that has been compiled once: a program may run many times.
func everywhere(t *testing.T, name string, text []byte, sets []Setting, list []engine) string {
	t.Helper()
	type compiled struct {
		p   *Program
		err error
	}
	plans := map[string]compiled{}
	output := func(e engine) string {
		key := fmt.Sprint(e.ranks, e.disable)
		c, ok := plans[key]
		if !ok {
			c.p, c.err = e.compiled(name, text, sets)
			plans[key] = c
		}
		return e.outputOf(c.p, c.err)
	}
	want := output(list[0])
	for _, e := range list[1:] {
		if got := output(e); got != want {
			t.Errorf("%s on %s:\n%swant, as on %s:\n%s", name, e.name, clip(got), list[0].name, clip(want))
		}
	}
	return want
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + "...\n"
	}
	return s
}

// Every example of every operator row prints what the row says, on every engine.
func TestOperatorExamples(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // the example of read writes a file
	ran, named := 0, 0   // hidden rows have no programs
	for _, d := range table.Rows() {
		if !d.Hidden {
			named++
		}
		for _, eg := range d.Eg {
			got := everywhere(t, d.Name, []byte(eg.Program), nil, part(engines(uint64(ran)), ran))
			if strings.TrimRight(got, "\n") != strings.TrimRight(eg.Output, "\n") {
				t.Errorf("example of %s\n%s\nprints\n%swant\n%s", d.Name, eg.Program, got, eg.Output)
			}
			ran++
		}
	}
	if ran < named*9/10 {
		t.Errorf("only %d examples for %d rows", ran, named)
	}
}

var specBlock = regexp.MustCompile("(?s)```flow run\n(.*?)```\n(?:```output\n(.*?)```)?")

// Every block of the reference that is marked to run prints what follows it.
func TestReferenceBlocks(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("lang", "spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := specBlock.FindAllStringSubmatchIndex(string(text), -1)
	if len(blocks) < 10 {
		t.Fatalf("found %d blocks: the pattern is out of date", len(blocks))
	}
	for i, b := range blocks {
		name := fmt.Sprintf("spec.md:%d", 1+strings.Count(string(text[:b[2]]), "\n"))
		got := everywhere(t, name, text[b[2]:b[3]], nil, part(engines(uint64(i)), i))
		want := ""
		if b[4] >= 0 {
			want = string(text[b[4]:b[5]])
		}
		if got != want {
			t.Errorf("%s prints\n%swant\n%s", name, got, want)
		}
	}
}

// The program in the README prints what it promises.
func TestReadmeProgram(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := specBlock.FindSubmatch(text)
	if m == nil {
		t.Fatal("README.md has no program")
	}
	if got := everywhere(t, "first.flow", m[1], nil, engines(1)); got != "recovered: true\n" {
		t.Errorf("prints\n%s", got)
	}
}

// exampleSets are the params under which an example is small enough for the definition, by file
// name; every example has a row.
var exampleSets = map[string][][]Setting{
	"cholesky.flow": {
		{{Name: "n", Text: "100"}, {Name: "nb", Text: "16"}},
		{{Name: "n", Text: "70"}, {Name: "nb", Text: "16"}, {Name: "single", Text: "true"}},
		{{Name: "n", Text: "10"}, {Name: "nb", Text: "64"}},
	},
	"cc.flow":          {{{Name: "n", Text: "60"}, {Name: "e", Text: "70"}}, {{Name: "n", Text: "1"}, {Name: "e", Text: "0"}}},
	"pagerank.flow":    {{{Name: "n", Text: "40"}, {Name: "e", Text: "150"}}},
	"cholesky_eq.flow": {{{Name: "n", Text: "100"}, {Name: "nb", Text: "16"}}},
	"xplusxt.flow":     {{{Name: "n", Text: "150"}}},
	"mandelbrot.flow":  {{{Name: "w", Text: "70"}, {Name: "h", Text: "40"}, {Name: "cap", Text: "90"}}},
	"nbody.flow":       {{{Name: "n", Text: "30"}, {Name: "steps", Text: "7"}}},
	"pi.flow":          {{{Name: "n", Text: "5000"}}},
	"lu.flow":          {{{Name: "n", Text: "100"}, {Name: "nb", Text: "16"}}},
	"qr.flow":          {{{Name: "n", Text: "300"}, {Name: "m", Text: "20"}}},
	"solve.flow":       {{{Name: "n", Text: "60"}}},
	"normal.flow":      {{{Name: "n", Text: "2000"}}},
	"kmeans.flow":      {{{Name: "n", Text: "300"}, {Name: "d", Text: "5"}, {Name: "k", Text: "4"}, {Name: "cap", Text: "6"}}},
	"linreg.flow": {
		{{Name: "n", Text: "300"}, {Name: "m", Text: "6"}},
		{{Name: "n", Text: "300"}, {Name: "m", Text: "6"}, {Name: "method", Text: "cg"}},
	},
	"heat2d.flow":      {{{Name: "n", Text: "20"}, {Name: "steps", Text: "50"}}, {{Name: "n", Text: "9"}, {Name: "tol", Text: "0.1"}}},
	"multilogreg.flow": {{{Name: "n", Text: "120"}, {Name: "d", Text: "3"}, {Name: "cap", Text: "2"}}},
	"gnmf.flow":        {{{Name: "n", Text: "200"}, {Name: "m", Text: "60"}, {Name: "k", Text: "4"}, {Name: "rounds", Text: "6"}}},
	"pca.flow":         {{{Name: "n", Text: "700"}, {Name: "k", Text: "3"}}},
}

// Every example prints its golden on every engine.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("examples", "*.flow"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			sets, ok := exampleSets[name]
			if !ok {
				t.Fatalf("exampleSets has no row for %s", name)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for i, s := range sets {
				fmt.Fprintf(&all, "$ flowrun %s", file)
				for _, set := range s {
					fmt.Fprintf(&all, " --set %s=%s", set.Name, set.Text)
				}
				fmt.Fprintf(&all, "\n%s", everywhere(t, name, text, s, engines(uint64(i))))
			}
			golden(t, filepath.Join("testdata", "examples", strings.TrimSuffix(name, ".flow")+".txt"), all.String())
		})
	}
}

// golden compares with a file, or rewrites it under -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test . -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%swant\n%s", path, got, want)
	}
}
