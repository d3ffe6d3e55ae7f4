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
// A program that will run something calls it first of all: it begins a collection, which takes the longer
// the more there is on the heap, and it saves those of the compiler.
func Steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	// A process with few addresses goes without.
	if heap.ballast == nil && Reserve(2*ballast) == nil {
		percent := debug.SetGCPercent(-1) // one collection for both
		heapOfHugePages()
		heap.ballast = make([]byte, ballast)
		debug.SetGCPercent(percent)
	}
}

// heapOfHugePages asks for huge pages behind addresses that the heap has again after its next collection.
// They are all that it takes before the one after that. A rank of n-body had 6,900 page faults, now 3,000,
// each of 2 to 4 us on a virtual machine: most were of the compiler of loops.
//
//go:noinline
func heapOfHugePages() { Huge(make([]byte, ballast)) }
