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
	trees.mu.Lock()
	trees.list = nil // the parser is tested, not its memory
	trees.mu.Unlock()
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

// Bytes that are no text have one message, wherever they stand; characters that a terminal does not
// show are named.
func TestTooMuchText(t *testing.T) {
	f, ds, fs := parse(strings.Repeat(" ", source.MostText+1))
	if text := rendered(fs, ds); len(f.Stmts) != 1 || text != "error[E136]: t.flow: it is longer than 16 MiB, the most that is read\n" {
		t.Errorf("%d statements, %q", len(f.Stmts), text)
	}
}

func TestNoText(t *testing.T) {
	for text, want := range map[string]string{
		"emit 1\nemit \"\xff\xfe\"\n":            "E110: this is not UTF-8 text",
		"# gr\xf6\xdfe\nemit 1 2\n":              "E110: this is not UTF-8 text",
		"\xff\xfee\x00m\x00i\x00t\x00 \x001\x00": "E110: this is not UTF-8 text",
		"emit 1\x00\n":                           "E110: unexpected character U+0000",
		"emit \x1b 1\n":                          "E110: unexpected character U+001B",
		"emit \u200b1\n":                         "E110: unexpected character U+200B",
	} {
		_, ds, _ := parse(text)
		if len(ds) != 1 || string(ds[0].Code)+": "+ds[0].Message != want {
			t.Errorf("%q: %v, want %s alone", text, ds, want)
		}
	}
	if _, ds, _ := parse("emit \"\ufffd\" # \ufffd"); len(ds) != 0 {
		t.Errorf("the replacement character is a character: %v", ds)
	}
}
