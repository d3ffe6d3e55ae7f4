package scan

// This file defines the cumulative rows: cumsum, cumprod, cummin and cummax down each column, and
// rowcumsum and so on along each row. Each line is one chain from its first element on, rounded at
// every step, which is what a reader of the definition expects and what no cut of a line could
// give; so workers share out lines, not parts of them.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/window"
)

// chain is the part of a cumulative row that differs.
type chain struct {
	name, what string
	elem       func(types.Elem) types.Elem
	step       func(x []value.Scalar) value.Scalar // the elementwise definition
	body       loop.Code                           // the same in a loop, of numbers
	truths     loop.Code                           // of bools
	col, row   string                              // what the examples print
}

func Rows() []*op.Def {
	var out []*op.Def
	for _, c := range []chain{
		{"sum", "sums", reduce.Summed, define.On2(func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b }),
			loop.Add, 0, "1 2\n4 6\n", "1 3\n3 7\n"},
		{"prod", "products", reduce.Summed, define.On2(func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }),
			loop.Mul, 0, "1 2\n3 8\n", "1  2\n3 12\n"},
		{"min", "minima", reduce.Itself, define.On2(define.Lesser, func(a, b int64) int64 { return min(a, b) }),
			loop.Min, loop.And, "1 2\n1 2\n", "1 1\n3 3\n"},
		{"max", "maxima", reduce.Itself, define.On2(define.Greater, func(a, b int64) int64 { return max(a, b) }),
			loop.Max, loop.Or, "1 2\n3 4\n", "1 2\n3 4\n"},
	} {
		run := &scanner{step: c.written}
		down := c.def(run, false)
		down.Scan = &op.Scan{End: down.Name + ".end", From: down.Name + ".from", Joins: c.joins}
		out = append(out, down, c.def(run, true), c.end(down.Scan.End), c.from(down.Scan.From, down, run))
	}
	return out
}

func (c chain) def(run *scanner, byRow bool) *op.Def {
	name, where, output := "cum"+c.name, "down each column", c.col
	if byRow {
		name, where, output = "rowcum"+c.name, "along each row", c.row
	}
	doc := name + " is the running " + c.what + " " + where + ", of the same shape."
	if c.body == loop.Add || c.body == loop.Mul {
		doc += " Floats are rounded at every step, in order; integers wrap, bools count."
	} else {
		doc += " A nan stays to the end."
	}
	d := &op.Def{
		Name: name, Doc: doc,
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Eg:   define.Eg(name+"(reshape(seq(1, 5), 2, 2))", output),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.DenseType(s)
			if err == nil && !t.Elem.IsNumeric() {
				err = op.Faultf(0, define.CodeKind, "`%s` is not defined on %v", name, t.Elem)
			}
			return t.With(c.elem(t.Elem)), err
		},
		Laws: op.Pure, Rate: "cumulative", Down: !byRow,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.StreamCost(s, out, 1) },
	}
	d.Ref = func(call *op.Call) (value.Value, error) {
		a := call.Dense(0)
		out := value.New(call.Type.Elem, a.Rows, a.Cols)
		for i := range a.Rows {
			for j := range a.Cols {
				x := a.At(i, j).Convert(out.Elem)
				switch {
				case byRow && j > 0:
					x = c.step([]value.Scalar{out.At(i, j-1), x})
				case !byRow && i > 0:
					x = c.step([]value.Scalar{out.At(i-1, j), x})
				}
				out.Set(i, j, x)
			}
		}
		return out, nil
	}
	d.Kernel = func(call *op.Call) error {
		c.run(run, call.Result(), call.Dense(0), byRow, nil)
		return nil
	}
	d.Elements = func(e *op.Elements) op.Element { return scanElements(e, byRow, c.written) }
	if d.Loop = window.Loop(d.Kernel, window.Rows); !byRow {
		d.Loop = window.Loop(d.Kernel, window.WideCols)
	} else {
		d.Along = func(*op.Attrs) []int { return []int{0} }
	}
	return d
}

// written is a step in a loop.
func (c chain) written(b *loop.Builder, s, x loop.Val) loop.Val {
	if b.Type(s) == types.Bool {
		return b.Op(c.truths, s, x)
	}
	return b.Op(c.body, s, x)
}

// run writes the running results of the lines of a to out. Their first elements are those of a, or
// follow those of the row before.
func (c chain) run(s *scanner, out, a *value.Dense, byRow bool, before *value.Dense) {
	if a.Rows == 0 || a.Cols == 0 {
		return
	}
	if byRow {
		if a.Elem != out.Elem { // truths, which count
			for i := range a.Rows {
				row := out.I64[i*out.Stride:][:a.Cols]
				for j, v := range a.Bool[i*a.Stride:][:a.Cols] {
					row[j] = int64(v)
				}
			}
			a = out
		}
		dense.ForElem(out.Elem, alongRows[float64], alongRows[float32], alongRows[int64], alongRows[uint8])(c, out, a)
		return
	}
	window.CopyRect(out, window.Rect{Rows: 1, Cols: a.Cols}, a, 0, 0)
	if before != nil {
		for j := range a.Cols {
			out.Set(0, j, c.next(before, j, out.At(0, j)))
		}
	}
	if a.Rows == 1 || s.scan(out, a) {
		return
	}
	rest := window.Rect{Row: 1, Rows: a.Rows - 1, Cols: a.Cols}
	window.CopyRect(out, rest, a, 1, 0)
	dense.ForElem(out.Elem, runLines[float64], runLines[float32], runLines[int64], runLines[uint8])(c, out)
}

// alongRows writes running values along rows. It computes two rows side by side, since steps of one
// row wait for each other and steps of two rows do not. Sums of integers are computed row by row:
// their step takes no longer than its loop. More than two rows, with as many streams of memory,
// took longer.
func alongRows[T dense.Cell](c chain, result, x *value.Dense) {
	out, a := dense.GridOf[T](result), dense.GridOf[T](x)
	pairs := a.Rows &^ 1
	if c.body == loop.Add && result.Elem == types.I64 {
		pairs = 0
	}
	for i := 0; i < pairs; i += 2 {
		x := a.Row(i)
		n := len(x)
		z, y, w := a.Row(i + 1)[:n], out.Row(i)[:n], out.Row(i + 1)[:n]
		s, t := x[0], z[0]
		y[0], w[0] = s, t
		switch c.body {
		case loop.Add:
			for j := 1; j < n; j++ {
				s += x[j]
				t += z[j]
				y[j], w[j] = s, t
			}
		case loop.Mul:
			for j := 1; j < n; j++ {
				s *= x[j]
				t *= z[j]
				y[j], w[j] = s, t
			}
		case loop.Min:
			for j := 1; j < n; j++ {
				s, t = min(s, x[j]), min(t, z[j])
				y[j], w[j] = s, t
			}
		default:
			for j := 1; j < n; j++ {
				s, t = max(s, x[j]), max(t, z[j])
				y[j], w[j] = s, t
			}
		}
	}
	step := stepOf[T](c.body)
	for i := pairs; i < a.Rows; i++ {
		x := a.Row(i)
		y := out.Row(i)[:len(x)]
		s := x[0]
		y[0] = s
		if c.body == loop.Add {
			for j := 1; j < len(x); j++ {
				s += x[j]
				y[j] = s
			}
			continue
		}
		for j := 1; j < len(x); j++ {
			s = step(s, x[j])
			y[j] = s
		}
	}
}

// runLines makes the elements of out, below the first row, running values of their columns.
func runLines[T dense.Cell](c chain, out *value.Dense) {
	x, step := dense.GridOf[T](out), stepOf[T](c.body)
	for i := 1; i < x.Rows; i++ {
		last, row := x.Row(i-1), x.Row(i)
		for j, v := range row {
			row[j] = step(last[j], v)
		}
	}
}

// stepOf returns a step by its code in a loop of numbers. The least of truths is both of them, and the
// greatest either.
func stepOf[T dense.Cell](body loop.Code) func(s, x T) T {
	switch body {
	case loop.Add:
		return func(s, x T) T { return s + x }
	case loop.Mul:
		return func(s, x T) T { return s * x }
	case loop.Min:
		return func(s, x T) T { return min(s, x) }
	}
	return func(s, x T) T { return max(s, x) }
}
