package inout

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"flow/kernels/format"
)

// TestKeptEntriesAgain takes the kept entries of a file twice. A third time, after the file has changed,
// must fail.
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
	if err := os.WriteFile(path, []byte(strings.Replace(text.String(), "\t", "99999\t", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := in.relocated(path, true, head.Type()); err == nil {
		t.Error("entries of another file are taken")
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
