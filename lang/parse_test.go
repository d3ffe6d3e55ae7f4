package lang

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"flow/lang/ast"
	"flow/lang/source"
)

// parse is Parse of a text in a file set of its own.
func parse(text string) (*ast.File, source.Diagnostics, *source.FileSet) {
	fs := source.NewFileSet()
	f, ds := Parse(fs.Add("t.flow", text))
	return f, ds, fs
}

func rendered(fs *source.FileSet, ds source.Diagnostics) string {
	var b strings.Builder
	source.RenderAll(&b, fs, ds, false)
	return b.String()
}

// programs are the texts of testdata/programs by name.
func programs(t testing.TB) map[string]string {
	names, err := filepath.Glob("testdata/programs/*.flow")
	if err != nil || len(names) < 12 {
		t.Fatalf("%d programs, %v", len(names), err)
	}
	out := map[string]string{}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(n)] = string(b)
	}
	return out
}

// sameTree compares trees without positions.
func sameTree(a, b *ast.File) bool {
	return equal(reflect.ValueOf(a.Stmts), reflect.ValueOf(b.Stmts))
}

func equal(a, b reflect.Value) bool {
	if a.Kind() != b.Kind() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Interface, reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[source.Span]() {
			return true
		}
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Float64:
		return a.Float() == b.Float() || a.Float() != a.Float() && b.Float() != b.Float()
	}
	return a.Equal(b)
}

func TestProgramsParse(t *testing.T) {
	for name, text := range programs(t) {
		if _, ds, fs := parse(text); len(ds) > 0 {
			t.Errorf("%s:\n%s", name, rendered(fs, ds))
		}
	}
}
