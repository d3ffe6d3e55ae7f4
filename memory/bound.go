package memory

import (
	"runtime/debug"
	"sync/atomic"
)

// bound is the limit of Bound. It is of the process, as the memory that it limits is.
var bound atomic.Pointer[bounded]

type bounded struct {
	limit  Limit
	before int64 // anonymous memory when the limit was set
}

// boundedFrom is the size from which allocations are held to the bound. Reading what the process has
// takes some tens of microseconds, less than to write so much memory.
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

// Within reports whether n bytes more are within the bound: nil, or an *Error. Memory that was allocated
// and never written does not count yet. Sizes below a MiB are not looked at.
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

// room is what the bound leaves.
func (b *bounded) room() int64 {
	return b.limit.Bytes - max(0, system.mapped("RssAnon")-b.before)
}
