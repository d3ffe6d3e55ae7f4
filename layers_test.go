package flow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// kernelLayers are the files of package kernels from the lowest layer to the highest. A file belongs
// to the first layer that has it.
var kernelLayers = []struct{ name, files string }{
	{"the engine of chains", "pipe*.go nest_machine.go nest_program.go nest_fold.go"},
	{"products with chains", "linalg_*.go"},
	{"runs of loops", "parfor*.go nest_*.go byrows*.go rounds.go"},
	{"the table", "table.go own.go control.go doc.go"},
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
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	seen := map[string]bool{}
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
		seen[kernelLayers[layer(name)].name] = true
	}
	for _, l := range kernelLayers {
		if !seen[l.name] {
			t.Errorf("layer %q has no file", l.name)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: noImports{}, Error: func(error) {}} // errors: all that other packages give
	pkg, _ := config.Check("flow/"+dir, set, files, &info)
	within := 0
	for id, o := range info.Uses {
		if o.Pkg() != pkg || !o.Pos().IsValid() {
			continue
		}
		from, to := set.Position(id.Pos()), set.Position(o.Pos())
		a, b := filepath.Base(from.Filename), filepath.Base(to.Filename)
		if a == b {
			continue
		}
		if within++; layer(a) < layer(b) {
			t.Errorf("%s:%d uses %s of %s, which is in a higher layer: %s, %s", a, from.Line, o.Name(), b, kernelLayers[layer(a)].name, kernelLayers[layer(b)].name)
		}
	}
	if within < 500 {
		t.Fatalf("only %d uses of other files were found: the check is broken", within)
	}
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
