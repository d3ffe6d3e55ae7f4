package amd64

// This file orders the steps of vectors that are lowered together if registers are scarce, and loads
// again what has no register meanwhile.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// longestRun is how many steps are ordered at once: a processor that works out of order must find
// those of the next part in time.
const longestRun = 48

// run is steps that may change places with those of other parts.
type run struct {
	// made and read say, by virtual register, which part's steps make and read it: 1 + the part, 0
	// if none does, -1 if several do.
	made, read []int32
}

// pressure is how many vectors and masks of all live at once, at most. Those that can be read from
// memory as well do not count.
func (p *program) pressure(all intervals) int {
	change := p.shop.ints.zeros(len(p.steps))
	for _, v := range all.order {
		if x := &all.of[v]; p.values[v].class != generalClass && !p.hasSource(v) {
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

// group moves the steps of each part together in runs of steps that depend on no other part: the values
// that a part holds for a statement or two then need registers for one part at a time. Steps with
// effects on memory, labels and jumps stay. With 32 registers, this order takes 0.80 to 0.87 of the
// time for escape times over a table, 0.93 to 0.98 for distances on a sphere, and 0.93 to 1.01 for
// forces, but 1.06 for those of Plummer's law by columns (Emerald Rapids).
func (p *program) group() {
	r := run{made: p.shop.numbers.zeros(len(p.values)), read: p.shop.numbers.zeros(len(p.values))}
	begin := 0
	for k := range p.steps {
		s := &p.steps[k]
		fixed := s.dst == 0 || s.scalar != nil && !s.pure || s.anchor
		if fixed || r.foreign(s) || k-begin >= longestRun {
			r.order(p.shop, p.steps[begin:k])
			begin = k
		}
		if fixed {
			begin = k + 1
			continue
		}
		r.add(s)
	}
	r.order(p.shop, p.steps[begin:])
}

// foreign reports that s may not change places with a step of another part in the run.
func (r *run) foreign(s *step) bool {
	other := func(who int32) bool { return who != 0 && who != s.part+1 }
	if other(r.made[s.dst]) || other(r.read[s.dst]) {
		return true
	}
	var in inputs
	for _, v := range in.of(s) {
		if other(r.made[v]) { // made[0] is 0
			return true
		}
	}
	return false
}

// add appends a step.
func (r *run) add(s *step) {
	r.made[s.dst] = s.part + 1
	var in inputs
	for _, v := range in.of(s) {
		if who := &r.read[v]; *who == 0 || *who == s.part+1 {
			*who = s.part + 1
		} else {
			*who = -1
		}
	}
}

// order sorts the steps of the run by part and empties it.
func (r *run) order(shop *workshop, steps []step) {
	sorted := shop.steps.list(len(steps))
	for part := int32(0); len(sorted) < len(steps); part++ {
		for k := range steps {
			if steps[k].part == part {
				sorted = append(sorted, steps[k])
			}
		}
	}
	copy(steps, sorted)
	var in inputs
	for k := range steps {
		s := &steps[k]
		r.made[s.dst] = 0
		for _, v := range in.of(s) {
			r.read[v] = 0
		}
	}
}

// nearReads is from how many steps between two reads of a value on it is loaded again for the second,
// if there are too few registers.
const nearReads = 24

// fewLoads are as many as are kept or stored: to find them takes longer.
const fewLoads = 8

// loaded is a register that a step loads: see reload.
type loaded struct {
	step   *step
	at     int  // where it was loaded or read last
	writes int  // how many steps before it may have written memory
	steady bool // loaded by one step, and read before memory is written
	far    bool // a read is far from the one before
	now    virt // what stands for it, from label to label
	labels int
}

// reload makes loads anew where values are read that were loaded or read long ago, if more vectors live
// at once than there are registers: what a window of many elements reads twice is not stored meanwhile.
func (p *program) reload(vectors int) {
	made, loads, writes, far := p.makers, p.again, 0, 0
	if loads < fewLoads {
		return
	}
	known := make([]*loaded, len(p.values))
	for k := range p.steps {
		s := &p.steps[k]
		s.reads(func(v virt) {
			if x := known[v]; x != nil {
				x.steady = x.steady && x.writes == writes
				if k-x.at > nearReads && !x.far {
					x.far = true
					far++
				}
				x.at = k
			}
		})
		if s.again && made[s.dst] == 1 && made[s.a] <= 1 && made[s.mask] <= 1 {
			known[s.dst] = &loaded{step: s, at: k, writes: writes, steady: true}
		}
		if s.root() && !s.jumps {
			writes++
		}
	}
	if far < fewLoads || p.pressure(p.live()) <= vectors {
		return
	}
	old, labels := p.steps, 0
	p.steps = p.shop.steps.list(len(old) + loads)
	for k := range old {
		s := &old[k]
		if x := known[s.dst]; x != nil && x.steady && x.far {
			continue
		}
		s.rename(func(v virt) virt {
			x := known[v]
			if x == nil || !x.steady || !x.far {
				return v
			}
			if x.now == 0 || x.labels != labels || k-x.at > nearReads {
				again := *x.step
				again.dst = p.fresh(p.values[v].class)
				x.now, x.labels = again.dst, labels
				p.steps = append(p.steps, again)
			}
			x.at = k
			return x.now
		})
		if s.jumps {
			labels++
		}
		p.steps = append(p.steps, *s)
	}
}

// Bounds of how many more additions than multiplications there have been: below mostAdditions none is
// replaced, and multiplications of long ago do not count.
const leastAdditions, mostAdditions = -8, 2

// latency is how many cycles others wait for a result.
func (s *step) latency() int {
	switch {
	case s.scalar != nil:
		return 1
	case s.fused.is && s.fused.table == 0:
		return 4
	}
	return 1 + traitsOf[s.Op].waits
}

// traitsOf has, by instruction, the properties that passes look up for every step. A table takes less
// time than comparing with each instruction of a list.
var traitsOf = func() (list [mostOps]struct {
	waits    int  // cycles that others wait for the result, but for the first
	adds     bool // it runs on the units for additions
	commutes bool // see commutes
}) {
	for _, op := range []Op{VADDPD, VADDPS, VSUBPD, VSUBPS, VMULPD, VMULPS, VCMPPDK, VCMPPSK, VRANGEPD, VRANGEPS} {
		list[op].waits = 2
	}
	list[VDIVPD].waits, list[VDIVPS].waits, list[VSQRTPD].waits, list[VSQRTPS].waits = 12, 12, 20, 20
	for _, op := range []Op{VADDPD, VADDPS, VSUBPD, VSUBPS} {
		list[op].adds = true
	}
	for _, op := range commutes {
		list[op].commutes = true
	}
	return list
}()

// fewAdditions are as many as no units wait for.
const fewAdditions = 32

// waits reports, for each loop and what lies between two, in their order, whether a chain of results
// takes longer than the units that add.
func (l *lowering) waits() (list []bool) {
	ready, base, last, adds := l.shop.ints.zeros(len(l.values)), 0, 0, 0
	var in inputs
	for k := range l.steps {
		s, at := &l.steps[k], base
		for _, v := range in.of(s) {
			at = max(at, ready[v])
		}
		at += s.latency()
		if traitsOf[s.Op].adds {
			adds++
		}
		ready[s.dst], last = at, max(last, at)
		ready[0] = 0
		if s.enters || s.leaves || k == len(l.steps)-1 {
			list = append(list, adds < fewAdditions || adds*l.length.Bytes() < 64*(last-base)) // 64 bytes a cycle
			base, adds = last, 0
		}
	}
	return list
}

// balance makes differences a - b multiply-adds, a - 1*b, if there is work for all units and there are
// more additions, minima and maxima than multiplications and comparisons. AMD processors from Zen to
// Zen 4 have two units for the former and two for the latter. Sums for which the next rounds wait stay,
// because they take a cycle less. On AVX2 operations on bits, which all units do, find room in the
// latter: a window of 49 numbers takes 0.86 of the time without such differences (Zen 3). The bytes are
// the same.
func (l *lowering) balance() {
	if l.additions < fewAdditions {
		return
	}
	more, before, waits := 0, len(l.head), l.waits()
	if !slices.Contains(waits, false) {
		return
	}
	for k := range l.steps {
		s := &l.steps[k]
		if s.enters || s.leaves {
			waits = waits[1:]
		}
		switch {
		case len(waits) == 0 || waits[0], s.scalar != nil, s.fused.table != 0:
			continue
		case s.fused.is:
			more--
		case s.mask == 0 && !s.InMem && more >= mostAdditions && (s.Op == VSUBPD || s.Op == VSUBPS):
			e, one := types.F64, loop.ToF64.Eval(types.Bool, 1)
			if s.Op == VSUBPS {
				e, one = types.F32, loop.ToF32.Eval(types.Bool, 1)
			}
			s.Op, s.fused = noOp, fusedStep{is: true, single: e == types.F32, minusProduct: true}
			s.a, s.b, s.c = s.b, l.constantVector(e, one), s.a
			more--
		default:
			switch s.Op {
			case VADDPD, VADDPS, VSUBPD, VSUBPS, VMINPD, VMINPS, VMAXPD, VMAXPS, VRANGEPD, VRANGEPS:
				more++
			case VMULPD, VMULPS, VCMPPDK, VCMPPSK, VCMPPD, VCMPPS:
				more--
			case VPAND, VPOR, VPXOR, VPANDN, VANDPD, VORPD, VXORPD, VPADDQ, VPSUBQ, VBLENDVPD:
				if l.vexOnly() && more > 0 {
					more--
				}
			}
		}
		more = max(more, leastAdditions)
	}
	if len(l.head) > before {
		at := slices.IndexFunc(l.steps, func(s step) bool { return s.anchor || s.fused.is })
		l.steps = slices.Insert(l.shop.steps.room(l.steps, len(l.head)-before), at, l.head[before:]...)
	}
}

// canTurn reports a space whose two indices may change places: each reduced result is one element,
// whose contributions come in any order.
func canTurn(n *loop.Nest) bool {
	if len(n.Space) != 2 {
		return false
	}
	for _, x := range n.Space {
		if x.Range.Kind != loop.Steps || x.Range.By != 1 {
			return false
		}
		for _, f := range []loop.Lin{x.Range.From, x.Range.To} {
			if f.Coef(loop.Sym{Kind: loop.IndexSym, N: n.Space[0].Name}) != 0 {
				return false
			}
		}
	}
	return !loop.Some(n.Body.Stmts, func(s *loop.Stmt) bool { return s.Code == loop.Reduce && !ofAll(n, s) })
}

// ofAll reports whether a statement reduces all points to one element, in any order.
func ofAll(n *loop.Nest, s *loop.Stmt) bool {
	r := n.Results[s.Mem.N]
	return !slices.ContainsFunc(s.At, func(l loop.Lin) bool { return !l.Known() }) && r.Class.Free(r.Elem)
}
