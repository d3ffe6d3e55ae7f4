package vec

import "unsafe"

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
	args := (*uint64)(unsafe.Pointer(f))
	if f.Back {
		return forcesBackAVX512(args, rows)
	}
	return forcesAVX512(args, rows)
}
