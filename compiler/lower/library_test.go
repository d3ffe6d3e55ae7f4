package lower

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"

	"flow/kernels"
	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// files are those of the library.
var files = os.DirFS("../../stdlib")

// Every declaration of the library is found without parsing it, and parsed alone it is what it is
// in its file. Comments do not belong to it.
func TestLibraryIsReadByDeclarations(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Files: source.NewFileSet(), Table: table, Std: files}
	l := newLowerer(context.Background(), in)
	l.library("no such name")
	rest := map[string]declaration{}
	for name, d := range l.std.rest {
		rest[name] = d
	}
	paths, err := fs.Glob(files, "*.flow")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	var names []string
	for _, p := range paths {
		text, err := fs.ReadFile(files, p)
		if err != nil {
			t.Fatal(err)
		}
		file := source.NewFileSet().Add(p, string(text))
		tree, ds := lang.Parse(file)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for _, s := range tree.Stmts {
			var name string
			switch s := s.(type) {
			case *ast.FnDecl:
				name = s.Name.Name
			case *ast.Bind:
				name = s.Names[0].Name
			default:
				t.Errorf("%s declares something else than a function or a number", p)
				continue
			}
			names = append(names, name)
			d, ok := rest[name]
			if !ok {
				t.Errorf("%s of %s is not found", name, p)
				continue
			}
			alone := d.file.Text[d.from:d.to]
			if whole := file.Text[file.Offset(s.Span().From):file.Offset(s.Span().To)]; !strings.HasPrefix(alone, whole) {
				t.Errorf("%s is read as\n%sand is\n%s", name, alone, whole)
			}
			if strings.Contains(alone, "\n#") {
				t.Errorf("the comment of another declaration is read with %s", name)
			}
			v, ok := l.library(name)
			if !ok {
				t.Errorf("%s cannot be used", name)
			} else if _, fn := s.(*ast.FnDecl); fn && l.in.Files.Text(v.fn.span) != name {
				t.Errorf("%s is said to stand at %q", name, l.in.Files.Text(v.fn.span))
			}
		}
	}
	if strings.Join(names, " ") != strings.Join(l.std.words, " ") || len(l.std.rest) > 0 {
		t.Errorf("the library has %v; found %v, left %v", names, l.std.words, l.std.rest)
	}
}

// What is asked for is parsed with what it mentions, and nothing else.
func TestLibraryIsReadInPart(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	l := newLowerer(context.Background(), Input{Files: source.NewFileSet(), Table: table, Std: files})
	if _, ok := l.library("lm"); !ok {
		t.Fatal("there is no lm")
	}
	for _, name := range l.std.words {
		_, left := l.std.rest[name]
		if there := l.std.scope.find(name) >= 0; there == left {
			t.Errorf("%s is parsed: %v, and left: %v", name, there, left)
		}
	}
	if n := len(l.std.words); len(l.std.rest) < n/2 {
		t.Errorf("%d of %d declarations are left", len(l.std.rest), n)
	}
}
