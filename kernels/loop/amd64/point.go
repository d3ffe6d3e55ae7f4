package amd64

// This file lowers nests without indices, which have one point. All lanes of a vector hold the same: a
// load repeats an element, a store writes the first lane. So the conditions of branches and breaks are
// those of the point, and they jump. A value that a subscript names has a word in scratch memory, from
// which scalar code computes the place.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// point reports a nest without indices.
func (l *lowering) point() bool { return len(l.nest.Space) == 0 }

// alike reports code whose lanes all hold the same.
func (l *lowering) alike() bool { return l.lanes < 0 }

// halved reports vectors of fewer lanes than a mask has bits. The other bits are 0, because
// instructions that test masks test all.
func (l *lowering) halved() bool { return l.embeds && l.target.lanes < squareRows }

// not is the other lanes.
func (l *lowering) not(c virt) virt {
	if l.halved() {
		return l.mask(KANDNW, c, l.firstOnes(l.target.lanes))
	}
	return l.emit(&step{Inst: Inst{Op: KNOTW}, b: c, dst: l.fresh(maskClass)})
}

// namedWord is where a value lies that a subscript names.
type namedWord struct {
	at    int32     // offset in scratch memory
	inner *settling // of the innermost loop that makes it: see invariants.inner
	made  bool      // it is the same in all lanes, and at holds it
}

// placeWords gives the values that subscripts and bounds of a nest of one point name their words.
func (l *lowering) placeWords() {
	if !l.point() {
		return
	}
	l.named = map[loop.Val]*namedWord{}
	place := func(list ...loop.Lin) {
		for _, f := range list {
			for _, t := range f.Terms {
				if v := loop.Val(t.Sym.N); t.Sym.Kind == loop.ValSym && l.named[v] == nil {
					l.named[v] = &namedWord{at: int32(l.localsEnd + 8*len(l.named))}
				}
			}
		}
	}
	loop.EachStmt(&l.nest.Body, func(s *loop.Stmt) {
		place(s.At...)
		if s.Loop != nil {
			place(s.Loop.Index.Range.From, s.Loop.Index.Range.To)
		}
	})
	l.localsEnd += (8*len(l.named) + slotBytes - 1) &^ (slotBytes - 1)
}

// keepWord stores a value in its word, if it has one.
func (l *lowering) keepWord(v loop.Val, o operand) {
	w := l.named[v]
	if w == nil || !l.frame.nest {
		return
	}
	w.made, w.inner = l.alike(), l.inner
	if form := o.known().form; w.made && !o.konst && (form == nil || l.counted(*form)) {
		l.emit(&step{a: o.v, jumps: true, scalar: func(m *maker, _ Reg, r regs) {
			m.storeOne(types.I64, r.a, At(scratchReg, w.at))
		}})
	}
}

// sameWord reports whether all lanes hold the same value and its word holds it, too.
func (l *lowering) sameWord(v int) bool {
	w := l.named[loop.Val(v)]
	return w != nil && w.made && l.frame.nest
}

// jump lowers an if whose condition is that of the point. The second block comes first, because the
// first one may stand aside, where no value is made that lives behind it.
func (l *lowering) jump(s *loop.Stmt) {
	out := make([]virt, s.N)
	for i := range out {
		out[i] = l.fresh(l.classOf(l.frame.types[int(s.Dst)+i]))
	}
	c, yes, end := l.frame.vals[s.Args[0]], l.asm.Label(), l.asm.Label()
	write := func(b *loop.Block) {
		l.block(b)
		for i, v := range b.Yield {
			l.move(out[i], l.frame.vals[v], 0, true)
		}
	}
	l.branches++
	if len(s.Else.Stmts)+s.N == 0 {
		l.jumpIfNone(end, l.vector(c))
	} else {
		l.jumpIf(c, yes)
		write(s.Else)
		l.scalar(func(m *maker) { m.Goto(end) })
		l.bind(yes)
	}
	if l.standsAside(s.Then) {
		l.aside(func() { write(s.Then) })
	} else {
		write(s.Then)
	}
	l.bind(end)
	l.branches--
	for i, v := range out {
		l.set(s.Dst+loop.Val(i), operand{v: v})
	}
}

// jumpIf leaves if a condition of the point holds.
func (l *lowering) jumpIf(c operand, to Label) {
	l.emit(&step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.Jump(NotEqual, to)
	}})
}

// unlessNone writes code that is passed where the mask has no lane; NoReg: it has all.
func (m *maker) unlessNone(mask Reg, write func()) {
	if mask == NoReg {
		write()
		return
	}
	skip := m.Label()
	m.vec.none(m, mask)
	m.Jump(Equal, skip)
	write()
	m.Bind(skip)
}

// storeOne stores the first lane. It may change RAX.
func (m *maker) storeOne(e types.Elem, v Reg, at Mem) {
	switch e {
	case types.Bool:
		m.Lea(R10, at)
		m.vec.bits(m, v)
		m.ArithImm(AndG, RAX, 1)
		m.StoreG8(At(R10, 0), RAX)
	case types.F32:
		m.Emit(Inst{Op: VMOVSSStore, A: v, InMem: true, Mem: at})
	default:
		m.Emit(Inst{Op: VMOVSDStore, A: v, InMem: true, Mem: at})
	}
}
