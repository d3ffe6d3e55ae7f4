package inout

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// gzipped returns text, compressed.
func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestReadsGraphsEarly: an Input takes a graph that another one has read, once, and no other file. The
// file is overwritten after it was read, so that reading it again fails.
func TestReadsGraphsEarly(t *testing.T) {
	path, then := filepath.Join(t.TempDir(), "g.txt.gz"), time.Unix(1e9, 0)
	put := func(b []byte, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	early := func() *Input {
		t.Helper()
		in := &Input{Brief: true, Early: true}
		if _, err := newFileCache(in).graph(path, ""); err == nil || !in.Postponed() {
			t.Fatalf("all of a file was read, with error %v", err)
		}
		if len(in.early) != 1 {
			t.Fatalf("%d files are read early, want one", len(in.early))
		}
		for _, x := range in.early {
			<-x.done
		}
		return in
	}
	good := gzipped(t, "0 1\n2 6\n")
	bad := bytes.Repeat([]byte("?"), len(good)) // as long
	put(good, then)
	from, late := early(), &Input{}
	if _, err := newFileCache(late).graph(path, ""); err != nil {
		t.Fatal(err)
	}
	put(bad, then)
	in := &Input{From: from}
	if got, err := newFileCache(in).graph(path, ""); err != nil || got.Rows != 7 {
		t.Errorf("%v, error %v; want the graph of 7 vertices that was read early", got, err)
	}
	if n, want := in.read.Load(), late.read.Load(); n != want {
		t.Errorf("%d bytes were read, want %d", n, want)
	}
	if _, err := newFileCache(in).graph(path, ""); err == nil {
		t.Error("a graph was taken twice")
	}

	put(good, then)
	from = early()
	put(bad, then.Add(time.Second))
	if _, err := newFileCache(&Input{From: from}).graph(path, ""); err == nil {
		t.Error("a graph was taken that is not in the file any more")
	}

	put(gzipped(t, "0 1\n2 x\n"), then)
	from = early()
	_, alone := newFileCache(&Input{}).graph(path, "")
	if _, err := newFileCache(&Input{From: from}).graph(path, ""); alone == nil || fmt.Sprint(err) != fmt.Sprint(alone) {
		t.Errorf("error %v, want %v", err, alone)
	}
}

// TestReadsEarlyWhatNoRankShares: a file that ranks read together is not read before they can.
func TestReadsEarlyWhatNoRankShares(t *testing.T) {
	path := filepath.Join(t.TempDir(), "g.txt")
	if err := os.WriteFile(path, bytes.Repeat([]byte("10000 20000\n"), 1<<15), 0o600); err != nil {
		t.Fatal(err)
	}
	in := &Input{Brief: true, Early: true}
	if _, err := newFileCache(in).graph(path, ""); err == nil || len(in.early) > 0 {
		t.Errorf("%d files are read early, error %v; want none, and an error", len(in.early), err)
	}
}
