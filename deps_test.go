package flow

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// This file defines who may import whom. The table is policy: a row changes only together
// with an answer in RATIONALE.md. The imports are parsed in this process, because the test cache
// does not see what a subprocess reads.

// allowed lists, for each package of the module, the packages of the module that it may import, and
// the modules outside the standard library. "" is the package at the root. A name that ends in /...
// stands for the package and all below it.
var allowed = map[string]string{
	"lang/source": "",
	"lang/ast":    "lang/source",
	"lang":        "lang/source lang/ast github.com/alecthomas/participle/v2/...",

	"ir/types": "",
	"memory":   "ir/types github.com/docker/go-units",
	"ir/value": "ir/types memory",

	"ir/sparsity": "",

	"ir/loop":          "ir/types ir/value",
	"ir/loop/looptest": "ir/loop ir/types ir/value",
	"ir/op":            "ir/loop ir/types ir/value ir/sparsity memory",
	"ir":               "ir/types ir/value ir/op ir/sparsity lang/source",
	"ir/plan":          "ir ir/types ir/op ir/sparsity lang/source",
	"ir/eval":          "ir ir/value ir/op",

	"kernels/exact":       "ir/loop kernels/vec",
	"kernels/vec":         "kernels/blas kernels/vec/machine golang.org/x/sys/cpu",
	"kernels/vec/machine": "kernels/loop/amd64 kernels/loop/code",
	"kernels/vec/gen":     "ir/loop ir/types",
	"kernels/loop/amd64":  "ir/loop ir/types golang.org/x/arch/x86/x86asm",
	"kernels/loop/code":   "golang.org/x/sys/unix",
	"kernels/loop/interp": "ir/loop ir/types ir/value kernels/dense kernels/state kernels/vec",
	"kernels/loop/launch": "ir/loop ir/types ir/value kernels/dense kernels/exact kernels/state kernels/loop/amd64 kernels/loop/interp kernels/loop/code golang.org/x/sys/cpu github.com/klauspost/cpuid/v2",
	"kernels/blas":        "kernels/vec/machine golang.org/x/sys/cpu gonum.org/v1/gonum/...",
	"kernels/spectrum":    "kernels/blas gonum.org/v1/gonum/...",

	"kernels/format":      "ir/types ir/value lang/source memory",
	"kernels/dense":       "ir/types ir/value kernels/vec",
	"kernels/state":       "ir/loop ir/types ir/value kernels/dense kernels/exact kernels/vec",
	"kernels/define":      "ir/loop ir/op ir/types ir/value memory kernels/dense kernels/vec",
	"kernels/window":      "ir/op ir/types ir/value kernels/dense",
	"kernels/rowtest":     "ir/op ir/types ir/value kernels/define",
	"kernels/elementwise": "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/vec kernels/window",
	"kernels/order":       "ir/loop ir/op ir/sparsity ir/types ir/value kernels/define kernels/dense kernels/move kernels/window memory",
	"kernels/linalg":      "ir/loop ir/op ir/types ir/value kernels/blas kernels/define kernels/dense kernels/reduce kernels/spectrum kernels/window",
	"kernels/construct":   "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/loop/launch kernels/vec kernels/window",
	"kernels/move":        "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/window",
	"kernels/fourier":     "ir/op ir/types ir/value memory kernels/define kernels/vec",
	"kernels/reduce":      "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/exact kernels/order kernels/state kernels/vec kernels/window",
	"kernels/sparse":      "ir/loop ir/op ir/sparsity ir/types ir/value memory kernels/blas kernels/construct kernels/define kernels/dense kernels/exact kernels/linalg kernels/move kernels/reduce kernels/vec kernels/window",
	"kernels/encode":      "ir/loop ir/op ir/sparsity ir/types ir/value kernels/define kernels/dense kernels/linalg kernels/loop/launch kernels/order kernels/sparse kernels/vec kernels/window",
	"kernels/scan":        "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/loop/launch kernels/reduce kernels/window",
	"kernels/nest":        "ir/loop ir/op ir/types ir/value kernels/define kernels/dense kernels/loop/launch kernels/window",
	"kernels/inout":       "ir/loop ir/op ir/sparsity ir/types ir/value figure kernels/define kernels/elementwise kernels/format kernels/sparse kernels/window memory",
	"kernels":             "ir/loop ir/op ir/types ir/value kernels/blas kernels/construct kernels/define kernels/dense kernels/elementwise kernels/encode kernels/exact kernels/fourier kernels/inout kernels/linalg kernels/loop/launch kernels/move kernels/nest kernels/order kernels/reduce kernels/scan kernels/sparse kernels/vec kernels/window memory",

	"stdlib":   "",
	"examples": "", // programs, embedded for the manual, and their tests

	// The compiler gets the operator table as an argument: no kernels, no runtime.
	"compiler":        "lang lang/source ir ir/types ir/value ir/op ir/plan ir/eval memory compiler/layout compiler/lower compiler/nodes compiler/pass compiler/rule",
	"compiler/check":  "lang/ast lang/source",
	"compiler/lower":  "lang lang/ast lang/source ir ir/types ir/value ir/op ir/sparsity compiler/check compiler/rule",
	"compiler/rule":   "ir ir/types ir/value ir/op ir/sparsity",
	"compiler/nodes":  "ir ir/op ir/plan ir/types",
	"compiler/layout": "ir ir/loop ir/types ir/value ir/op ir/plan ir/sparsity compiler/nodes",
	"compiler/pass":   "ir ir/loop ir/types ir/value ir/op ir/plan ir/sparsity compiler/layout compiler/nodes",

	// The runtimes get plans: no compiler, no kernels, and of the language only the positions that
	// nodes carry.
	"runtime/trace":            "",
	"runtime/schedule":         "lang lang/ast lang/source",
	"runtime/replay":           "runtime/trace runtime/schedule",
	"runtime/local/enginetest": "ir ir/types ir/value ir/op ir/plan ir/eval",
	"runtime/local":            "lang/source ir ir/types ir/value ir/op ir/plan runtime/trace runtime/schedule memory golang.org/x/sys/unix",
	"runtime/dist": "memory ir ir/types ir/value ir/op ir/plan runtime/local runtime/trace runtime/schedule " +
		"runtime/dist/transport runtime/dist/transport/mem runtime/dist/transport/mpi golang.org/x/sys/unix",
	"runtime/dist/calm":                             "", // a clock for tests
	"runtime/dist/transport":                        "",
	"runtime/dist/transport/mem":                    "runtime/dist/transport",
	"runtime/dist/transport/mpi":                    "memory runtime/dist/transport",
	"runtime/dist/transport/transporttest":          "runtime/dist/transport",
	"runtime/dist/transport/transporttest/pingpong": "runtime/dist/transport runtime/dist/transport/mpi runtime/local",

	// The root is wiring over everything; the command adds what concerns a terminal.
	"": "memory lang/source ir ir/types ir/value ir/op ir/plan ir/eval kernels kernels/inout kernels/format kernels/blas stdlib compiler " +
		"runtime/trace runtime/local runtime/schedule runtime/replay runtime/dist runtime/dist/transport",
	"cmd/flowrun": "lang lang/ast lang/source ir ir/op ir/plan kernels kernels/blas kernels/loop/launch stdlib examples compiler explain " +
		"runtime/dist runtime/dist/transport/mpi " +
		"memory runtime/schedule runtime/replay runtime/trace sweep figure github.com/urfave/cli/v2 github.com/rogpeppe/go-internal/diff github.com/reeflective/readline golang.org/x/term golang.org/x/sys/unix .",
	"bench": "ir/op ir/plan kernels ir/loop ir/types ir/value kernels/loop/launch runtime/local runtime/replay runtime/schedule runtime/trace",

	// What became of a program, as text.
	"explain": "ir ir/loop ir/op ir/types ir/value kernels/loop/launch lang/source",

	// Comparing schedules and drawing them: plain numbers in, text and figures out.
	"sweep":  "runtime/schedule",
	"figure": "gonum.org/v1/plot/...",
}

// allowedInTests lists what the tests of a package may import besides; tests of the root may import
// all.
var allowedInTests = map[string]string{
	"ir/loop":                    "ir/loop/looptest",
	"ir":                         "ir/value",
	"compiler":                   "explain kernels stdlib compiler/check runtime/local runtime/dist runtime/dist/calm runtime/dist/transport runtime/dist/transport/mem runtime/schedule", // the oracle runs what it compiles
	"compiler/lower":             "kernels",
	"lang":                       "runtime/dist/calm",
	"compiler/rule":              "kernels ir/eval",
	"kernels/fourier":            "kernels/rowtest",
	"kernels/inout":              "kernels/rowtest",
	"kernels/sparse":             "kernels/rowtest",
	"kernels/encode":             "kernels/rowtest",
	"kernels/scan":               "kernels/rowtest",
	"kernels":                    "kernels/loop/interp kernels/rowtest",
	"kernels/loop/amd64":         "ir/value ir/loop/looptest kernels/loop/code golang.org/x/sys/cpu",
	"kernels/loop/code":          "kernels/loop/amd64 golang.org/x/sys/cpu",
	"kernels/loop/interp":        "ir/loop/looptest",
	"kernels/loop/launch":        "ir/loop/looptest",
	"runtime/local":              "lang/source runtime/local/enginetest",
	"runtime/dist":               "runtime/local/enginetest runtime/dist/calm",
	"runtime/dist/transport/mem": "runtime/dist/transport/transporttest",
	"runtime/dist/transport/mpi": "runtime/dist/transport/transporttest",
	"cmd/flowrun":                "runtime/dist/calm github.com/rogpeppe/go-internal/... github.com/creack/pty",
	"stdlib":                     ". gonum.org/v1/gonum/...",
	"examples":                   ". ir",
}

func TestImports(t *testing.T) {
	seen := 0
	used := map[string]bool{} // packages, and edges as "from to"
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		seen++
		pkg := path.Dir(filepath.ToSlash(file))
		if pkg == "." {
			pkg = ""
		}
		used[pkg] = true
		rule, ok := allowed[pkg]
		if !ok {
			t.Errorf("%s: package %q is not in the table of deps_test.go", file, pkg)
			return nil
		}
		if strings.HasSuffix(file, "_test.go") {
			if pkg == "" {
				return nil
			}
			rule += " " + allowedInTests[pkg] + " " + pkg
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			return nil
		}
		for _, imp := range f.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if name, outside := edge(p); outside {
				if !matches(rule, name) {
					t.Errorf("%s imports %s, which the table of deps_test.go does not allow", file, p)
				}
				for _, r := range strings.Fields(rule) {
					if matches(r, name) {
						used[pkg+" "+r] = true
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d Go files were found below the root: the walk is broken", seen)
	}
	// What nobody imports must not be allowed: an edge comes with the change that needs it.
	for _, table := range []map[string]string{allowed, allowedInTests} {
		for pkg, rule := range table {
			if !used[pkg] {
				t.Errorf("the table has a row %q, and there is no such package", pkg)
			}
			for _, r := range strings.Fields(rule) {
				if !used[pkg+" "+r] {
					t.Errorf("the table allows %q to import %s, and no file does", pkg, r)
				}
			}
		}
	}
}

// edge is an import as the table names it; outside is false for the standard library.
func edge(p string) (name string, outside bool) {
	switch first, _, _ := strings.Cut(p, "/"); {
	case p == "flow":
		return ".", true
	case strings.HasPrefix(p, "flow/"):
		return strings.TrimPrefix(p, "flow/"), true
	case p == "C" || !strings.Contains(first, "."):
		return "", false
	}
	return p, true
}

// matches reports whether a row of the table lists the name.
func matches(rule, name string) bool {
	for _, r := range strings.Fields(rule) {
		if under, ok := strings.CutSuffix(r, "/..."); ok && (name == under || strings.HasPrefix(name, under+"/")) || r == name {
			return true
		}
	}
	return false
}

// The rules that matter most are stated once more as what must never be in the table, so that a row
// cannot loosen them by accident.
func TestImportTable(t *testing.T) {
	never := []struct{ from, to, why string }{
		{"lang", "ir/op", "the language knows no operator"},
		{"lang", "kernels", "the language knows no operator"},
		{"compiler", "kernels", "the operator table is an argument"},
		{"compiler", "runtime/local", "compiler and runtime meet in ir/plan"},
		{"compiler/pass", "kernels", "the operator table is an argument"},
		{"compiler/layout", "compiler/pass", "passes ask the layout, and the layout asks none of them"},
		{"runtime/local", "compiler", "compiler and runtime meet in ir/plan"},
		{"runtime/dist", "compiler", "compiler and runtime meet in ir/plan"},
		{"runtime/local", "runtime/dist", "local does not know that dist exists"},
		{"runtime/schedule", "runtime/local", "calculators serve every runtime"},
		{"runtime/schedule", "ir/plan", "a loop is a number of iterations, whatever they do"},
		{"runtime/local", "kernels", "kernels arrive in the rows of the plan"},
		{"ir/eval", "kernels", "the definition shares no code with the kernels"},
		{"ir", "kernels", "the graph knows no operator"},
	}
	for _, n := range never {
		if _, ok := allowed[n.from]; !ok {
			t.Errorf("the table has no row %q any more", n.from)
		}
		if matches(allowed[n.from], n.to) {
			t.Errorf("%s may import %s: %s", n.from, n.to, n.why)
		}
	}
	// Strictly downward: the table must have no cycle.
	state := map[string]int{}
	var visit func(pkg string, trail []string)
	visit = func(pkg string, trail []string) {
		switch state[pkg] {
		case 1:
			t.Fatalf("the table has a cycle: %s", strings.Join(append(trail, pkg), " -> "))
		case 2:
			return
		}
		state[pkg] = 1
		for _, to := range strings.Fields(allowed[pkg]) {
			if to == "." {
				to = ""
			}
			if _, ours := allowed[to]; ours {
				visit(to, append(trail, pkg))
			}
		}
		state[pkg] = 2
	}
	var names []string
	for pkg := range allowed {
		names = append(names, pkg)
	}
	sort.Strings(names)
	for _, pkg := range names {
		visit(pkg, nil)
	}
}
