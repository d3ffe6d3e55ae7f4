package nest

// This file writes ramps, matrices of row or column numbers, as linear forms of the indices.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
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
	r := x.matrix(a.Type, func(i, _ loop.Lin) loop.Val { return x.Value(i.Times(down).Plus(loop.Num(first))) })
	r.linear = true
	return r, true
}

// linearIn writes action k of a body, a view of a matrix of linear forms, or a sum or a product of one
// and numbers, although a cell keeps its value: to compute an element takes less time than reading it,
// and what depends on it alone is seen (loop.Tabulate).
func (x *Builder) linearIn(b *op.Body, k int, env []Ref) (r Ref, ok bool) {
	a := &b.Acts[k]
	for _, arg := range a.Args {
		if env[arg].At != nil && !env[arg].linear || env[arg].Val == loop.NoVal && env[arg].At == nil {
			return r, false
		}
		ok = ok || env[arg].linear
	}
	switch {
	case !ok || !a.Type.Known() || a.Type.Elem != types.I64 || a.Bodies != nil || a.Chain != nil:
		return r, false
	case a.Def.Laws.Has(op.View) && a.Def.Elements != nil:
		r = x.elements(b, k, env)
	case a.Def.Laws.Has(op.Elementwise) && a.Def.Elt != nil && x.keepsLines(a, env):
		r = x.elementwise(b, k, env)
	default:
		return r, false
	}
	r.linear = true
	return r, true
}

// keepsLines reports whether an operator on linear forms and numbers gives linear forms.
func (x *Builder) keepsLines(a *op.Action, env []Ref) bool {
	try := &Builder{Builder: loop.New(), Lins: map[loop.Val]loop.Lin{}}
	i := loop.Of(loop.IndexSym, try.Index("i", loop.Range{To: loop.Num(1), By: 1}))
	list, elems := make([]loop.Val, len(a.Args)), make([]types.Elem, len(a.Args))
	for k, arg := range a.Args {
		l, known := x.Lins[env[arg].Val]
		switch elems[k] = env[arg].Type.Elem; {
		case elems[k] != types.I64:
			return false
		case env[arg].At != nil:
			list[k] = try.Value(i)
		case known && l.Known():
			list[k] = try.Value(l)
		default:
			return false
		}
	}
	mark := try.Mark()
	v := Step(try.Builder, a.Def, a.Type.Elem, list, elems, 0, false)
	try.Since(mark, try.linear)
	_, ok := try.Lins[v]
	return ok
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
	of = x.elements(b, k, env)
	of.linear = true
	return of, true
}
