package main

// This file defines an invocation of the command, and how it ends.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"flow"
	"flow/lang/source"
)

// The exit codes of the command; 128 + signal for a run that a signal ended.
const (
	exitOK      = 0
	exitFailed  = 1 // the run failed
	exitProgram = 2 // the program, a param or the command line is wrong
)

// exit ends the command with a code, silently.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// session is one invocation of the command.
type session struct {
	began     time.Time     // when main began
	loaded    time.Duration // the time until main began
	compiling time.Time     // when the compiler began
	in        io.Reader
	text      []byte // a program read from in, or nil
	out       io.Writer
	width     func() int // characters in a line of out, 0 if out is no terminal; nil means 0
	err       io.Writer
	color     bool // on err
	signal    *interruption
}

// tell prints an error and returns the exit code it means.
func (s *session) tell(err error) int {
	s.signal.wait()
	var code exit
	var usage *usageError
	var refused *flow.Refusal
	var bug *flow.Bug
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	// A failure with a reason of its own takes precedence over the signal: a launcher signals
	// all ranks when one is lost.
	case s.signal.caught() && !errors.As(err, &refused):
		return s.signal.report(s.err)
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "flowrun: %s\n", usage.text)
		if usage.help != "" {
			fmt.Fprintf(s.err, "  = help: %s\n", usage.help)
		}
		return exitProgram
	case errors.As(err, &bug):
		return s.bug(bug, bug.Stack)
	case errors.As(err, &refused):
		source.RenderAll(s.err, refused.Files, refused.Diagnostics, s.color)
		if refused.Ran {
			return exitFailed
		}
		return exitProgram
	case errors.Is(err, context.Canceled):
		return exitFailed
	}
	fmt.Fprintf(s.err, "flowrun: %v\n", err)
	return exitFailed
}

// bug reports a bug in Flow, with stack traces only if FLOW_DEBUG is set.
func (s *session) bug(err error, stack []byte) int {
	fmt.Fprintf(s.err, "flowrun: this is a bug in Flow: %v\n", err)
	if os.Getenv("FLOW_DEBUG") != "" {
		_, _ = s.err.Write(stack) // stderr may be closed; then nothing can be reported
	} else {
		fmt.Fprintln(s.err, "  = help: please report it with the program and its params; FLOW_DEBUG=1 adds a stack trace")
	}
	return exitFailed
}
