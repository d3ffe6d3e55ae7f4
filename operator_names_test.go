package flow

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"flow/kernels"
)

var updateNames = flag.Bool("operatornames.update", false, "write testdata/operator_names.txt")

const namesList = "testdata/operator_names.txt"

// TestOperatorNames holds what knows operators by their names. What a row does is said by its
// fields, so no code compares a name with a literal: not ==, not a case. The list has the files
// that still do so, and how often; a number may fall, never rise. It is blind to names in maps and
// lists, and takes a literal that only looks like a name for one.
func TestOperatorNames(t *testing.T) {
	table, err := kernels.Table("portable")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, d := range table.Rows() {
		names[d.Name] = true
	}
	found, places := map[string]int{}, map[string][]string{}
	for _, root := range []string{"compiler", "ir", "runtime", "kernels"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, x := range compared(f) {
				if name, err := strconv.Unquote(x.Value); err == nil && names[name] {
					found[path]++
					places[path] = append(places[path], fmt.Sprintf("%s: `%s`", files.Position(x.Pos()), name))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if *updateNames {
		var b strings.Builder
		for _, path := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&b, "%s %d\n", path, found[path])
		}
		if err := os.WriteFile(namesList, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(namesList)
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]int{}
	for line := range strings.Lines(string(text)) {
		path, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if most[path], err = strconv.Atoi(n); err != nil {
			t.Fatalf("%s: %q: %v", namesList, line, err)
		}
	}
	for path, n := range found {
		if n > most[path] {
			t.Errorf("%s compares names of operators %d times, and %s allows %d; ask the row's fields instead:\n  %s",
				path, n, namesList, most[path], strings.Join(places[path], "\n  "))
		}
	}
}

// compared is the literals of strings in a file that something is compared with.
func compared(f *ast.File) (list []*ast.BasicLit) {
	add := func(x ast.Expr) {
		if b, is := x.(*ast.BasicLit); is && b.Kind == token.STRING {
			list = append(list, b)
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				add(n.X)
				add(n.Y)
			}
		case *ast.CaseClause:
			for _, x := range n.List {
				add(x)
			}
		}
		return true
	})
	return list
}
