package kernels

// This file defines the steps over lanes of a pass over tall matrices (inner.go). A register is a
// short vector, and a step is one loop over it.

import (
	"sync"

	"sort"

	"flow/ir/types"
	"flow/ir/value"
)

// laneCode is registers and steps. It is read-only.
type laneCode struct {
	elems  []types.Elem // of every register
	slot   []int        // where each lies
	slots  int
	index  int        // register of the index
	fills  []laneFill // registers that are the same in every lane
	block  []laneStep
	matrix int       // registers of the body, of which those that are the same in every iteration may be matrices
	idle   sync.Pool // of *[]uint64: memory of registers of executions that are over
}

// laneFill is a register that is set once: to a value of the body's register, or to a number.
type laneFill struct {
	reg    int
	body   int // -1: number
	number value.Scalar
}

// stepKind is the sort of a step.
type stepKind uint8

const (
	stepInstr stepKind = iota
	stepPick
	stepCopy
	stepSum3
	stepRoot3
	stepCube
)

// laneStep is one step of a block: a loop over lanes, or one of the forms that are more than that.
type laneStep struct {
	kind stepKind
	instr
	pick *lanePick
}

// lanePick reads an element of a matrix that is the same in every iteration, for each lane.
type lanePick struct {
	from     int // the body's register of the matrix
	row, col int // registers of the subscripts
}

// laneMove is a copy of one register to another.
type laneMove struct{ from, to int }

// reads calls f for the registers that a step reads.
func (s *laneStep) reads(f func(r int)) {
	if s.kind == stepPick {
		f(s.pick.row)
		f(s.pick.col)
		return
	}
	each(s.arg[:s.n], f)
}

func each(l []int, f func(int)) {
	for _, r := range l {
		if r >= 0 {
			f(r)
		}
	}
}

// laneSlots gives every register that steps write a place, and places whose register is read no
// more to others: what is used stays in the first-level cache.
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
		last[b[k].dst] = k
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
		p.take(b[k].dst) // before the arguments are given back: loops of mixed types must not overlap
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

// laneCompiler makes a laneCode. It panics with notLanes for what lanes cannot do.
type laneCompiler struct{ c *laneCode }

type notLanes struct{}

func (k *laneCompiler) register(e types.Elem) int {
	k.c.elems = append(k.c.elems, e)
	k.c.slot = append(k.c.slot, -1)
	return len(k.c.elems) - 1
}
