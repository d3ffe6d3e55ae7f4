package amd64

// This file assigns registers in blocks that stand aside: what a function does for operands that
// are rare or hard. Most vectors pass such a block, so nothing outside of it goes to memory for
// what lives inside. A value that passes through gives its register away at the block's begin,
// where it is stored, and has it again at its end.

import "flow/ir/loop"

// leastAside is how many statements make it worth it to store registers at a block's begin.
const leastAside = 8

// standsAside reports a block of a function that computes alone: it ends no point, and stores and
// counts nothing.
func (l *lowering) standsAside(b *loop.Block) bool {
	return !l.frame.nest && !l.isAside && len(b.Stmts) >= leastAside && computes(b)
}

func computes(b *loop.Block) bool {
	return !loop.Some(b.Stmts, func(s *loop.Stmt) bool {
		if s.Code == loop.Apply {
			return !computes(&s.Func.Body)
		}
		return !s.Code.IsOp() && s.Code != loop.Const && s.Code != loop.Look && s.Code != loop.If
	})
}

// aside writes a block that stands aside.
func (l *lowering) aside(write func()) {
	l.asides++
	id := l.asides
	l.isAside = true
	l.emit(&step{aside: int32(id), scalar: func(m *maker, _ Reg, _ regs) {
		for _, v := range m.at.kept[id-1] {
			if !m.p.hasSource(v) {
				m.Emit(Inst{Op: VMOVUPDStore, Len: m.length, A: m.at.reg[v], InMem: true, Mem: m.slotMem(v)})
			}
		}
	}})
	write()
	l.emit(&step{aside: -int32(id), scalar: func(m *maker, _ Reg, _ regs) {
		for _, v := range m.at.kept[id-1] {
			if m.p.hasSource(v) {
				m.fromSource(m.at.reg[v], m.p.values[v].source)
			} else {
				m.Emit(Inst{Op: VMOVUPD, Len: m.length, Dst: m.at.reg[v], InMem: true, Mem: m.slotMem(v)})
			}
		}
	}})
	l.isAside = false
}

// block is the steps between the begin and the end of a block aside.
type block struct{ from, to int }

// blocks finds the blocks aside, by number.
func (p *program) blocks(steps []step) []block {
	if p.asides == 0 {
		return nil
	}
	list := make([]block, p.asides)
	for k := range steps {
		switch id := int(steps[k].aside); {
		case id > 0:
			list[id-1].from = k
		case id < 0:
			list[-id-1].to = k
		}
	}
	return list
}

// passed counts the steps outside of the blocks up to each. It returns nil if there are no blocks.
func (p *program) passed(blocks []block) []int {
	if len(blocks) == 0 {
		return nil
	}
	out, n := p.shop.ints.zeros(len(p.steps)), 0
	for _, b := range blocks {
		for k := b.from + 1; k < b.to; k++ {
			out[k] = -1
		}
	}
	for k := range out {
		n += 1 + out[k]
		out[k] = n
	}
	return out
}

// within returns the vectors that live and die inside of each block, and all other values.
func (p *program) within(all intervals, blocks []block) (rest []virt, inside [][]virt) {
	of := p.shop.ints.zeros(len(p.steps)) // by step: 1 + the number of its block
	for k, b := range blocks {
		for i := b.from + 1; i < b.to; i++ {
			of[i] = k + 1
		}
	}
	rest, inside = p.shop.virts.list(len(all.order)), make([][]virt, len(blocks))
	for _, v := range all.order {
		if x := &all.of[v]; p.values[v].class == vectorClass && of[x.from] > 0 && of[x.from] == of[x.to] {
			inside[of[x.from]-1] = append(inside[of[x.from]-1], v)
		} else {
			rest = append(rest, v)
		}
	}
	return rest, inside
}

// assignAside gives registers to the vectors that live in block b alone. The vectors around it have
// theirs, and some of those that the block does not touch give it away: these are returned.
func (p *program) assignAside(outer *scan, r registers, b block, around, inside []virt) (kept []virt) {
	a, touched := outer.a, p.shop.bytes.zeros(len(p.values))
	var in inputs
	for k := b.from; k <= b.to; k++ {
		s := &p.steps[k]
		touched[s.dst] = 1
		for _, v := range in.of(s) {
			touched[v] = 1
		}
	}
	owner, fixed := make([]virt, r.vectors), make([]bool, r.vectors)
	for _, v := range around {
		at, x := a.reg[v]-V(0), &a.lives.of[v]
		owner[at] = v
		fixed[at] = fixed[at] || touched[v] != 0 || int(x.from) >= b.from || int(x.to) <= b.to
	}
	s := outer.inside(b)
	free := &s.bank[vectorClass].free
	for _, given := range []bool{true, false} { // the last ones are taken first: registers without an owner
		for k := range owner {
			if !fixed[k] && (owner[k] != 0) == given {
				*free = append(*free, V(k))
			}
		}
	}
	s.bank[vectorClass].taken = len(*free)
	s.assign(inside)
	for _, v := range inside {
		reg := a.reg[v]
		if reg == NoReg {
			continue
		}
		if v := owner[reg-V(0)]; v != 0 && !fixed[reg-V(0)] {
			owner[reg-V(0)] = 0
			kept = append(kept, v)
			if !p.hasSource(v) && p.values[v].home == 0 && a.slot[v] == 0 {
				a.slot[v] = a.slots
				a.slots++
			}
		}
	}
	return kept
}
