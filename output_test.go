package flow

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func write(t *testing.T, o *Output, path, text string) {
	t.Helper()
	w, err := o.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// names is what lies in dir.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return fmt.Sprint(out)
}

func TestOutputAppearsAtCommit(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv")
	if err := os.WriteFile(a, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := NewOutput(io.Discard)
	write(t, o, a, "1\n")
	write(t, o, b, "2\n")
	write(t, o, a, "3\n")
	if got, _ := os.ReadFile(a); string(got) != "old" {
		t.Errorf("before Commit a.csv holds %q", got)
	}
	if _, err := os.Stat(b); !os.IsNotExist(err) {
		t.Errorf("before Commit b.csv is there: %v", err)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	o.Discard() // after Commit it takes nothing away
	if got, _ := os.ReadFile(a); string(got) != "1\n3\n" {
		t.Errorf("a.csv holds %q", got)
	}
	if info, err := os.Stat(a); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a.csv lost its permissions: %v, %v", info.Mode(), err)
	}
	if got := names(t, dir); got != "[a.csv b.csv]" {
		t.Errorf("left behind: %s", got)
	}
	if _, err := o.Create(a); err == nil {
		t.Error("Create after Commit succeeded")
	}
}

func TestOutputDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	o := NewOutput(io.Discard)
	write(t, o, filepath.Join(dir, "a.csv"), "1\n")
	o.Discard()
	o.Discard()
	if got := names(t, dir); got != "[]" {
		t.Errorf("left behind: %s", got)
	}
}

func TestOutputFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "real"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	o := NewOutput(io.Discard)
	write(t, o, filepath.Join(dir, "link"), "x")
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "link"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "real")); string(got) != "x" {
		t.Errorf("real holds %q", got)
	}
}

// A link may point to what is not there yet, by way of other links: the file appears there.
func TestOutputFollowsLinksToNothing(t *testing.T) {
	dir := t.TempDir()
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "d"), 0o755), os.Symlink("new", filepath.Join(dir, "d", "second")),
		os.Symlink(filepath.Join("d", "second"), filepath.Join(dir, "first")), os.Symlink("second", filepath.Join(dir, "d", "third"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	o := NewOutput(io.Discard)
	write(t, o, filepath.Join(dir, "first"), "x")
	if _, err := o.Create(filepath.Join(dir, "d", "third")); err == nil || !strings.Contains(err.Error(), "same file") {
		t.Errorf("by another link to it: %v", err)
	}
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir) + names(t, filepath.Join(dir, "d")); got != "[d first][new second third]" {
		t.Errorf("there are %s", got)
	}
	if info, err := os.Lstat(filepath.Join(dir, "first")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced by a file")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "d", "new")); string(got) != "x" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}

// What a killed process has left is removed, what somebody is writing is not, nor what only looks
// like it.
func TestOutputSweepsWhatNobodyWrites(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	name, f, err := temporary("dead.csv", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // as the end of its process does
		t.Fatal(err)
	}
	alive, g, err := temporary("alive.csv", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, err := range []error{os.WriteFile(".other.flow-1", nil, 0o600), os.WriteFile("a.flow-00000000-00000000", nil, 0o600),
		os.Mkdir(".d.flow-00000000-00000000", 0o700), os.Symlink(name, ".l.flow-00000000-00000000"),
		os.WriteFile(".away.csv.flow-00000000-00000000", nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	there := []string{".other.flow-1", "a.flow-00000000-00000000", ".d.flow-00000000-00000000", ".l.flow-00000000-00000000", alive}
	d, err := os.Open(".")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if !onOneMachine(d) { // another machine's, perhaps
		there = append(there, ".away.csv.flow-00000000-00000000")
	}
	o := NewOutput(io.Discard)
	write(t, o, "new.csv", "x")
	if err := o.Commit(); err != nil {
		t.Fatal(err)
	}
	there = append(there, "new.csv")
	slices.Sort(there)
	if got := names(t, "."); got != fmt.Sprint(there) {
		t.Errorf("there are %s\nwant      %v", got, there)
	}
}

func TestOutputRefusals(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "none", "a.csv")} {
		_, err := NewOutput(io.Discard).Create(path)
		if err == nil || strings.Contains(err.Error(), dir) {
			t.Errorf("Create(%s): %v; want the system's reason without a path", path, err)
		}
	}
	o := NewOutput(io.Discard)
	write(t, o, os.DevNull, "x") // no regular file: written directly, never renamed over
	if err := o.Commit(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced", os.DevNull)
	}
}

// Two emits to different names are in no order, so they may not mean one file: by a link to it, to
// its directory, or from the root.
func TestOutputRefusesOneFileByTwoNames(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, err := range []error{os.WriteFile("a.csv", nil, 0o600), os.Symlink("a.csv", "b.csv"), os.Mkdir("d", 0o700), os.Symlink("d", "e")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, names := range [][2]string{{"a.csv", "b.csv"}, {"d/new.csv", "e/new.csv"}, {"new.csv", filepath.Join(dir, "new.csv")}} {
		o := NewOutput(io.Discard)
		write(t, o, names[0], "1\n")
		write(t, o, "./"+names[0], "2\n")
		if _, err := o.Create(names[1]); err == nil || !strings.Contains(err.Error(), "same file as "+names[0]) {
			t.Errorf("%s after %s: %v", names[1], names[0], err)
		}
		o.Discard()
		p, err := Compile(t.Context(), "p.flow", fmt.Appendf(nil, "emit 1 to %q\nemit 2 to %q", names[0], names[1]), CompileOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Run(t.Context(), RunOptions{Stdout: io.Discard}); err == nil || !strings.Contains(err.Error(), "are one file") {
			t.Errorf("a program that emits to %s and %s: %v", names[0], names[1], err)
		}
	}
}

// Equal outputs have equal sums, others have not, whatever the order of creation.
func TestOutputSum(t *testing.T) {
	dir := t.TempDir()
	sum := func(files ...string) string {
		o := NewOutput(io.Discard)
		defer o.Discard()
		for i := 0; i < len(files); i += 2 {
			w, err := o.Create(filepath.Join(dir, files[i]))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, files[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		h := sha256.New()
		if err := o.Sum(h); err != nil {
			t.Fatal(err)
		}
		return string(h.Sum(nil))
	}
	first := sum("a", "1", "b", "2")
	if first != sum("b", "2", "a", "1") {
		t.Error("the order of creation changes the sum")
	}
	for _, other := range [][]string{{"a", "1"}, {"a", "1", "b", "3"}, {"a", "1", "c", "2"}, {"a", "12", "b", ""}, {}} {
		if sum(other...) == first {
			t.Errorf("%v has the sum of another output", other)
		}
	}
}

// A sweep beside a run never takes what the run is about to rename: the lock is held until the file
// has its name.
func TestOutputCommitsBesideSweeps(t *testing.T) {
	dir := t.TempDir()
	stop, swept := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swept)
		for {
			select {
			case <-stop:
				return
			default:
				sweep(dir)
			}
		}
	}()
	for i := range 300 {
		o := NewOutput(io.Discard)
		for k := range 3 {
			if _, err := o.Create(filepath.Join(dir, fmt.Sprintf("f%d", k))); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Commit(); err != nil {
			t.Fatalf("in round %d: %v", i, err)
		}
	}
	close(stop)
	<-swept
}
