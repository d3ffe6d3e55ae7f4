package nest

// This file writes what is the same in every iteration and is computed when an iteration first needs
// it (memo.go): an operand, and the question whether it is there.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
)

// param makes an operand.
func (x *Builder) param(t types.Type, o Operand) int {
	kind := loop.DenseParam
	if t.IsScalar() {
		kind = loop.ScalarParam
	}
	x.Operands = append(x.Operands, o)
	return x.Param(kind, dense.Storage(t.Elem))
}

// once is action k of a nested body, whose value a cell keeps. What only such actions read is not
// written.
func (x *Builder) once(b *op.Body, k int, m *MemoMap) Ref {
	a := &b.Acts[k]
	t := a.Type
	if !x.readHere(b, k, m) {
		return Ref{Type: t, Val: loop.NoVal}
	}
	if t.Elem.Size() == 0 || !t.IsScalar() && (!t.IsDense() || !t.Known()) {
		panic(NoBody{"a value of " + t.String() + " that is the same in every iteration"})
	}
	cell := m.Cell[k] - 1
	there := x.Load(loop.Mem{Kind: loop.ParamMem, N: x.param(types.ScalarOf(types.I64), Operand{Register: cell, What: CellKnown})})
	x.Check(0, x.Op(loop.Ne, there, x.Const(types.I64, 0)))
	p := loop.Mem{Kind: loop.ParamMem, N: x.param(t, Operand{Register: cell, What: CellValue})}
	if t.IsScalar() {
		return Ref{Type: t, Val: x.Load(p)}
	}
	return x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(p, i, j) }).outside()
}

// again reports an action that is written although a cell keeps its value: a number costs less than
// to ask whether it is there.
func again(a *op.Action) bool {
	return a.Def.Elt != nil && a.Type.IsScalar() || len(a.Args) == 0 && a.Def.Laws.Has(op.Pure) && (a.Type.IsScalar() || holdable(a.Type))
}

// readHere reports that the body yields action k, or that an action reads it which is written.
func (x *Builder) readHere(b *op.Body, k int, m *MemoMap) bool {
	r := len(b.Args) + k
	read := slices.Contains(b.Yields, r)
	for i := range b.Acts {
		a := &b.Acts[i]
		read = read || (m.Cell[i] == 0 || again(a)) && slices.Contains(a.Args, r)
	}
	return read
}

// Stays marks, a bit each, the operands of a nest that keep their values in an execution, see
// launch.Run.Stays. first is the number of the first operand in list.
func Stays(list []Operand, first int) (bits uint64) {
	for k, o := range list {
		if o.What == itsValue {
			bits |= 1 << (first + k)
		}
	}
	return bits
}

// Of is the operand where it comes from outside the loop.
func (o Operand) Of(values []value.Value) value.Value {
	v := values[o.Register]
	switch t := v.Type(); o.What {
	case ItsRows:
		return value.I64(int64(t.Rows))
	case ItsCols:
		return value.I64(int64(t.Cols))
	}
	return v
}
