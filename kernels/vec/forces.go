package vec

import "unsafe"

// ForceLanes is the lanes of a Forces: its operands have room for as many numbers, but for what is
// said of columns.
const ForceLanes = 16

// Forces is a pass whose lanes are iterations, three coordinates at once (gen/forces.go). With d
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
