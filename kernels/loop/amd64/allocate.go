package amd64

// This file assigns registers by linear scan (M. Poletto & V. Sarkar, "Linear scan register
// allocation", 1999): one interval a virtual register, in the order of the steps. What does not fit
// lives in scratch memory and passes through registers that are kept free; readers that can take it
// from there do.

import (
	"cmp"
	"slices"
)

// loopWeight is how many rounds of a loop the choice of registers expects.
const loopWeight = 8

// live finds where virtual registers live. A value that is made before a loop and read inside
// lives until the loop's end; one that is written inside and read before it there lives through the
// whole loop, too, because its first write, before the loop, is what starts it.
func (p *program) live() intervals {
	all, order := p.shop.intervals.zeros(len(p.values)), p.shop.virts.list(len(p.values))
	type loop struct {
		from  int32
		first int // where its registers begin in touched
	}
	open := append(make([]loop, 0, 8), loop{from: -1}) // the first is no loop
	inner, weight := int32(-1), 1.0                    // where the innermost loop begins; what a step in it counts
	// touched lists the registers that are read inside of an open loop and made before it, those of the
	// innermost loop last.
	touched := p.shop.virts.list(len(p.values))
	var in inputs
	for k := range int32(len(p.steps)) {
		s := &p.steps[k]
		if s.enters {
			inner = k
			open = append(open, loop{k, len(touched)})
			weight *= loopWeight
		}
		last := k
		if s.Op == VRANGEPD || s.Op == VRANGEPS { // its result may not be in the register of an operand
			last = min(k+1, int32(len(p.steps))-1)
		}
		for _, v := range in.of(s) {
			if v == 0 {
				continue
			}
			x := &all[v]
			x.to, x.cost = last, x.cost+weight // no later step has been noted
			if x.from < inner && x.made {
				touched = append(p.shop.virts.room(touched, 1), v)
			}
		}
		if v := s.dst; v != 0 {
			x := &all[v]
			if !x.made {
				x.made, x.from = true, k
				order = append(order, v)
			}
			x.to, x.cost = last, x.cost+weight
			if x.from < inner {
				x.carried = true
				touched = append(p.shop.virts.room(touched, 1), v)
			}
		}
		if s.leaves {
			d := len(open) - 1
			inside := touched[open[d].first:]
			touched = touched[:open[d].first]
			inner = open[d-1].from
			for _, v := range inside {
				x := &all[v]
				if x.to = k; x.from < inner {
					touched = append(touched, v)
				}
			}
			open = open[:d]
			weight /= loopWeight
		}
	}
	return intervals{all, order}
}

// scan is a linear scan over some of the intervals.
type scan struct {
	p    *program
	a    *assignment
	bank [classCount]bank
	// ends and before are lists of the values whose intervals end at a step: ends holds, by step, the last
	// one, and before, by value, the one before it. The registers of values that end before step done are
	// free.
	ends, before []virt
	done         int32
	turns        int32 // how often a free register was taken
}

// bank holds the registers of a class.
type bank struct {
	free  []Reg
	taken int       // the length of free after the last register was taken
	holds [32]virt  // by number: the last value that took the register; 0: there is none
	turn  [32]int32 // by number: when the register was taken
}

// expire takes back the registers of values whose intervals end up to a step.
func (s *scan) expire(at int32) {
	for ; s.done <= at; s.done++ {
		for v := s.ends[s.done]; v != 0; v = s.before[v] {
			if r := s.a.reg[v]; r != NoReg {
				b := &s.bank[s.p.values[v].class]
				b.free = append(b.free, r)
			}
		}
	}
}

// take returns a free register: the one that became free last. If several have become free since the
// last call, it is the one of them that was taken last.
func (b *bank) take() Reg {
	if freed := b.free[b.taken:]; len(freed) > 1 {
		slices.SortFunc(freed, func(x, y Reg) int { return cmp.Compare(b.turn[x.num()], b.turn[y.num()]) })
	}
	b.taken = len(b.free) - 1
	r := b.free[b.taken]
	b.free = b.free[:b.taken]
	return r
}

// cheapest returns the register whose value costs least in memory, if that is less than a limit.
func (s *scan) cheapest(b *bank, least float64) (r int, ok bool) {
	for k, w := range b.holds {
		if w == 0 {
			continue
		}
		if cost := s.spillCost(w); cost < least || ok && cost == least && b.turn[k] < b.turn[r] {
			r, least, ok = k, cost, true
		}
	}
	return r, ok
}

// spillCost returns the cost of a value without a register, for each step that its register would be
// busy.
func (s *scan) spillCost(v virt) float64 {
	x := &s.a.lives.of[v]
	if x.spill == 0 {
		x.spill = x.cost / float64(x.to-x.from+1)
		if s.p.hasSource(v) {
			x.spill /= 2 // nothing is stored, and most readers take an element of memory in all lanes
		}
	}
	return x.spill
}

// giveSlots gives slots of scratch memory to the values of list that have no register. list is in the
// order in which intervals begin. Values that never live at the same time share a slot. Few slots
// matter, since a load waits for an earlier store if their addresses differ by a multiple of 4096.
func (s *scan) giveSlots(list []virt) {
	clear(s.ends)
	done, free := int32(0), s.p.shop.ints.list(len(list))
	for _, v := range list {
		if x := &s.p.values[v]; s.a.reg[v] != NoReg || s.p.hasSource(v) || x.home != 0 || x.inPlace != nil {
			continue
		}
		x := &s.a.lives.of[v]
		for ; done < x.from; done++ {
			for w := s.ends[done]; w != 0; w = s.before[w] {
				free = append(free, s.a.slot[w])
			}
		}
		if last := len(free) - 1; last >= 0 {
			s.a.slot[v], free = free[last], free[:last]
		} else {
			s.a.slot[v] = s.a.slots
			s.a.slots++
		}
		s.before[v], s.ends[x.to] = s.ends[x.to], v
	}
}

// assign gives registers to values, which are in the order of the begins of their intervals.
func (s *scan) assign(list []virt) {
	for _, v := range list {
		if s.p.values[v].inPlace != nil {
			continue
		}
		x, b := &s.a.lives.of[v], &s.bank[s.p.values[v].class]
		s.expire(x.from) // an operand that dies where the result is made gives its register to it
		end := max(x.to, s.done)
		s.before[v], s.ends[end] = s.ends[end], v
		if len(b.free) > 0 {
			r := b.take()
			s.turns++
			s.a.reg[v], b.holds[r.num()], b.turn[r.num()] = r, v, s.turns
			continue
		}
		k, ok := s.cheapest(b, s.spillCost(v))
		if !ok {
			s.a.reg[v] = NoReg
			continue
		}
		w := b.holds[k]
		s.a.reg[v], b.holds[k] = s.a.reg[w], v
		s.a.reg[w] = NoReg
	}
}

// allocate assigns vector registers 0..vectors-1, masks 1..masks and the general registers that are
// free. It finds the intervals if none are given.
func (p *program) allocate(r registers, lives intervals) assignment {
	a := assignment{reg: p.shop.regs.list(len(p.values))[:len(p.values)], slot: p.shop.ints.zeros(len(p.values))}
	for v := range a.reg {
		a.reg[v] = NoReg
	}
	s := scan{p: p, a: &a, ends: p.shop.virts.zeros(len(p.steps) + 1), before: p.shop.virts.zeros(len(p.values))}
	for c, n := range [classCount]int{r.vectors, r.masks, len(r.general)} {
		s.bank[c].free = p.shop.regs.list(n)
	}
	for k := r.vectors - 1; k >= 0; k-- {
		s.bank[vectorClass].free = append(s.bank[vectorClass].free, V(k))
	}
	for k := r.masks; k >= 1; k-- {
		s.bank[maskClass].free = append(s.bank[maskClass].free, K(k))
	}
	s.bank[generalClass].free = append(s.bank[generalClass].free, r.general...)
	for c := range s.bank {
		s.bank[c].taken = len(s.bank[c].free)
	}
	if a.lives = lives; lives.of == nil {
		a.lives = p.live()
	}
	s.assign(a.lives.order)
	s.giveSlots(a.lives.order)
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
	l.asm.at = l.allocate(l.asm.registers, l.lives)
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
