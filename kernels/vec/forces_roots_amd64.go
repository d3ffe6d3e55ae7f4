package vec

// This file finds out whether the roots of forces that are made of products are the processor's;
// gen/forces_roots.go says which could be other ones, and why no more.

import (
	"math"
	"sync"
)

// forceRootsHold reports that roots by products round as they should where they might not.
var forceRootsHold = sync.OnceValue(func() bool {
	hard := hardRoots(256) // up to 127 the proof does not reach
	x := make([]float64, (len(hard)+7)/8*8)
	Fill(x, 1)
	copy(x, hard)
	forceRootsAVX512(&x[0], len(x)/8)
	for k, v := range hard {
		if x[k] != math.Sqrt(v) {
			return false
		}
	}
	return true
})
