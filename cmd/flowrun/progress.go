package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"flow"
)

// This file defines the progress line, which a terminal gets when a run takes longer than a second.
// It names the running statement and counts its rounds or iterations. The time left is extrapolated
// from the count, if its end is known.

// patience is how long a run goes without a line.
const patience = time.Second

// progressLine is the line of one run. It is safe for concurrent use.
type progressLine struct {
	to    io.Writer // nil without a terminal: no line
	what  string    // what is counted, if not a run's tasks
	width func() int
	start time.Time
	phase progressPhase
	mu    sync.Mutex
	drawn bool
	mid   bool // output has stopped within a line, which the progress would overwrite
	ended bool // a run that was given up may still report
}

// progressPhase is the part of a run in which one thing is counted.
type progressPhase struct {
	key         string
	since, last time.Time
	from, at    int64
}

// progress starts the clock of a run.
func (s *session) progress() *progressLine {
	l := &progressLine{start: time.Now(), width: func() int { return 80 }}
	if f, ok := s.err.(*os.File); ok && isTerminal(f) {
		l.to = f
		l.width = func() int { return cmp.Or(terminalWidth(f), 80) }
	}
	return l
}

// report returns the function that draws the progress of a run, or nil.
func (l *progressLine) report() func(flow.Progress) {
	if l.to == nil {
		return nil
	}
	return func(p flow.Progress) {
		l.mu.Lock()
		defer l.mu.Unlock()
		now := time.Now()
		text := l.phase.text(p, now)
		if l.what != "" {
			text = strings.Replace(text, " tasks", " "+l.what, 1)
		}
		if l.ended || l.mid || !l.drawn && (now.Sub(l.start) < patience || p.Done == p.Total) {
			return
		}
		if r, most := []rune(text), max(l.width()-1, 1); len(r) > most {
			text = string(r[:most])
		}
		// a line that cannot be drawn is no reason to stop
		_, _ = io.WriteString(l.to, "\r"+text+"\x1b[K")
		l.drawn = true
	}
}

// counts is report for other counts.
func (l *progressLine) counts() func(done, total int) {
	draw := l.report()
	if draw == nil {
		return nil
	}
	return func(done, total int) { draw(flow.Progress{Done: done, Total: total}) }
}

// counted returns the position and end (-1: unknown) of the count, its name, and its key.
func counted(p flow.Progress) (at, of int64, what, key string) {
	switch {
	case p.Looping && p.Times != 1:
		return p.Rounds, p.Times, "rounds", "rounds of " + p.What
	case p.Of > 0:
		return p.Iterations, p.Of, "iterations", "iterations of " + p.What
	}
	return int64(p.Done), int64(p.Total), "tasks", "tasks"
}

// text returns the line for progress p.
func (h *progressPhase) text(p flow.Progress, now time.Time) string {
	at, of, what, key := counted(p)
	if key != h.key || at < h.at { // a new count, or the same one again
		*h = progressPhase{key: key, since: now, from: at}
	}
	h.at, h.last = at, now
	var b strings.Builder
	if of > 0 {
		const cells = 20
		full := int(min(at, of) * cells / of)
		fmt.Fprintf(&b, "[%s%s] %3d %%  %s of %s %s", strings.Repeat("#", full), strings.Repeat(".", cells-full), min(at, of)*100/of, grouped(at), grouped(of), what)
	} else {
		fmt.Fprintf(&b, "%s %s", grouped(at), what)
	}
	if left, ok := h.left(at, of, now); ok {
		fmt.Fprintf(&b, ", %s left", left)
	}
	if p.What != "" {
		b.WriteString("  " + p.What)
	}
	return b.String()
}

// left extrapolates the time until a count at `at` reaches its end. ok is false if that is not
// known yet.
func (h *progressPhase) left(at, of int64, now time.Time) (left time.Duration, ok bool) {
	took := now.Sub(h.since)
	if of <= 0 || at <= h.from || at >= of || took < patience/2 {
		return 0, false
	}
	seconds := took.Seconds() * float64(of-at) / float64(at-h.from)
	if seconds > 1e8 {
		return 0, false
	}
	return (time.Duration(seconds*float64(time.Second)) + time.Second - 1).Truncate(time.Second), true
}

// grouped formats n with a comma after each three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// hide removes the line for good.
func (l *progressLine) hide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	l.ended = true
}

func (l *progressLine) clear() {
	if l.drawn && !l.mid {
		_, _ = io.WriteString(l.to, "\r\x1b[K")
	}
}

// above returns w for output during the run. If both are the terminal, it hides the line, which
// returns at the next report.
func (l *progressLine) above(w io.Writer) io.Writer {
	if l.to == nil {
		return w
	}
	return writerFunc(func(b []byte) (int, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.clear()
		n, err := w.Write(b)
		if n > 0 {
			l.mid = b[n-1] != '\n'
		}
		return n, err
	})
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
