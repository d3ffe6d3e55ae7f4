package flow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kernelLayers are the files of package kernels from the lowest layer to the highest. A file belongs
// to the first layer that has it.
var kernelLayers = []struct{ name, files string }{
	{"the engine of chains", "pipe*.go nest_machine.go nest_program.go nest_fold.go"},
	{"products with chains", "linalg_*.go"},
	{"runs of loops", "parfor*.go nest_*.go byrows*.go rounds.go"},
	{"the table", "table.go own.go doc.go"},
}

// TestLayers counts what files of package kernels use of files in higher layers; there must be none.
// That packages are in layers is in TestImports. The test sees names of the package, and fields and
// methods where their type is of the package; what other packages give has no type here.
func TestLayers(t *testing.T) {
	const dir = "kernels"
	layer := func(file string) int {
		for i, l := range kernelLayers {
			for _, pattern := range strings.Fields(l.files) {
				if ok, _ := path.Match(pattern, file); ok {
					return i
				}
			}
		}
		t.Errorf("%s/%s is in no layer of layers_test.go", dir, file)
		return 0
	}
	uses := fileUses(t, dir)
	seen := map[string]bool{}
	for _, f := range uses.files {
		seen[kernelLayers[layer(f)].name] = true
	}
	for _, l := range kernelLayers {
		if !seen[l.name] {
			t.Errorf("layer %q has no file", l.name)
		}
	}
	within := 0
	for _, u := range uses.all {
		if within++; layer(u.from) < layer(u.to) {
			t.Errorf("%s:%d uses %s of %s, which is in a higher layer: %s, %s", u.from, u.line, u.name, u.to, kernelLayers[layer(u.from)].name, kernelLayers[layer(u.to)].name)
		}
	}
	if within < 500 {
		t.Fatalf("only %d uses of other files were found: the check is broken", within)
	}
}

// usesOfFiles is what the files of a package without its tests use of each other.
type usesOfFiles struct {
	files []string
	all   []use
}

// use is a name of file to that a line of file from has.
type use struct {
	from, to, name string
	line           int
	field          bool // it is a variable, or a field
}

// fileUses sees names of the package, and fields and methods where their type is of the package.
func fileUses(t *testing.T, dir string) (found usesOfFiles) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		found.files = append(found.files, name)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}} // errors: all that other packages give
	pkg, _ := config.Check("flow/"+dir, set, files, &info)
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		from, to := set.Position(id.Pos()), set.Position(o.Pos())
		a, b := filepath.Base(from.Filename), filepath.Base(to.Filename)
		if _, field := o.(*types.Var); a != b {
			found.all = append(found.all, use{a, b, o.Name(), from.Line, field})
		}
	}
	return found
}

// mostInCircle is how many files of a package may call each other in a circle. Files that are read in
// an order, each after those that it calls, are read once. Of a circle any may be the first; a few that
// are one thing, such as a descent, are read together.
const mostInCircle = 6

// circles lists the packages with a larger circle, and how many files it may have.
var circles = map[string]int{
	"compiler/lower":  26, // the descent over the syntax
	"compiler/layout": 13, // sharing rows: where a value lies depends on its operands and its readers
	"kernels":         7,
	"cmd/flowrun":     7, // the REPL: commands use the loop that reads them
}

// TestCircles holds the largest circle of files in every package. Fields and variables make none.
func TestCircles(t *testing.T) {
	for pkg := range allowed {
		if pkg == "" {
			pkg = "."
		}
		uses := fileUses(t, filepath.FromSlash(pkg))
		next := map[string][]string{}
		for _, u := range uses.all {
			if !u.field {
				next[u.from] = append(next[u.from], u.to)
			}
		}
		most, files := circle(uses.files, next)
		if may := max(mostInCircle, circles[pkg]); most > may {
			t.Errorf("package %q: %d files call each other in a circle, and %d may: %s", pkg, most, may, strings.Join(files, " "))
		}
	}
}

// circle returns the largest set of files in which each reaches all others, and its size. These sets
// are the strongly connected components of the graph of calls (Tarjan, SIAM J. Computing 1(2), 1972).
func circle(files []string, next map[string][]string) (most int, of []string) {
	number, low, on := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var visit func(f string)
	visit = func(f string) {
		number[f] = len(number) + 1
		low[f] = number[f]
		on[f], stack = true, append(stack, f)
		for _, g := range next[f] {
			if number[g] == 0 {
				visit(g)
				low[f] = min(low[f], low[g])
			} else if on[g] {
				low[f] = min(low[f], number[g])
			}
		}
		if low[f] < number[f] {
			return
		}
		k := slices.Index(stack, f)
		for _, g := range stack[k:] {
			on[g] = false
		}
		if n := len(stack) - k; n > most {
			most, of = n, slices.Clone(stack[k:])
		}
		stack = stack[:k]
	}
	for _, f := range files {
		if number[f] == 0 {
			visit(f)
		}
	}
	return most, of
}

// noImports gives packages without contents.
type noImports struct{}

func (noImports) Import(p string) (*types.Package, error) {
	pkg := types.NewPackage(p, path.Base(p))
	pkg.MarkComplete()
	return pkg, nil
}

// mostFiles is how many files without tests a package may have: what has more has several roles.
const mostFiles = 45

// manyFiles lists the packages that have more, and how many they may have. In runtime/schedule a
// technique is a file.
var manyFiles = map[string]int{
	"runtime/schedule": 60,
}

// TestPackageSizes holds the number of files of every package.
func TestPackageSizes(t *testing.T) {
	for pkg := range allowed {
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, f := range files {
			if !strings.HasSuffix(f, "_test.go") {
				n++
			}
		}
		most := mostFiles
		if m, ok := manyFiles[pkg]; ok {
			if most = m; n <= mostFiles {
				t.Errorf("package %q has %d files: it needs no row in manyFiles", pkg, n)
			}
		}
		if n > most {
			t.Errorf("package %q has %d files, and may have %d: split it by role", pkg, n, most)
		}
	}
}
