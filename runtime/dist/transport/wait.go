package transport

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// Backoff paces a loop that polls: it spins while an answer within microseconds
// is likely, then lets other goroutines run, then sleeps longer and longer up to
// Max, so that a rank with nothing to do costs about a thousandth of a core. The
// zero value is ready. Not for concurrent use.
type Backoff struct {
	// Max bounds the sleep, and with it the delay in noticing a message; 1 ms if
	// zero.
	Max time.Duration

	idle   int
	pauses uint
	sleep  time.Duration
}

const (
	// A poll costs 0.1-1 us, so spinning lasts for the time of a few messages.
	// Longer would steal the core from a rank that shares it.
	spinPolls  = 200
	yieldPolls = 50
	firstSleep = 20 * time.Microsecond

	// Go (1.26) takes the processor from a goroutine that calls into C and has not yielded for
	// 10 ms, and then again every 20 us, each time with a look by its monitor thread: 1.5 us a
	// message (measured). So also a loop whose messages never keep it waiting must yield;
	// seldom, because that wakes another thread.
	longestWithout = 1024
)

// Reset is called after a poll that found something.
func (b *Backoff) Reset() { b.idle, b.sleep = 0, 0 }

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
		limit := b.Max
		if limit <= 0 {
			limit = time.Millisecond
		}
		b.sleep = min(max(2*b.sleep, firstSleep), limit)
		time.Sleep(b.sleep)
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
		if pause.idle%64 == 63 || pause.sleep > 0 {
			if e := ctx.Err(); e != nil {
				errs = append(errs, e)
				break
			}
		}
		pause.Pause()
	}
	return errors.Join(errs...)
}
