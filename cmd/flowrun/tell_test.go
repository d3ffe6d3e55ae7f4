package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"flow"
	"flow/lang/source"
)

// Every kind of error has its exit code and its words; a bug never shows a stack unless FLOW_DEBUG
// asks for it.
func TestTell(t *testing.T) {
	wrong := source.Diagnostics{source.Errorf("E116", source.Span{}, "nothing is called x")}
	for _, tt := range []struct {
		err   error
		debug string
		code  int
		want  string
		never string
	}{
		{nil, "", exitOK, "", "flowrun"},
		{exit(7), "", 7, "", "flowrun"},
		{usagef("no such thing"), "", exitProgram, "flowrun: no such thing", ""},
		{&flow.Refusal{Diagnostics: wrong}, "", exitProgram, "error[E116]: nothing is called x", ""},
		{&flow.Refusal{Diagnostics: wrong, Ran: true}, "", exitFailed, "error[E116]", ""},
		{&flow.Bug{Text: "pass fuse: index out of range", Stack: []byte("goroutine 1")}, "", exitFailed, "this is a bug in Flow: pass fuse: index", "goroutine"},
		{&flow.Bug{Text: "pass fuse", Stack: []byte("goroutine 1")}, "1", exitFailed, "goroutine 1", ""},
		{fmt.Errorf("wrapped: %w", context.Canceled), "", exitFailed, "", "flowrun"},
		{errors.New("the disk is full"), "", exitFailed, "flowrun: the disk is full", ""},
	} {
		t.Setenv("FLOW_DEBUG", tt.debug)
		var out bytes.Buffer
		s := &session{err: &out}
		if code := s.tell(tt.err); code != tt.code {
			t.Errorf("%v: exit code %d, want %d", tt.err, code, tt.code)
		}
		if !strings.Contains(out.String(), tt.want) || tt.never != "" && strings.Contains(out.String(), tt.never) {
			t.Errorf("%v is told as\n%s", tt.err, out.String())
		}
	}
}

// Nobody gets a progress bar who is not at a terminal.
func TestNoBarElsewhere(t *testing.T) {
	s := &session{err: &bytes.Buffer{}}
	l := s.progress()
	if l.report() != nil {
		t.Error("a buffer gets a bar")
	}
	if w := l.above(s.err); w != s.err {
		t.Error("output takes a detour where there is no bar")
	}
	l.hide()
}

// A value that is printed while the bar stands there begins at the left of a clean line, and a line
// that is printed in two pieces stays whole.
func TestOutputStandsAboveTheBar(t *testing.T) {
	var screen bytes.Buffer
	l := &progressLine{to: &screen, width: func() int { return 80 }, start: time.Now().Add(-time.Hour)}
	report, out := l.report(), l.above(&screen)
	report(flow.Progress{Done: 1, Total: 10})
	if !strings.Contains(screen.String(), "1 of 10 tasks") {
		t.Fatalf("no bar: %q", screen.String())
	}
	for _, piece := range []string{"no", "rm: 6\n"} {
		if _, err := out.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		report(flow.Progress{Done: 2, Total: 10})
	}
	if text := screen.String(); !strings.Contains(text, "\r\x1b[Knorm: 6\n") {
		t.Errorf("%q", text)
	}
	l.hide()
	screen.Reset()
	report(flow.Progress{Done: 3, Total: 10})
	if screen.Len() > 0 {
		t.Errorf("a run that was given up draws %q", screen.String())
	}
}
