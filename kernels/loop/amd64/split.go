package amd64

// This file takes registers from values that are read again only later, for targets with few registers.
// Such a value is stored where it is made and loaded where it is read next, into another register or by
// the instruction that reads it. Linear scan alone sends a value to memory for its whole life.

import "slices"

// life is a vector while splits walks the steps.
type life struct {
	from, to int     // the steps of its interval
	reads    []int32 // the steps that read it, from the next one on
	first    []int32 // all of them
	loop     int     // 1 + the step that begins the loop that all its steps are in; 0: none; -1: several
	several  bool    // it is made by several steps
	gone     bool    // it has no register any more
	now      virt    // what it was loaded to last; 0: it has its first register
	place    int32   // where it is stored; 0: nowhere
}

// split reports a value that may have a register for parts of its life: a loop hands it on to no other.
func (x *life) split() bool { return !x.several && x.loop >= 0 }

// leastGap is how many steps are between two reads where a value is worth a store and a load.
const leastGap = 8

// splitter is the state of splits.
type splitter struct {
	*program
	old   []step
	lives []life
	live  []virt // those that have a register
	room  int    // how many registers there are
	aside int    // the number of the block aside, or 0
	loops []int  // where those begin that have not ended
	ends  map[int]int
	store func() int32
}

// splits gives the values of straight-line code registers for parts of their lives. Where more live than
// there are registers, that value gives its register away whose next read is the farthest (L. Belady, "A
// study of replacement algorithms for a virtual-storage computer", 1966). room returns a place in scratch
// memory.
func (p *program) splits(vectors int, room func() int32) {
	if p.pressure() <= vectors {
		return
	}
	z := &splitter{program: p, old: p.steps, lives: make([]life, len(p.classes)), room: vectors, ends: map[int]int{}, store: room}
	z.survey()
	p.home = make([]int32, len(p.classes))
	p.steps = make([]step, 0, len(z.old)*9/8)
	blocks := asidesOf(z.old)
	var outside []virt
	for k := range z.old {
		s := &z.old[k]
		switch {
		case s.enters:
			z.loops = append(z.loops, k)
		case s.leaves:
			z.loops = z.loops[:len(z.loops)-1]
		case s.aside > 0:
			z.forget()
			outside = slices.Clone(z.live)
			z.begin(blocks[s.aside-1])
			z.aside = s.aside
		case s.aside < 0:
			for _, v := range z.live {
				z.lives[v].gone = z.lives[v].split()
			}
			z.aside, z.live = 0, outside
			for _, v := range outside {
				z.lives[v].gone, z.lives[v].now = false, 0
			}
		}
		if s.scalar != nil && s.dst == 0 && len(s.uses) == 0 || s.enters || s.leaves { // perhaps a label
			z.forget()
		}
		z.step(k, *s)
	}
}

// counts reports a vector that needs a register: what repeats an element in memory needs none.
func (z *splitter) counts(v virt) bool {
	return v != 0 && z.classes[v] == vectorClass && !z.hasSource(v)
}

// survey finds where values live, and in which loops.
func (z *splitter) survey() {
	for _, x := range z.intervals() {
		z.lives[x.v].from, z.lives[x.v].to = x.from, x.to
	}
	var open []int
	in, seen := 0, make([]bool, len(z.lives))
	touch := func(v virt) {
		if x := &z.lives[v]; !seen[v] {
			seen[v], x.loop = true, in
		} else if x.loop != in {
			x.loop = -1
		}
	}
	for k := range z.old {
		s := &z.old[k]
		if s.enters {
			open = append(open, k)
			in = 1 + k
		}
		s.reads(func(v virt) {
			touch(v)
			if x := &z.lives[v]; len(x.reads) == 0 || x.reads[len(x.reads)-1] != int32(k) {
				x.reads = append(x.reads, int32(k))
			}
		})
		if s.dst != 0 {
			x := &z.lives[s.dst]
			x.several = x.several || seen[s.dst] || s.keeps || s.effect
			touch(s.dst)
		}
		if s.leaves {
			z.ends[open[len(open)-1]] = k
			if open = open[:len(open)-1]; len(open) > 0 {
				in = 1 + open[len(open)-1]
			} else {
				in = 0
			}
		}
	}
	for v := range z.lives {
		z.lives[v].first = z.lives[v].reads
	}
}

// forget takes registers from what was loaded: on another way to here it was not.
func (z *splitter) forget() {
	z.live = slices.DeleteFunc(z.live, func(v virt) bool {
		x := &z.lives[v]
		if x.now == 0 {
			return false
		}
		x.gone, x.now = true, 0
		return true
	})
}

// begin begins a block aside. What it reads of the values outside, it loads if they are too many: they are
// stored in front of it, so that they can give their registers away.
func (z *splitter) begin(b block) {
	inside, touched := make([]int, b.to-b.from+1), 0
	for v := range z.lives {
		if x := &z.lives[v]; z.counts(virt(v)) && x.from > b.from && x.from < b.to {
			inside[x.from-b.from]++
			inside[min(x.to, b.to)-b.from]--
		}
	}
	reads := func(x *life) bool { // within the block
		at := slices.IndexFunc(x.reads, func(k int32) bool { return int(k) > b.from })
		return at >= 0 && int(x.reads[at]) < b.to
	}
	old := z.live
	z.live = nil
	for _, v := range old {
		if x := &z.lives[v]; x.several || reads(x) {
			touched++
			z.live = append(z.live, v)
		}
	}
	most, n := 0, touched
	for _, c := range inside {
		n += c
		most = max(most, n)
	}
	if most <= z.room {
		return
	}
	z.live = slices.DeleteFunc(z.live, func(v virt) bool {
		x := &z.lives[v]
		if !x.split() {
			return false
		}
		if x.place == 0 {
			x.place = z.store()
		}
		if at := x.place; z.home[v] == 0 {
			z.steps = append(z.steps, step{Inst: Inst{Op: VMOVUPDStore, Len: L256, InMem: true, Mem: At(scratchReg, at)}, a: v, jumps: true})
		}
		x.gone = true
		return true
	})
}

// step appends a step, and loads in front of it.
func (z *splitter) step(k int, s step) {
	now := func(v *virt) {
		if !z.counts(*v) {
			return
		}
		x := &z.lives[*v]
		if x.split() && x.gone {
			x.gone, x.now = false, z.fresh(vectorClass)
			z.home = append(z.home, 0)
			z.steps = append(z.steps, z.load(x, s.part))
			z.live = append(z.live, *v)
		}
		if x.now != 0 {
			*v = x.now
		}
	}
	for _, v := range [...]*virt{&s.a, &s.b, &s.c, &s.mask, &s.index} {
		now(v)
	}
	if len(s.uses) > 0 {
		s.uses = slices.Clone(s.uses)
		for i := range s.uses {
			now(&s.uses[i])
		}
	}
	z.steps = append(z.steps, s)
	z.live = slices.DeleteFunc(z.live, func(v virt) bool {
		x := &z.lives[v]
		for len(x.reads) > 0 && int(x.reads[0]) <= k {
			x.reads = x.reads[1:]
		}
		return x.to <= k || x.split() && len(x.reads) == 0
	})
	if v := s.dst; z.counts(v) && int(v) < len(z.lives) && !z.lives[v].gone && z.lives[v].to > k && !slices.Contains(z.live, v) {
		z.live = append(z.live, v)
	}
	for len(z.live) > z.room && z.evict(k) {
	}
}

// load is the step that loads a value.
func (z *splitter) load(x *life, part int) step {
	at := At(scratchReg, x.place)
	return step{Inst: Inst{Op: VMOVUPD, Len: L256, InMem: true, Mem: at}, dst: x.now, part: part, loads: &memoryRead{at: at, size: 8, len: L256}}
}

// evict takes the register from the value that is read last of all. It reports whether there was one.
func (z *splitter) evict(k int) bool {
	far, at := leastGap-1, -1
	for i, v := range z.live {
		x := &z.lives[v]
		if d := z.distance(x, k); d > far && (z.aside == 0 || x.split()) {
			far, at = d, i
		}
	}
	if at < 0 {
		return false
	}
	v := z.live[at]
	x := &z.lives[v]
	x.gone, x.now = true, 0
	if x.split() {
		if x.place == 0 {
			x.place = z.store()
		}
		z.home[v] = x.place
	}
	z.live = slices.Delete(z.live, at, at+1)
	return true
}

// distance is how many steps from k on x is read, in the next round of the loop if not in this one.
func (z *splitter) distance(x *life, k int) int {
	if len(x.reads) > 0 {
		return int(x.reads[0]) - k
	}
	if n := len(z.loops); n > 0 {
		begin := z.loops[n-1]
		if at, _ := slices.BinarySearch(x.first, int32(begin)); at < len(x.first) {
			return z.ends[begin] - k + int(x.first[at]) - begin
		}
	}
	return x.to - k + leastGap // it passes through the loop
}
