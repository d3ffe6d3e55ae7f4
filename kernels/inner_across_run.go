package kernels

// This file runs the programs whose lanes are iterations.

import (
	"unsafe"

	"flow/ir/value"
	"flow/kernels/vec"
)

// acrossLeast is the fewest iterations that are worth the machine, which always does a whole group.
const acrossLeast = 8

// acrossWorker is one worker's program, with addresses and memory: a register of it is a number for
// each iteration of a group.
type acrossWorker struct {
	in     *innerCode
	code   []vec.PassStep
	memory []float64
	state  vec.PassState
	forces *vec.Forces // the program in one; nil if there is none
}

// acrossWorker gives the program of w addresses. nil if there is none.
func (w *innerWorker) acrossWorker() *acrossWorker {
	c := w.in.across
	if c == nil {
		return nil
	}
	p := &acrossWorker{in: w.in}
	p.memory = floatsOver(aligned(make([]uint64, vec.PassRows*(len(c.registers)+len(w.in.dots))+8)))
	p.code = make([]vec.PassStep, len(c.steady))
	for i, s := range c.steady {
		p.code[i].Op = s.op
		for j, a := range s.arg {
			p.code[i].Arg[j] = p.operand(w, a)
		}
	}
	if c.forces != nil {
		p.forces = c.forces.forces(func(a passArg) unsafe.Pointer { return p.operand(w, a).Base })
	}
	return p
}

// begin fills what is the same in every iteration.
func (p *acrossWorker) begin(w *innerWorker) {
	c := p.in.across
	for i, r := range c.registers[:c.constants] {
		if _, ok := c.spread[r]; !ok {
			vec.Fill(p.register(i), w.regs[r].F64[0])
		}
	}
}

// register is the memory of register i of the program; the chains of products lie behind.
func (p *acrossWorker) register(i int) []float64 { return p.memory[vec.PassRows*i:][:vec.PassRows] }

// chains is the memory of product i.
func (p *acrossWorker) chains(i int) []float64 { return p.register(len(p.in.across.registers) + i) }

func (p *acrossWorker) operand(w *innerWorker, a passArg) vec.PassOperand {
	c := p.in.across
	switch a.kind {
	case noArg:
		return vec.PassOperand{}
	case argInRow:
		return vec.PassOperand{Base: unsafe.Pointer(&w.columns[c.columns[a.reg]].F64[0]), At: vec.PassRow}
	case argDot:
		return vec.PassOperand{Base: unsafe.Pointer(&p.chains(a.reg)[0]), At: vec.PassHere}
	}
	return vec.PassOperand{Base: unsafe.Pointer(&p.register(c.at[a.reg])[0]), At: vec.PassHere}
}

// run computes the points from..from+n-1, of which a group has room, into out, or nowhere if that
// is nil.
func (p *acrossWorker) run(w *innerWorker, from, n int, out *value.Dense) error {
	w.index(from, n)
	if !w.exec(w.in.before, n) {
		return errLane
	}
	for _, m := range w.in.spread {
		if at, ok := p.in.across.at[m.to]; ok {
			lanes := p.register(at)
			copy(lanes, w.regs[m.from].F64[:n])
			vec.Fill(lanes[n:], lanes[n-1]) // nobody looks at these lanes
		}
	}
	if p.forces == nil || !runForces(*p.forces, n, w.in.rows) {
		for i := range w.in.dots {
			clear(p.chains(i))
		}
		p.state.StartRows()
		vec.Pass(p.code, &p.state, w.in.rows)
	}
	sure := true
	for i, d := range w.in.dots {
		chains := p.chains(i)[:n]
		copy(w.regs[d.to].F64, chains)
		for _, v := range chains {
			sure = sure && v == v
		}
	}
	if !sure { // not a number, or a sum of three that the machine cannot take
		return w.each(from, from+n, out)
	}
	if !w.exec(w.in.after, n) {
		return errLane
	}
	if out != nil {
		for k := range n {
			w.store(from+k, k, out)
		}
	}
	return nil
}
