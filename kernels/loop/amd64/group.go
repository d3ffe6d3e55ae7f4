package amd64

// This file orders the steps of vectors that are lowered together for targets with few registers.

import "slices"

// longestRun is how many steps are ordered at once: a processor that works out of order must find
// those of the next part in time.
const longestRun = 48

// run is steps that may change places with those of other parts.
type run struct {
	// made and read say, by virtual register, which part's steps make and read it: 1 + the part, 0
	// if none does, -1 if several do.
	made, read []int
}

// pressure is how many vectors and masks live at once, at most. Those that can be read from memory
// as well do not count.
func (p *program) pressure() int {
	change := make([]int, len(p.steps))
	for _, x := range p.intervals() {
		if p.classes[x.v] != generalClass && !p.hasSource(x.v) {
			change[x.from]++
			change[x.to]--
		}
	}
	live, most := 0, 0
	for _, c := range change {
		live += c
		most = max(most, live)
	}
	return most
}

// group moves the steps of each part together in runs of steps that depend on no other part: the
// values that a part holds for a statement or two then need registers for one part at a time. Steps
// with effects on memory, labels and jumps stay.
func (p *program) group() {
	r := run{made: make([]int, len(p.classes)), read: make([]int, len(p.classes))}
	begin := 0
	for k := range p.steps {
		s := &p.steps[k]
		fixed := s.dst == 0 || s.scalar != nil && !s.pure || s.anchor
		if fixed || r.foreign(s) || k-begin >= longestRun {
			r.order(p.steps[begin:k])
			begin = k
		}
		if fixed {
			begin = k + 1
			continue
		}
		r.add(s)
	}
	r.order(p.steps[begin:])
}

// foreign reports that s may not change places with a step of another part in the run.
func (r *run) foreign(s *step) bool {
	other := func(who int) bool { return who != 0 && who != s.part+1 }
	found := other(r.made[s.dst]) || other(r.read[s.dst])
	s.reads(func(v virt) { found = found || other(r.made[v]) })
	return found
}

// add appends a step.
func (r *run) add(s *step) {
	r.made[s.dst] = s.part + 1
	s.reads(func(v virt) {
		if who := &r.read[v]; *who == 0 || *who == s.part+1 {
			*who = s.part + 1
		} else {
			*who = -1
		}
	})
}

// order sorts the steps of the run by part and empties it.
func (r *run) order(steps []step) {
	slices.SortStableFunc(steps, func(a, b step) int { return a.part - b.part })
	for k := range steps {
		s := &steps[k]
		r.made[s.dst] = 0
		s.reads(func(v virt) { r.read[v] = 0 })
	}
}
