package transport

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestErrorText holds the wording that users see when a transfer fails.
func TestErrorText(t *testing.T) {
	size := &SizeError{Want: 8, Got: 16}
	for _, k := range []struct {
		err  *Error
		want string
	}{
		{&Error{Op: "receive", Rank: 1, Peer: 0, Tag: 7, Err: size}, "rank 1: receive from rank 0 (data, tag 7): expected a message of 8 bytes, got one of 16 bytes"},
		{&Error{Op: "send", Rank: 0, Peer: 3, Tag: 0, Channel: Control, Err: ErrTooLong}, "rank 0: send to rank 3 (control, tag 0): the control message is too long"},
		{&Error{Op: "barrier", Rank: 2, Peer: -1, Tag: -1, Err: &DeadError{4}}, "rank 2: barrier: rank 4 is dead"},
		{&Error{Op: "counter", Rank: 2, Peer: 0, Tag: -1, Err: ErrAborted}, "rank 2: counter with rank 0: the job was aborted"},
	} {
		if got := k.err.Error(); got != k.want {
			t.Errorf("got  %q\nwant %q", got, k.want)
		}
	}
}

// TestFailures finds every failure however the errors were joined and wrapped.
func TestFailures(t *testing.T) {
	a, b, c := &Error{Index: 1, Err: ErrLost}, &Error{Index: 2, Err: ErrLost}, &Error{Index: 3, Err: ErrLost}
	got := Failures(errors.Join(errors.Join(a, b), errors.New("another"), fmt.Errorf("wrapped: %w", c)))
	if len(got) != 3 || got[0] != a || got[1] != b || got[2] != c {
		t.Errorf("got %v", got)
	}
	if Failures(nil) != nil || Failures(ErrLost) != nil {
		t.Error("failures found where there are none")
	}
}

// TestBackoff checks that waiting begins without a sleep and ends in long ones.
func TestBackoff(t *testing.T) {
	var b Backoff
	for range spinPolls + yieldPolls {
		b.Pause()
	}
	if b.slept {
		t.Error("sleeps while it should spin")
	}
	if b.Pause(); !b.slept {
		t.Error("does not sleep at last")
	}
	b.Reset()
	if b.Pause(); b.slept {
		t.Error("sleeps after a reset")
	}
	for waited, want := range map[time.Duration]time.Duration{0: shortestNap, 3200 * time.Microsecond: 100 * time.Microsecond, time.Hour: longestNap} {
		if d := NapAfter(waited); d != want {
			t.Errorf("sleeps %v after %v, want %v", d, waited, want)
		}
	}
}

// TestBackoffYields checks that a loop whose messages never keep it waiting lets other goroutines
// run all the same. One yield need not be enough: the scheduler takes the goroutine that yields
// first now and then, and the runtime has goroutines of its own.
func TestBackoffYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran atomic.Bool
	go ran.Store(true) // on the only processor, so only while this goroutine yields
	var b Backoff
	const yields = 1000
	for range yields * longestWithout {
		if b.Reset(); ran.Load() {
			return
		}
		b.Pause()
	}
	t.Errorf("%d pauses, each after a message, and no other goroutine has run", yields*longestWithout)
}
