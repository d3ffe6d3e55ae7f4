package lang

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"flow/lang/ast"
	"flow/lang/source"
)

// TestErrors checks testdata/errors.flow: each chunk is a file, and the lines that say
// so, and no others, are reported.
func TestErrors(t *testing.T) {
	data, err := os.ReadFile("testdata/errors.flow")
	if err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile(`[ \t]*### (".*")$`)
	quoted := regexp.MustCompile(`"[^"]*"`)
	fired := map[source.Code]bool{}
	first := 1
	for _, chunk := range strings.Split(string(data), "\n---\n") {
		lines := strings.Split(chunk, "\n")
		want := map[int][]*regexp.Regexp{}
		for i, l := range lines {
			if m := mark.FindStringSubmatch(l); m != nil {
				for _, q := range quoted.FindAllString(m[1], -1) {
					want[i+1] = append(want[i+1], regexp.MustCompile(q[1:len(q)-1]))
				}
				lines[i] = strings.TrimSuffix(l, m[0])
			}
		}
		_, ds, fs := parse(strings.Join(lines, "\n"))
	next:
		for _, d := range ds {
			fired[d.Code] = true
			_, line, _ := fs.Position(d.Span.From)
			got := fmt.Sprintf("%s: %s", d.Code, d.Message)
			for i, re := range want[line] {
				if re.MatchString(got) {
					want[line] = append(want[line][:i], want[line][i+1:]...)
					continue next
				}
			}
			t.Errorf("errors.flow:%d: not expected: %s", first+line-1, got)
		}
		for line, res := range want {
			for _, re := range res {
				t.Errorf("errors.flow:%d: nothing matched %s", first+line-1, strconv.Quote(re.String()))
			}
		}
		first += len(lines) + 1
	}
	// Every code of the package has a case here; nesting has its own test.
	for _, r := range source.Codes() {
		if r.Code <= "E114" && r.Code != "E113" && r.Code[0] == 'E' && !fired[r.Code] {
			t.Errorf("no chunk provokes %s", r.Code)
		}
	}
}

// The table of codes promises a program for each: those of this package must keep it,
// and those of later phases must at least parse.
func TestCodePrograms(t *testing.T) {
	for _, r := range source.Codes() {
		_, ds, fs := parse(r.Program)
		if r.Code[0] == 'E' && r.Code <= "E114" {
			if len(ds) != 1 || ds[0].Code != r.Code {
				t.Errorf("%s: its program gives\n%s", r.Code, rendered(fs, ds))
			}
		} else if len(ds) > 0 {
			t.Errorf("%s: its program does not parse:\n%s", r.Code, rendered(fs, ds))
		}
	}
}

// No text may exhaust the stack: brackets and everything that recurses to the right is bounded.
func TestNesting(t *testing.T) {
	deep := func(s string) string { return strings.Repeat(s, 20_000) }
	for _, text := range []string{
		"a = " + deep("("), "a = " + deep("f(") + "1", "a = " + deep("[") + deep("]"), "a = " + deep("2 ^ ") + "2", "a = " + deep("fn(x) => ") + "1",
		"a: " + deep("chan ") + "f64 = 1", "a: " + deep("sparse ") + "f64 = 1", deep("for i in 0..1 {\n"), "x = " + deep("if a { b } else ") + "{ c }",
		"type T = " + deep("fn() -> ") + "f64", "a = " + deep("for i in 0..2 => "), "a = " + deep("if b {\nc;d\n} else "),
	} {
		_, ds, _ := parse(text)
		found := false
		for _, d := range ds {
			found = found || d.Code == "E113"
		}
		if !found {
			t.Errorf("%.40s..: no E113", text)
		}
	}
	if _, ds, fs := parse("a = " + strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150) + strings.Repeat("\nb = 2 ^ 2 ^ 2", 500)); len(ds) > 0 {
		t.Errorf("%s", rendered(fs, ds))
	}
}

// A mistake in one statement leaves the others in the tree, also inside blocks.
func TestRecovery(t *testing.T) {
	f, ds, _ := parse("a = 1\nb = = 2\nfor i in 0..3 {\n  c = i\n  d = * 1\n  e = i\n}\nemit a\n")
	if len(ds) != 2 {
		t.Fatalf("%d diagnostics: %v", len(ds), ds)
	}
	if got, want := shape(f.Stmts), "Bind Bad For{Bind Bad Bind} Emit"; got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
}

func shape(list []ast.Stmt) string {
	var out []string
	for _, st := range list {
		s := strings.TrimPrefix(fmt.Sprintf("%T", st), "*ast.")
		if f, ok := st.(*ast.For); ok {
			s += "{" + shape(f.Body.Stmts) + "}"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}
