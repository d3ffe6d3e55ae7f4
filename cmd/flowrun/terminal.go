package main

import (
	"os"

	"golang.org/x/term"
)

// This file defines what depends on a terminal.

// isTerminal reports whether f is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// wantsColor reports whether text on f may have colours: a terminal, and NO_COLOR (no-color.org)
// not set.
func wantsColor(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(f)
}
