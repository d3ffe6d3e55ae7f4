package vec

// This file finds out whether PassSqrtBoth gives the processor's roots; gen/pass_roots.go says which could be other ones, and why no more.

import (
	"math"
	"sync"
	"unsafe"
)

// PassRoot is the operation for roots in a program that divides, too, and does little else: PassSqrtBoth where that is as good as PassSqrt.
var PassRoot = sync.OnceValue(func() uint64 {
	if haveAVX512 && rootsHold() {
		return PassSqrtBoth
	}
	return PassSqrt
})

// rootsHold reports that PassSqrtBoth rounds as it should where it might not.
func rootsHold() bool {
	var lanes [PassRows]float64
	at := PassOperand{Base: unsafe.Pointer(&lanes[0]), At: PassHere}
	code := []PassStep{{Op: PassLoad, Arg: [3]PassOperand{at}}, {Op: PassSqrtBoth}, {Op: PassStore, Arg: [3]PassOperand{at}}, {Op: PassEnd}}
	for _, v := range hardRoots(256) { // up to 127 the proof does not reach
		var s PassState
		s.Start()
		Fill(lanes[:], v)
		Pass(code, &s, 1)
		for _, root := range lanes {
			if root != math.Sqrt(v) {
				return false
			}
		}
	}
	return true
}
