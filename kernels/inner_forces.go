package kernels

// This file finds programs of the pass machine that package vec has as one loop: those of the force of all bodies on
// each, by the square of the distance, with a softening.

import (
	"unsafe"

	"flow/kernels/vec"
)

// forceCode is the operands of such a program.
type forceCode struct {
	lanes, columns, chains [3]passArg
	softening, strength    passArg
	all                    bool // the strength is the same in all rows
	back                   bool
}

// forceSteps are the steps before those of the products. The strength may be a column that is spread before them.
var forceSteps = []uint64{vec.PassRowSquare, vec.PassRowSquareAdd, vec.PassRowSquareAdd, vec.PassAdd, vec.PassRootTimes, vec.PassDivInto}

// asForces is the program as a pass of forces, nil if it is none.
func (p *passCode) asForces() *forceCode {
	steps := p.steady
	f := &forceCode{all: true}
	if len(steps) > 1 && steps[0].op == vec.PassSpread && steps[1].op == vec.PassStore {
		f.all = false
		f.strength, steps = steps[0].arg[0], steps[2:]
	}
	const squares, softens, divides = 0, 3, 5
	products := len(forceSteps)
	if !vec.HaveForces() || len(steps) != products+4 || !beginsWith(steps, forceSteps) || !p.constant(steps[softens].arg[0]) {
		return nil
	}
	f.softening = steps[softens].arg[0]
	switch s := steps[divides].arg[0]; {
	case f.all && !p.constant(s) || !f.all && s.reg != f.strength.reg:
		return nil
	case f.all:
		f.strength = s
	}
	dot := steps[products].op
	f.back = dot == vec.PassRowDotBack
	if !f.back && dot != vec.PassRowDot {
		return nil
	}
	for k := range f.lanes {
		d, add := steps[squares+k], steps[products+k]
		if add.op != dot || add.arg[0] != d.arg[0] || add.arg[1] != d.arg[1] {
			return nil
		}
		f.lanes[k], f.columns[k], f.chains[k] = add.arg[0], add.arg[1], add.arg[2]
	}
	return f
}

func beginsWith(steps []passInstr, ops []uint64) bool {
	for i, o := range ops {
		if steps[i].op != o {
			return false
		}
	}
	return true
}

// constant reports that a is a register that holds one number in all lanes and rows.
func (p *passCode) constant(a passArg) bool {
	at, have := p.at[a.reg]
	_, spread := p.spread[a.reg]
	return a.kind == argNow && have && at < p.constants && !spread
}

// forces is the pass with addresses.
func (f *forceCode) forces(at func(passArg) unsafe.Pointer) *vec.Forces {
	v := &vec.Forces{Softening: at(f.softening), Strength: at(f.strength), Back: f.back}
	if !f.all {
		v.Step = 8
	}
	for k := range 3 {
		v.Lanes[k], v.Columns[k], v.Chains[k] = at(f.lanes[k]), at(f.columns[k]), at(f.chains[k])
	}
	return v
}

// A body whose matrices have fewer rows than the loop needs is no pass (compileInner): else this does not compile.
const _ = uint(innerRows - vec.ForceRows)

// runForces runs f for the first n lanes; false: not all of them are sure.
func runForces(f vec.Forces, n, rows int) bool {
	const bytes = 8 * vec.ForceLanes
	for ; n > 0; n -= vec.ForceLanes {
		if !f.Run(rows) {
			return false
		}
		for k := range 3 {
			f.Lanes[k], f.Chains[k] = unsafe.Add(f.Lanes[k], bytes), unsafe.Add(f.Chains[k], bytes)
		}
	}
	return true
}
