package amd64

// This file makes code that returns in the middle of a window and goes on when it is called again.
// The Go runtime cannot stop a goroutine inside machine code, so a call ends after a number of
// rounds of its loops, whatever they are: a loop of a billion rounds, or a window of a billion
// points.

import (
	"math"
	"slices"

	"flow/ir/types"
)

// refuel takes the fuel of a round, and leaves the code if none is left. The next call goes on there.
func (m *maker) refuel() {
	s := suspension{m.Label(), m.Label()}
	m.resume = append(m.resume, s)
	m.ArithImm(SubG, fuelReg, int32(m.fuel))
	m.Jump(LessEqual, s.leave)
	m.Bind(s.back)
}

// enter writes what a call begins with: it starts the window, or goes on where the last call
// returned.
func (m *maker) enter() {
	m.start = m.Label()
	m.LoadG(scratchReg, argMem(8*argScratch))
	m.LoadG(fuelReg, argMem(8*argFuel))
	m.LoadG(RAX, argMem(8*argResume))
	m.Test(RAX, RAX)
	m.Jump(NotEqual, m.start) // behind the body: the way back into it
}

// end writes what follows the body: the end of a window, the ways out of it, and the way back.
func (m *maker) end() {
	if m.checks {
		done := m.Label()
		m.Goto(done)
		m.Bind(m.failed)
		m.MovImm(RAX, 1)
		m.StoreG(At(argsReg, 8*argFlags), RAX)
		m.Bind(done)
	}
	m.Bind(m.leave)
	m.MovImm(RAX, 0)
	m.StoreG(argMem(8*argResume), RAX)
	m.StoreG(argMem(8*argFuel), fuelReg)
	m.exit()

	save := m.Label()
	for k, s := range m.resume {
		m.Bind(s.leave)
		m.MovImm(RAX, int64(k+1))
		m.Goto(save)
	}
	m.Bind(save)
	m.StoreG(argMem(8*argResume), RAX)
	m.StoreG(argMem(8*argFuel), fuelReg)
	m.StoreG(At(scratchReg, savedRow), rowReg)
	m.StoreG(At(scratchReg, savedLane), laneReg)
	for k, r := range append(m.general[:len(m.general):len(m.general)], counterReg) {
		m.StoreG(At(scratchReg, int32(savedG+8*k)), r)
	}
	m.moveAll(allMoves{m.Asm.vexOnly, m.bytewise(), m.length, false})
	m.exit()

	m.Bind(m.start)
	m.LoadG(rowReg, At(scratchReg, savedRow))
	m.LoadG(laneReg, At(scratchReg, savedLane))
	for k, r := range append(m.general[:len(m.general):len(m.general)], counterReg) {
		m.LoadG(r, At(scratchReg, int32(savedG+8*k)))
	}
	m.moveAll(allMoves{m.Asm.vexOnly, m.bytewise(), m.length, true})
	for k, s := range m.resume {
		m.ArithImm(CmpG, RAX, int32(k+1))
		m.Jump(Equal, s.back)
	}
	m.Return() // no such place: never reached
}

// moveAll saves or loads all vectors and masks. Most of the code of a short loop does this, so it
// is encoded once.
func (m *maker) moveAll(x allMoves) {
	if code := m.p.shop.moves[x]; code != nil && m.list == nil {
		m.code = append(m.code, code...)
		return
	}
	from := len(m.code)
	for k := range m.vectors {
		if at := At(scratchReg, int32(k*slotBytes)); x.load {
			m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: V(k), InMem: true, Mem: at})
		} else {
			m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: V(k), InMem: true, Mem: at})
		}
	}
	for k := 1; k <= m.masks; k++ {
		if at := At(scratchReg, int32(savedMasks+8*k)); x.load {
			m.Emit(Inst{Op: KMOVW, Dst: K(k), InMem: true, Mem: at})
		} else {
			m.Emit(Inst{Op: KMOVWStore, A: K(k), InMem: true, Mem: at})
		}
	}
	if m.p.shop.moves == nil {
		m.p.shop.moves = map[allMoves][]byte{}
	}
	m.p.shop.moves[x] = slices.Clone(m.code[from:])
}

// exit returns. What was stored past the caches is seen by whoever the caller tells, on whichever
// processor it goes on.
func (m *maker) exit() {
	if m.streams {
		m.StoreFence()
	}
	m.ZeroUpper()
	m.Return()
}

// cyclesOfCall is the most cycles of a call: some 20 us on a slow processor. Running sums take 1.06
// times as long with 50,000 as with 38,000, 40,000 and 150,000 (Zen 4). Forces between points take the
// same time with all four.
const cyclesOfCall = 40_000

// cycles are those of instructions on 512 bits that take more than one (Zen 4, as measured; Intel's
// are no slower).
var cycles = func() (list [mostOps]int) {
	list[VDIVPD], list[VDIVPS], list[VSQRTPD], list[VSQRTPS], list[VSCALEFPD] = 9, 6, 16, 8, 2
	return list
}()

// cyclesOfScalar is the cycles of a step of scalar code, which may wait for memory. An address is
// computed from registers, and locals are in a cache.
const (
	cyclesOfScalar  = 20
	cyclesOfAddress = 2
	cyclesOfLocal   = 4
)

// roundFuel returns the cycles of a round of the cheapest innermost loop, which takes 1 of fuel, and
// the fuel of a round of each loop, in the order in which they end. The steps of an inner loop count
// for its own rounds only. A round takes at least 1, so that every loop ends a call at some time.
func (p *program) roundFuel() (unit int, all []int) {
	type loop struct {
		cost  int
		holds bool // others
	}
	var around []loop
	var now loop
	for k := range p.steps {
		s := &p.steps[k]
		if s.enters {
			now.holds = true
			around, now = append(around, now), loop{cost: 1}
		}
		now.cost += p.cycles(s)
		if s.leaves {
			if all = append(all, now.cost); !now.holds && (unit == 0 || now.cost < unit) {
				unit = now.cost
			}
			around, now = around[:len(around)-1], around[len(around)-1]
		}
	}
	unit = max(1, unit)
	for k := range all {
		all[k] = max(1, all[k]/unit)
	}
	return unit, all
}

// cycles estimates the cycles of a step.
func (p *program) cycles(s *step) int {
	switch {
	case s.scalar != nil && s.dst != 0 && p.values[s.dst].class == generalClass:
		return cyclesOfAddress
	case s.local > 0, s.loads != nil && s.loads.at.Base == scratchReg:
		return cyclesOfLocal
	case s.scalar != nil && (s.pure || s.dst == 0 && s.operands()):
		return cyclesOfScalar
	}
	return max(1, cycles[s.Op])
}

// What follows lowers checks. A check that fails ends the call, too.

// check sets a flag and leaves the code if a lane that counts fails.
func (l *lowering) check(c operand) {
	vex, twice := l.vexOnly(), c.known().twice
	if b := c.known().bound; vex && l.active == 0 && b[0] != 0 && b[0] == b[1] { // the code that makes an integer of it checks it
		v := l.emit(&step{a: b[0], dst: l.fresh(vectorClass), jumps: true, scalar: func(m *maker, dst Reg, r regs) { m.toWord(dst, r.a, true) }})
		l.sums = append(l.shop.sums.room(l.sums, 1), sum{address: b[0], size: isWord, v: v})
		return
	}
	if c.konst && c.word != 0 { // a constant that holds, such as that a constant divisor is not zero
		return
	}
	if l.alike() && l.active == 0 && twice == 0 {
		l.emit(&step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			m.vec.none(m, r.a)
			m.flagUnless(NotEqual)
		}})
		return
	}
	if twice != 0 && vex && l.active == 0 { // an instruction tests all bits but the sign
		l.emit(&step{a: twice, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			w := uint64(math.MaxInt64)
			m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: r.a, InMem: true, Mem: m.Const(w, w, w, w)})
			m.flagUnless(Equal)
		}})
		return
	}
	if l.active == 0 && (vex || twice == 0 && l.target.lanes >= 8) { // the carry: all bits are ones, eight at least
		l.emit(&step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			if w := uint64(math.MaxUint64); vex {
				m.Emit(Inst{Op: VPTEST, Len: m.length, Dst: r.a, InMem: true, Mem: m.Const(w, w, w, w)})
			} else {
				m.vec.none(m, r.a)
			}
			m.flagUnless(Below)
		}})
		return
	}
	var not virt
	if twice != 0 && !vex {
		not = l.compare(VPTESTMQ, types.I64, inRegister(types.I64, twice), constantOf(types.I64, math.MaxInt64), 0)
	} else {
		not = l.not(l.vector(c))
	}
	if l.active != 0 {
		not = l.mask(KANDW, not, l.active)
	}
	l.emit(&step{a: not, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.flagUnless(Equal)
	}})
}

// flagUnless sets the flag of a check that fails, and leaves, unless a condition holds.
func (m *maker) flagUnless(c Cond) {
	m.checks = true
	m.Jump(c.Not(), m.failed)
}
