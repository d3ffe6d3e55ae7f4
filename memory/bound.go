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
// refuse a piece that exceeds the limit. They also refuse any piece that would make the process take
// more than one and a half times the limit and 64 MiB. That room is for texts of files, messages,
// machine code and garbage: the prediction that admits a run (ir/plan) does not count them, and how
// much they take differs from run to run. Without it, a run whose values fit exactly would fail at
// random. A zero limit ends the bound. Systems that do not tell a process's anonymous memory bound the
// pieces alone.
func Bound(l Limit) {
	if l.Bytes <= 0 {
		bound.Store(nil)
		return
	}
	debug.FreeOSMemory() // garbage so far is not part of the run
	bound.Store(&bounded{l, system.mapped("RssAnon")})
}

// Within returns an *Error if a piece of n bytes exceeds the limit, or if the process would take too
// much with it (Bound); else nil. Memory that was allocated but never written does not count yet. Sizes
// below a MiB are not checked.
func Within(n int64) error {
	if b := bound.Load(); b != nil && n >= boundedFrom && n > b.limit.Bytes {
		return &Error{Need: float64(n), Have: b.limit}
	}
	return beside(n)
}

// beside is Within for memory that belongs to no value, such as a list that grows while a file is read.
// A piece of it may exceed the limit.
func beside(n int64) error {
	b := bound.Load()
	if b == nil || n < boundedFrom {
		return nil
	}
	most := sum(b.limit.Bytes, b.limit.Bytes/2+64<<20) - n
	if b.taken() <= most {
		return nil
	}
	debug.FreeOSMemory() // garbage may be in the way
	if taken := b.taken(); taken > most {
		return &Error{Need: float64(n), Beside: float64(taken), Have: b.limit}
	}
	return nil
}

// taken returns how many bytes the process has taken since the limit was set.
func (b *bounded) taken() int64 { return max(0, system.mapped("RssAnon")-b.before) }
