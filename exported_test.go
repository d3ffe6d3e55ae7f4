package flow

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Everything that a Go program sees of this package says what it is: types, functions, methods,
// constants, and each field.
func TestEveryExportedNameIsDocumented(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	set := token.NewFileSet()
	want := func(pos token.Pos, name string, docs ...*ast.CommentGroup) {
		if !ast.IsExported(name) {
			return
		}
		seen++
		for _, d := range docs {
			if strings.TrimSpace(d.Text()) != "" {
				return
			}
		}
		t.Errorf("%s: %s has no comment", set.Position(pos), name)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				want(d.Pos(), d.Name.Name, d.Doc)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, n := range s.Names {
							want(n.Pos(), n.Name, d.Doc, s.Doc, s.Comment)
						}
					case *ast.TypeSpec:
						want(s.Pos(), s.Name.Name, d.Doc, s.Doc)
						fields, ok := s.Type.(*ast.StructType)
						if !ok || !s.Name.IsExported() {
							continue
						}
						for _, field := range fields.Fields.List {
							// What is embedded is part of this package's promise, with all that it
							// has.
							if name, foreign := embedded(field); foreign {
								t.Errorf("%s: %s embeds %s, which is another package's", set.Position(field.Pos()), s.Name.Name, name)
							}
							for _, n := range field.Names {
								want(n.Pos(), n.Name, field.Doc, field.Comment)
							}
						}
					}
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d exported names", seen)
	}
}

// embedded is the type that a field embeds, and whether it is of another package.
func embedded(field *ast.Field) (name string, foreign bool) {
	if len(field.Names) > 0 {
		return "", false
	}
	x := field.Type
	if star, ok := x.(*ast.StarExpr); ok {
		x = star.X
	}
	s, ok := x.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	return s.X.(*ast.Ident).Name + "." + s.Sel.Name, true
}
