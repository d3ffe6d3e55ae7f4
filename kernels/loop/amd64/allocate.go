package amd64

// This file assigns registers by linear scan (M. Poletto & V. Sarkar, "Linear scan register allocation", 1999): one
// interval a virtual register, in the order of the steps. What does not fit lives in scratch memory and passes
// through registers that are kept free.

import (
	"cmp"
	"slices"
)

// interval is where a virtual register lives: from the step that makes it to the last that reads it.
type interval struct {
	v        virt
	from, to int
}

// assignment says where every virtual register lives.
type assignment struct {
	reg   []Reg // by virt; NoReg: in scratch memory
	slot  []int // by virt, of those in scratch memory
	slots int
}

// registers is what may be assigned of each class.
type registers struct {
	vectors, masks int
}

// intervals finds where virtual registers live. A value that is made before a loop and read inside lives until the loop's end;
// one that is written inside and read before it there lives through the whole loop, too, because its first
// write, before the loop, is what starts it.
func (p *program) intervals() []interval {
	from, to := make([]int, len(p.classes)), make([]int, len(p.classes))
	for v := range from {
		from[v] = -1
	}
	type span struct{ from, to int }
	var loops []span
	var open []int
	for k := range p.steps {
		s := &p.steps[k]
		if s.enters {
			open = append(open, k)
		}
		if s.leaves {
			loops = append(loops, span{open[len(open)-1], k})
			open = open[:len(open)-1]
		}
		s.reads(func(v virt) { to[v] = k })
		if s.dst != 0 {
			if from[s.dst] < 0 {
				from[s.dst] = k
			}
			to[s.dst] = max(to[s.dst], k)
		}
	}
	// Inner loops come before those that hold them, so one pass extends through all.
	for _, l := range loops {
		for v := range from {
			if from[v] >= 0 && from[v] < l.from && to[v] > l.from {
				to[v] = max(to[v], l.to)
			}
		}
	}
	var out []interval
	for v := range from {
		if from[v] >= 0 {
			out = append(out, interval{virt(v), from[v], to[v]})
		}
	}
	slices.SortStableFunc(out, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	return out
}

// allocate assigns registers 0..vectors-1 and masks 1..masks.
func (p *program) allocate(r registers) assignment {
	a := assignment{reg: make([]Reg, len(p.classes)), slot: make([]int, len(p.classes))}
	for v := range a.reg {
		a.reg[v] = NoReg
	}
	free := [2][]Reg{}
	for k := r.vectors - 1; k >= 0; k-- {
		free[vectorClass] = append(free[vectorClass], V(k))
	}
	for k := r.masks; k >= 1; k-- {
		free[maskClass] = append(free[maskClass], K(k))
	}
	var active []interval // in ascending order of their ends
	for _, x := range p.intervals() {
		// An operand that dies where the result is made gives its register to it.
		for len(active) > 0 && active[0].to <= x.from {
			c := p.classes[active[0].v]
			free[c] = append(free[c], a.reg[active[0].v])
			active = active[1:]
		}
		c := p.classes[x.v]
		if n := len(free[c]); n > 0 {
			a.reg[x.v] = free[c][n-1]
			free[c] = free[c][:n-1]
			active = inserted(active, x)
			continue
		}
		// The one that lives longest goes to memory.
		last := -1
		for k, y := range active {
			if p.classes[y.v] == c {
				last = k
			}
		}
		if active[last].to > x.to {
			y := active[last]
			a.reg[x.v], a.reg[y.v] = a.reg[y.v], NoReg
			a.slot[y.v] = a.slots
			active = inserted(slices.Delete(active, last, last+1), x)
		} else {
			a.slot[x.v] = a.slots
		}
		a.slots++
	}
	return a
}

func inserted(list []interval, x interval) []interval {
	at, _ := slices.BinarySearchFunc(list, x, func(a, b interval) int { return cmp.Compare(a.to, b.to) })
	return slices.Insert(list, at, x)
}
