package amd64

// This file moves instructions out of the loops in which their operands do not change, and makes
// those that are equal there once.

import "cmp"

// loopSteps is a loop while its steps are walked, as their numbers; the outermost is no loop.
type loopSteps struct {
	steps []int32
	// before are the steps that move in front of the loop. Where its steps have an anchor, those of
	// the loops inside move there instead, which is where no jump passes them.
	before []int32
	anchor int // a place in steps, or -1
	moved  []int32
	made   map[pureStep]virt
}

// pureStep is what the result of a step depends on.
type pureStep struct {
	op            Op
	length        Len
	imm           uint8
	zero          bool
	constant      int32
	a, b, c, mask virt
	fused         fusedStep
}

// hoist moves steps.
func (p *program) hoist() {
	// depth is in how many loops a register is made, at most; defs how often.
	depth, defs, at := p.shop.numbers.zeros(len(p.values)), p.shop.bytes.zeros(len(p.values)), int32(0)
	for k := range p.steps {
		s := &p.steps[k]
		if s.enters {
			at++
		}
		if s.dst != 0 {
			defs[s.dst] = min(defs[s.dst]+1, 2)
			depth[s.dst] = max(depth[s.dst], at)
		}
		if s.leaves {
			at--
		}
	}
	same := p.shop.virts.zeros(len(p.values)) // what stands for a register that is made no more
	now, merged := func(v virt) virt { return cmp.Or(same[v], v) }, false
	open := []*loopSteps{{anchor: -1, steps: p.shop.numbers.list(len(p.steps))}}
	for k := range p.steps {
		s := &p.steps[k]
		if merged {
			s.rename(now)
		}
		if s.enters {
			open = append(open, &loopSteps{anchor: -1})
		}
		in := open[len(open)-1]
		if to := len(open) - 1; s.movable() && defs[s.dst] == 1 {
			least := int32(0)
			s.reads(func(v virt) { least = max(least, depth[v]) })
			if int(least) < to {
				p.move(int32(k), open, int(least), same)
				merged = merged || same[s.dst] != 0
				depth[s.dst] = least
				continue
			}
		}
		if s.anchor {
			in.anchor = len(in.steps)
		}
		in.steps = append(p.shop.numbers.room(in.steps, 1), int32(k))
		if s.leaves {
			open = open[:len(open)-1]
			out := open[len(open)-1]
			out.steps = p.shop.numbers.room(out.steps, len(in.before)+len(in.moved)+len(in.steps))
			out.steps = in.append(append(out.steps, in.before...))
		}
	}
	order := open[0].append(p.shop.numbers.list(len(p.steps)))
	steps := p.shop.steps.list(len(order))
	for _, k := range order {
		steps = append(steps, p.steps[k])
	}
	p.steps = steps
}

// movable reports an instruction that does nothing but make its result, from registers or a
// constant. One that reads nothing is as cheap as a register that is kept.
func (s *step) movable() bool {
	return s.dst != 0 && s.scalar == nil && !s.keeps && !s.effect && (s.a != 0 || s.b != 0 || s.c != 0) && s.index == 0 &&
		(!s.InMem || s.Mem.Constant != 0)
}

// move puts a step behind the loops at a depth, unless one is there that makes the same.
func (p *program) move(k int32, open []*loopSteps, depth int, same []virt) {
	s := &p.steps[k]
	to, list := open[depth], &open[depth].moved
	if to.anchor < 0 {
		to, list = open[depth+1], &open[depth+1].before
	}
	key := pureStep{op: s.Op, length: s.Len, imm: s.Imm, zero: s.Zero, constant: 0, a: s.a, b: s.b, c: s.c, mask: s.mask, fused: s.fused}
	if s.InMem {
		key.constant = s.Mem.Constant
	}
	if v, ok := to.made[key]; ok {
		same[s.dst] = v
		return
	}
	if to.made == nil {
		to.made = map[pureStep]virt{}
	}
	to.made[key] = s.dst
	*list = append(*list, k)
}

// append appends the steps of the loop with those that moved to its anchor.
func (l *loopSteps) append(to []int32) []int32 {
	at := max(0, l.anchor)
	return append(append(append(to, l.steps[:at]...), l.moved...), l.steps[at:]...)
}
