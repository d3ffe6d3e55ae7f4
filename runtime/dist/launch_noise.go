package dist

// This file hides what the launcher prints about the end of a job, which the ranks report better.

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// noiseFilter passes bytes on, except boxes between two lines of dashes that contain one of the
// noises, and noisy lines. Everything else is passed on at once, unfinished lines too, unless they
// begin like a box, a noisy line or an error.
type noiseFilter struct {
	to   io.Writer
	mu   sync.Mutex
	line []byte   // unfinished and not yet passed on
	mid  bool     // part of the unfinished line has been passed on
	box  []string // lines of an open box, with its first dashes
	told bool     // an error was passed on
	bad  bool     // the launcher has said of a rank that it ended badly
	own  string   // ends the mark at the beginning of the launcher's own lines
	held []string // such lines, which are passed on at the end unless told
	activity
}

// noises are what Open MPI prints when a rank has ended with an error, was killed, or has called
// MPI_Abort.
var noises = []string{
	"Primary job  terminated normally",
	"mpirun has exited due to process rank",
	"mpirun noticed that process rank",
	"mpirun detected that one or more processes exited with non-zero status",
	"MPI_ABORT was invoked on rank",
	"processes are still running",
	"CMA support is not available due to restrictive ptrace settings", // it copies otherwise
}

// noisyLines are lines outside of boxes.
var noisyLines = []string{
	"more processes have sent help message", "more process has sent help message",
	"Set MCA parameter \"orte_base_help_aggregate\"", "mpirun: abort is already in progress", "mpirun: killing job", "mpirun: Forwarding signal",
}

// readsTheDead recognises a rank's message about copying from the memory of a dead rank (3 is
// ESRCH).
func readsTheDead(line string) bool {
	return strings.Contains(line, "Read -1, expected ") && strings.HasSuffix(strings.TrimRight(line, "\r\n"), ", errno = 3")
}

// boxLines bounds how much is held back while a box is open.
const boxLines = 40

func (n *noiseFilter) Write(b []byte) (int, error) {
	n.begin()
	defer n.end()
	n.mu.Lock()
	defer n.mu.Unlock()
	size := len(b)
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			n.line = append(n.line, b...)
			break
		}
		n.line = append(n.line, b[:end+1]...)
		b = b[end+1:]
		n.whole()
	}
	if len(n.line) > 0 && n.box == nil && (n.mid || n.line[0] != '-' && n.line[0] != '[' && n.line[0] != 'm' && n.line[0] != 'e') {
		n.pass(string(n.line))
		n.line, n.mid = n.line[:0], true
	}
	return size, nil
}

// whole handles the finished line in n.line.
func (n *noiseFilter) whole() {
	line, mid := string(n.line), n.mid
	n.line, n.mid = n.line[:0], false
	dashes := len(line) > 60 && strings.Trim(line, "-\r\n") == ""
	switch {
	case mid:
		n.pass(line)
	case n.box == nil && dashes:
		n.box = []string{line}
	case n.box == nil && n.isOwn(line):
		n.held = append(n.held, line)
	case n.box == nil:
		if !contains(line, noisyLines) && !readsTheDead(line) {
			n.pass(line)
		}
	default:
		n.box = append(n.box, line)
		if dashes || len(n.box) > boxLines {
			n.closeBox()
		}
	}
}

// of tells the launcher's process. Open MPI's marks its own lines "[host:process]", and has many, up to
// the trace of its own crash, after a rank has died.
func (n *noiseFilter) of(launcher int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own = fmt.Sprintf(":%d", launcher)
}

// isOwn reports whether the launcher speaks of itself in a line.
func (n *noiseFilter) isOwn(line string) bool {
	mark, _, marked := strings.Cut(line, "]")
	return marked && n.own != "" && strings.HasPrefix(mark, "[") && strings.HasSuffix(mark, n.own)
}

func (n *noiseFilter) closeBox() {
	if text := strings.Join(n.box, ""); contains(text, noises) {
		n.bad = true
	} else {
		n.pass(text)
	}
	n.box = nil
}

// silence drops later output.
func (n *noiseFilter) silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.to, n.box, n.line = io.Discard, nil, nil
}

// flush passes on what is held back.
func (n *noiseFilter) flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.box != nil {
		n.closeBox()
	}
	n.pass(string(n.line))
	if !n.told {
		n.pass(strings.Join(n.held, ""))
	}
	n.line, n.held = nil, nil
}

// hasTold reports whether the ranks have printed an error in the form of Flow's diagnostics.
func (n *noiseFilter) hasTold() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.told
}

// hasBlamed reports whether the launcher has named a rank that ended badly. It does so unless it was
// told to stop.
func (n *noiseFilter) hasBlamed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bad
}

func (n *noiseFilter) pass(s string) {
	n.told = n.told || strings.Contains(s, "error[E") && n.to != io.Discard
	_, _ = io.WriteString(n.to, s) // nobody is left to tell
}

func contains(s string, parts []string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
