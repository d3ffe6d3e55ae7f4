package kernels

// This file gives a nest operands after it has begun. They are the same in every iteration, and are computed
// when an iteration first needs them (nest/memo.go).

import (
	"flow/ir/value"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// operand is operand o of a nest at its beginning. Of what comes later it has the type.
func (r *parforRun) operand(o nest.Operand) value.Value {
	switch o.What {
	case nest.CellKnown:
		if r.kept.Peek(o.Register) == nil {
			return value.I64(0)
		}
		return value.I64(1)
	case nest.CellValue:
		if v := r.kept.Peek(o.Register); v != nil {
			return v
		}
		c := &r.kept.Cells[o.Register]
		if t := c.Body.Acts[c.Act].Type; t.IsDense() {
			return value.New(t.Elem, t.Rows, t.Cols) // lanes read it whose checks have failed
		} else {
			return value.Scalar{Elem: t.Elem}
		}
	}
	return o.Of(r.values)
}

// cellReader gives a worker of a nest the values of cells.
type cellReader struct {
	r        *parforRun
	operands []nest.Operand
	bounds   int    // operands of the nest before these
	known    []bool // of operands that are cells: the worker has their values
}

func newCellReader(r *parforRun, operands []nest.Operand, bounds int) cellReader {
	return cellReader{r, operands, bounds, make([]bool, len(operands))}
}

// learn gives a worker the values of cells that have come since it was asked last, and reports
// whether there are any.
func (c *cellReader) learn(x *launch.Worker) (some bool) {
	for k, o := range c.operands {
		if o.What != nest.CellValue || c.known[k] {
			continue
		}
		v := c.r.kept.Ready(o.Register)
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
		if o.What == nest.CellValue && !c.known[k] {
			return true
		}
	}
	return false
}
