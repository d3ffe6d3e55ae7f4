package elementwise

// This file defines what all elementwise rows share: the rules of element types and of
// broadcasting, the reference that follows from a definition on scalars, and the constructor of a
// row. The rows themselves are in <family>.go; their kernels are one-step programs (package kernels),
// so that an operator alone and the same operator fused cannot differ in a bit.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// Row is the part of an elementwise row that differs from row to row.
type Row struct {
	Name, word, infix string
	Args              []string
	Doc               string
	Rule              define.ElementRule
	Elt               func(x []value.Scalar) value.Scalar
	Native            func(x []float64) float64
	operands          op.Operands
	body              func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val
	laws              op.Laws
	absorbs           op.Absorbs
	partial           op.Partial
	Flops             float64 // per element
	eg                []op.Example
	hidden            bool
}

// Def completes the row, but for kernel and loop: the engine of the package above executes it on
// matrices.
func (r Row) Def() *op.Def {
	d := &op.Def{
		Name: r.Name, Hidden: r.hidden, Word: r.word, Infix: r.infix, Doc: r.Doc, Eg: r.eg,
		Elt: r.Elt, Operands: r.operands, Native: r.Native, Body: r.body,
		Partial: r.partial, Absorbs: r.absorbs, Laws: r.laws | op.Pure | op.Elementwise,
		Shard: op.Shard{Kind: op.ShardAligned},
		Alias: true,
	}
	if r.partial == op.Everywhere {
		d.Laws |= op.Total
	}
	for _, a := range r.Args {
		d.Args = append(d.Args, op.Arg{Name: a})
	}
	d.Type = func(s *op.Sig) (types.Type, error) { return elementwiseType(s, r.Rule) }
	d.Ref = func(c *op.Call) (value.Value, error) { return broadcastRef(d, c) }
	d.Cost = func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, r.Flops) }
	return d
}

// elementwiseType is the type rule of every elementwise row: element types by rule, shapes by
// broadcasting.
func elementwiseType(s *op.Sig, rule define.ElementRule) (types.Type, error) {
	elems := make([]types.Elem, len(s.In))
	for i, t := range s.In {
		switch {
		case t.Kind != types.Scalar && t.Kind != types.Matrix:
			return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` needs numbers or matrices, not %v", define.SourceName(s.Def), t)
		case t.Kind == types.Matrix && t.Repr != types.Dense:
			return types.Type{}, op.Faultf(i, define.CodeKind, "`%s` does not take a sparse matrix", define.SourceName(s.Def)).
				WithHelp("dense(x) makes it dense")
		}
		elems[i] = t.Elem
	}
	e, ok := rule(elems, s)
	if !ok {
		return types.Type{}, elementFault(s, elems, rule)
	}
	out, bad := define.Broadcast(s.In)
	if bad >= 0 {
		f := op.Faultf(bad, define.CodeShape, "shapes of `%s` do not agree: %s", define.SourceName(s.Def), define.Shapes(s.In))
		return types.Type{}, f.WithHelp("along each axis the sizes are equal, or one of them is 1 and is stretched: a scalar, a row and a column go with n x m")
	}
	if out.Kind == types.Matrix && e.Size() == 0 {
		return types.Type{}, op.Faultf(bad, define.CodeKind, "`%s` of %v takes scalars only", define.SourceName(s.Def), e)
	}
	return out.With(e), nil
}

// elementFault is the failure of a row whose rule refuses elements of these types.
func elementFault(s *op.Sig, in []types.Elem, rule define.ElementRule) *op.Fault {
	if len(in) == 1 {
		return op.Faultf(0, define.CodeKind, "`%s` is not defined on %v", define.SourceName(s.Def), in[0])
	}
	f := op.Faultf(-1, define.CodeElem, "`%s` is not defined on %s", define.SourceName(s.Def), define.Shapes(in))
	if slices.Contains(in, types.F32) {
		return f.WithHelp("f32 meets no other type by itself: write f32(x) or f64(x)")
	}
	bools := slices.Repeat([]types.Elem{types.Bool}, len(in))
	if e, ok := rule(bools, s); ok && e == types.Bool && s.Def.Infix != "" {
		if slices.Contains(in, types.Str) {
			return f.WithHelp("a text and a number have nothing in common: str(x) makes a text of a number")
		}
		return f.WithHelp("bool(x) is true where x is not zero")
	}
	return f
}

// broadcastRef is the reference of an elementwise row: Elt on every element. What follows from the
// element types of the operands is found once.
func broadcastRef(d *op.Def, c *op.Call) (value.Value, error) {
	x := make([]value.Scalar, len(c.In))
	if c.Type.Kind == types.Scalar {
		for k := range x {
			x[k] = c.Scalar(k)
		}
		return define.ApplyElt(d, c.Type.Elem, x)
	}
	in := make([]*value.Dense, len(x)) // nil for a scalar
	for k, v := range c.In {
		if m, is := v.(*value.Dense); is {
			in[k], x[k].Elem = m, m.Elem
		} else {
			x[k] = c.Scalar(k)
		}
	}
	e := define.EltOf(d, c.Type.Elem, x)
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for i := range out.Rows {
		for j := range out.Cols {
			for k, m := range in {
				if m != nil {
					m.Read(min(i, m.Rows-1), min(j, m.Cols-1), &x[k])
				}
			}
			y, err := e.Of(x)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	return out, nil
}
