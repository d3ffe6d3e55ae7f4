package kernels

// This file defines what all elementwise rows share: the rules of element types and of broadcasting, the reference
// that follows from a definition on scalars, and the constructor of a row. The rows themselves are in
// elementwise_<family>.go; their kernels are one-step programs of the batch executor (fused_run.go), so that an
// operator alone and the same operator fused cannot differ in a bit.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// elementRule gives the result's element type for those of the arguments, all of them numeric, time or str; ok is
// false when they do not meet.
type elementRule func(in []types.Elem, s *op.Sig) (types.Elem, bool)

// row is the part of an elementwise row that differs from row to row.
type row struct {
	name, word, infix string
	args              []string
	doc               string
	rule              elementRule
	elt               func(x []value.Scalar) value.Scalar
	loops             op.Loops
	body              func(b *loop.Builder, out types.Elem, in []loop.Val) loop.Val
	laws              op.Laws
	partial           op.Partial
	flops             float64 // per element
	eg                []op.Example
}

// def completes the row; run executes it on matrices.
func (r row) def(run *engine) *op.Def {
	d := &op.Def{
		Name: r.name, Word: r.word, Infix: r.infix, Doc: r.doc, Eg: r.eg,
		Elt: r.elt, Loops: r.loops, Body: r.body,
		Partial: r.partial, Laws: r.laws | op.Pure | op.Elementwise, Flow: op.Flow{Rate: op.Once},
		Shard: op.Shard{Kind: op.ShardAligned},
		Alias: true,
	}
	if r.partial == op.Everywhere {
		d.Laws |= op.Total
	}
	for _, a := range r.args {
		d.Args = append(d.Args, op.Arg{Name: a})
	}
	d.Type = func(s *op.Sig) (types.Type, error) { return elementwiseType(s, r.rule) }
	d.Ref = func(c *op.Call) (value.Value, error) { return broadcastRef(d, c) }
	d.Cost = func(s *op.Sig, out types.Type) op.Work { return streamCost(s, out, r.flops) }
	d.Kernel = run.runSingle
	d.Loop = elementLoop(run, run.programOf)
	return d
}

// streamCost is the work of reading every input and writing the output once, with flops operations per element.
func streamCost(s *op.Sig, out types.Type, flops float64) op.Work {
	n := elementCount(out)
	w := op.Work{Flops: flops * n, Bytes: n * float64(out.Elem.Size())}
	for _, t := range s.In {
		w.Bytes += elementCount(t) * float64(t.Elem.Size())
	}
	return w
}

// elementCount is the number of elements, 0 where only the run will tell.
func elementCount(t types.Type) float64 {
	if t.Kind == types.Matrix && !t.Known() {
		return 0
	}
	return float64(t.Count())
}

// elementwiseType is the type rule of every elementwise row: element types by rule, shapes by broadcasting.
func elementwiseType(s *op.Sig, rule elementRule) (types.Type, error) {
	elems := make([]types.Elem, len(s.In))
	for i, t := range s.In {
		switch {
		case t.Kind != types.Scalar && t.Kind != types.Matrix:
			return types.Type{}, op.Faultf(i, codeKind, "`%s` needs numbers or matrices, not %v", sourceName(s.Def), t)
		case t.Kind == types.Matrix && t.Repr != types.Dense:
			return types.Type{}, op.Faultf(i, codeKind, "`%s` does not take a sparse matrix", sourceName(s.Def)).
				WithHelp("dense(x) makes it dense")
		}
		elems[i] = t.Elem
	}
	e, ok := rule(elems, s)
	if !ok {
		return types.Type{}, elementFault(s, elems)
	}
	out, bad := broadcast(s.In)
	if bad >= 0 {
		f := op.Faultf(bad, codeShape, "shapes of `%s` do not agree: %s", sourceName(s.Def), shapes(s.In))
		return types.Type{}, f.WithHelp("along each axis the sizes are equal, or one of them is 1 and is stretched: a scalar, a row and a column go with n x m")
	}
	if out.Kind == types.Matrix && e.Size() == 0 {
		return types.Type{}, op.Faultf(bad, codeKind, "`%s` of %v takes scalars only", sourceName(s.Def), e)
	}
	return out.With(e), nil
}

func elementFault(s *op.Sig, in []types.Elem) *op.Fault {
	if len(in) == 1 {
		return op.Faultf(0, codeKind, "`%s` is not defined on %v", sourceName(s.Def), in[0])
	}
	list := ""
	for i, e := range in {
		if i > 0 {
			list += " and "
		}
		list += e.String()
	}
	f := op.Faultf(-1, codeElem, "`%s` is not defined on %s", sourceName(s.Def), list)
	for _, e := range in {
		if e == types.F32 {
			return f.WithHelp("f32 meets no other type by itself: write f32(x) or f64(x)")
		}
	}
	return f
}

// sourceName is what the program wrote for d: the sign if it has one.
func sourceName(d *op.Def) string {
	if d.Infix != "" && d.Infix != "neg" {
		return d.Infix
	}
	return d.Source()
}

func shapes(in []types.Type) string {
	s := ""
	for i, t := range in {
		if i > 0 {
			s += " and "
		}
		s += t.String()
	}
	return s
}

// broadcast returns the common shape of in, without element type: along each axis every argument has the common length
// or 1, so a column and a row make a matrix. bad is the argument that does not fit, or -1. Dimensions that only the run
// knows are taken to fit.
func broadcast(in []types.Type) (out types.Type, bad int) {
	out = types.Type{Kind: types.Scalar}
	for i, t := range in {
		if t.Kind != types.Matrix {
			continue
		}
		if out.Kind == types.Scalar {
			out = types.DenseOf(types.NoElem, t.Rows, t.Cols)
			continue
		}
		var ok bool
		if out.Rows, ok = meet(out.Rows, t.Rows); !ok {
			return out, i
		}
		if out.Cols, ok = meet(out.Cols, t.Cols); !ok {
			return out, i
		}
	}
	return out, -1
}

// meet is the common dimension of a and b.
func meet(a, b int) (int, bool) {
	switch {
	case a == b || b == 1:
		return a, true
	case a == 1 || a == types.Unknown:
		return b, true
	case b == types.Unknown:
		return a, true
	}
	return 0, false
}

// operandElem is the element type in which d takes an argument of type in, the arguments meeting in wide and the
// result being out. It is read from the row: conversions take what they get, a selection's first is the condition,
// predicates compare in the common type, everything else computes in the type of the result.
func operandElem(d *op.Def, k int, in, wide, out types.Elem) types.Elem {
	switch {
	case isConversion(d):
		return in
	case d.Loops.SelF64 != nil && k == 0:
		return types.Bool
	case d.Loops.CmpF64 != nil:
		return wide
	}
	return out
}

// isConversion reports a row that is named as the element type it makes.
func isConversion(d *op.Def) bool {
	_, ok := types.ElemNamed(d.Name)
	return ok
}

// widest is the common element type of in by the implicit conversions, or the first when they do not meet.
func widest(in []types.Elem) types.Elem {
	e := in[0]
	for _, f := range in[1:] {
		if w, ok := types.Widen(e, f); ok {
			e = w
		}
	}
	return e
}

// noValue is the failure of d of operands x, or nil. x has the types in which d computes a result of type out.
func noValue(d *op.Def, out types.Elem, x []value.Scalar) error {
	switch {
	case !d.Fails(x[0].Elem, out):
	case d.Partial == op.NotByZero && x[1].I == 0:
		return op.Failf(codeData, "%s: integer division by zero", sourceName(d))
	case d.Partial == op.InWords && x[0].F != x[0].F:
		return op.Failf(codeData, "%s: nan is no integer", sourceName(d)).WithHelp("replace(x, nan, 0) has another number in its place")
	case d.Partial == op.InWords && !vec.IsWord(x[0].F):
		return op.Failf(codeData, "%s: %v is outside of the integers of i64, which go from -2^63 to 2^63 - 1", sourceName(d), x[0])
	}
	return nil
}

// applyElt is d on scalars: converted to the types in which d computes, then Elt.
func applyElt(d *op.Def, out types.Elem, x []value.Scalar) (value.Scalar, error) {
	elems := make([]types.Elem, len(x))
	for k := range x {
		elems[k] = x[k].Elem
	}
	wide := widest(elems)
	y := make([]value.Scalar, len(x))
	for k := range x {
		y[k] = x[k].Convert(operandElem(d, k, elems[k], wide, out))
	}
	if err := noValue(d, out, y); err != nil {
		return value.Scalar{}, err
	}
	z := d.Elt(y)
	return z, op.TextTooLong(len(z.S)) // no more than twice as much has been allocated
}

// broadcastRef is the reference of an elementwise row: Elt on every element.
func broadcastRef(d *op.Def, c *op.Call) (value.Value, error) {
	x := make([]value.Scalar, len(c.In))
	if c.Type.Kind == types.Scalar {
		for k, v := range c.In {
			x[k] = v.(value.Scalar)
		}
		return applyElt(d, c.Type.Elem, x)
	}
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for i := range out.Rows {
		for j := range out.Cols {
			for k, v := range c.In {
				x[k] = elementAt(v, i, j)
			}
			y, err := applyElt(d, c.Type.Elem, x)
			if err != nil {
				return nil, err
			}
			out.Set(i, j, y)
		}
	}
	return out, nil
}

// elementAt is element (i, j) of v stretched to any shape.
func elementAt(v value.Value, i, j int) value.Scalar {
	switch v := v.(type) {
	case *value.Dense:
		if v.Rows == 1 {
			i = 0
		}
		if v.Cols == 1 {
			j = 0
		}
		return v.At(i, j)
	case value.Scalar:
		return v
	}
	panic("BUG: elementwise operand is neither scalar nor dense")
}
