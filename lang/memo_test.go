package lang

import (
	"fmt"
	"testing"

	"flow/lang/source"
)

// One text at one place has one tree while it is among the last that were parsed; at another place,
// or under another name, it has another. Diagnostics are the caller's own.
func TestTreesAreRemembered(t *testing.T) {
	at := func(before int, name, text string) *source.File {
		fs := source.NewFileSet()
		for range before {
			fs.Add("before", "x = 1\n")
		}
		return fs.Add(name, text)
	}
	first, _ := Parse(at(0, "a.flow", "emit 1"))
	if again, _ := Parse(at(0, "a.flow", "emit 1")); again != first {
		t.Error("one text is parsed twice")
	}
	for _, f := range []*source.File{at(1, "a.flow", "emit 1"), at(0, "b.flow", "emit 1"), at(0, "a.flow", "emit 2")} {
		if tree, _ := Parse(f); tree == first || tree.Name != f.Name || tree.Stmts[0].Span().From != f.Base {
			t.Errorf("%s at %d has the tree of another text", f.Name, f.Base)
		}
	}
	for k := range remembered {
		if k == remembered/2 {
			Parse(at(0, "a.flow", "emit 1")) // used again, it stays
		}
		Parse(at(0, fmt.Sprint(k), "emit 1"))
	}
	if again, _ := Parse(at(0, "a.flow", "emit 1")); again != first {
		t.Error("a tree is forgotten that was used lately")
	}
	for k := range remembered {
		Parse(at(0, fmt.Sprint("other", k), "emit 1"))
	}
	if again, _ := Parse(at(0, "a.flow", "emit 1")); again == first {
		t.Error("nothing is forgotten")
	}
	if n := len(trees.list); n != remembered {
		t.Errorf("%d trees are remembered, not %d", n, remembered)
	}
	_, ds := Parse(at(0, "a.flow", "emit ("))
	ds[0].Code = "E000"
	if _, ds = Parse(at(0, "a.flow", "emit (")); ds[0].Code == "E000" {
		t.Error("diagnostics are shared")
	}
}
