package nest

// This file writes one call of an elementwise row into a loop: conversions of its operands, the
// check that it has a value, its body. It also writes asserts.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// NoBody is the value of a panic for what a loop cannot compute. Written recovers it. Why says what,
// and behind a semicolon what users may write instead.
type NoBody struct{ Why string }

// elsewhere is the advice for a value that a body has no room for.
const elsewhere = "; compute it outside of the body, or a number at a time"

var noSize = NoBody{"a matrix of a size that only the run tells; compute all elements, with ifelse(mask, x, 0) where a mask chooses some"}

// NoElement returns the reason.
func (n NoBody) NoElement() string { return n.Why }

// Written calls write, which writes a loop. ok is false if a part of it has no form in loops; why names
// it.
func Written(write func()) (why string, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			no, is := r.(op.NoElement)
			if !is {
				panic(r)
			}
			why, ok = no.NoElement(), false
		}
	}()
	write()
	return "", true
}

// Step appends d on the values in, whose element types are elems as the program has them, with
// a result of type out. A check that fails has the number of the site. With native a row without a
// body is a Go function, which only the interpreter calls.
func Step(b *loop.Builder, d *op.Def, out types.Elem, in []loop.Val, elems []types.Elem, site int, native bool) loop.Val {
	if d.Body == nil && (d.Native == nil || !native) {
		panic(NoBody{"`" + define.SourceName(d) + "`"})
	}
	wide := define.Widest(elems)
	x := make([]loop.Val, len(in))
	computes := out
	for k, v := range in {
		computes = define.OperandElem(d, k, elems[k], wide, out)
		x[k] = define.ConvertBody(b, dense.Storage(computes), v)
	}
	if d.Fails(computes, out) {
		b.Check(site, hasValue(b, d, x), x...)
	}
	if d.Body == nil {
		for k, v := range x {
			x[k] = define.ConvertBody(b, types.F64, v)
		}
		return define.ConvertBody(b, dense.Storage(out), b.Native(d.Name, d.Native, x...))
	}
	return d.Body(b, dense.Storage(out), x)
}

// Place is where a chain that makes element (i, j) reads an operand.
func Place(mode op.Mode, i, j loop.Lin) (row, col loop.Lin) {
	switch zero := loop.Num(0); mode {
	case op.Single:
		return zero, zero
	case op.RowVec:
		return zero, j
	case op.ColVec:
		return i, zero
	case op.Trans:
		return j, i
	}
	return i, j
}

// Chain writes an element of a chain of elementwise operators. whole: it is a nest of its own, where a
// check that fails has the number of its step, and steps may be Go functions.
func Chain(b *loop.Builder, p *op.Program, whole bool, operand func(k int) loop.Val) loop.Val {
	var regs []loop.Val
	var elems []types.Elem
	for k, o := range p.In {
		regs, elems = append(regs, operand(k)), append(elems, o.Elem)
	}
	for k, s := range p.Steps {
		in, of := make([]loop.Val, len(s.Args)), make([]types.Elem, len(s.Args))
		for a, r := range s.Args {
			in[a], of[a] = regs[r], elems[r]
		}
		if !whole {
			k = 0
		}
		regs, elems = append(regs, Step(b, s.Def, s.Elem, in, of, k, whole)), append(elems, s.Elem)
	}
	return regs[len(regs)-1]
}

// hasValue is whether d has a value of x.
func hasValue(b *loop.Builder, d *op.Def, x []loop.Val) loop.Val {
	if d.Partial == op.NotByZero {
		return b.Op(loop.Ne, x[1], define.Numeral(b, types.I64, 0))
	}
	// From -2^63 on and below 2^63; nothing of that holds of a nan.
	e := b.Type(x[0])
	limit := func(f float64) loop.Val {
		if e == types.F32 {
			return b.Const(e, uint64(math.Float32bits(float32(f))))
		}
		return b.Const(e, math.Float64bits(f))
	}
	return b.Op(loop.And, b.Op(loop.Le, limit(-1<<63), x[0]), b.Op(loop.Lt, x[0], limit(1<<63)))
}

// isNumber reports a scalar that a lane can hold.
func isNumber(t types.Type) bool { return t.IsScalar() && t.Elem.Size() > 0 }

// What follows writes what a body does beside its value: asserts, and the texts that only they read.

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

// mayFail reports whether action k may fail, at an element or by a subscript.
func mayFail(b *op.Body, k int) bool {
	a := &b.Acts[k]
	return a.Def.Role == op.Points || !a.Def.Laws.Has(op.Total) && (!a.Def.Laws.Has(op.Elementwise) || a.Type.IsDense())
}

// argExtreme reports whether d is the argmax or argmin of each row, or of all elements.
func argExtreme(d *op.Def) bool {
	return d.Places || d.Class == loop.NoClass && d.Once && d.Fold == op.FoldRows
}

// folded reports whether an action is a reduction of a whole matrix. It is a loop of its own unless the
// matrix is small.
func folded(a *op.Action) bool { return a.Def.Class != loop.NoClass && a.Def.Fold == op.FoldAll }

// pointwiseBody is pointwise for a body or a side of a branch. row: its result is a row.
func pointwiseBody(b *op.Body, row bool) bool {
	for k := range b.Acts {
		x := &b.Acts[k]
		d, dense := x.Def, x.Type.IsDense()
		switch {
		case d.Control == op.Part && x.Type.Elem.Size() > 0:
		case d.Control == op.Select && !x.Asks:
			for _, side := range x.Bodies {
				if !pointwiseBody(side, row) {
					return false
				}
			}
			continue
		case x.Type.Elem.Size() == 0 || x.Asks || x.Bodies != nil || x.Chain != nil || d.Control != op.NoControl || !d.Laws.Has(op.Pure):
			return false
		}
		switch {
		case dense && !x.Type.Known(), !dense && !x.Type.IsScalar():
			return false
		case d.Control == op.Part:
			if dense && readersOf(b, k) > 1 {
				return false
			}
		case d.Class != loop.NoClass && (row || dense):
			return false
		case d.Ramp != nil:
		case dense && !(d.Laws.Has(op.Elementwise) || d.Laws.Has(op.View) || d.Role == op.Constant), dense && !d.Laws.Has(op.View) && readersOf(b, k) > 1:
			return false
		}
	}
	return true
}

// pointwise reports whether a stage can compute a parfor element by element: its body makes no matrix
// that is read more than once, and has no effects.
func pointwise(a *op.Action) bool {
	if len(a.Bodies) != 1 || a.Attrs.Ints("lo") == nil || a.Attrs.Bool("pairs") {
		return false
	}
	return pointwiseBody(a.Bodies[0], !a.Bodies[0].Type().IsScalar())
}

// readersOf is how many actions and yields of a body read action k.
func readersOf(b *op.Body, k int) int {
	n, r := 0, len(b.Args)+k
	for i := range b.Acts {
		for _, x := range b.Acts[i].Args {
			if x == r {
				n++
				if b.Acts[i].Bodies != nil { // within, it may be read any number of times
					n++
				}
			}
		}
	}
	for _, y := range b.Yields {
		if y == r {
			n++
		}
	}
	return n
}

// flopsOf returns the operations of action a of body b, whose row has a cost.
func flopsOf(b *op.Body, a *op.Action) float64 {
	sig := &op.Sig{Def: a.Def, Attrs: a.Attrs}
	for _, r := range a.Args {
		sig.In = append(sig.In, b.Register(r))
	}
	return a.Def.Cost(sig, a.Type).Flops
}
