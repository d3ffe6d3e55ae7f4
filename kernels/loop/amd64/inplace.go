package amd64

// This file lets an instruction take an operand from memory instead of a register.

import "math"

// farthestInPlace is the largest number of steps between a load and the reader that replaces it.
const farthestInPlace = 32

// readInPlace removes loads whose only reader can take its operand from memory. Between the load and
// the reader no step stores, and no loop begins or ends. If the intervals are known, they stay right:
// the base of the address lives until the reader.
func (p *program) readInPlace(t *target, lives intervals) {
	read, made, loads := p.readers, p.makers, p.loads
	if len(made) < len(p.values) { // steps have been added
		read, made = p.shop.bytes.zeros(len(p.values)), p.shop.bytes.zeros(len(p.values))
		var in inputs
		for k := range p.steps {
			s := &p.steps[k]
			for _, v := range in.of(s) {
				read[v] = min(read[v]+1, 2)
			}
			made[s.dst] = min(made[s.dst]+1, 2)
			loads = loads || s.loads != nil
		}
	}
	if !loads {
		return
	}
	at, last := p.shop.ints.zeros(len(p.values)), 0 // 1 + the step of a load; the last step that no load may cross
	for k := range p.steps {
		s := &p.steps[k]
		if x := s.loads; x != nil && read[s.dst] == 1 && made[s.dst] == 1 && p.values[s.dst].home == 0 && x.reg != 0 && made[x.reg] <= 1 {
			at[s.dst] = k + 1
		}
		for _, v := range s.fromMemory() {
			d := at[v]
			if v == 0 || d <= last || k-d >= farthestInPlace || !p.steps[d-1].loads.fits(t, s) {
				continue
			}
			p.values[v].inPlace, s.near = p.steps[d-1].loads, p.steps[d-1].loads.reg
			if lives.of != nil {
				base := &lives.of[s.near]
				base.to = max(base.to, int32(k))
			}
			p.steps[d-1] = step{}
			break
		}
		if s.enters || s.leaves || s.root() && !s.jumps {
			last = k + 1
		}
	}
}

// fits reports whether the instruction of step s can take an operand from x.
func (x *memoryRead) fits(t *target, s *step) bool {
	size := uint8(8)
	if f := &forms[s.Op]; !s.fused.is {
		if !s.Op.takesMemory() || s.Op == VMOVAPD || f.tuple != tFull {
			return false
		}
		size = f.elem
		if x.all && f.evexW == no {
			return false
		}
	} else if s.fused.single {
		size = 4
	}
	return s.Len == x.len && (!x.all || t.embeds && size == x.size)
}

// fromMemory lists the operands that an instruction may read from memory: the last one, or one that may
// be exchanged with it.
func (s *step) fromMemory() [3]virt {
	switch {
	case s.scalar != nil || s.InMem || s.index != 0:
		return [3]virt{}
	case s.fused.is && s.fused.table == 0:
		return [3]virt{s.b, s.a, s.c}
	case s.fused.is || s.c != 0:
		return [3]virt{}
	case traitsOf[s.Op].commutes:
		return [3]virt{s.b, s.a}
	}
	return [3]virt{s.b}
}

// needed marks the steps whose results reach a root. By value, depth is the greatest number of
// loops around such a step that makes it, defs is how many such steps make it, at most 2, and read
// is how often they read it, at most many. The steps are walked from the last to the first. The
// walk is repeated if a step that it has left out makes a value that an earlier step reads, as a
// step of a loop may.
func (p *program) needed() (needed []uint8, depth []int32, defs, read []uint8) {
	read = p.shop.bytes.zeros(len(p.values))
	unread := p.shop.bytes.zeros(len(p.values))
	needed, depth, defs = p.shop.bytes.zeros(len(p.steps)), p.shop.numbers.zeros(len(p.values)), p.shop.bytes.zeros(len(p.values))
	at := int32(0)
	var in inputs
	for again := true; again; {
		again = false
		for k := len(p.steps) - 1; k >= 0; k-- {
			s := &p.steps[k]
			if s.leaves {
				at++
			}
			switch {
			case needed[k] != 0:
			case read[s.dst] == 0 && !s.root():
				unread[s.dst] = 1
			default:
				needed[k] = 1
				defs[s.dst] = min(defs[s.dst]+1, 2)
				depth[s.dst] = max(depth[s.dst], at)
				for _, v := range in.of(s) {
					read[v] = min(read[v], many-1) + 1
					again = again || unread[v] != 0
				}
				read[0] = 0
			}
			if s.enters {
				at--
			}
		}
		clear(unread)
	}
	defs[0], depth[0] = 0, 0
	return needed, depth, defs, read
}

// many is where the count of reads ends: it stands for all greater numbers, too.
const many = math.MaxUint8
