package lang

import (
	"testing"

	"flow/lang/source"
)

// seeds are the corpus of both fuzz targets: all programs, and texts that once broke something.
func seeds(f *testing.F) {
	for _, text := range programs(f) {
		f.Add(text)
	}
	for _, text := range []string{
		"", ";", ";;\n;", "{", "}", ")(", "a = (1 + 2\nb = 3", "for i in 0..3 { a = 1 +\nb", "\"", "\"\\", "1.", "1e", "0..n", "1...x",
		"a # c", "# only", "a = f(1, # one\n  2)\n", "if a {\n b } # t\nelse { c }", "x = y # p\n   # q\n   |> f", "a; # c\nb",
		"emit fn(x) { # c\n x }", "f(a,\n)", "f(a, # c\n)", "x = {# c\na: 1}", "on (x) in y { z }", "a\r\nb\r\n", "\ufeffa = 1",
		"iterate a = 1 # c\nuntil b { }", "a = -b ^ -c ^ d", "not a == b |> c", "a <- b", "L[a] <-1", "é", "a = 'x'", "type T = frame {a: b}",
		"a = +b ^ +c + +d", "r = (a = 1, b = 2)", "(a = 1)", "(a = 1, 2)", "emit all x", "emit all(x)", "emit all", "emit all as \"a\"", "emit all all", "a[n..0 by -1, 2.. by 2]", "a[b..by]", "a[.. by 2]", "a[[1, 2], b > 0]", "a: m.T[n] = 1", "a = b\n+ c", "if a { b } else if c { d }\nelse {\n e\n}", "x[-1:]", "f(fn() => a, b)", "L[(a\n+ b)]", "{\n# c\n}", "for x in y {}", "for x in y {\n\n}", "a = \\\nb", "a = if b", "for\nA =", "a = fn(b) => b > 0 > 1", "a = [for i in 0..3 => i > 0 > (1)]",
	} {
		f.Add(text)
	}
}

// FuzzParse: no text makes Parse panic, mistakes have places inside the text, and what
// parses is the same tree after formatting.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		tree, ds, fs := parse(text)
		for _, d := range ds {
			if fs.File(d.Span.From) == nil || fs.File(d.Span.To) == nil || d.Span.To < d.Span.From {
				t.Fatalf("%q: span %v of %s is outside the text", text, d.Span, d.Error())
			}
		}
		_ = rendered(fs, ds)
		set := source.NewFileSet()
		if e, ds := ParseExpr(set.Add("e", text)); e == nil && len(ds) == 0 {
			t.Fatalf("%q: neither an expression nor a mistake", text)
		}
		if len(ds) > 0 {
			return
		}
		once := string(Format(tree, text))
		again, ds, fs := parse(once)
		if len(ds) > 0 || !sameTree(tree, again) || len(tree.Comments) != len(again.Comments) {
			t.Fatalf("%q formats to %q\n%s", text, once, rendered(fs, ds))
		}
		printed := Print(tree)
		again, ds, fs = parse(printed)
		if len(ds) > 0 || !sameTree(tree, again) {
			t.Fatalf("%q prints as %q\n%s", text, printed, rendered(fs, ds))
		}
	})
}

// FuzzFormat: formatting twice is formatting once.
func FuzzFormat(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		tree, ds, _ := parse(text)
		if len(ds) > 0 {
			return
		}
		once := string(Format(tree, text))
		again, _, _ := parse(once)
		if twice := string(Format(again, once)); twice != once {
			t.Fatalf("from %q\nonce %q\ntwice %q", text, once, twice)
		}
	})
}
