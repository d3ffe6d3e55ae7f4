package reduce

// This file writes statistics of lists into loops. The order of a short list comes from a sorting
// network, of which only the comparisons that a result needs are written.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/order"
)

// lineElements writes the three forms of a statistic: line gives the result for the elements of one
// line, in order.
func lineElements(e *op.Elements, rows, cols bool, line func(x []loop.Val) loop.Val) op.Element {
	x := e.In[0]
	if !x.Rows.Known() || !x.Cols.Known() {
		return nil
	}
	n, m := int(x.Rows.Const), int(x.Cols.Const)
	if rows {
		n = 1
	}
	if cols {
		m = 1
	}
	if n*m == 0 || n*m > define.Unrolled {
		return nil
	}
	at := func(i, j loop.Lin) loop.Val {
		var list []loop.Val
		for r := range n {
			for c := range m {
				list = append(list, x.At(i.Plus(loop.Num(int64(r))), j.Plus(loop.Num(int64(c)))))
			}
		}
		return define.ConvertBody(e.B, dense.Storage(e.Out.Elem), line(list))
	}
	if rows || cols {
		return at
	}
	y := at(loop.Num(0), loop.Num(0))
	return func(loop.Lin, loop.Lin) loop.Val { return y }
}

// selected writes what the network gives on some wires, from whose numbers it returns the values. No
// element is a nan.
func selected(b *loop.Builder, x []loop.Val, wires ...int) []loop.Val {
	list := order.Network(len(x))
	needed := make([]bool, len(x))
	for _, w := range wires {
		needed[w] = true
	}
	type use struct{ lo, hi bool }
	uses := make([]use, len(list))
	for k := len(list) - 1; k >= 0; k-- {
		c := list[k]
		uses[k] = use{needed[c.Lo], needed[c.Hi]}
		if uses[k].lo || uses[k].hi {
			needed[c.Lo], needed[c.Hi] = true, true
		}
	}
	x = append([]loop.Val{}, x...)
	for k, c := range list {
		u, lo, hi := uses[k], x[c.Lo], x[c.Hi]
		if !u.lo && !u.hi {
			continue
		}
		less := b.Op(loop.Lt, hi, lo)
		if u.lo {
			x[c.Lo] = b.Op(loop.Select, less, hi, lo)
		}
		if u.hi {
			x[c.Hi] = b.Op(loop.Select, less, lo, hi)
		}
	}
	return x
}

// quantileBody is the quantile q of a list, as between defines it.
func quantileBody(b *loop.Builder, q float64, x []loop.Val) loop.Val {
	float := b.Type(x[0]).IsFloat()
	if b.Type(x[0]) == types.Bool {
		x = append([]loop.Val{}, x...)
		for k := range x {
			x[k] = define.ConvertBody(b, types.I64, x[k])
		}
	}
	n := len(x)
	h := q * float64(n-1)
	i := min(int(h), n-1)
	rest := h - float64(i)
	wires := []int{i}
	single := rest == 0 || i == n-1
	if !single {
		wires = append(wires, i+1)
	}
	sorted := selected(b, x, wires...)
	// at is an element as f64; -0 becomes +0.
	at := func(i int) loop.Val {
		return b.Op(loop.Add, define.ConvertBody(b, types.F64, sorted[i]), define.Numeral(b, types.F64, 0))
	}
	y := at(i)
	if !single {
		next := at(i + 1)
		part := b.Op(loop.Mul, b.Const(types.F64, math.Float64bits(rest)), b.Op(loop.Sub, next, y))
		y = b.Op(loop.Select, b.Op(loop.Eq, y, next), y, b.Op(loop.Add, y, part))
	}
	if !float {
		return y
	}
	nan := b.Op(loop.Ne, x[0], x[0])
	for _, v := range x[1:] {
		nan = b.Op(loop.Or, nan, b.Op(loop.Ne, v, v))
	}
	return b.Op(loop.Select, nan, b.Const(types.F64, math.Float64bits(math.NaN())), y)
}

// nuniqueBody is the number of different elements of a list. In the order of the elements those that
// are equal are neighbours. All nans are one, and are left out of the order.
func nuniqueBody(b *loop.Builder, x []loop.Val) loop.Val {
	e := b.Type(x[0])
	x = append([]loop.Val{}, x...)
	zero, one := define.Numeral(b, types.I64, 0), define.Numeral(b, types.I64, 1)
	more := zero // 1 if there is a nan
	if e.IsFloat() {
		// A nan takes the place of infinity. Whether infinity itself is there is counted apart.
		infinite := b.Op(loop.ToF64, b.Const(types.F32, uint64(math.Float32bits(float32(math.Inf(1))))))
		if e == types.F32 {
			infinite = b.Const(e, uint64(math.Float32bits(float32(math.Inf(1)))))
		}
		var nan, top loop.Val
		for k, v := range x {
			is, inf := b.Op(loop.Ne, v, v), b.Op(loop.Eq, v, infinite)
			if k == 0 {
				nan, top = is, inf
			} else {
				nan, top = b.Op(loop.Or, nan, is), b.Op(loop.Or, top, inf)
			}
			x[k] = b.Op(loop.Select, is, infinite, v)
		}
		// With a nan the order has an infinity, which counts once: both are there if infinity is, too.
		more = b.Op(loop.Select, b.Op(loop.And, nan, top), one, zero)
	} else if e == types.Bool {
		for k := range x {
			x[k] = define.ConvertBody(b, types.I64, x[k])
		}
	}
	wires := make([]int, len(x))
	for k := range wires {
		wires[k] = k
	}
	sorted := selected(b, x, wires...)
	n := b.Op(loop.Add, more, one)
	for k := 1; k < len(sorted); k++ {
		n = b.Op(loop.Add, n, b.Op(loop.Select, b.Op(loop.Ne, sorted[k-1], sorted[k]), one, zero))
	}
	return n
}

// extremePlace is argmin or argmax of a list, as a reduction.
func extremePlace(e *op.Elements, c loop.Class, rows, cols bool) op.Element {
	x := e.In[0]
	n, m := x.Rows, x.Cols
	if n.Known() && n.Const == 0 || m.Known() && m.Const == 0 {
		return nil
	}
	one := loop.Num(1)
	switch {
	case rows:
		e.Size(n, one)
		n = one
	case cols:
		e.Size(one, m)
		m = one
	case !m.Known():
		return nil // a place in row-major order, which is no linear form
	}
	place := func(r, k loop.Lin) loop.Lin {
		if rows {
			return k
		}
		return r.Times(m.Const).Plus(k)
	}
	at := func(i, j loop.Lin) loop.Val {
		return e.Fold(c, types.I64, n, m, func(r, k loop.Lin) []loop.Val {
			return []loop.Val{x.At(i.Plus(r), j.Plus(k)), e.Number(place(r, k))}
		})
	}
	if rows || cols {
		return at
	}
	y := at(loop.Num(0), loop.Num(0))
	return func(loop.Lin, loop.Lin) loop.Val { return y }
}
