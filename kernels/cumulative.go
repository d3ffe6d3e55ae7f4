package kernels

// This file defines the cumulative rows: cumsum, cumprod, cummin and cummax down each column, and rowcumsum and so on
// along each row. Each line is one chain from its first element on, rounded at every step, which is what a reader of
// the definition expects and what no cut of a line could give; so workers share out lines, not parts of them.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/vec"
)

// chain is the part of a cumulative row that differs.
type chain struct {
	name, what string
	elem       func(types.Elem) types.Elem
	step       func(x []value.Scalar) value.Scalar // the elementwise definition
	f64        func(dst, a, b []float64)
	f32        func(dst, a, b []float32)
	i64        func(dst, a, b []int64)
	b          func(dst, a, b []uint8)
	col, row   string // what the examples print
}

// cumulative is the rows of the cumulative family.
func cumulative() []*op.Def {
	bools := func(f func(a, b uint8) uint8) func(dst, a, b []uint8) {
		return func(dst, a, b []uint8) {
			for i := range dst {
				dst[i] = f(a[i], b[i])
			}
		}
	}
	var out []*op.Def
	for _, c := range []chain{
		{"sum", "sums", summed, on2(func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b }),
			vec.AddF64, vec.AddF32, vec.AddI64, nil, "1 2\n4 6\n", "1 3\n3 7\n"},
		{"prod", "products", summed, on2(func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }),
			vec.MulF64, vec.MulF32, vec.MulI64, nil, "1 2\n3 8\n", "1  2\n3 12\n"},
		{"min", "minima", itself, on2(lesser, func(a, b int64) int64 { return min(a, b) }),
			vec.MinF64, vec.MinF32, vec.MinI64, bools(func(a, b uint8) uint8 { return a & b }), "1 2\n1 2\n", "1 1\n3 3\n"},
		{"max", "maxima", itself, on2(greater, func(a, b int64) int64 { return max(a, b) }),
			vec.MaxF64, vec.MaxF32, vec.MaxI64, bools(func(a, b uint8) uint8 { return a | b }), "1 2\n3 4\n", "1 2\n3 4\n"},
	} {
		out = append(out, c.def(false), c.def(true))
	}
	return out
}

func (c chain) def(byRow bool) *op.Def {
	name, where, output := "cum"+c.name, "down each column", c.col
	if byRow {
		name, where, output = "rowcum"+c.name, "along each row", c.row
	}
	doc := name + " is the running " + c.what + " " + where + ", of the same shape."
	if c.name == "sum" || c.name == "prod" {
		doc += " Floats are rounded at every step, in order; integers wrap, bools count."
	} else {
		doc += " A nan stays to the end."
	}
	d := &op.Def{
		Name: name, Doc: doc,
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Eg:   eg(name+"(reshape(seq(1, 5), 2, 2))", output),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := denseType(s)
			if err == nil && !t.Elem.IsNumeric() {
				err = op.Faultf(0, codeKind, "`%s` is not defined on %v", name, t.Elem)
			}
			return t.With(c.elem(t.Elem)), err
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "cumulative",
		Cost: func(s *op.Sig, out types.Type) op.Work { return streamCost(s, out, 1) },
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
		out := call.Result()
		a := widened(call.Dense(0), out.Elem)
		if a.Rows == 0 || a.Cols == 0 {
			return nil
		}
		if byRow && c.alongRows(out, a) {
			return nil
		}
		switch out.Elem {
		case types.F64:
			runChain(gridOf[float64](out), gridOf[float64](a), byRow, c.f64)
		case types.F32:
			runChain(gridOf[float32](out), gridOf[float32](a), byRow, c.f32)
		case types.Bool:
			runChain(gridOf[uint8](out), gridOf[uint8](a), byRow, c.b)
		default:
			runChain(gridOf[int64](out), gridOf[int64](a), byRow, c.i64)
		}
		return nil
	}
	if d.Loop = windowLoop(d.Kernel, partRows); !byRow {
		d.Loop = windowLoop(d.Kernel, partWideCols)
	}
	return d
}

// alongRows writes running sums and products along rows, some rows side by side: a step of one waits for the one before
// it, and those of several rows do not. false: not an operator of these.
func (c chain) alongRows(out, a *value.Dense) bool {
	product := c.name == "prod"
	if !product && c.name != "sum" {
		return false
	}
	switch out.Elem {
	case types.F64:
		accumulateRows(gridOf[float64](out), gridOf[float64](a), product)
	case types.F32:
		accumulateRows(gridOf[float32](out), gridOf[float32](a), product)
	case types.I64:
		accumulateRows(gridOf[int64](out), gridOf[int64](a), product)
	default:
		return false
	}
	return true
}

// accumulateRows goes along two rows at a time, but for sums of integers, of which a step takes no longer than its
// loop: more rows, and as many streams of memory, took longer.
func accumulateRows[T float32 | float64 | int64](out, a grid[T], product bool) {
	i, pairs := 0, a.rows&^1
	if _, integers := any(a.x).([]int64); integers && !product {
		pairs = 0
	}
	for ; i < pairs; i += 2 {
		x := a.row(i)
		n := len(x)
		z, y, w := a.row(i + 1)[:n], out.row(i)[:n], out.row(i + 1)[:n]
		s, t := x[0], z[0]
		y[0], w[0] = s, t
		if product {
			for j := 1; j < n; j++ {
				s *= x[j]
				t *= z[j]
				y[j], w[j] = s, t
			}
			continue
		}
		for j := 1; j < n; j++ {
			s += x[j]
			t += z[j]
			y[j], w[j] = s, t
		}
	}
	for ; i < a.rows; i++ {
		x := a.row(i)
		y := out.row(i)[:len(x)]
		s := x[0]
		y[0] = s
		if product {
			for j := 1; j < len(x); j++ {
				s *= x[j]
				y[j] = s
			}
			continue
		}
		for j := 1; j < len(x); j++ {
			s += x[j]
			y[j] = s
		}
	}
}

// chainWidth is how many chains a call of the loop carries on when lines are rows.
const chainWidth = 64

// runChain writes the running results of a's lines to out with f, the loop of two slices. Columns are carried on a
// row at a time. Rows are turned first, chainWidth of them at a time, as a chain itself cannot be vectorised.
func runChain[T cell](out, a grid[T], byRow bool, f func(dst, a, b []T)) {
	if !byRow {
		copy(out.row(0), a.row(0))
		for i := 1; i < a.rows; i++ {
			f(out.row(i), out.row(i-1), a.row(i))
		}
		return
	}
	const piece = 256 // columns a time, so that what is turned stays in the cache
	turned := make([]T, (min(piece, a.cols)+1)*chainWidth)
	for i0 := 0; i0 < a.rows; i0 += chainWidth {
		n := min(chainWidth, a.rows-i0)
		last := turned[:n]
		for j0 := 0; j0 < a.cols; j0 += piece {
			m := min(piece, a.cols-j0)
			x := grid[T]{rows: m, cols: n, ld: n, x: turned[chainWidth : chainWidth+m*n]}
			transpose(x, a.part(i0, j0, n, m))
			for j := range m {
				if j > 0 {
					f(x.row(j), x.row(j-1), x.row(j))
				} else if j0 > 0 {
					f(x.row(j), last, x.row(j))
				}
			}
			transpose(out.part(i0, j0, n, m), x)
			copy(last, x.row(m-1))
		}
	}
}
