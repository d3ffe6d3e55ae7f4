package vec

// This file defines sums of forces, for AVX-512.

import (
	"math"
	"sync"
	"unsafe"

	"flow/kernels/vec/machine"
)

// ForceLanes is the lanes of a Forces: its operands have room for as many numbers, but for what is
// said of columns.
const ForceLanes = 16

// Forces is a pass whose lanes are iterations, three coordinates at once (machine/forces.go). With d
// the difference of a row's point and a lane's, in three coordinates, r2 the sum of its squares,
// term by term, and the softening, each lane adds strength d / (r2 sqrt(r2)) to the three chains of
// multiply-adds that it makes, over all rows. Every operation is rounded.
type Forces struct {
	Columns   [3]unsafe.Pointer // the rows' coordinates
	Lanes     [3]unsafe.Pointer // the lanes'
	Softening unsafe.Pointer    // 8 numbers
	Strength  unsafe.Pointer    // a column
	Step      uint64            // bytes from the strength of a row to that of the next: 0 if one is all rows'
	Chains    [3]unsafe.Pointer // results
	Back      bool              // d is the lane's point less the row's
}

// ForceRows is the fewest rows that a Forces can go over.
const ForceRows = 3

// Lanes is the f64 lanes of a vector.
func Lanes() int {
	if haveAVX512 {
		return 8
	}
	return 4
}

// HaveForces reports that this CPU has passes of forces.
func HaveForces() bool { return haveAVX512 && forceRootsHold() }

// Run goes over so many rows, ForceRows at least. False: some r2 is zero, not a number, or so large
// or small that the chains may be wrong.
func (f *Forces) Run(rows int) bool {
	args := struct {
		f          *Forces
		rows, sure int
	}{f, rows, 0}
	k := machine.Forces
	if f.Back {
		k = machine.ForcesBack
	}
	k.Call(machine.AVX512, unsafe.Pointer(&args))
	return args.sure != 0
}

// rootsOf makes whole vectors their square roots by products.
func rootsOf(x []float64) {
	args := struct {
		x *float64
		n int
	}{&x[0], len(x) / 8}
	machine.Roots.Call(machine.AVX512, unsafe.Pointer(&args))
}

// forceRootsHold reports that roots by products round as they should where they might not:
// machine/roots.go says which could be other ones than the processor's, and why no more.
var forceRootsHold = sync.OnceValue(func() bool {
	hard := hardRoots(256) // up to 127 the proof does not reach
	x := make([]float64, (len(hard)+7)/8*8)
	Fill(x, 1)
	copy(x, hard)
	rootsOf(x)
	for k, v := range hard {
		if x[k] != math.Sqrt(v) {
			return false
		}
	}
	return true
})
