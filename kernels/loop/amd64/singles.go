package amd64

// This file finds nests on f32 alone, whose vectors have twice as many lanes, and those of one point,
// which have shorter ones.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// singles is the target for a nest: t, or one with lanes of 32 bits where the nest computes with
// nothing else, or with vectors of half the length where there is one point.
func singles(t *target, l *lowering) *target {
	if t.embeds && len(l.nest.Space) == 0 {
		half := *t
		half.length, half.lanes = t.length-1, t.lanes/2
		return &half
	}
	if !t.embeds || l.ragged() || !narrow(l.nest.Types) || len(l.nest.Locals) > 0 || !l.sideBySide(&l.nest.Body) {
		return t
	}
	wide := *t
	wide.lanes *= 2
	return &wide
}

// narrow reports values of f32 and bools alone, some of f32.
func narrow(list []types.Elem) (some bool) {
	for _, e := range list {
		if e != types.F32 && e != types.Bool {
			return false
		}
		some = some || e == types.F32
	}
	return some
}

// sideBySide reports a block whose lanes lie side by side in memory, or read one element, and whose
// loops have bounds for all lanes.
func (l *lowering) sideBySide(b *loop.Block) bool {
	fine := true
	loop.EachStmt(b, func(s *loop.Stmt) { fine = fine && l.besideLanes(s) })
	return fine
}

func (l *lowering) besideLanes(s *loop.Stmt) bool {
	lane := l.lane()
	switch s.Code {
	case loop.Const, loop.If, loop.Check, loop.Break:
		return true
	case loop.Load, loop.Store:
		if len(s.At) == 0 {
			return true
		}
		row, col := s.At[0], s.At[1]
		if l.memory(s.Mem).unit {
			row, col = loop.Lin{}, row.Plus(col)
		}
		c := col.Coef(lane)
		return row.Coef(lane) == 0 && (c == 1 || c == 0 && s.Code == loop.Load)
	case loop.Reduce:
		c := l.nest.Results[s.Mem.N].Class
		return (c == loop.Least || c == loop.Greatest) && l.nest.Types[s.Args[0]] == types.F32 && l.ofAllLanes(s.At)
	case loop.For:
		r := s.Loop.Index.Range
		return r.Kind == loop.Steps && r.From.Coef(lane) == 0 && r.To.Coef(lane) == 0
	case loop.Apply:
		return narrow(s.Func.Types) && l.sideBySide(&s.Func.Body)
	}
	return s.Code.IsOp()
}

// ofAllLanes reports whether a place is the same for all lanes: it depends on no index but the row's, and on
// no value.
func (l *lowering) ofAllLanes(at []loop.Lin) bool {
	other := func(s loop.Sym) bool { return s.Kind == loop.ValSym || s.Kind == loop.IndexSym && s.N != l.rows }
	return !slices.ContainsFunc(at, func(f loop.Lin) bool { return f.Any(other) })
}

// ofRowAt loads an element of a row whose number a nest of one point computes. All elements of the row share
// its address.
func (l *lowering) ofRowAt(p place, o loop.Origin) virt {
	e := p.mem.elem
	at := l.recent(sum{row: p.row, arg: p.mem.arg, size: -2}, func() step {
		return step{uses: []virt{l.lin(p.row, o)}, scalar: func(m *maker, dst Reg, r []Reg) {
			m.Emit(Inst{Op: VMOVQStore, Dst: dst, A: r[0]})
			m.IMulMem(dst, argMem(p.mem.arg+8))
			m.LoadG(R9, argMem(p.mem.arg))
			m.ArithG(AddG, dst, R9)
		}}
	})
	disp := p.col.Const * int64(e.Size())
	if across := p.col.Plus(loop.Num(-p.col.Const)); len(across.Terms) > 0 || disp != int64(int32(disp)) {
		if disp != int64(int32(disp)) {
			across, disp = p.col, 0
		}
		at = l.moved(at, l.offset(p.mem, loop.Lin{}, across))
	}
	st := step{dst: l.fresh(l.classOf(e)), uses: l.inActive(at), pure: true}
	st.scalar = func(m *maker, dst Reg, r []Reg) { m.vec.load(m, e, dst, maskAt(r, 1), At(r[0], int32(disp))) }
	return l.emit(st)
}

// placeOfFirst is the place at RAX + index*scale of the first lane, which is the one point of a nest
// without indices. A load or store of one lane takes a few cycles, a gather some 25. It changes R9.
func (m *maker) placeOfFirst(index Reg, scale uint8) Mem {
	m.Emit(Inst{Op: VMOVQStore, Dst: R9, A: index})
	m.Lea(RAX, Indexed(RAX, R9, scale, 0))
	return At(RAX, 0)
}
