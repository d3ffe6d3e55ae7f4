package dist

// This file decides how long Run's goroutine sleeps, and what ends a sleep.

import "time"

// How Run's goroutine sleeps. It never polls at full speed: idle workers do, and busy ones poll
// between tasks.
const (
	// firstSpell and longestSpell bound sleeps while workers poll, which double. If every
	// processor has a worker, each check takes one of them away from its kernel; measured, two
	// ranks on two processors, tasks of 1 ms: checks every millisecond kept the clock of Go's
	// scheduler at 20 us and took a tenth of the time.
	firstSpell   = 500 * time.Microsecond
	longestSpell = 8 * time.Millisecond
	firstNap     = 20 * time.Microsecond
	// longestNap bounds the delay in noticing a message.
	longestNap = time.Millisecond
	// After a long idle time sleeps grow to a fiftieth of it, up to deepestNap. Measured:
	// waking a goroutine costs 50 us here, so sleeps of 1 ms cost 5 % of a core.
	deepestNap = 20 * time.Millisecond
	// sendingTime is how long a send under way is polled closely. Each byte of large messages adds
	// slowByte, up to longestSend: transports without remote access need both ends for each piece. On
	// one machine without single copies, as in many containers, Open MPI has pieces of 32 KiB, three at
	// a time.
	sendingTime = 10 * time.Millisecond
	slowByte    = 20 * time.Nanosecond
	longestSend = 500 * time.Millisecond
	// bulkFrom is the size of messages from which their receiver polls closely, too.
	bulkFrom = 256 << 10
	// keenly is how long an idle worker polls without a sleep if each has a processor, and attentive
	// how long it polls with sleeps, before it leaves the polling to Run's goroutine. Uneven rounds of
	// loops keep a rank waiting for some milliseconds, and a sleeper is woken late on processors that
	// others use, too: PageRank of web-NotreDame took 0.38 to 0.45 s there, with 0.3 ms 0.43 to 0.52.
	keenly    = 3 * time.Millisecond
	attentive = 20 * time.Millisecond
)

// napAt returns how long to sleep after a fruitless poll: an eighth of the time in which nothing
// has happened, so that waiting grows by no more than that. While workers poll (attended) only the
// end of that has to be noticed.
func (r *rank) napAt(now time.Time, attended bool) time.Duration {
	if attended {
		r.spell = min(max(2*r.spell, firstSpell), longestSpell)
		return r.spell
	}
	r.spell = 0
	idle := now.Sub(r.epochOfClock) - time.Duration(r.lastWork.Load())
	if r.closely(idle) {
		return firstNap
	}
	return max(min(idle/8, longestNap), firstNap, min(idle/50, deepestNap))
}

// closely reports whether a message under way may need this rank for its next piece. idle is the
// time since something happened.
func (r *rank) closely(idle time.Duration) bool {
	bytes := r.underWay.Load()
	return bytes > 0 && idle < min(sendingTime+time.Duration(bytes)*slowByte, longestSend)
}

// needsBoth returns the bytes of a transfer that may need this rank for each piece, and 0 for any
// other.
func needsBoth(f *flight) int64 {
	switch {
	case f.kind == sending || f.kind == giving:
		return int64(max(1, len(f.buf)))
	case f.kind == taking && len(f.buf) >= bulkFrom:
		return int64(len(f.buf))
	case f.placed != nil && f.placed.dense != nil && f.placed.x.bytes >= bulkFrom:
		return int64(f.placed.x.bytes)
	}
	return 0
}

// pause sleeps, until something has to be done at once.
func (r *rank) pause(nap time.Duration, engineDone, quit <-chan struct{}) {
	t := time.NewTimer(nap)
	defer t.Stop()
	r.relying.Store(r.spell > 0)
	r.dozing.Store(r.spell == 0 && nap > longestNap)
	r.napping.Store(true)
	if r.spell > 0 && r.left.Load() {
		t.Reset(0) // after relying, so that none is missed
	}
	select {
	case <-t.C:
	case <-r.wake:
	case <-engineDone:
	case <-quit:
	}
	r.napping.Store(false)
	r.dozing.Store(false)
	r.relying.Store(false)
}

// nudge ends a long sleep, because there is something to poll for. Polling workers or a shorter
// sleep do not need it.
func (r *rank) nudge() {
	if r.dozing.Load() {
		r.rouse()
	}
}

// leave is called by a worker that will neither poll nor work for a while.
func (r *rank) leave() {
	r.attended.Store(false)
	r.left.Store(true)
	if r.relying.Load() {
		r.rouse()
	}
}

// rouse ends a sleep.
func (r *rank) rouse() {
	if r.napping.Load() {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}
