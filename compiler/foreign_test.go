package compiler_test

import (
	"strings"
	"testing"

	"flow/compiler/check"
)

// TestForeign calls what other languages have: Flow has none of it, and says what it has. A word that a limit knows, such as
// `where` of tables, is heard as that unless its arguments say otherwise.
func TestForeign(t *testing.T) {
	var text strings.Builder
	names := check.ForeignNames()
	for _, name := range names {
		text.WriteString("emit " + name + "\nemit " + name + "(1, 2, 3, 4, 5, 6)\n")
	}
	files, ds := diagnose(t, text.String())
	at := map[int]string{}
	for _, d := range ds {
		_, line, _ := files.Position(d.Span.From)
		at[line] = told(files, d)
	}
	for i, name := range names {
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
