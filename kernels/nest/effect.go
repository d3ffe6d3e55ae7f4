package nest

// This file writes what a body does beside its value: asserts, and the texts that only they read.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// effect writes an action that has no value. Its order among others needs no words: which point
// fails first, and how, is said by definition.
func (x *Builder) effect(a *op.Action, env []Ref) Ref {
	none := Ref{Type: a.Type, Val: loop.NoVal}
	if a.Def.Control == op.Part {
		return none
	}
	if a.Def.Elements == nil {
		panic(NoBody{"`" + define.SourceName(a.Def) + "`"})
	}
	var in []Ref
	for _, r := range a.Args {
		in = append(in, env[r])
	}
	e, _ := x.call(a, in)
	a.Def.Elements(e)
	return none
}

// text reports a text that no point fails to make, so that it need not be made. Whether one fails
// follows from the types of what it holds and from constants, so it is made once, of zeros.
func text(b *op.Body, k int) bool {
	a := &b.Acts[k]
	if !a.Type.IsScalar() || a.Type.Elem != types.Str || a.Def.Control != op.NoControl || a.Def.Ref == nil || !a.Def.Laws.Has(op.Pure) {
		return false
	}
	c := &op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type}
	for _, r := range a.Args {
		t := b.Register(r)
		switch at := r - len(b.Args); {
		case at >= 0 && b.Acts[at].Def.Role == op.Constant:
			from := &b.Acts[at]
			v, err := from.Def.Ref(&op.Call{Def: from.Def, Attrs: from.Attrs, Type: from.Type})
			if err != nil {
				return false
			}
			c.In = append(c.In, v)
		case isNumber(t):
			c.In = append(c.In, value.Scalar{Elem: t.Elem})
		default:
			return false
		}
	}
	_, err := a.Def.Ref(c)
	return err == nil
}
