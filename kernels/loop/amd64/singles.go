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
	if t.embeds && l.point() && len(l.alongBody) == 0 {
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
