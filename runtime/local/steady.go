package local

import (
	"sync"

	"flow/memory"
)

// heap is the ballast of the process, made by the first run.
var heap struct {
	mu      sync.Mutex
	ballast []byte
}

// steady gives the heap its ballast. All pools share one, which stays after they close: allocating
// so much begins a collection and clears old heap memory, and a program that runs once is likely to
// run again.
func steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	// A process with few addresses goes without.
	if heap.ballast == nil && memory.Reserve(ballast) == nil {
		heap.ballast = make([]byte, ballast)
	}
}
