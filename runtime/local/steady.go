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

// steady gives the heap its ballast. All pools share one, which stays when they are closed: to
// allocate so much begins a collection, and clears what the heap used before. A program that runs
// once is likely to run again.
func steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	// A process with few addresses does without.
	if heap.ballast == nil && memory.Reserve(ballast) == nil {
		heap.ballast = make([]byte, ballast)
	}
}
