package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// This file defines the progress bar: on a terminal, for what takes longer than a second, and nowhere else.

// patience is how long a run is left alone before it gets a bar.
const patience = time.Second

// progress returns the function that a run reports to and the one that takes the bar away; both may be called when
// there is no bar.
func (s *session) progress() (report func(done, total int), end func()) {
	if f, ok := s.err.(*os.File); !ok || !isTerminal(f) {
		return nil, func() {}
	}
	var bar *progressbar.ProgressBar
	start := time.Now()
	report = func(done, total int) {
		if bar == nil && (time.Since(start) < patience || done == total) {
			return
		}
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(s.err), progressbar.OptionSetDescription("tasks"),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
				progressbar.OptionThrottle(100*time.Millisecond))
		}
		_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}
	return report, func() {
		if bar != nil {
			_ = bar.Clear()
		}
	}
}
