package memory

import (
	"runtime/debug"
	"sync"
)

// heap is the ballast of the process.
var heap struct {
	mu      sync.Mutex
	ballast []byte
}

// Steady gives the Go heap its ballast and huge pages, once in the life of the process. Every run calls it.
// A program that will run something calls it first of all: it begins a collection, whose time grows with the
// heap, and it saves the collections that the compiler would cause. Steady does nothing if 2 * ballast bytes
// cannot be reserved.
func Steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	if heap.ballast == nil && Reserve(2*ballast) == nil {
		percent := debug.SetGCPercent(-1) // one collection for both
		heapOfHugePages()
		heap.ballast = make([]byte, ballast)
		debug.SetGCPercent(percent)
	}
}

// heapOfHugePages asks for huge pages at addresses that the next collection frees. The heap allocates from
// them until the collection after that one. A rank of n-body has 3,000 page faults instead of 6,900, each of
// 2 to 4 us on a virtual machine. Most are caused by the compiler of loops. It is not inlined, so that no
// variable of the caller keeps the memory.
//
//go:noinline
func heapOfHugePages() { Huge(make([]byte, ballast)) }
