package kernels

// This file gives a nest the operands whose elements come after it has begun: what is the same in
// every iteration and is computed when an iteration first needs it (parfor_keep.go), and
// constructors of which every iteration reads its own row.

import (
	"flow/ir/value"
	"flow/kernels/loop/launch"
)

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
