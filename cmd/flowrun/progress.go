package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// This file defines the progress bar: on a terminal, for what takes longer than a second, and nowhere else.

// patience is how long a run is left alone before it gets a bar.
const patience = time.Second

// progressLine is the bar of one run. It may be used from several goroutines.
type progressLine struct {
	to    io.Writer // nil where there is no terminal, and then no bar
	what  string    // what is counted
	start time.Time
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	mid   bool // output has stopped within a line, which a bar would overwrite
}

// progress starts the clock of a run.
func (s *session) progress() *progressLine {
	l := &progressLine{start: time.Now(), what: "tasks"}
	if f, ok := s.err.(*os.File); ok && isTerminal(f) {
		l.to = f
	}
	return l
}

// report draws how far the run is; nil where nothing is to be drawn.
func (l *progressLine) report() func(done, total int) {
	if l.to == nil {
		return nil
	}
	return func(done, total int) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.mid || l.bar == nil && (time.Since(l.start) < patience || done == total) {
			return
		}
		if l.bar == nil {
			l.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(l.to), progressbar.OptionSetDescription(l.what),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		_ = l.bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}
}

// hide takes the bar away.
func (l *progressLine) hide() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *progressLine) clear() {
	if l.bar != nil && !l.mid {
		_ = l.bar.Clear()
	}
}

// above is w for output during the run: where both are the terminal, a value would be printed behind the bar, which
// comes back at the next report.
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
