package nest

// This file keeps what nested bodies of a parfor, the sides of its branches and its loops, compute
// the same in every iteration. The compiler has marked it with the attribute keep. It is computed
// when an iteration first needs it, once for all workers.

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// within is the maps of the bodies of action k. A nil map has nil maps.
func (m *MemoMap) within(k int) []*MemoMap {
	if m == nil || m.In[k] == nil {
		return make([]*MemoMap, 2)
	}
	return m.In[k]
}

// any reports whether a body, or one in it, has a cell.
func (m *MemoMap) any() bool {
	return m != nil && (slices.ContainsFunc(m.Cell, func(c int) bool { return c > 0 }) ||
		slices.ContainsFunc(m.In, func(in []*MemoMap) bool { return slices.ContainsFunc(in, (*MemoMap).any) }))
}

// MemoCell is an action whose value may be kept. Its arguments are the same in every iteration.
type MemoCell struct {
	Body *op.Body
	Act  int
	Args []MemoSource
}

// MemoSource is where a value lies that is the same in every iteration: in a register of the
// parfor's body, or in a cell. Both are 1 + a number; one of them is 0.
type MemoSource struct{ Reg, Cell int }

// keepFinder makes the map and the cells of a body.
type keepFinder struct{ cells []MemoCell }

// find maps the body b, which has loops around it, the parfor among them. source has an entry for
// each argument, a zero one where it is not the same in every iteration.
func (f *keepFinder) find(b *op.Body, source []MemoSource, around int) *MemoMap {
	m := &MemoMap{Cell: make([]int, len(b.Acts)), In: make([][]*MemoMap, len(b.Acts))}
	reg := append(make([]MemoSource, 0, len(b.Args)+len(b.Acts)), source...)
	for k := range b.Acts {
		a := &b.Acts[k]
		args, same := make([]MemoSource, len(a.Args)), true
		for i, r := range a.Args {
			args[i] = reg[r]
			same = same && reg[r] != MemoSource{}
		}
		var here MemoSource
		if same {
			f.cells = append(f.cells, MemoCell{b, k, args})
			here.Cell = len(f.cells)
			if a.Attrs.Int("keep") >= around {
				m.Cell[k] = here.Cell
			}
		}
		reg = append(reg, here)
		m.In[k] = f.nested(a, args, around)
	}
	return m
}

// nested maps the bodies of a loop or a branch.
func (f *keepFinder) nested(a *op.Action, args []MemoSource, around int) (in []*MemoMap) {
	switch a.Def.Control {
	case op.Select:
		args = args[1:]
	case op.Iterate:
		args = append([]MemoSource(nil), args...)
		clear(args[:a.Attrs.Int("carry")])
		around++
	default:
		return nil
	}
	for _, b := range a.Bodies {
		in = append(in, f.find(b, args, around))
	}
	return in
}

// FindMemos is the cells and the map of a parfor's body. varies lists its registers that vary. What is
// the same in the body itself is computed before the loop and is in no cell.
func FindMemos(b *op.Body, varies []bool) ([]MemoCell, *MemoMap) {
	f := &keepFinder{}
	m := &MemoMap{Cell: make([]int, len(b.Acts)), In: make([][]*MemoMap, len(b.Acts))}
	for k := range b.Acts {
		if !varies[len(b.Args)+k] {
			continue
		}
		a := &b.Acts[k]
		args := make([]MemoSource, len(a.Args))
		for i, r := range a.Args {
			if !varies[r] {
				args[i].Reg = 1 + r
			}
		}
		m.In[k] = f.nested(a, args, 1)
	}
	return f.cells, m
}

// readyWork is the most operations, and elements, of a cell that is computed before it is needed.
const readyWork = 1 << 14

// What follows writes kept values into a loop: each is an operand, and a check whether it is there.

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
	return x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(p, i, j) }).proved()
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
		if o.What == ItsValue {
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

// loopsByText keeps loops by their text, so that a body that is written twice is compiled once.
var loopsByText = define.Made[string, *launch.Loop]{Most: 512}

// LoopOf is a nest, which has been verified, as a loop that can be run.
func LoopOf(n *loop.Nest) *launch.Loop {
	return loopsByText.Of(n.String(), func() *launch.Loop { return launch.New(n) })
}
