package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCSRForPeers: a graph that Flow wrote becomes the peers' file, without magic and checksums,
// and the file that is made of that has the same arrays.
func TestCSRForPeers(t *testing.T) {
	dir := t.TempDir()
	flow, peers, back := filepath.Join(dir, "g.csr"), filepath.Join(dir, "g.bin"), filepath.Join(dir, "b.csr")
	rows, entries, arrays := word(3), word(2), strings.Repeat("\x07", 4*8+2*4)
	text := "FLOWCSR2" + word(0) + rows + rows + entries + "head" + arrays + "tail"
	if err := os.WriteFile(flow, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := fromCSR(flow, peers); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(peers)
	if want := rows + entries + arrays; err != nil || string(got) != want {
		t.Errorf("%x %v, want %x", got, err, want)
	}
	if err := asCSR(peers, back); err != nil {
		t.Fatal(err)
	}
	got, err = os.ReadFile(back)
	if err != nil || !bytes.HasSuffix(got, []byte(rows+rows+entries+arrays)) || len(got) != 40+len(arrays) {
		t.Errorf("%x %v", got, err)
	}
}

// word is a small integer as .csr files have it.
func word(n byte) string { return string([]byte{n}) + strings.Repeat("\x00", 7) }
