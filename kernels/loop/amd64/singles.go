package amd64

// This file finds nests on f32 alone, whose vectors have twice as many lanes, and those of one point,
// which have shorter ones.

import (
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
	if b == nil {
		return true
	}
	lane := loop.Sym{Kind: loop.IndexSym, N: l.lanes}
	for i := range b.Stmts {
		s := &b.Stmts[i]
		switch s.Code {
		case loop.Const, loop.If, loop.Check, loop.Break:
		case loop.Load, loop.Store:
			if len(s.At) == 0 {
				break
			}
			m := l.memory(s.Mem)
			row, col := s.At[0], s.At[1]
			if m.unit {
				row, col = loop.Lin{}, row.Plus(col)
			}
			c := col.Coef(lane)
			if row.Coef(lane) != 0 || c != 1 && (c != 0 || s.Code == loop.Store) {
				return false
			}
		case loop.Reduce:
			c := l.nest.Results[s.Mem.N].Class
			if c != loop.Least && c != loop.Greatest || l.nest.Types[s.Args[0]] != types.F32 || !l.ofAllLanes(s.At) {
				return false
			}
		case loop.For:
			r := s.Loop.Index.Range
			if r.Kind != loop.Steps || r.From.Coef(lane) != 0 || r.To.Coef(lane) != 0 || !l.sideBySide(&s.Loop.Body) {
				return false
			}
		case loop.Apply:
			if !narrow(s.Func.Types) || !l.sideBySide(&s.Func.Body) {
				return false
			}
		default:
			if !s.Code.IsOp() {
				return false
			}
		}
		if !l.sideBySide(s.Then) || !l.sideBySide(s.Else) {
			return false
		}
	}
	return true
}

// ofAllLanes reports whether a place is the same for all lanes: it depends on no index but the row's, and on
// no value.
func (l *lowering) ofAllLanes(at []loop.Lin) bool {
	for _, f := range at {
		for _, t := range f.Terms {
			if t.Sym.Kind == loop.ValSym || t.Sym.Kind == loop.IndexSym && t.Sym.N != l.rows {
				return false
			}
		}
	}
	return true
}
