package amd64

// This file splits live ranges, for targets with few registers. A value that is not read for some time
// is stored where it is made and loaded where it is read next, into another register or by the
// instruction that reads it. Linear scan alone sends a value to memory for its whole life.

import (
	"cmp"
	"math"
	"slices"
)

// split reports whether a value may lose its register: one step defines it, and all reads are in the
// same loop as that step.
func (x *life) split() bool { return !x.several && x.loop >= 0 }

// end returns the value of dies.
func (x *life) end() int32 {
	switch {
	case !x.split():
		return x.to
	case len(x.reads) == 0:
		return x.from
	}
	return min(x.to, x.reads[len(x.reads)-1])
}

// readBehind returns the place in reads of the first step behind step k.
func (x *life) readBehind(k int) int {
	for x.next < len(x.reads) && int(x.reads[x.next]) <= k {
		x.next++
	}
	return x.next
}

// leastGap is the least distance to the next read, in steps, for which a value loses its register.
const leastGap = 8

// splitter is the state of splits.
type splitter struct {
	*program
	old       []step
	lives     []life       // by virtual register
	live      []virt       // the values that have a register
	ends      int32        // a step before which none of them dies
	registers int          // how many there are
	loops     []int        // where the loops around the step begin, the outermost first
	loopEnds  map[int]int  // where a loop ends, by its begin
	newSlot   func() int32 // see splits
}

// splits gives values registers for parts of their lives. If more values live than there are registers,
// the one whose next read is the farthest loses its register (L. Belady, "A study of replacement
// algorithms for a virtual-storage computer", 1966). vectors is the number of registers. newSlot
// returns the offset of a new slot in scratch memory. It returns the intervals if it changes nothing.
//
// It would be wrong to use a reload on a path that jumps past it. So reloads are forgotten at labels
// and at the begins and ends of loops (see forget).
func (p *program) splits(vectors int, newSlot func() int32) intervals {
	all := p.live()
	if p.pressure(all) <= vectors {
		return all
	}
	z := &splitter{program: p, old: p.steps, lives: p.shop.lives.zeros(len(p.values)), registers: vectors,
		loopEnds: map[int]int{}, newSlot: newSlot}
	z.survey(all)
	p.steps = p.shop.steps.list(len(z.old) * 9 / 8)
	for k := range z.old {
		s := &z.old[k]
		switch {
		case s.enters:
			z.loops = append(z.loops, k)
		case s.leaves:
			z.loops = z.loops[:len(z.loops)-1]
		}
		if s.scalar != nil && s.dst == 0 && !s.operands() || s.enters || s.leaves { // perhaps a label
			z.forget()
		}
		z.step(k, s)
	}
	return intervals{}
}

// counts reports whether v is a vector that needs a register. A broadcast of an element in memory needs
// none.
func (z *splitter) counts(v virt) bool {
	return v != 0 && z.values[v].class == vectorClass && !z.hasSource(v)
}

// survey fills lives and loopEnds. all are the intervals.
func (z *splitter) survey(all intervals) {
	for _, v := range all.order {
		z.lives[v].from, z.lives[v].to = all.of[v].from, all.of[v].to
	}
	var open []int
	var in inputs
	around := 0 // 1 + the step that begins the innermost loop; 0: there is none
	for k := range z.old {
		s := &z.old[k]
		if s.enters {
			open = append(open, k)
			around = 1 + k
		}
		for _, v := range in.of(s) {
			if v == 0 {
				continue
			}
			x := &z.lives[v]
			x.touch(around)
			if n := len(x.reads); n == 0 || x.reads[n-1] != int32(k) {
				if n == cap(x.reads) {
					x.reads = z.shop.numbers.room(x.reads, 1)
				}
				x.reads = append(x.reads, int32(k))
			}
		}
		if s.dst != 0 {
			x := &z.lives[s.dst]
			x.several = x.several || x.seen || s.keeps || s.effect
			x.touch(around)
		}
		if s.leaves {
			z.loopEnds[open[len(open)-1]] = k
			if open = open[:len(open)-1]; len(open) > 0 {
				around = 1 + open[len(open)-1]
			} else {
				around = 0
			}
		}
	}
	for _, v := range all.order {
		z.lives[v].dies = z.lives[v].end()
	}
}

// touch notes that a step in a loop reads or defines the value.
func (x *life) touch(around int) {
	if !x.seen {
		x.seen, x.loop = true, around
	} else if x.loop != around {
		x.loop = -1
	}
}

// forget evicts all reloaded values: on another path to this step they may not have been loaded.
func (z *splitter) forget() {
	z.live = slices.DeleteFunc(z.live, func(v virt) bool {
		x := &z.lives[v]
		if x.reload == 0 {
			return false
		}
		x.evicted, x.reload = true, 0
		return true
	})
}

// step appends step k, behind loads of the evicted values that it reads, and evicts values until the
// rest fits.
func (z *splitter) step(k int, s *step) {
	for _, place := range [...]*virt{&s.a, &s.b, &s.c, &s.mask, &s.index} {
		v := *place
		if !z.counts(v) {
			continue
		}
		x := &z.lives[v]
		if x.split() && x.evicted {
			x.evicted, x.reload = false, z.fresh(vectorClass)
			z.steps = append(z.steps, z.load(x, s.part))
			z.live = append(z.live, v)
			z.ends = min(z.ends, x.dies)
		}
		*place = cmp.Or(x.reload, v) // the read is renamed to its reload
	}
	z.steps = append(z.steps, *s)
	if int(z.ends) <= k {
		z.ends = math.MaxInt32
		live := z.live[:0]
		for _, v := range z.live {
			if dies := z.lives[v].dies; int(dies) > k {
				z.ends = min(z.ends, dies)
				live = append(live, v)
			}
		}
		z.live = live
	}
	if v := s.dst; z.counts(v) && int(v) < len(z.lives) && !z.lives[v].evicted && int(z.lives[v].to) > k &&
		!slices.Contains(z.live, v) {
		z.live, z.ends = append(z.live, v), min(z.ends, z.lives[v].dies)
	}
	for len(z.live) > z.registers && z.evict(k) {
	}
}

// load returns the step that loads a value to its reload.
func (z *splitter) load(x *life, part int32) step {
	at := At(scratchReg, x.slot)
	return step{Inst: Inst{Op: VMOVUPD, Len: L256, InMem: true, Mem: at}, dst: x.reload, part: part,
		loads: z.reading(memoryRead{at: at, size: 8, len: L256})}
}

// evict takes the register from the value whose next read is the farthest. It reports whether one is at
// least leastGap away.
func (z *splitter) evict(k int) bool {
	far, at := leastGap-1, -1
	for i, v := range z.live {
		x := &z.lives[v]
		if d := z.distance(x, k); d > far {
			far, at = d, i
		}
	}
	if at < 0 {
		return false
	}
	v := z.live[at]
	x := &z.lives[v]
	x.evicted, x.reload = true, 0
	if x.split() {
		if x.slot == 0 {
			x.slot = z.newSlot()
		}
		z.values[v].home = x.slot
	}
	z.live = slices.Delete(z.live, at, at+1)
	return true
}

// distance returns the number of steps from k to the next read of x, in this round of the loop or in
// the next one.
func (z *splitter) distance(x *life, k int) int {
	if at := x.readBehind(k); at < len(x.reads) {
		return int(x.reads[at]) - k
	}
	if n := len(z.loops); n > 0 {
		begin := z.loops[n-1]
		if at, _ := slices.BinarySearch(x.reads, int32(begin)); at < len(x.reads) {
			return z.loopEnds[begin] - k + int(x.reads[at]) - begin
		}
	}
	return int(x.to) - k + leastGap // no step of the loop reads it
}
