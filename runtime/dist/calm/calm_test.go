package calm

import (
	"testing"
	"time"
)

// What others take from a tick is not counted, and what it takes by itself is.
func TestTicks(t *testing.T) {
	start := time.Now()
	c := &Clock{began: start}
	now, want := start, time.Duration(0)
	for _, d := range []time.Duration{rest, tick, tick + 1, time.Hour, 0, tick - 1} {
		now = now.Add(d)
		c.over(now, 1)
		want += min(d, tick)
	}
	if c.counted != want {
		t.Errorf("%v counted, want %v", c.counted, want)
	}
}

// The clock never runs fast, and it runs.
func TestClockRuns(t *testing.T) {
	start := time.Now()
	c := Start()
	Sleep(30 * time.Millisecond)
	for c.Elapsed() < 30*time.Millisecond {
		time.Sleep(time.Millisecond)
	}
	if shown, passed := c.Stop(), time.Since(start); shown > passed {
		t.Errorf("%v in %v", shown, passed)
	}
}
