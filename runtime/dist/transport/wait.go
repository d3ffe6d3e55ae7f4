package transport

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// Backoff paces a loop that polls: it spins while an answer within microseconds
// is likely, then lets other goroutines run, then takes naps. The zero value is
// ready. Not for concurrent use.
type Backoff struct {
	idle   int
	pauses uint
	since  time.Time // of the first nap of this wait
	slept  bool
}

// NapAfter is how long a poller sleeps after it has waited this long: a thirty-second part of that,
// so that the wait grows by no more, within bounds. A rank that waits for seconds costs about a
// hundredth of a core.
func NapAfter(waited time.Duration) time.Duration {
	return max(shortestNap, min(waited/32, longestNap))
}

const (
	shortestNap = 20 * time.Microsecond // some 90 us with the time of falling asleep and waking up
	longestNap  = time.Millisecond
)

// Nap sleeps for about d, or somewhat shorter. Only sleeps of a millisecond and more leave the
// processor of Go to other goroutines at once.
func Nap(d time.Duration) {
	if d < time.Millisecond {
		nap(d)
	} else {
		time.Sleep(d)
	}
}

const (
	// A poll costs 0.1-1 us, so spinning lasts for the time of a few messages.
	// Longer would steal the core from a rank that shares it.
	spinPolls  = 200
	yieldPolls = 50

	// Go (1.26) takes the processor from a goroutine that calls into C and has not yielded for
	// 10 ms, and then again every 20 us, each time with a look by its monitor thread: 1.5 us a
	// message (measured). So also a loop whose messages never keep it waiting must yield;
	// seldom, because that wakes another thread.
	longestWithout = 1024
)

// Reset is called after a poll that found something.
func (b *Backoff) Reset() { b.idle, b.slept = 0, false }

// Pause is called after a poll that found nothing.
func (b *Backoff) Pause() {
	b.idle++
	b.pauses++
	switch {
	case b.idle <= spinPolls:
		// Yield now and then even here: a single-threaded Go program would
		// otherwise starve the goroutine whose message it is waiting for.
		if b.idle%16 == 0 || b.pauses%longestWithout == 0 {
			runtime.Gosched()
		}
	case b.idle <= spinPolls+yieldPolls:
		runtime.Gosched()
	default:
		now := time.Now()
		if !b.slept {
			b.since, b.slept = now, true
		}
		Nap(NapAfter(now.Sub(b.since)))
	}
}

// WaitAll drives c until every request in reqs has finished, and sets them all to
// None. It returns the joined errors of the failed ones (each an *Error), after
// all have finished. If ctx ends first it returns ctx's error; the requests that
// are not None are then still in progress and still own their buffers.
func WaitAll(ctx context.Context, c Comm, reqs []Request) error {
	left := 0
	for _, r := range reqs {
		if r != None {
			left++
		}
	}
	var (
		pause Backoff
		buf   [16]int
		done  = buf[:0]
		errs  []error
		err   error
	)
	for left > 0 {
		if done, err = c.Testsome(reqs, done[:0]); err != nil {
			errs = append(errs, err)
			if len(done) == 0 { // not a request's failure: the Comm itself is gone
				break
			}
		}
		if left -= len(done); len(done) > 0 {
			pause.Reset()
			continue
		}
		// Asking a context costs a lock; once in many polls is soon enough.
		if pause.idle%64 == 63 || pause.slept {
			if e := ctx.Err(); e != nil {
				errs = append(errs, e)
				break
			}
		}
		pause.Pause()
	}
	return errors.Join(errs...)
}
