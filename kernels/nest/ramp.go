package nest

// This file writes ramps, matrices of row or column numbers, as linear forms of the indices.

import (
	"flow/ir/loop"
	"flow/ir/op"
)

// ramp writes the elements of a ramp (op.Def.Ramp) as linear forms. ok is false for another action.
func (x *Builder) ramp(a *op.Action) (Ref, bool) {
	if a.Def.Ramp == nil || !a.Type.Known() || a.Attrs.Bool("drawn") {
		return Ref{}, false
	}
	first, down, ok := a.Def.Ramp(a.Attrs)
	if !ok {
		return Ref{}, false
	}
	return x.matrix(a.Type, func(i, _ loop.Lin) loop.Val { return x.Value(i.Times(down).Plus(loop.Num(first))) }), true
}

// Ramps reports, for each action of a body, whether it is a ramp (op.Def.Ramp) or a view of one.
func Ramps(b *op.Body) []bool {
	list := make([]bool, len(b.Acts))
	for k := range b.Acts {
		list[k] = isRamp(b, k)
	}
	return list
}

// isRamp reports whether action k of a body is a ramp or a view of one.
func isRamp(b *op.Body, k int) (is bool) {
	a := &b.Acts[k]
	if a.Def.Ramp != nil {
		_, _, is = a.Def.Ramp(a.Attrs)
		return is
	}
	return a.Def.Laws.Has(op.View) && a.Def.Elements != nil && len(a.Args) == 1 && a.Args[0] >= len(b.Args) && isRamp(b, a.Args[0]-len(b.Args))
}

// rampOf writes action k of a body if it is a ramp or a view of one, wherever it is computed: an index
// takes less time than reading it from memory, and comparisons with it tell which places change
// (loop.AtPlaces).
func (x *Builder) rampOf(b *op.Body, k int) (Ref, bool) {
	a := &b.Acts[k]
	if c, ok := x.ramp(a); ok || !a.Type.Known() || !isRamp(b, k) || a.Def.Ramp != nil {
		return c, ok
	}
	env := make([]Ref, a.Args[0]+1)
	of, ok := x.rampOf(b, a.Args[0]-len(b.Args))
	if !ok {
		return of, false
	}
	env[a.Args[0]] = of
	return x.elements(b, k, env), true
}
