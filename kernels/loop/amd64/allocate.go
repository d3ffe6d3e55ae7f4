package amd64

// This file assigns registers by linear scan (M. Poletto & V. Sarkar, "Linear scan register
// allocation", 1999): one interval a virtual register, in the order of the steps. What does not fit
// lives in scratch memory and passes through registers that are kept free; readers that can take it
// from there do.

import (
	"math"
	"slices"
)

// interval is where a virtual register lives: from the step that makes it to the last that reads
// it.
type interval struct {
	from, to int32
	// cost is how many steps make or read it, a step in a loop counting loopWeight times.
	cost float64
	// carried: a loop inside of the interval makes the value anew, so a round waits for the one before.
	carried bool
	made    bool // a step has made it
}

// intervals is where all virtual registers of a program live.
type intervals struct {
	of    []interval // by virt
	order []virt     // by the step that makes them first
}

// loopWeight is how many rounds of a loop the choice of registers expects.
const loopWeight = 8

// assignment says where every virtual register lives.
type assignment struct {
	reg   []Reg // by virt; NoReg: in scratch memory
	slot  []int // by virt, of those in scratch memory
	slots int
	kept  [][]virt // by block aside: what gives its register away there
	lives intervals
}

// registers is what may be assigned of each class.
type registers struct {
	vectors, masks int
	general        []Reg
}

// live finds where virtual registers live. A value that is made before a loop and read inside
// lives until the loop's end; one that is written inside and read before it there lives through the
// whole loop, too, because its first write, before the loop, is what starts it.
func (p *program) live() intervals {
	all, order := p.shop.intervals.zeros(len(p.values)), p.shop.virts.list(len(p.values))
	var open []int32
	weight, aside := 1.0, 1.0
	// touched lists the registers that are read inside of an open loop and made before it, those of the
	// innermost loop last. first is where those of each loop begin.
	var touched []virt
	var first []int
	for i := range p.steps {
		s, k := &p.steps[i], int32(i)
		switch {
		case s.aside > 0:
			aside = asideWeight
		case s.aside < 0:
			aside = 1
		}
		if s.enters {
			open = append(open, k)
			first = append(first, len(touched))
			weight *= loopWeight
		}
		last := k
		if s.Op == VRANGEPD || s.Op == VRANGEPS { // its result may not be in the register of an operand
			last = min(k+1, int32(len(p.steps))-1)
		}
		use := func(v virt) {
			x := &all[v]
			x.to = max(x.to, last)
			x.cost += weight * aside
			if d := len(open) - 1; d >= 0 && x.made && x.from < open[d] {
				touched = append(p.shop.virts.room(touched, 1), v)
			}
		}
		s.reads(use)
		if s.dst != 0 {
			x := &all[s.dst]
			if !x.made {
				x.made, x.from = true, k
				order = append(order, s.dst)
			}
			x.carried = x.carried || len(open) > 0 && x.from < open[len(open)-1]
			use(s.dst)
		}
		if s.leaves {
			d := len(open) - 1
			inside := touched[first[d]:]
			touched = touched[:first[d]]
			for _, v := range inside {
				all[v].to = k
				if d > 0 && all[v].from < open[d-1] {
					touched = append(touched, v)
				}
			}
			open, first = open[:d], first[:d]
			weight /= loopWeight
		}
	}
	return intervals{all, order}
}

// scan is a linear scan over some of the intervals.
type scan struct {
	p      *program
	a      *assignment
	free   [classCount][]Reg
	active [classCount][]virt
	// ends is a step before which no active interval ends.
	ends [classCount]int32
	// passed is how many steps outside of blocks aside are up to each step.
	passed []int
}

// spillCost is what it costs if v has no register, for each step that its register would be busy.
func (s *scan) spillCost(v virt) float64 {
	x := &s.a.lives.of[v]
	cost := x.cost
	if s.p.hasSource(v) {
		cost /= 2 // nothing is stored, and most readers take an element of memory in all lanes
	}
	return cost / float64(s.passed[x.to]-s.passed[x.from]+1)
}

func (s *scan) spill(v virt) {
	s.a.reg[v] = NoReg
	if !s.p.hasSource(v) && s.p.values[v].home == 0 {
		s.a.slot[v] = s.a.slots
		s.a.slots++
	}
}

// assign gives registers to values, which are in the order of the begins of their intervals.
func (s *scan) assign(list []virt) {
	for _, v := range list {
		x, c := &s.a.lives.of[v], s.p.values[v].class
		// An operand that dies where the result is made gives its register to it.
		if s.ends[c] <= x.from {
			live := s.active[c][:0]
			ends := int32(math.MaxInt32)
			for _, w := range s.active[c] {
				if to := s.a.lives.of[w].to; to <= x.from {
					s.free[c] = append(s.free[c], s.a.reg[w])
				} else {
					live, ends = append(live, w), min(ends, to)
				}
			}
			s.active[c], s.ends[c] = live, ends
		}
		s.ends[c] = min(s.ends[c], x.to)
		if n := len(s.free[c]); n > 0 {
			s.a.reg[v] = s.free[c][n-1]
			s.free[c] = s.free[c][:n-1]
			s.active[c] = append(s.active[c], v)
			continue
		}
		// The cheapest goes to memory.
		cheapest, least := -1, s.spillCost(v)
		for k, w := range s.active[c] {
			if cost := s.spillCost(w); cost < least {
				cheapest, least = k, cost
			}
		}
		if cheapest < 0 {
			s.spill(v)
			continue
		}
		w := s.active[c][cheapest]
		s.a.reg[v] = s.a.reg[w]
		s.spill(w)
		s.active[c][cheapest] = v
	}
}

// allocate assigns vector registers 0..vectors-1, masks 1..masks and the general registers that are
// free.
func (p *program) allocate(r registers) assignment {
	a := assignment{reg: make([]Reg, len(p.values)), slot: p.shop.ints.zeros(len(p.values))}
	for v := range a.reg {
		a.reg[v] = NoReg
	}
	s := scan{p: p, a: &a}
	for k := r.vectors - 1; k >= 0; k-- {
		s.free[vectorClass] = append(s.free[vectorClass], V(k))
	}
	for k := r.masks; k >= 1; k-- {
		s.free[maskClass] = append(s.free[maskClass], K(k))
	}
	s.free[generalClass] = slices.Clone(r.general)
	blocks := asides(p.steps)
	s.passed = p.passed(blocks)
	a.lives = p.live()
	if len(blocks) == 0 {
		s.assign(a.lives.order)
		return a
	}
	rest, inside := p.within(a.lives, blocks)
	s.assign(rest)
	s.passed = p.passed(nil)
	var around []virt // those of rest that may live in the block or behind it
	next := 0
	for k, b := range blocks {
		for ; next < len(rest) && int(a.lives.of[rest[next]].from) <= b.to; next++ {
			if v := rest[next]; a.reg[v] != NoReg && p.values[v].class == vectorClass {
				around = append(around, v)
			}
		}
		around = slices.DeleteFunc(around, func(v virt) bool { return int(a.lives.of[v].to) < b.from })
		a.kept = append(a.kept, p.assignAside(&a, r, b, around, inside[k], s.passed))
	}
	return a
}

// mostSpilled is the largest share of accesses to registers that may go to scratch memory instead. On a
// Zen 4, loops above it take 0.7 to 0.9 of the time with two vectors together instead of three.
const mostSpilled = 0.04

// mostSpilledByTwo is the same for two vectors instead of one. A lone chain of results waits most of
// the time, so it is worth more loads and stores: forces with exact sums take 0.84 to 0.99 of the time
// of one (AVX-512, Emerald Rapids).
const mostSpilledByTwo = 0.1

// crowded assigns registers and reports whether more than mostSpilled of the values that steps make and
// read have none. A value that a round of a loop hands to the next counts twice: it takes the time of a
// store and a load.
func (l *lowering) crowded() bool {
	l.asm.at = l.allocate(l.asm.registers)
	a, spilled, all := &l.asm.at, 0.0, 0.0
	for _, v := range a.lives.order {
		if l.values[v].class != vectorClass {
			continue
		}
		x := &a.lives.of[v]
		all += x.cost
		switch {
		case a.reg[v] != NoReg || l.hasSource(v):
		case x.carried:
			spilled += 2 * x.cost
		default:
			spilled += x.cost
		}
	}
	if l.together == 2 {
		return spilled > mostSpilledByTwo*all
	}
	return spilled > mostSpilled*all
}
