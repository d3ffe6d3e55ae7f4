package kernels

// This file runs the programs of the pass machine.

import (
	"math"
	"unsafe"

	"flow/kernels/exact"
	"flow/kernels/vec"
)

const (
	// passAgain is how often a pass is run again with a larger bias, and passRaise by how many
	// powers of two.
	passAgain = 2
	passRaise = 12
	// passFailures in a row are followed by passPatience iterations that do without the machine.
	passFailures = 3
	passPatience = 64
)

// passWorker is one worker's program: with addresses, memory of registers, and sums.
type passWorker struct {
	in                  *innerCode
	first, steady, last []vec.PassStep
	memory              []float64
	state               vec.PassState
	columns             []exact.Column
	exponents           []int // of the biases; nil until the steps have shown how large the terms are
	adds                []int // elements a lane
	failures, wait      int
}

// groups is how many groups of rows a pass has.
func (c *innerCode) groups() int { return (c.rows + vec.PassGroup() - 1) / vec.PassGroup() }

// padded is the length of columns that the machine reads.
func (c *innerCode) padded() int { return (c.rows + vec.PassRows - 1) / vec.PassRows * vec.PassRows }

// passWorker gives the program of w addresses. nil if there is none.
func (w *innerWorker) passWorker() *passWorker {
	c := w.in.pass
	if c == nil {
		return nil
	}
	p := &passWorker{in: w.in, columns: make([]exact.Column, len(w.in.sums))}
	registers := 2 * vec.PassRows * len(c.registers)
	p.memory = floatsOver(aligned(make([]uint64, registers+len(vec.ColumnState{})*len(p.columns)+8)))
	for i := range p.columns {
		p.columns[i].State = (*vec.ColumnState)(p.memory[registers+len(vec.ColumnState{})*i:])
	}
	for _, s := range w.in.sums {
		p.adds = append(p.adds, len(s.of)*w.in.groups()*vec.PassGroup()/(2*vec.PassLanes()))
	}
	p.first, p.steady, p.last = p.located(w, c.first), p.located(w, c.steady), p.located(w, c.last)
	p.state.Tail(w.in.rows - (w.in.groups()-1)*vec.PassGroup())
	return p
}

// begin fills what is the same in every iteration.
func (p *passWorker) begin(w *innerWorker) {
	c := w.in.pass
	for i, r := range c.registers[:c.constants] {
		if _, ok := c.spread[r]; !ok {
			vec.Fill(p.memory[2*vec.PassRows*i:][:vec.PassRows], w.regs[r].F64[0])
		}
	}
}

func floatsOver(words []uint64) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// located is a program with addresses.
func (p *passWorker) located(w *innerWorker, code []passInstr) []vec.PassStep {
	out := make([]vec.PassStep, len(code))
	for i, s := range code {
		out[i].Op = s.op
		for j, a := range s.arg {
			out[i].Arg[j] = p.operand(w, a)
		}
	}
	return out
}

func (p *passWorker) operand(w *innerWorker, a passArg) vec.PassOperand {
	c := w.in.pass
	switch a.kind {
	case noArg:
		return vec.PassOperand{}
	case argNumber:
		return vec.PassOperand{Base: unsafe.Pointer(&w.regs[a.reg].F64[0])}
	case argState:
		return vec.PassOperand{Base: unsafe.Pointer(&p.columns[a.reg].State[0])}
	}
	if i, ok := c.columns[a.reg]; ok {
		at := vec.PassRow
		if a.kind == argBefore {
			at = vec.PassBefore
		}
		return vec.PassOperand{Base: unsafe.Pointer(&w.columns[i].F64[0]), At: at}
	}
	at := vec.PassThis
	if i := c.at[a.reg]; i < c.constants {
		at = vec.PassHere
	} else if a.kind == argBefore {
		at = vec.PassLast
	}
	return vec.PassOperand{Base: unsafe.Pointer(&p.memory[2*vec.PassRows*c.at[a.reg]]), At: at}
}

// run makes a pass and its sums; false if it cannot, and nothing has been changed then.
func (p *passWorker) run(w *innerWorker) bool {
	if p.exponents == nil {
		return false
	}
	if p.wait > 0 {
		p.wait--
		return false
	}
	for range 1 + passAgain {
		p.pass()
		if p.inRange() {
			break
		}
	}
	for i := range p.columns {
		sum, ok := p.columns[i].Round(p.adds[i])
		if !ok {
			if p.failures++; p.failures >= passFailures {
				p.failures, p.wait = 0, passPatience
			}
			return false
		}
		w.regs[w.in.sums[i].to].F64[0] = sum
	}
	p.failures = 0
	return true
}

// pass goes over the rows once.
func (p *passWorker) pass() {
	for i := range p.columns {
		p.columns[i].Begin(p.exponents[i])
	}
	p.state.Start()
	vec.Pass(p.first, &p.state, 1)
	vec.Pass(p.steady, &p.state, p.in.groups()-1)
	vec.Pass(p.last, &p.state, 1)
}

// inRange raises the biases that were too small.
func (p *passWorker) inRange() bool {
	all := true
	for i := range p.columns {
		if !p.columns[i].InRange() {
			p.exponents[i] += passRaise
			all = false
		}
	}
	return all
}

// learn sets the biases by the terms of a pass.
func (p *passWorker) learn(terms [][]float64) {
	if p.exponents == nil {
		p.exponents = make([]int, len(p.columns))
	}
	k := 0
	for i, s := range p.in.sums {
		greatest := 0.0
		for range s.of {
			for _, v := range terms[k] {
				greatest = max(greatest, math.Abs(v))
			}
			k++
		}
		if greatest > 0 && greatest <= math.MaxFloat64 {
			p.exponents[i] = exact.Exponent(greatest, p.adds[i]) + passSlack
		}
	}
}

// passSlack is what the terms of the next iterations may grow by before a pass is run again, in
// powers of two.
const passSlack = 3
