package dist

// This file guesses whether the kernel killed a dead rank for lack of memory.

import (
	"sync/atomic"

	"flow/memory"
)

// killings counts the processes that the kernel has killed for lack of memory since begin. The zero
// value has not begun.
type killings struct {
	count  func() int64 // memory.Kills, but in tests
	before atomic.Int64
	begun  atomic.Bool
}

// ofKernel is that of this process.
var ofKernel = killings{count: memory.Kills}

// begin records the count; only the first call has an effect.
func (k *killings) begin() {
	if k.begun.CompareAndSwap(false, true) {
		k.before.Store(k.count())
	}
}

// suspected returns the end of a message about a lost process: empty, or that the kernel has killed
// one since begin. The count is the machine's, so it may be another process; the kernel tells only
// root.
func (k *killings) suspected() string {
	if !k.begun.Load() || k.count() <= k.before.Load() {
		return ""
	}
	return "; meanwhile the kernel has killed a process of this machine because memory was exhausted"
}
