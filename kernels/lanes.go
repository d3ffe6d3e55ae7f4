package kernels

// This file says what a body is compiled to that computes scalars: steps over lanes. A register is a short vector, one lane
// for each iteration of a batch, and a step is one loop over it. That is how scalar code comes near to what the vector units
// give without a compiler to machine code: the cost of a step is spread over the lanes.
//
// A loop in the body runs for all lanes at once, round by round. A lane whose loop has ended is dead: its values were taken,
// and what is computed for it is not looked at. When many lanes are dead the others move together (compaction), so that the
// rounds after cost what the living need. A branch runs each side on the lanes that take it, moved together as well; sides
// that are a few operators and cannot fail are run on all lanes, and a selection follows.

import (
	"sync"

	"sort"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// laneCount is the lanes of a batch: a register of f64 is 2 KiB, so that a dozen of them stay in the first-level cache.
const laneCount = 256

// laneCode is a compiled body. It is read-only.
type laneCode struct {
	elems  []types.Elem // of every register
	slot   []int        // where each lies
	slots  int
	index  [2]int     // registers of the indices
	fills  []laneFill // registers that are the same in every lane
	block  []laneStep
	yield  int
	loops  int // loops and branches, which keep lists of lanes
	draws  []laneDraw
	iota   int       // register of 0, 1, ..; -1 without draws
	matrix int       // registers of the body, of which those that are the same in every iteration may be matrices
	idle   sync.Pool // of *[]uint64: memory of registers of executions that are over
}

// laneDraw is a constructor, action act of the body, of which the lanes make their rows: lane k reads row k of register reg of the body.
type laneDraw struct {
	reg int
	act *op.Action
}

// laneFill is a register that is set once: to a value of the body's register, or to a constant of a body further in.
type laneFill struct {
	reg    int
	body   int        // -1: number
	konst  *op.Action // if not nil
	number value.Scalar
}

// stepKind is the sort of a step.
type stepKind uint8

const (
	stepInstr stepKind = iota
	stepPick
	stepBlend
	stepCopy
	stepLoop
	stepBranch
	stepSum3
	stepRoot3
	stepKept
	stepCube
)

// laneStep is one step of a block: a loop over lanes, or one of the forms that are more than that.
type laneStep struct {
	kind stepKind
	instr
	pick   *lanePick
	loop   *laneLoop
	branch *laneBranch
	kept   int // cell
}

// lanePick reads an element of a matrix that is the same in every iteration, for each lane.
type lanePick struct {
	from     int // the body's register of the matrix
	row, col int // registers of the subscripts
}

// laneMove is a copy of one register to another.
type laneMove struct{ from, to int }

// laneLoop is an iterate.
type laneLoop struct {
	id      int
	init    []int      // registers of what the carried values start as
	carry   []int      // of the carried values in the loop
	local   []laneMove // what differs from lane to lane is copied: it moves when lanes move
	cond    []laneStep
	stop    int
	times   int64
	counted bool // times rounds; else until stop
	body    []laneStep
	next    []int // registers of the next values, of the loop alone: they change places with carry
	result  []int // registers of the final values; -1 for those that nobody reads
}

// laneBranch is a select.
type laneBranch struct {
	id     int
	cond   int
	sides  [2]laneSide // where cond holds, and where not
	result []int
}

type laneSide struct {
	local []laneMove
	block []laneStep
	yield []int
}

// defines calls f for the registers that a step writes and that others may read after it.
func (s *laneStep) defines(f func(r int)) {
	switch s.kind {
	case stepLoop:
		each(s.loop.result, f)
	case stepBranch:
		each(s.branch.result, f)
	case stepKept:
		each([]int{s.dst}, f) // -1 for a matrix
	default:
		f(s.dst)
	}
}

// inside calls f for the registers that a loop or a branch keeps to itself while it runs.
func (s *laneStep) inside(f func(r int)) {
	switch s.kind {
	case stepLoop:
		each(s.loop.carry, f)
		each(s.loop.next, f)
		for _, m := range s.loop.local {
			f(m.to)
		}
	case stepBranch:
		for _, side := range s.branch.sides {
			for _, m := range side.local {
				f(m.to)
			}
			each(side.yield, f)
		}
	}
}

// reads calls f for the registers of its own block that a step reads.
func (s *laneStep) reads(f func(r int)) {
	switch s.kind {
	case stepPick:
		f(s.pick.row)
		f(s.pick.col)
	case stepLoop:
		each(s.loop.init, f)
		for _, m := range s.loop.local {
			f(m.from)
		}
	case stepBranch:
		f(s.branch.cond)
		for _, side := range s.branch.sides {
			for _, m := range side.local {
				f(m.from)
			}
		}
	default:
		each(s.arg[:s.n], f)
	}
}

func each(l []int, f func(int)) {
	for _, r := range l {
		if r >= 0 {
			f(r)
		}
	}
}

// laneSlots gives every register that steps write a place, and places whose register is read no more to others: what is
// used stays in the first-level cache.
type laneSlots struct {
	c     *laneCode
	spare []int
}

func (p *laneSlots) take(r int) {
	if p.c.slot[r] >= 0 {
		return
	}
	if k := len(p.spare); k > 0 {
		p.c.slot[r], p.spare = p.spare[k-1], p.spare[:k-1]
		return
	}
	p.c.slot[r] = p.c.slots
	p.c.slots++
}

// block places the registers of a block. Those of keep outlive it and have their places.
func (p *laneSlots) block(b []laneStep, keep ...int) {
	last := map[int]int{} // the last step that reads a register of this block
	for k := range b {
		b[k].defines(func(r int) { last[r] = k })
		b[k].reads(func(r int) {
			if _, here := last[r]; here {
				last[r] = k
			}
		})
	}
	for _, r := range keep {
		delete(last, r)
	}
	for k := range b {
		s := &b[k]
		s.defines(p.take) // before the arguments are given back: loops of mixed types must not overlap
		var inner []int
		s.inside(func(r int) {
			if p.c.slot[r] < 0 {
				p.take(r)
				inner = append(inner, r)
			}
		})
		switch s.kind {
		case stepLoop:
			p.block(append(append([]laneStep(nil), s.loop.cond...), s.loop.body...), append([]int{s.loop.stop}, s.loop.next...)...)
		case stepBranch:
			for _, side := range s.branch.sides {
				p.block(side.block, side.yield...)
			}
		}
		for _, r := range inner {
			p.spare = append(p.spare, p.c.slot[r])
		}
		var done []int
		for r, at := range last {
			if at == k {
				done = append(done, p.c.slot[r])
			}
		}
		sort.Ints(done)
		p.spare = append(p.spare, done...)
	}
}
