package source

import (
	"strings"
	"testing"
)

func TestPosition(t *testing.T) {
	fs := NewFileSet()
	a := fs.Add("a.flow", "x = 1\n\tyé = 2\n")
	b := fs.Add("b.flow", "")
	c := fs.Add("c.flow", "z")
	for _, tt := range []struct {
		p         Pos
		name      string
		line, col int
	}{
		{0, "", 0, 0}, {a.Pos(0), "a.flow", 1, 1}, {a.Pos(5), "a.flow", 1, 6}, {a.Pos(6), "a.flow", 2, 1},
		{a.Pos(10), "a.flow", 2, 4}, {a.End(), "a.flow", 3, 1}, {b.Pos(0), "b.flow", 1, 1}, {c.Pos(0), "c.flow", 1, 1}, {c.End(), "c.flow", 1, 2}, {c.End() + 1, "", 0, 0},
	} {
		if name, line, col := fs.Position(tt.p); name != tt.name || line != tt.line || col != tt.col {
			t.Errorf("Position(%d) = %s:%d:%d, want %s:%d:%d", tt.p, name, line, col, tt.name, tt.line, tt.col)
		}
	}
	if got := fs.Text(a.Span(7, 10)); got != "yé" {
		t.Errorf("Text = %q", got)
	}
}

func TestRender(t *testing.T) {
	fs := NewFileSet()
	text := "emit r2(y, X @ w) as \"R2\"\n\tb = 世界 + q # é\na = b\n\nc = a\n"
	f := fs.Add("p.flow", text)
	at := func(s string) Span {
		i := strings.Index(text, s)
		return f.Span(i, i+len(s))
	}
	for _, tt := range []struct {
		name string
		d    Diagnostic
		want string
	}{
		{"two labels on one line", Errorf("E210", at("@"), "inner sizes of `@` differ").
			WithNote(f.Span(11, 12), "f64[3,21]").WithNote(f.Span(15, 16), "f64[20,1]").WithNote(Span{}, "n = 3").WithHelp("transpose"), `
error[E210]: inner sizes of ` + "`@`" + ` differ
 --> p.flow:1:14
  |
1 | emit r2(y, X @ w) as "R2"
  |            - ^ - f64[20,1]
  |            |
  |            f64[3,21]
  = note: n = 3
  = help: transpose
`},
		{"tab and wide runes", Errorf("E116", at("q"), "unknown").WithLabel("here"), `
error[E116]: unknown
 --> p.flow:2:11
  |
2 |     b = 世界 + q # é
  |                ^ here
`},
		{"lines apart", Errorf("E115", at("c ="), "twice").WithNote(at("a = b"), "first"), `
error[E115]: twice
 --> p.flow:5:1
  |
3 | a = b
  | ----- first
...
5 | c = a
  | ^^^
`},
		{"no place", Errorf("E120", Span{}, "no param `nB`").WithHelp("did you mean `nb`?"), `
error[E120]: no param ` + "`nB`" + `
  = help: did you mean ` + "`nb`" + `?
`},
		{"a limit at the end of the text", Errorf("L001", f.Span(len(text), len(text)), "streams"), `
limit[L001]: streams
 --> p.flow:6:1
  |
6 | ` + `
  | ^
`},
	} {
		var b strings.Builder
		Render(&b, fs, tt.d, false)
		if got := b.String(); got != tt.want[1:] {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want[1:])
		}
		b.Reset()
		Render(&b, fs, tt.d, true)
		if !strings.Contains(b.String(), "\x1b[") {
			t.Errorf("%s: no color", tt.name)
		}
	}
}

// A line as long as a file must not be printed whole, and the caret must stay under its text.
func TestRenderLongLine(t *testing.T) {
	fs := NewFileSet()
	f := fs.Add("p.flow", strings.Repeat("x", 5000)+"!"+strings.Repeat("y", 5000))
	var b strings.Builder
	Render(&b, fs, Errorf("E110", f.Span(5000, 5001), "bad"), false)
	lines := strings.Split(b.String(), "\n")
	if len(lines[3]) > 300 || []rune(lines[3])[strings.Index(lines[4], "^")] != '!' {
		t.Errorf("got\n%s", b.String())
	}
}

func TestSortDropsRepetitions(t *testing.T) {
	d := func(from Pos, m string) Diagnostic { return Errorf("E100", Span{from, from + 1}, "%s", m) }
	got := Diagnostics{{Code: "E120", Message: "flag"}, d(9, "b"), d(3, "a"), d(9, "b"), d(9, "c")}.Sort()
	if got.Error() != "error[E100]: a\nerror[E100]: b\nerror[E100]: c\nerror[E120]: flag" {
		t.Errorf("got\n%s", got.Error())
	}
	if (Diagnostics{{Severity: Warning}}).Err() != nil || got.Err() == nil {
		t.Error("Err")
	}
}

// A name that nobody typed is not compared letter by letter: two of 100 kB took minutes. These
// would take hours, which no test has.
func TestSuggestIsQuickForLongNames(t *testing.T) {
	long := strings.Repeat("a", 1_000_000)
	for _, name := range []string{long, "sum"} {
		if got, ok := Suggest(name, []string{long + "a", "summ"}); ok && got != "summ" {
			t.Errorf("suggested a name of %d letters", len(got))
		}
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"cholesky", "nb", "n", "solve", "residual"}
	for in, want := range map[string]string{"cholesy": "cholesky", "nB": "nb", "slove": "solve", "q": "", "residuum": "residual", "xy": "", "": ""} {
		if got, ok := Suggest(in, names); got != want || ok != (want != "") {
			t.Errorf("Suggest(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

// Of names equally near, the one that begins as what was typed: rnd is rand, not and.
func TestSuggestKeepsTheFirstLetter(t *testing.T) {
	for in, want := range map[string]string{"rnd": "rand", "brt": "cbrt", "siin": "sin"} {
		if got, ok := Suggest(in, []string{"and", "cbrt", "asin", "rand", "sin"}); got != want || !ok {
			t.Errorf("Suggest(%q) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

func TestCodesAreWhole(t *testing.T) {
	seen := map[Code]bool{}
	for _, r := range Codes() {
		if seen[r.Code] {
			t.Errorf("%s: twice", r.Code)
		}
		seen[r.Code] = true
		if len(r.Code) != 4 || r.Title == "" || len(r.Explain) < 20 {
			t.Errorf("%s: row is not whole", r.Code)
		}
	}
	if _, ok := Lookup("E402"); !ok {
		t.Error("E402 is missing")
	}
	if _, ok := Lookup("E999"); ok {
		t.Error("E999 is not a code")
	}
}
