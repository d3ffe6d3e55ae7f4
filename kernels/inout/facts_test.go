package inout

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/kernels/format"
)

// TestKeptEntriesAgain takes the kept entries of a file twice. A third time, after the file has
// changed, must fail.
func TestKeptEntriesAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "edges.txt")
	var text strings.Builder
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60_000 {
		fmt.Fprintf(&text, "%d\t%d\n", rng.IntN(3000), rng.IntN(3000))
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	in := &Input{}
	o := format.Options{Share: func(c format.Task) (format.Answer, error) {
		a, err := c.Range(0, c.Blocks())
		told := c.Told(a.Parts)
		in.Keep(c, 0, c.Blocks(), told.Count, a.Parts)
		return format.Answer{Parts: []format.Entries{told}}, err
	}}
	head, ok := format.Keep(path, o, true)
	if !ok {
		t.Fatal("nothing is kept")
	}
	first, err := in.relocated(path, true, head.Type())
	if err != nil {
		t.Fatal(err)
	}
	again, err := in.relocated(path, true, head.Type())
	if err != nil || !slices.Equal(first.Ptr, again.Ptr) || !slices.Equal(first.Col, again.Col) || first.NNZ() != 60_000 {
		t.Fatalf("%d and %d entries, error %v", first.NNZ(), again.NNZ(), err)
	}
	for what, other := range map[string]string{
		"another length":         strings.Replace(text.String(), "\t", "99999\t", 1),
		"a number that is large": "9999" + text.String()[4:],
		"an entry less":          "#" + text.String()[1:],
	} {
		if err := os.WriteFile(path, []byte(other), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := in.relocated(path, true, head.Type()); err == nil {
			t.Errorf("entries of another file are taken, with %s", what)
		}
	}
}

// A fact is of one file that is read in one way, and is noted once. Without kept entries there are no
// rows of a graph, and once they are taken none are kept.
func TestFactsOfFiles(t *testing.T) {
	in := &Input{}
	a, b := fileKey{path: "/a", kind: graphFile}, fileKey{path: "/b", kind: graphFile}
	sparse := fileKey{path: "/a", kind: sparseFile}
	of := []*Fact{in.learn("a", a, format.Header{Rows: 1}), in.learn("b", b, format.Header{Rows: 2}), in.learn("a", sparse, format.Header{Rows: 3})}
	for k, x := range []*Fact{in.learn("a", a, format.Header{}), in.learn("b", b, format.Header{}), in.learn("a", sparse, format.Header{})} {
		if x != of[k] || x.Head.Rows != k+1 {
			t.Errorf("fact %d is %v", k, x)
		}
	}
	if m, _ := in.graphOf("a", format.Options{}, a, 0, 1); m != nil {
		t.Error("rows of a graph of which nothing is kept")
	}
	in.Keep(format.Task{Path: "a", Graph: true}, 0, 1, 0, []format.Entries{})
	if in.graphOf("a", format.Options{}, a, 0, 1); len(in.kept) > 0 {
		t.Error("entries that were taken are kept")
	}
}

// A file that is read in two ways is listed with both types, each once.
func TestLookedAt(t *testing.T) {
	var l lookedAt
	for _, r := range []int{3, 3, 4, 3, 4} {
		if _, err := l.note("x", types.DenseOf(types.F64, r, 1), nil); err != nil {
			t.Fatal(err)
		}
	}
	if all := l.list(); len(all) != 1 || all[0].Type != "f64[3,1] and f64[4,1]" {
		t.Errorf("%v", all)
	}
}

// A tally arrives as it was sent. One that is damaged is an error.
func TestTally(t *testing.T) {
	for _, want := range []tally{{}, {0, 1, 127, 128, 300, 5, 1 << 40, 0}} {
		b, _ := want.GobEncode()
		var got tally
		if err := got.GobDecode(b); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v arrives as %v: %v", want, got, err)
		}
		if len(b) > 0 && got.GobDecode(append(b, 0x80)) == nil {
			t.Error("half a number is no error")
		}
	}
}
