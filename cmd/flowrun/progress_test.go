package main

import (
	"strings"
	"testing"
	"time"

	"flow"
)

// The line names the statement, counts its rounds or iterations, and tells the time that is left of
// them by their own speed.
func TestProgressText(t *testing.T) {
	const loop, solver = "R = parfor i in 0..n { .. } (line 4)", "iterate x = b until .. (line 9)"
	var h progressPhase
	start := time.Now()
	for _, c := range []struct {
		at      time.Duration
		p       flow.Progress
		want    string
		without string
	}{
		{0, flow.Progress{Done: 0, Total: 3, What: loop, Of: 20000000}, "[....................]   0 %  0 of 20,000,000 iterations  " + loop, "left"},
		{10 * time.Second, flow.Progress{Done: 0, Total: 3, What: loop, Iterations: 5000000, Of: 20000000}, "25 %  5,000,000 of 20,000,000 iterations, 30s left", "tasks"},
		{20 * time.Second, flow.Progress{Done: 1, Total: 3, What: solver, Looping: true, Rounds: 0, Times: -1}, "0 rounds  " + solver, "%"},
		{25 * time.Second, flow.Progress{Done: 1, Total: 3, What: solver, Looping: true, Rounds: 1234, Times: -1}, "1,234 rounds  " + solver, "left"},
		{30 * time.Second, flow.Progress{Done: 2, Total: 3, What: "again", Looping: true, Rounds: 0, Times: 40}, "0 of 40 rounds", "left"},
		{34 * time.Second, flow.Progress{Done: 2, Total: 3, What: "again", Looping: true, Rounds: 10, Times: 40}, "25 %  10 of 40 rounds, 12s left", "iterations"},
		{40 * time.Second, flow.Progress{Done: 2, Total: 3, What: loop, Iterations: 10, Of: 20}, "50 %  10 of 20 iterations", "left"},
		{50 * time.Second, flow.Progress{Done: 2, Total: 3, What: loop, Iterations: 5, Of: 20}, "25 %  5 of 20 iterations", "left"},
		{60 * time.Second, flow.Progress{Done: 2, Total: 3}, "66 %  2 of 3 tasks", "left"},
	} {
		got := h.text(c.p, start.Add(c.at))
		if !strings.Contains(got, c.want) || strings.Contains(got, c.without) {
			t.Errorf("after %v: %q, want %q in it and no %q", c.at, got, c.want, c.without)
		}
	}
}
