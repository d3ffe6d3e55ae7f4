package dist

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"flow/runtime/dist/transport/mem"
)

// Every byte of a small file is compared, and the blocks of a large one, its ends among them.
func TestSamples(t *testing.T) {
	changed := func(size, at int) bool {
		b := make([]byte, size)
		before, err := sample(bytes.NewReader(b), int64(size))
		if err != nil {
			t.Fatal(err)
		}
		b[at] = 1
		after, err := sample(bytes.NewReader(b), int64(size))
		if err != nil {
			t.Fatal(err)
		}
		return before != after
	}
	const limit = sampleBlocks * sampleBytes
	for _, c := range []struct {
		size, at int
		seen     bool
	}{
		{1, 0, true}, {limit, limit / 2, true}, {limit, limit - 1, true},
		{3 * limit, 0, true}, {3 * limit, sampleBytes - 1, true}, {3 * limit, 3*limit - 1, true}, {3 * limit, 3*limit - sampleBytes, true},
		{3 * limit, sampleBytes + sampleBytes/2, false},
	} {
		if changed(c.size, c.at) != c.seen {
			t.Errorf("byte %d of %d: compared: %v, want %v", c.at, c.size, !c.seen, c.seen)
		}
	}
}

// A file is the same on two ranks if nothing tells it from another; a copy has another time of
// change, whatever else it keeps.
func TestCopiesAreNotOneFile(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, path := range []string{one, two} {
		if err := os.WriteFile(path, []byte("1,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
	}
	look := func(path string, whole bool) Input {
		in, err := InputOf(path, "f64[1,2]", whole)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	a, again, b := look(one, false), look(one, false), look(two, true)
	if a.Sample != b.Sample || a.Whole == b.Whole || !a.isFile(again, true) || a.isFile(b, true) || a.isFile(b, false) {
		t.Errorf("%+v\n%+v\n%+v", a, again, b)
	}
	elsewhere := a
	elsewhere.Device++ // the number that another machine gives to the same file system
	if !a.isFile(elsewhere, false) || a.isFile(elsewhere, true) {
		t.Error("device numbers are compared between machines, or not on one")
	}
}

// What differs is named: the build first, then the file, then why a rank has no program.
func TestAgree(t *testing.T) {
	in := Input{Path: "a.csv", Head: "f64[2,2]", Size: 8, Inode: 1}
	size, head, contents, copied := in, in, in, in
	size.Size, head.Head, contents.Sample, copied.Inode = 9, "f64[1,4]", [32]byte{1}, 2
	say := func(in ...Input) Introduction { return Introduction{Inputs: in} }
	for _, c := range []struct {
		name     string
		last     Introduction // of rank 2
		want     string
		unshared int
	}{
		{"same", say(in), "", 0},
		{"copy", say(copied), "", 1},
		{"size", say(size), "rank 2 reads another a.csv than rank 0: 9 bytes, not 8", 0},
		{"head", say(head), "rank 2 reads another a.csv than rank 0: f64[1,4], not f64[2,2]", 0},
		{"contents", say(contents), "rank 2 reads another a.csv than rank 0: other contents of the same size", 0},
		{"refusal", Introduction{Refusal: "mistake"}, "rank 2 cannot run its program: mistake", 0},
		{"because of a file", Introduction{Refusal: "mistake", Inputs: []Input{size}}, "rank 2 reads another a.csv than rank 0: 9 bytes, not 8", 0},
	} {
		comms := mem.New(3, mem.Options{Faults: mem.Faults{Seed: 1, MaxDelay: 100 * time.Microsecond}})
		within(t, func() {
			var all sync.WaitGroup
			for i, comm := range comms {
				all.Go(func() {
					mine := say(in)
					if i == 2 {
						mine = c.last
					}
					for range 2 { // what a rank says the second time never meets the first
						unshared, err := Agree(context.Background(), comm, mine)
						if c.want == "" && (err != nil || len(unshared) != c.unshared) || c.want != "" && (err == nil || err.Error() != c.want) {
							t.Errorf("%s, rank %d: %v, %v; want %q", c.name, i, unshared, err, c.want)
						}
					}
				})
			}
			all.Wait()
		})
		closeAll(t, comms)
	}
}

// Executables are told apart by the note of the go command, and without it by every byte.
func TestExecutablesAreToldApart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(bytes.NewReader(text))
	if err != nil {
		t.Skipf("this system has other executables: %v", err)
	}
	note := e.Section(".note.go.buildid")
	if note == nil || len(buildID(bytes.NewReader(text))) == 0 {
		t.Fatal("the go command has left no note in this test")
	}
	of := func(change func(b []byte)) string {
		b := bytes.Clone(text)
		change(b)
		path := filepath.Join(t.TempDir(), "exe")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return string(identify(f))
	}
	same := of(func([]byte) {})
	if same != string(executable()) {
		t.Error("a copy is another executable")
	}
	if same == of(func(b []byte) { b[note.Offset+note.Size-6] ^= 1 }) {
		t.Error("another note makes no difference")
	}
	unnoted := func(b []byte) { clear(b[note.Offset+16 : note.Offset+note.Size]) }
	if of(unnoted) == same || of(unnoted) == of(func(b []byte) { unnoted(b); b[len(b)-1] ^= 1 }) {
		t.Error("without a note the bytes make no difference")
	}
	if b := Build(); b.Hash == [32]byte{} || !strings.HasSuffix(b.Text, ")") {
		t.Errorf("%+v", b)
	}
}

// Rank 0 mentions whom it waits for before the run.
func TestLateRanksAreMentioned(t *testing.T) {
	comms := mem.New(3, mem.Options{})
	told := make(chan string, 1)
	within(t, func() {
		var all sync.WaitGroup
		for i, comm := range comms {
			all.Go(func() {
				r := newRank(comm, nil, Options{Notice: func(text string) { told <- text }, looks: time.Microsecond})
				if i == 2 {
					if text := <-told; !strings.HasPrefix(text, "waiting for ranks that have not begun after 0 s: ") || !strings.HasSuffix(text, "2") { // 1 may be late as well
						t.Errorf("told %q", text)
					}
				}
				if _, f := r.greet(context.Background(), hello{From: i, Process: thisProcess()}); f != nil {
					t.Error(f)
				}
			})
		}
		all.Wait()
	})
	closeAll(t, comms)
}
