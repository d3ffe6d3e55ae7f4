package ir_test

import (
	"strings"
	"testing"

	"flow/ir"
)

func TestRoundTrip(t *testing.T) {
	g := parse(everything)
	if err := g.Verify(); err != nil {
		t.Fatal(err)
	}
	if got := g.String(); got != everything {
		t.Errorf("printed\n%s\nwant\n%s", got, everything)
	}
	// The parts that the text shows are there.
	names, at := g.Indices(2)
	if len(names) != 2 || names[1] != "i" || at[0] != 2 || at[1] != 3 {
		t.Errorf("indices %v %v", names, at)
	}
	grid, version, el, ok := g.Dest(1)
	if grid != 0 || version != 2 || len(el) != 2 || el[1] != 3 || !ok {
		t.Errorf("destination %d %d %v %v", grid, version, el, ok)
	}
	if _, _, _, ok := g.Dest(0); ok || g.Nodes[1].Call != 1 || g.Calls[2].Parent != 1 || g.Grids[0].Span.From != 9 {
		t.Error("destination, call or span")
	}
	if s := g.Nodes[0].Attrs.Str("name"); s != `a, b} "q"` {
		t.Errorf("attribute %q", s)
	}
	if l := g.Line(2); strings.Contains(l, "region") || !strings.HasPrefix(l, "%2 = map(%1, %0)") {
		t.Errorf("line %q", l)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"%1 = fill() : f64", "want `%0 = op(...)`"},
		{"%0 = nosuch() : f64", "no operator"},
		{"%0 = add(%0, %0) : f64", "no node above"},
		{"%0 = fill( : f64", "missing )"},
		{"%0 = fill() {v=} : f64", "no attribute value"},
		{"%0 = fill() {v} : f64", "has no value"},
		{"%0 = fill() {v=1 : f64", "not closed"},
		{"%0 = fill() : f65", "no type"},
		{"%0 = fill() : f64 nonsense", ""},
		{"%0 = fill() : f64 @x:y", "invalid syntax"},
		{"%0 = fill() : f64 loop 0(1)", "no scope"},
		{"%0 = fill() : f64 loop (1)", "want N(i,j)"},
		{"%0 = fill() : f64 loop -1(1)", "no scope"},
		{"scope 0 k\n%0 = fill() : f64 loop 0(1,2)", "no scope"},
		{"%0 = fill() : f64 dest 0(1)v1", "no grid"},
		{"grid 0 L[2]\n%0 = fill() : f64 dest 0(1)", "no grid"},
		{"grid 0 L[2]\n%0 = fill() : f64 dest 0(1)vx", "invalid syntax"},
		{"%0 = fill() : f64 call x", "invalid syntax"},
		{"region {\n}", "before any node"},
		{"%0 = fill() : f64\nregion {\n", "not closed"},
		{"}", "without a region"},
		{"grid 0 L", "grid wants"},
		{"grid 0 L[x]", "invalid syntax"},
		{"scope", "scope wants"},
		{"call 1 f", "unexpected"},
	} {
		g, err := ir.Parse(c.text, table)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "ir text line ") {
			t.Errorf("%q gives %v, %v; want %q", c.text, g, err, c.want)
		}
	}
}

// FuzzParse: no text panics, and what parses prints to a text that parses to the same.
func FuzzParse(f *testing.F) {
	f.Add(everything)
	f.Add("# a comment\n\n%0 = fill() : f64\n")
	f.Add("%0 = fill() {v=nan, w=[], s=\"\\n\"} : (a: f64, {b: i64})\n")
	f.Add("scope 0\n%0 = fill() : f64 loop 0()\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 10_000 {
			return
		}
		g, err := ir.Parse(text, table)
		if err != nil {
			return
		}
		once := g.String()
		back, err := ir.Parse(once, table)
		if err != nil {
			t.Fatalf("%q prints as %q, which gives %v", text, once, err)
		}
		if again := back.String(); again != once {
			t.Fatalf("%q\nprints as\n%q", once, again)
		}
		g.Verify() // may refuse, must not panic
	})
}
