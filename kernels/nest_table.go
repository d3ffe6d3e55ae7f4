package kernels

// This file makes operands of a nest that no argument of the parfor is. Tables, of what many points
// compute alike, are made before the first point. Cells, which are the same in every iteration, are
// computed when an iteration first needs them (nest/memo.go).

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/value"
	"flow/kernels/loop/launch"
	"flow/kernels/nest"
)

// nestTable is a table that a nest reads: an operand that a loop of its own makes at the beginning.
type nestTable struct {
	loop.Tabulated
	loop *launch.Loop
}

const (
	// mostTabled is the most elements of one value in a table: they are read again and again, so a cache
	// should hold them. mostTogether is that of all values of a table.
	mostTabled, mostTogether = 1 << 19, 4 * mostTabled
	// tabledUses is how many times the points compute an element of a table at least: one worker
	// makes the table while the others wait, and a loop may end before its last round.
	tabledUses = 64
)

// tabulated returns the nest of a body that reads tables, and the tables. A table is filled at the
// beginning, so it must not follow from an input whose rows arrive while the loop runs (carry). Loops
// with such inputs have bounds that are known while compiling, and these are no inputs. So the register
// of input k is dims + k.
func (c *bodyCode) tabulated(b *nest.Body, dims int) (*loop.Nest, []nestTable) {
	loopNest, list := loop.Tabulate(b.Nest, func(param int) bool {
		if param < 2*dims {
			return true
		}
		o := b.Operands[param-2*dims]
		switch o.What {
		case nest.CellKnown, nest.CellValue:
			return mayBeEarly(c.cells, o.Register)
		}
		return !slices.Contains(c.carry, int64(o.Register-dims))
	})
	var tables []nestTable
	for _, t := range list {
		tables = append(tables, nestTable{t, nest.LoopOf(t.Nest)})
	}
	return loopNest, tables
}

// mayBeEarly reports a cell that costs little, whether an iteration needs it or not: elementwise
// operators and constructors make it.
func mayBeEarly(cells []nest.MemoCell, cell int) bool {
	a := &cells[cell].Body.Acts[cells[cell].Act]
	if !a.Def.Laws.Has(op.Pure) || !a.Def.Laws.Has(op.Elementwise) && len(a.Args) > 0 || a.Bodies != nil || !a.Type.Known() || a.Type.Count() > mostTabled {
		return false
	}
	for _, x := range cells[cell].Args {
		if x.Cell > 0 && !mayBeEarly(cells, x.Cell-1) {
			return false
		}
	}
	return true
}

// early computes the cells that tables may read. It reports whether all have values. A cell that
// fails does so again where an iteration needs it.
func (n *nestRun) early(m *nestMade) bool {
	for _, o := range m.body.Operands {
		if o.What == nest.CellValue && mayBeEarly(n.code.cells, o.Register) {
			if _, err := n.r.kept.Get(o.Register); err != nil {
				return false
			}
		}
	}
	return true
}

// makeTables computes tables of operands. ok is false where they do not pay, or cannot be made.
func (n *nestRun) makeTables(tables []nestTable, in []value.Value) (made []value.Value, ok bool) {
	points := float64(n.r.space.n[0]) * float64(n.r.space.width())
	for _, t := range tables {
		rows, cols, values := sizeIn(t.Rows, in), sizeIn(t.Cols, in), int64(t.Values)
		uses := points * float64(values)
		for _, r := range t.Rounds {
			uses *= float64(sizeIn(r, in))
		}
		if rows <= 0 || cols <= 0 || rows > min(values*mostTabled, mostTogether)/cols || uses < tabledUses*float64(rows)*float64(cols) {
			return nil, false
		}
		out := value.New(t.Nest.Results[0].Elem, int(rows), int(cols))
		run, err := t.loop.Begin(in, []*value.Dense{out})
		if err != nil {
			return nil, false
		}
		w := run.Worker()
		flagged, err := w.Window(0, int(rows)/t.Values, 0, int(cols), nil)
		w.Free()
		if flagged || err != nil {
			return nil, false
		}
		made = append(made, out)
	}
	return made, true
}

// sizeIn is a form of the operands' sizes and scalar operands.
func sizeIn(l loop.Lin, in []value.Value) int64 {
	n := l.Const
	for _, t := range l.Terms {
		switch v := in[t.Sym.N]; t.Sym.Kind {
		case loop.ParamSym:
			n += t.Coef * v.(value.Scalar).I
		case loop.RowsSym:
			n += t.Coef * int64(v.Type().Rows)
		case loop.ColsSym:
			n += t.Coef * int64(v.Type().Cols)
		}
	}
	return n
}

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
