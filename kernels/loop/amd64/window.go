package amd64

// This file writes the loops over a window around the body.

import (
	"math/bits"

	"flow/ir/loop"
)

// window writes the loops over rows and lanes: squares where an operand is read across, then rows.
func (l *lowering) window() {
	end := l.asm.Label()
	l.scalar(func(m *maker, _ Reg, _ regs) { // an empty window touches nothing
		m.LoadG(rowReg, argMem(8*argRow))
		m.ArithMem(CmpG, rowReg, argMem(8*argRowEnd))
		m.Jump(GreaterEq, end)
		m.LoadG(laneReg, argMem(8*argLane))
		m.ArithMem(CmpG, laneReg, argMem(8*argLaneEnd))
		m.Jump(GreaterEq, end)
	})
	l.findLocals()
	begin := l.steps
	var loops [4][]step
	if l.squares() {
		l.square = true
		loops[0], loops[1] = l.rowLoop(squareRows, 1)
		l.square = false
		l.forgetRow()
	}
	loops[2], loops[3] = l.rowLoop(1, l.together)
	l.steps = nil
	l.finishReductions(false)
	l.bind(end)
	last := l.steps
	count := len(begin) + len(l.head) + len(last) + 1
	for _, list := range loops {
		count += len(list)
	}
	l.steps = append(append(l.shop.steps.list(count), begin...), l.head...)
	l.anchor()
	for _, list := range loops {
		l.steps = append(l.steps, list...)
	}
	l.steps = append(l.steps, last...)
}

// anchor is a step to which those of inner loops may move.
func (l *lowering) anchor() { l.emit(&step{anchor: true, scalar: func(*maker, Reg, regs) {}}) }

// singleCost is the cost of a nest up to which single vectors of a row have a loop of their own: the
// whole vectors that are fewer than are lowered together. To count lanes and make their mask takes some
// fourteen instructions a vector, and masked operands are not read in place. For a costlier nest the
// second loop would only be more code.
const singleCost = 40

// rowLoop lowers the loop over rows, which takes the given number of rows at a time. A row is whole
// vectors, the given number together, then single ones, then the rest under a mask. begin comes before
// the first vector of a row.
func (l *lowering) rowLoop(rows, together int) (begin, body []step) {
	enter := func(f func(m *maker, _ Reg, _ regs)) { l.emit(&step{enters: true, scalar: f}) }
	leave := func(f func(m *maker, _ Reg, _ regs)) { l.emit(&step{leaves: true, scalar: f}) }
	row, whole, rest, left, done, end := l.asm.Label(), l.asm.Label(), l.asm.Label(), l.asm.Label(), l.asm.Label(), l.asm.Label()
	some := l.asm.Label()
	var line lineStart
	fitting := func(m *maker, vectors int) { // compares the end of the next lanes with the end of all
		m.Lea(RAX, At(laneReg, int32(m.lanes*vectors)))
		m.ArithMem(CmpG, RAX, l.laneEnd())
	}
	fits := func(m *maker) { fitting(m, together) }
	more := func(m *maker) { // compares the last of the next rows with the end of all
		m.Lea(RAX, At(rowReg, int32(rows-1)))
		m.ArithMem(CmpG, RAX, argMem(8*argRowEnd))
	}
	l.steps = l.shop.steps.list(64 + (l.weight.cost+16)*(max(rows, together)+1)*5/4)
	if l.lanes >= 0 { // one point fills no vector
		enter(func(m *maker, _ Reg, _ regs) { m.Bind(whole) })
		l.points(max(rows, together), 0)
		line = l.lineStart()
		leave(func(m *maker, _ Reg, _ regs) {
			m.ArithImm(AddG, laneReg, int32(m.lanes*together))
			m.refuel()
			fits(m)
			m.Jump(LessEqual, whole)
		})
	}
	l.scalar(func(m *maker, _ Reg, _ regs) { m.Bind(rest) })
	if w := &l.weight; l.lanes >= 0 && rows == 1 && together > 1 && w.inner == 0 && w.cost <= singleCost {
		single, short := l.asm.Label(), l.asm.Label()
		l.scalar(func(m *maker, _ Reg, _ regs) {
			fitting(m, 1)
			m.Jump(Greater, short)
		})
		enter(func(m *maker, _ Reg, _ regs) { m.Bind(single) })
		l.points(1, 0)
		leave(func(m *maker, _ Reg, _ regs) {
			m.ArithImm(AddG, laneReg, int32(m.lanes))
			m.refuel()
			fitting(m, 1)
			m.Jump(LessEqual, single)
			m.Bind(short)
		})
	}
	l.scalar(func(m *maker, _ Reg, _ regs) {
		m.LoadG(RAX, l.laneEnd())
		m.ArithG(SubG, RAX, laneReg)
		m.Jump(LessEqual, done)
	})
	enter(func(m *maker, _ Reg, _ regs) { m.Bind(left) })
	mask, one := virt(0), l.alike()
	if !one {
		mask = l.firstLanes(some)
	}
	l.points(rows, mask)
	last := step{leaves: true, scalar: func(m *maker, _ Reg, r regs) {
		if one {
			m.Bind(done)
			return
		}
		if line.base == 0 {
			m.ArithImm(AddG, laneReg, int32(m.lanes))
		} else {
			m.Emit(Inst{Op: KMOVWToG, Dst: RAX, B: r.mask})
			m.PopCount(RAX, RAX)
			m.ArithG(AddG, laneReg, RAX)
		}
		m.refuel()
		if line.base != 0 {
			fits(m)
			m.Jump(LessEqual, whole)
		}
		m.LoadG(RAX, l.laneEnd())
		m.ArithG(SubG, RAX, laneReg)
		m.Jump(Greater, left)
		m.Bind(done)
	}}
	if line.base != 0 {
		last.mask = mask
	}
	l.emit(&last)
	if line.base != 0 {
		leave(func(*maker, Reg, regs) {})
	}
	l.finishReductions(true)
	leave(func(m *maker, _ Reg, _ regs) {
		m.ArithImm(AddG, rowReg, int32(rows))
		more(m)
		m.Jump(Less, row)
		m.Bind(end)
	})
	body = l.steps
	l.steps = l.shop.steps.list(len(l.rowHead) + 5)
	l.scalar(func(m *maker, _ Reg, _ regs) {
		more(m)
		m.Jump(GreaterEq, end)
	})
	enter(func(m *maker, _ Reg, _ regs) { m.Bind(row) })
	l.steps = append(l.steps, l.rowHead...)
	l.anchor()
	l.emit(&step{a: line.base, scalar: func(m *maker, _ Reg, r regs) {
		l.firstLane(m)
		if line.base != 0 {
			l.toLine(m, r.a, line, some)
		}
		if !l.alike() {
			fits(m)
			m.Jump(Greater, rest)
		}
	}})
	if line.base != 0 { // what is left of a row comes before whole vectors, too
		enter(func(*maker, Reg, regs) {})
	}
	return l.steps, body
}

// lineStart is where a row stores first: an address in base without the lanes' index, which at adds.
type lineStart struct {
	base virt
	at   Mem
}

// lineCost is the cost of an access to memory up to which rows begin at lines of a cache. A nest that
// computes longer waits for no memory.
const lineCost = 8

// lineStart returns where the whole vectors store that have been lowered; base is 0 where it does not
// matter whether they begin at a line of a cache. A vector across two lines takes two accesses, and is
// not stored past the caches. Of AVX2, every other vector of 32 bytes has a line for itself.
func (l *lowering) lineStart() (x lineStart) {
	accesses, size := 0, 0
	var first *loop.Stmt
	l.part = l.parts[0]
	for k := range l.nest.Body.Stmts {
		switch s := &l.nest.Body.Stmts[k]; {
		case s.Code == loop.Store || s.Code == loop.Load && s.Mem.Kind == loop.ParamMem && l.nest.Params[s.Mem.N].Kind != loop.ScalarParam:
			p := l.place(s)
			if s.Mem.Kind == loop.LocalMem || p.gather {
				return x
			}
			if s.Code == loop.Store && first == nil {
				first, size = s, p.mem.elem.Size()
			}
			if p.lanes {
				accesses++
			}
		case s.Code != loop.Const && s.Code != loop.IndexOf && s.Code != loop.Load && !s.Code.IsOp():
			return x
		}
	}
	if l.line == 0 || l.alike() || l.square || l.ragged() || first == nil || size*l.target.lanes != l.length.Bytes() || l.weight.cost > lineCost*accesses {
		return x
	}
	before := len(l.steps)
	base, at := l.lanesAt(l.place(first))
	if len(l.steps) > before { // it depends on more than the row
		l.steps = l.steps[:before]
		return x
	}
	return lineStart{base, at}
}

// toLine writes code for a row that begins within a line of a cache: the first vector holds the lanes
// up to the end of the line. Lanes before the row must not be in it, masked or not: those of another
// operand may be in a page that is not mapped, which costs hundreds of cycles a row.
func (l *lowering) toLine(m *maker, base Reg, line lineStart, some Label) {
	short := m.Label()
	line.at.Base = base
	m.Lea(RAX, line.at)
	m.ArithImm(AndG, RAX, int32(m.length.Bytes()-1))
	m.Jump(Equal, short)
	m.LoadG(R9, l.laneEnd())
	m.ArithG(SubG, R9, laneReg)
	m.ArithImm(CmpG, R9, int32(m.line*m.lanes))
	m.Jump(Less, short)
	m.ShiftImm(ShrG, RAX, uint8(bits.TrailingZeros8(line.at.Scale)))
	m.Neg(RAX)
	m.ArithImm(AddG, RAX, int32(m.lanes))
	m.Goto(some)
	m.Bind(short)
}

// firstLanes returns the mask of the lanes before the end of the window. RAX holds their number. Code
// that jumps to some has its own number.
func (l *lowering) firstLanes(some Label) virt {
	return l.emit(&step{dst: l.fresh(maskClass), scalar: func(m *maker, dst Reg, _ regs) {
		m.ArithImm(CmpG, RAX, int32(m.lanes))
		m.Jump(LessEqual, some)
		m.MovImm(RAX, int64(m.lanes))
		m.Bind(some)
		m.vec.first(m, dst)
	}})
}

// points lowers the body for the lanes of a mask, or for all of so many vectors.
func (l *lowering) points(parts int, mask virt) {
	l.begin(parts, mask)
	l.clearLocals()
	l.findBeside()
	l.findPrefetches()
	l.block(&l.nest.Body)
}

// laneEnd is the word that says where the lanes of the row end.
func (l *lowering) laneEnd() Mem {
	if l.ragged() {
		return At(scratchReg, rowEndAt)
	}
	return argMem(8 * argLaneEnd)
}

// firstLane writes code that sets laneReg to the first lane of the row, and laneEnd.
func (l *lowering) firstLane(m *maker) {
	if !l.ragged() {
		m.LoadG(laneReg, argMem(8*argLane))
		return
	}
	r := l.laneRange()
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
