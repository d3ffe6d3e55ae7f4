package dist

// This file says of a rank that died whether the kernel may have killed it for want of memory.

import (
	"sync/atomic"

	"flow/memory"
)

// killings counts the processes that the kernel has killed for want of memory since begin. The zero
// value has not begun.
type killings struct {
	count  func() int64 // memory.Kills, but in tests
	before atomic.Int64
	begun  atomic.Bool
}

// ofKernel is that of this process.
var ofKernel = killings{count: memory.Kills}

// begin notes how many there were; only the first call counts.
func (k *killings) begin() {
	if k.begun.CompareAndSwap(false, true) {
		k.before.Store(k.count())
	}
}

// suspected is the end of a message about a process that was lost: empty, or that the kernel has
// killed one since begin. The number is the machine's, so that another process may have been meant;
// who was it, the kernel tells root alone.
func (k *killings) suspected() string {
	if !k.begun.Load() || k.count() <= k.before.Load() {
		return ""
	}
	return "; meanwhile the kernel has killed a process of this machine because memory was exhausted"
}
