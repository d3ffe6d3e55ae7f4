package memory

import (
	"bytes"
	"os"
	"testing"
)

// TestDiscard: pages that begin and end in what is discarded are zeros again, and all other bytes are
// kept.
func TestDiscard(t *testing.T) {
	page := os.Getpagesize()
	b, err := Sparse(8 * page)
	if err != nil {
		t.Fatal(err)
	}
	defer Unmap(b)
	for _, c := range []struct{ lo, hi, from, to int }{ // from..to-1: pages that are zeros
		{page, 3 * page, 1, 3}, {page + 1, 4*page - 1, 2, 3}, {1, page, 1, 1}, {0, 0, 0, 0}, {5, 9, 0, 0}, {7*page - 1, 8 * page, 7, 8},
	} {
		for i := range b {
			b[i] = 1
		}
		Discard(b[c.lo:c.hi])
		want := bytes.Repeat([]byte{1}, len(b))
		clear(want[c.from*page : c.to*page])
		if !bytes.Equal(b, want) {
			t.Errorf("bytes %d..%d are discarded: pages %d..%d and no others should be zeros", c.lo, c.hi, c.from, c.to)
		}
	}
}
