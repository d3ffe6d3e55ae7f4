package compiler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/compiler/check"
	"flow/kernels"
)

// TestForeign calls what other languages have: Flow has none of it, and says what it has. A word
// that a limit knows, such as `where` of tables, is heard as that unless its arguments say
// otherwise.
func TestForeign(t *testing.T) {
	var text strings.Builder
	names := check.ForeignNames()
	for _, name := range names {
		text.WriteString("emit " + name + "\nemit " + name + "(1, 2, 3, 4, 5, 6)\n")
	}
	files, ds := diagnose(t, text.String())
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	own := ""
	library, err := filepath.Glob("../stdlib/*.flow")
	if err != nil || len(library) == 0 {
		t.Fatal(library, err)
	}
	for _, f := range library {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		own += string(text)
	}
	at := map[int]string{}
	for _, d := range ds {
		_, line, _ := files.Position(d.Span.From)
		at[line] = told(files, d)
	}
	for i, name := range names {
		if len(table.Word(name)) > 0 || strings.Contains(own, "\nfn "+name+"(") {
			t.Errorf("%s: Flow has it, so the row is never read", name)
			continue
		}
		for line := 2*i + 1; line <= 2*i+2; line++ {
			got := at[line]
			if limit := strings.HasPrefix(got, "L0"); !limit && (!strings.HasPrefix(got, "E116") || !strings.Contains(got, "help: ")) {
				t.Errorf("%s: %q", name, got)
			}
		}
		help := check.Foreign(name)
		if strings.Contains(help, "$") || strings.Contains(help, "{1}") || strings.Count(help, "`")%2 != 0 {
			t.Errorf("%s: %s", name, help)
		}
	}
}
