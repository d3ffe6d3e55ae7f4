package amd64

// This file lowers nests without indices, which have one point. All lanes of a vector hold the same: a
// load repeats an element, a store writes the first lane. So the conditions of branches and breaks are
// those of the point, and they jump. A value that a subscript names has a word in scratch memory, from
// which scalar code computes the place.

import (
	"flow/ir/loop"
)

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

// sameWord reports whether all lanes hold the same value and its word holds it, too.
func (l *lowering) sameWord(v int) bool {
	w := l.named[loop.Val(v)]
	return w != nil && w.made && l.frame.nest
}

// jumpIf leaves if a condition of the point holds.
func (l *lowering) jumpIf(c operand, to Label) {
	l.emit(&step{a: l.vector(c), jumps: true, scalar: func(m *maker, _ Reg, r regs) {
		m.vec.none(m, r.a)
		m.Jump(NotEqual, to)
	}})
}
