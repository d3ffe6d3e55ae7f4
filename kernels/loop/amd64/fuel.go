package amd64

// This file estimates how long rounds of loops take, which limits how many of them a call makes.

// cyclesOfCall is how many cycles a call may take: some 20 us on a slow processor.
const cyclesOfCall = 50_000

// cycles are those of instructions on 512 bits that take more than one (Zen 4, as measured; Intel's
// are no slower).
var cycles = map[Op]int{VDIVPD: 9, VDIVPS: 6, VSQRTPD: 16, VSQRTPS: 8, VSCALEFPD: 2}

// cyclesOfScalar are those of scalar code, which may wait for memory.
const cyclesOfScalar = 20

// fuel is how many rounds take cyclesOfCall, at the pace of the slowest loop. The rounds of inner
// loops are counted apart.
func (p *program) fuel() int {
	open, most := []int{0}, 1
	for k := range p.steps {
		s := &p.steps[k]
		if s.enters {
			open = append(open, 0)
		}
		cost := 1
		switch {
		case s.scalar != nil && (s.pure || s.dst == 0 && len(s.uses) > 0):
			cost = cyclesOfScalar
		case cycles[s.Op] > 0:
			cost = cycles[s.Op]
		}
		open[len(open)-1] += cost
		if s.leaves {
			most = max(most, open[len(open)-1])
			open = open[:len(open)-1]
		}
	}
	return max(4, cyclesOfCall/most)
}
