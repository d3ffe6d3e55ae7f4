package memory

import (
	"runtime/debug"
	"sync/atomic"
)

// bound is the limit that Bound has set. It is one for the process, because it limits the process's
// memory.
var bound atomic.Pointer[bounded]

type bounded struct {
	limit  Limit
	before int64 // anonymous memory when the limit was set
}

// boundedFrom is the least size of an allocation that is checked. Reading the process's memory takes
// some tens of microseconds, which is less than writing so many bytes takes.
const boundedFrom = 1 << 20

// Bound limits the memory that this process takes from now on, beside what it has. Reserve and Within
// refuse what would exceed the limit, whatever the memory is for. A zero limit ends the bound. Systems
// that do not tell a process's anonymous memory have no bound.
func Bound(l Limit) {
	if l.Bytes <= 0 {
		bound.Store(nil)
		return
	}
	debug.FreeOSMemory() // garbage so far is not part of the run
	bound.Store(&bounded{l, system.mapped("RssAnon")})
}

// Within returns an *Error if n bytes more would exceed the bound, else nil. Memory that was allocated
// but never written does not count yet. Sizes below a MiB are not checked.
func Within(n int64) error {
	b := bound.Load()
	if b == nil || n < boundedFrom {
		return nil
	}
	if b.room() >= n {
		return nil
	}
	debug.FreeOSMemory() // garbage may be in the way
	if room := b.room(); room < n {
		return &Error{Need: float64(n), Beside: float64(b.limit.Bytes - room), Have: b.limit}
	}
	return nil
}

// room returns how many bytes more the bound allows.
func (b *bounded) room() int64 {
	return b.limit.Bytes - max(0, system.mapped("RssAnon")-b.before)
}
