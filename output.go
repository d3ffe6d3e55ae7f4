package flow

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"flow/ir/op"
	"flow/ir/value"
)

// This file defines Output, where a run writes: standard output at once, files only when the whole
// run has succeeded.

// codeWrite is the diagnostic of a file that cannot be written, as in the row emit.
const codeWrite = "E507"

// Output is an op.Env whose files appear together at Commit or not at all. A file is written under
// a temporary name in its own directory, so that the rename does not cross file systems; Commit
// syncs and renames each. Devices and pipes are written directly. It is safe for concurrent use.
//
// It is wrong if the machine stops between two renames of Commit: each file is whole, but some may
// be new and others old.
type Output struct {
	stdout io.Writer
	take   func(Result) // takes what would be printed, or nil
	mu     sync.Mutex
	files  []*sink
	// directories; closed when leftovers of killed runs are removed
	swept map[string]chan struct{}
	over  bool // committed or discarded
}

// Result is a value that a program has emitted.
type Result struct {
	Label string // of `emit x as "label"`; "" without one
	// Value is a float64, float32, int64, bool or string, a Matrix of these except string, or a
	// Sparse, whose entries are widened to float64. A picture is the string that would be
	// printed. The receiver owns it.
	Value any
}

// sink is one unfinished file. Output.mu protects its fields, except file while a writer has it.
type sink struct {
	name string // what the program calls it
	path string // where it shall be, links resolved
	temp string // its temporary name; "" if it is written directly
	file *os.File
}

// NewOutput returns an Output that prints on stdout and has no files yet.
func NewOutput(stdout io.Writer) *Output { return &Output{stdout: stdout} }

// Stdout is where emit prints.
func (o *Output) Stdout() io.Writer { return o.stdout }

// Path returns path: relative paths start at the working directory.
func (o *Output) Path(path string) string { return path }

// Take passes a value to the receiver of values, if there is one.
func (o *Output) Take(label string, v value.Value) bool {
	if o.take == nil {
		return false
	}
	o.take(Result{label, goValue(v)})
	return true
}

// Create opens a sink for path. A second Create of the same file appends: emits to one sink follow
// each other. The same file by another name (a link, an absolute path) is refused, because emits to
// different names are unordered. Closing the writer does not make the file appear, Commit does.
func (o *Output) Create(path string) (io.WriteCloser, error) {
	target, there, err := resolve(path)
	if err != nil {
		return nil, plainly(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return nil, errors.New("BUG: a file is created after the run has ended")
	}
	for _, s := range o.files {
		switch {
		case s.path != target:
		case s.name != filepath.Clean(path) && s.temp != "":
			return nil, fmt.Errorf("it is the same file as %s, which is written, too", s.name)
		default:
			return &writer{s.file}, nil
		}
	}
	s := &sink{name: filepath.Clean(path), path: target}
	switch {
	case there == nil:
		s.temp, s.file, err = temporary(target, 0o666)
	case there.Mode().IsRegular():
		s.temp, s.file, err = temporary(target, there.Mode().Perm())
	default: // a directory says so here
		s.file, err = os.OpenFile(target, os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, plainly(err)
	}
	o.files = append(o.files, s)
	if s.temp != "" {
		o.sweep(filepath.Dir(target))
	}
	return &writer{s.file}, nil
}

// sweep removes leftovers of killed runs in a directory, concurrently with the run, since a
// directory may be large. o.mu is held.
func (o *Output) sweep(dir string) {
	if o.swept == nil {
		o.swept = map[string]chan struct{}{}
	}
	if o.swept[dir] == nil {
		done := make(chan struct{})
		o.swept[dir] = done
		go func() {
			defer close(done)
			sweep(dir)
		}()
	}
}

// resolve follows links, also to files that do not exist yet: a file written by the name of a link
// appears at the link's target. info is nil if nothing exists there. It fails for circular links.
func resolve(path string) (target string, info fs.FileInfo, err error) {
	target = filepath.Clean(path)
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		// the link of /dev/stdout to a pipe has a target that is no path
		target, err = filepath.Abs(target)
		return target, info, err
	}
	for range maxLinks {
		if real, err := filepath.EvalSymlinks(target); err == nil {
			target = real
			break
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(target)); err == nil {
			target = filepath.Join(dir, filepath.Base(target))
		}
		to, lerr := os.Readlink(target)
		if lerr != nil { // no link: an unused name, or in a directory that does not exist
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(target), to)
		}
		target = to
	}
	if whole, err := filepath.Abs(target); err == nil {
		target = whole
	}
	info, err = os.Stat(target)
	if errors.Is(err, syscall.ELOOP) {
		return target, nil, err
	}
	if err != nil {
		info = nil
	}
	return target, info, nil
}

// maxLinks is how many links may follow each other, as in Linux.
const maxLinks = 40

// writer is one Create's view of a sink.
type writer struct{ file *os.File }

// Write writes to the sink.
func (w *writer) Write(b []byte) (int, error) {
	n, err := w.file.Write(b)
	return n, plainly(err)
}

// Close leaves the sink open for the next Create of it.
func (w *writer) Close() error { return nil }

// plainly returns err without its temporary name, which means nothing to users.
func plainly(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// Commit makes all files appear and ends the Output. At the first failure it removes the files that
// have not appeared.
func (o *Output) Commit() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return nil
	}
	// Sync everything before the first rename, so that a full disk is noticed while nothing has
	// appeared. A temporary file is closed after its rename: without its lock another run's
	// sweep would remove it.
	for _, s := range o.files {
		var err error
		if s.temp != "" {
			err = s.file.Sync()
		} else {
			err = s.file.Close()
		}
		if err != nil {
			o.discard()
			return op.Failf(codeWrite, "%s: cannot be written: %v", s.name, plainly(err))
		}
	}
	for _, s := range o.files {
		if s.temp == "" {
			continue
		}
		if err := os.Rename(s.temp, s.path); err != nil {
			o.discard()
			return op.Failf(codeWrite, "%s: cannot be written: %v", s.name, plainly(err))
		}
		s.temp = ""
		_ = s.file.Close() // its bytes are on the disk
	}
	o.over = true
	for _, done := range o.swept {
		<-done
	}
	return nil
}

// Sum hashes the unfinished files: their paths, in order, and their contents so far. A device or
// pipe counts by its path alone. No write may be under way.
func (o *Output) Sum(h io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	files := slices.SortedFunc(slices.Values(o.files), func(a, b *sink) int { return strings.Compare(a.path, b.path) })
	for _, s := range files {
		fmt.Fprintf(h, "%q", s.path) // a hash takes everything
		if s.temp == "" {
			continue
		}
		f, err := os.Open(s.temp)
		if err != nil {
			return plainly(err)
		}
		n, err := io.Copy(h, f)
		_ = f.Close() // it was only read
		if err != nil {
			return plainly(err)
		}
		fmt.Fprintf(h, "%d", n)
	}
	return nil
}

// Discard removes all unfinished files and ends the Output. It may be called at any time, more than
// once, and does nothing after Commit.
func (o *Output) Discard() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.discard()
}

func (o *Output) discard() {
	if o.over {
		return
	}
	o.over = true
	for _, s := range o.files {
		_ = s.file.Close() // the file is removed anyway
		if s.temp != "" {
			_ = os.Remove(s.temp) // an error could not be reported any more
		}
	}
}
