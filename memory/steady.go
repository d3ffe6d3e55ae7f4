package memory

import "sync"

// heap is the ballast of the process.
var heap struct {
	mu      sync.Mutex
	ballast []byte
}

// Steady gives the Go heap its ballast, once in the life of the process. Every run calls it. A program
// that will run something calls it first of all: allocating so much begins a collection, which takes
// the longer the more there is on the heap, and it saves those of the compiler.
func Steady() {
	heap.mu.Lock()
	defer heap.mu.Unlock()
	// A process with few addresses goes without.
	if heap.ballast == nil && Reserve(ballast) == nil {
		heap.ballast = make([]byte, ballast)
	}
}
