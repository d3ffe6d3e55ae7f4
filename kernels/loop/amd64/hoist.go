package amd64

// This file moves instructions out of the loops in which their operands do not change, and makes
// those that are equal there once.

// loopSteps is a loop while its steps are walked, as their numbers; the outermost is no loop.
type loopSteps struct {
	steps []int32
	// before are the steps that move in front of the loop. Where its steps have an anchor, those of
	// the loops inside move there instead, which is where no jump passes them.
	before []int32
	anchor int // a place in steps, or -1
	moved  []int32
	number int32
}

// movedSteps finds a moved step with the same result as another step.
type movedSteps struct {
	last []int32 // by an operand: 1 + the last step that has moved and reads it
	next []int32 // by step: 1 + the one before it
	loop []int32 // by step: the number of the loop to which it has moved
}

// makesTheSame reports whether the results of two movable steps are equal.
func (s *step) makesTheSame(t *step) bool {
	return s.Op == t.Op && s.Len == t.Len && s.Imm == t.Imm && s.Zero == t.Zero && s.InMem == t.InMem && (!s.InMem || s.Mem.Constant == t.Mem.Constant) &&
		s.a == t.a && s.b == t.b && s.c == t.c && s.mask == t.mask && s.fused == t.fused
}

// hoist moves steps out of loops and drops those whose results no step needs.
func (p *program) hoist() {
	needed, depth, defs, read := p.needed()
	same, merged := p.shop.virts.zeros(len(p.values)), false // what stands for a register that is made no more
	moved := movedSteps{p.shop.numbers.zeros(len(p.values)), p.shop.numbers.zeros(len(p.steps)), p.shop.numbers.zeros(len(p.steps))}
	open, loops := append(make([]loopSteps, 0, 8), loopSteps{anchor: -1, steps: p.shop.numbers.list(len(p.steps))}), int32(0)
	for k := range p.steps {
		s := &p.steps[k]
		if needed[k] == 0 {
			continue
		}
		if merged {
			for _, v := range [...]*virt{&s.a, &s.b, &s.c, &s.mask, &s.index} {
				if now := same[*v]; now != 0 {
					*v = now
				}
			}
		}
		if s.enters {
			loops++
			open = append(open, loopSteps{anchor: -1, number: loops})
		}
		in := &open[len(open)-1]
		if to := len(open) - 1; s.movable() && defs[s.dst] == 1 {
			least := max(depth[s.a], depth[s.b], depth[s.c], depth[s.mask])
			if int(least) < to {
				if p.move(int32(k), open, int(least), same, &moved); same[s.dst] != 0 {
					merged = true
					for _, v := range [...]virt{s.a, s.b, s.c, s.mask} {
						if read[v] > 0 && read[v] < many {
							read[v]--
						}
					}
				}
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
			out := &open[len(open)-1]
			out.steps = p.shop.numbers.room(out.steps, len(in.before)+len(in.moved)+len(in.steps))
			out.steps = in.append(append(out.steps, in.before...))
		}
	}
	p.makers, p.readers = defs, read
	p.reorder(open[0].append(p.shop.numbers.list(len(p.steps))))
}

// reorder leaves the steps of the given numbers, in this order, and counts them.
func (p *program) reorder(order []int32) {
	steps := p.shop.steps.list(len(order))[:len(order)]
	p.additions, p.again, p.loads = 0, 0, false
	for i, k := range order {
		steps[i] = p.steps[k]
		s := &steps[i]
		if traitsOf[s.Op].adds {
			p.additions++
		}
		if s.again {
			p.again++
		}
		p.loads = p.loads || s.loads != nil
		if s.InMem && s.Mem.Base == scratchReg && s.Mem.Disp >= countersAt && s.Mem.Disp < roomAt {
			p.inMemory[(s.Mem.Disp-countersAt)/16] = true
		}
	}
	p.steps = steps
}

// move puts a step behind the loops at a depth, unless one is there that makes the same.
func (p *program) move(k int32, open []loopSteps, depth int, same []virt, moved *movedSteps) {
	s := &p.steps[k]
	to, list := &open[depth], &open[depth].moved
	if to.anchor < 0 {
		to, list = &open[depth+1], &open[depth+1].before
	}
	operand := max(s.a, s.b, s.c)
	for i := moved.last[operand]; i != 0; i = moved.next[i-1] {
		if t := &p.steps[i-1]; moved.loop[i-1] == to.number && s.makesTheSame(t) {
			same[s.dst] = t.dst
			return
		}
	}
	moved.next[k], moved.last[operand], moved.loop[k] = moved.last[operand], k+1, to.number
	*list = append(p.shop.numbers.room(*list, 1), k)
}

// append appends the steps of the loop with those that moved to its anchor.
func (l *loopSteps) append(to []int32) []int32 {
	at := max(0, l.anchor)
	return append(append(append(to, l.steps[:at]...), l.moved...), l.steps[at:]...)
}
