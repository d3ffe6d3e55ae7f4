package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"flow"
)

// This file defines what depends on the kind of a stream: terminals, and input that can be read
// only once, which is standard input and pipes.

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminalWidth returns how many characters a line of terminal f has. It returns 0 if f is no terminal.
func terminalWidth(f *os.File) int {
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// wantsColor reports whether text on f may have colours: a terminal, and NO_COLOR (no-color.org)
// not set.
func wantsColor(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)
}

// watched is a stream that keeps the first error of its writes: most commands print without looking.
type watched struct {
	io.Writer
	failed error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.failed == nil {
		w.failed = err
	}
	return n, err
}

// input returns the streams of this command. It reports a stream without a writer, so that the
// command does not hang in silence.
func (s *session) input() *flow.Input {
	stderr := s.err
	return &flow.Input{Stdin: s.in, Waiting: func(name string) {
		fmt.Fprintf(stderr, "flowrun: waiting for data from %s\n", name)
	}}
}

// noStreams says why ranks in processes of their own read no stream: one of them would get all of
// it.
const noStreams = "ranks are processes of their own and cannot share it (--backend=mem runs them in one)"
