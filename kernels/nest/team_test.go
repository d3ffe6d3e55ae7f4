package nest

import (
	"testing"
	"time"
)

// TestTries: a loop runs as it took less time, by one worker or in parts, and both are measured again
// after some runs.
func TestTries(t *testing.T) {
	for _, c := range []struct {
		alone, shared time.Duration
		way           int
	}{
		{10 * time.Second, 6 * time.Second, 1},
		{10 * time.Second, 12 * time.Second, 0},
		{100 * time.Second, 98 * time.Second, 0}, // not worth a worker
	} {
		r := teamLoop{helped: true}
		for pass := range 2 {
			for k := range teamKeeps {
				begun, way := r.tries(8)
				want := c.way
				if k < 2*teamTries {
					want = k / teamTries
				}
				if way != want || begun.IsZero() != (k >= 2*teamTries) {
					t.Fatalf("%v alone, %v shared: run %d of pass %d goes way %d, measured since %v, want way %d", c.alone, c.shared, k, pass, way, begun, want)
				}
				if !begun.IsZero() { // the first runs of a way take longer
					r.took(begun.Add(-[2]time.Duration{c.alone, c.shared}[way]-time.Duration(max(0, 3-k%teamTries))*time.Second), way)
				}
			}
		}
		if begun, way := r.tries(1); way != 0 || !begun.IsZero() {
			t.Errorf("a loop of one part goes way %d", way)
		}
	}
}

// TestTriesWithoutHelp: runs in parts without another worker are not counted, up to a limit.
func TestTriesWithoutHelp(t *testing.T) {
	var r teamLoop
	for k := range 2*teamTries + teamLate {
		begun, way := r.tries(8)
		if want := min(k/teamTries, 1); way != want || begun.IsZero() {
			t.Fatalf("run %d goes way %d, measured since %v, want way %d", k, way, begun, want)
		}
		r.took(begun.Add(-time.Second), way)
	}
	if begun, _ := r.tries(8); !begun.IsZero() {
		t.Error("a worker that never comes is waited for")
	}
}
