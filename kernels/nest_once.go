package kernels

// This file reads in nests what is the same in every iteration and is computed when an iteration
// first needs it (parfor_keep.go), and constructors of which every iteration reads its own row.
// Both are operands whose elements come after the nest has begun.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/loop/launch"
)

// param makes an operand.
func (x *nestBuilder) param(t types.Type, o nestOperand) int {
	kind := loop.DenseParam
	if t.IsScalar() {
		kind = loop.ScalarParam
	}
	x.operands = append(x.operands, o)
	return x.Param(kind, dense.Storage(t.Elem))
}

// once is action k of a nested body, whose value a cell keeps. What only such actions read is not
// written.
func (x *nestBuilder) once(b *op.Body, k int, m *keepMap) nestRef {
	a := &b.Acts[k]
	t := a.Type
	if !x.readHere(b, k, m) {
		return nestRef{t: t, val: loop.NoVal}
	}
	if t.Elem.Size() == 0 || !t.IsScalar() && (!t.IsDense() || !t.Known()) {
		panic(noBody{"a value of " + t.String() + " that is the same in every iteration"})
	}
	cell := m.cell[k] - 1
	there := x.Load(loop.Mem{Kind: loop.ParamMem, N: x.param(types.ScalarOf(types.I64), nestOperand{register: cell, what: cellKnown})})
	x.Check(0, x.Op(loop.Ne, there, x.Const(types.I64, 0)))
	p := loop.Mem{Kind: loop.ParamMem, N: x.param(t, nestOperand{register: cell, what: cellValue})}
	if t.IsScalar() {
		return nestRef{t: t, val: x.Load(p)}
	}
	return x.sized(t, func(i, j loop.Lin) loop.Val { return x.Load(p, i, j) })
}

// again reports an action that is written although a cell keeps its value: a number costs less than
// to ask whether it is there.
func again(a *op.Action) bool {
	return a.Def.Elt != nil && a.Type.IsScalar() || len(a.Args) == 0 && a.Def.Laws.Has(op.Pure) && (a.Type.IsScalar() || holdable(a.Type))
}

// readHere reports that the body yields action k, or that an action reads it which is written.
func (x *nestBuilder) readHere(b *op.Body, k int, m *keepMap) bool {
	r := len(b.Args) + k
	for _, y := range b.Yields {
		if y == r {
			return true
		}
	}
	for i := range b.Acts {
		if a := &b.Acts[i]; m.cell[i] == 0 || again(a) {
			for _, y := range a.Args {
				if y == r {
					return true
				}
			}
		}
	}
	return false
}

// peek is the value of a cell, nil if it has none so far.
func (k *kept) peek(cell int) value.Value {
	if s := &k.state[cell]; s.done.Load() && s.err == nil {
		return s.v
	}
	return nil
}

// operand is operand o of a nest at its beginning. Of what comes later it has the type.
func (r *parforRun) operand(o nestOperand) value.Value {
	switch o.what {
	case cellKnown:
		if r.kept.peek(o.register) == nil {
			return value.I64(0)
		}
		return value.I64(1)
	case cellValue:
		if v := r.kept.peek(o.register); v != nil {
			return v
		}
		c := &r.kept.cells[o.register]
		if t := c.body.Acts[c.act].Type; t.IsDense() {
			return value.New(t.Elem, t.Rows, t.Cols) // lanes read it whose checks have failed
		} else {
			return value.Scalar{Elem: t.Elem}
		}
	case itsDrawnRows:
		t := r.c.Bodies[0].Register(o.register)
		return &value.Dense{Elem: t.Elem, Rows: t.Rows, Cols: t.Cols, Stride: t.Cols}
	}
	return o.of(r.values)
}

// cellReader gives a worker of a nest the values of cells.
type cellReader struct {
	r        *parforRun
	operands []nestOperand
	bounds   int    // operands of the nest before these
	known    []bool // of operands that are cells: the worker has their values
}

func newCellReader(r *parforRun, operands []nestOperand, bounds int) cellReader {
	return cellReader{r, operands, bounds, make([]bool, len(operands))}
}

// learn gives a worker the values of cells that have come since it was asked last, and reports
// whether there are any.
func (c *cellReader) learn(x *launch.Worker) (some bool) {
	for k, o := range c.operands {
		if o.what != cellValue || c.known[k] {
			continue
		}
		v := c.r.kept.peek(o.register)
		if v == nil {
			continue
		}
		c.known[k], some = true, true
		number := c.bounds + k
		x.Scalar(number-1, value.I64(1)) // that it is there is the operand before it
		if d, is := v.(*value.Dense); is {
			x.Place(number, d, 0, 0)
		} else {
			x.Scalar(number, v.(value.Scalar))
		}
	}
	return some
}

// ignorant reports that there are cells of which the worker has no value.
func (c *cellReader) ignorant() bool {
	for k, o := range c.operands {
		if o.what == cellValue && !c.known[k] {
			return true
		}
	}
	return false
}

// drawnBytes is the most memory of the rows that a worker draws at a time.
const drawnBytes = 1 << 15

// strips is how many iterations a window has: 0 is any number.
func (n *nestRun) strips() int {
	row := 0
	for _, o := range n.operands {
		if o.what == itsDrawnRows {
			t := n.code.body.Register(o.register)
			row = max(row, t.Cols*t.Elem.Size())
		}
	}
	if row == 0 {
		return 0
	}
	return max(1, drawnBytes/row)
}

// draw makes rows from..to-1 of the constructors and places them. The index goes by 1.
func (w *nestWorker) draw(x *launch.Worker, from, to int) {
	n := w.n
	for k, o := range n.operands {
		if o.what != itsDrawnRows {
			continue
		}
		b := n.code.body
		a := &b.Acts[o.register-len(b.Args)]
		if w.rows[k] == nil {
			w.rows[k] = value.New(a.Type.Elem, n.strip, a.Type.Cols)
		}
		var rows value.Dense
		w.rows[k].Window(&rows, 0, 0, to-from, a.Type.Cols)
		first := n.r.space.lo[0] + from
		a.Def.Window(a.Attrs, &rows, first, 0)
		x.Place(2*n.r.space.dims+k, &rows, first, 0)
	}
}
