package amd64

// This file finds the lanes of a row: those of the window, or those that the row has among them.

import "flow/ir/loop"

// laneRange is the range of the lanes; a space without indices is one point.
func (l *lowering) laneRange() loop.Range {
	if n := len(l.nest.Space); n > 0 {
		return l.nest.Space[n-1].Range
	}
	return loop.Range{}
}

// ragged reports that the lanes are others in each row.
func (l *lowering) ragged() bool {
	r := l.laneRange()
	return isEntries(r) || l.rows >= 0 && (l.perRow(r.From) || l.perRow(r.To))
}

// laneEnd is the word that says where the lanes of the row end.
func (l *lowering) laneEnd() Mem {
	if l.ragged() {
		return At(scratchReg, rowEndAt)
	}
	return argMem(8 * argLaneEnd)
}

// firstLane writes code that sets laneReg to the first lane of the row, and laneEnd. Entries of a
// row are lanes by their numbers.
func (l *lowering) firstLane(m *maker) {
	r := l.laneRange()
	switch {
	case !l.ragged():
		m.LoadG(laneReg, argMem(8*argLane))
	case isEntries(r):
		l.rowPointer(m, r.A, r.At, func(r Reg) { m.Mov(laneReg, r) }, func(r Reg) { m.StoreG(l.laneEnd(), r) })
	default:
		l.scalarLin(m, RAX, r.From)
		m.LoadG(laneReg, argMem(8*argLane))
		m.ArithG(CmpG, laneReg, RAX)
		m.Cmov(Less, laneReg, RAX)
		l.scalarLin(m, RAX, r.To)
		m.LoadG(R11, argMem(8*argLaneEnd))
		m.ArithG(CmpG, RAX, R11)
		m.Cmov(Greater, RAX, R11)
		m.StoreG(l.laneEnd(), RAX)
	}
}
