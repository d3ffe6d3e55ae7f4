package kernels

// This file defines the reductions of every row (a result of n x 1) and of every column (1 x m): rowsum, colsum,
// rowmean and so on. Blocks hold whole rows or whole columns, so that there are no partial results.

import (
	"math"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/exact"
	"flow/kernels/vec"
)

// axisRows is the rows of this file: a form by rows and one by columns of each whole reduction, and the arg rows.
func axisRows() []*op.Def {
	var out []*op.Def
	for _, w := range wholes() {
		out = append(out, axisRow(w, w.name, true), axisRow(w, w.name, false))
	}
	for _, byRow := range []bool{true, false} {
		out = append(out, argRow("argmin", byRow, true), argRow("argmax", byRow, false))
	}
	return out
}

// axisNames are the words of the two directions.
func axisNames(byRow bool) (prefix, each, of string) {
	if byRow {
		return "row", "row", "n x 1"
	}
	return "col", "column", "1 x m"
}

func axisType(s *op.Sig, byRow, nonempty bool, elem func(types.Elem) types.Elem) (types.Type, error) {
	t := s.In[0]
	if !t.IsDense() {
		return types.Type{}, op.Faultf(0, codeKind, "`%s` needs a dense matrix, not %v", s.Def.Source(), t)
	}
	if !t.Elem.IsNumeric() {
		return types.Type{}, op.Faultf(0, codeKind, "`%s` is not defined on %v", s.Def.Source(), t.Elem)
	}
	along, out := t.Cols, types.DenseOf(elem(t.Elem), t.Rows, 1)
	if !byRow {
		along, out = t.Rows, types.DenseOf(elem(t.Elem), 1, t.Cols)
	}
	if nonempty && along == 0 {
		return types.Type{}, op.Faultf(0, codeShape, "`%s` of %v: there is nothing to choose from", s.Def.Source(), t)
	}
	return out, nil
}

func axisRow(w whole, word string, byRow bool) *op.Def {
	prefix, each, shape := axisNames(byRow)
	d := &op.Def{
		Name: prefix + word,
		Doc:  prefix + word + " is " + word + " of each " + each + ", " + shape + ".",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Type: func(s *op.Sig) (types.Type, error) { return axisType(s, byRow, w.nonempty, w.elem) },
		Laws: w.laws(), Flow: op.Flow{Rate: op.Once}, Rate: "reduce." + prefix,
		Cost: func(s *op.Sig, out types.Type) op.Work { return readCost(s, w.flops) },
	}
	d.Shard.Kind, d.Fold, d.Eg = op.ShardCols, op.FoldCols, axisExample(word, byRow)
	if byRow {
		d.Shard.Kind, d.Fold = op.ShardRows, op.FoldRows
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return eachLine(c, byRow, w.nonempty, func(x []value.Scalar) value.Scalar { return w.ref(x, c.Type.Elem) })
	}
	d.Kernel = func(c *op.Call) error {
		a, out := c.Dense(0), c.Result()
		if w.nonempty && out.Rows*out.Cols > 0 && a.Rows*a.Cols == 0 {
			return op.Failf(codeData, "%s of an empty matrix", d.Name)
		}
		room := &lineRoom{}
		switch {
		case out.Rows*out.Cols == 0 || w.lines(out, a, byRow, room):
		case byRow:
			w.rows(out, a, room)
		default:
			w.cols(out, a)
		}
		return nil
	}
	if d.Loop = windowLoop(d.Kernel, partRows); !byRow {
		d.Loop = w.colLoop(d.Kernel)
	}
	return d
}

// axisExample is the program of the manual for one direction of a reduction of a 3 x 2 matrix of ones.
func axisExample(word string, byRow bool) []op.Example {
	result := map[string][2]string{"sum": {"2\n2\n2\n", "3 3\n"}, "count": {"2\n2\n2\n", "3 3\n"},
		"any": {"true\ntrue\ntrue\n", "true true\n"}, "all": {"true\ntrue\ntrue\n", "true true\n"},
		"norm": {"1.4142135623730951\n1.4142135623730951\n1.4142135623730951\n", "1.7320508075688772 1.7320508075688772\n"}}
	r, ok := result[word]
	if !ok {
		r = [2]string{"1\n1\n1\n", "1 1\n"}
	}
	if byRow {
		return eg("row"+word+"(ones(3, 2))", r[0])
	}
	return eg("col"+word+"(ones(3, 2))", r[1])
}

// eachLine applies a definition on lists to every row or column.
func eachLine(c *op.Call, byRow, nonempty bool, f func(x []value.Scalar) value.Scalar) (value.Value, error) {
	a := c.Dense(0)
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for k := range out.Rows * out.Cols {
		var line []value.Scalar
		if byRow {
			line = elements(a.View(k, 0, 1, a.Cols))
		} else {
			line = elements(a.View(0, k, a.Rows, 1))
		}
		if len(line) == 0 && nonempty {
			return nil, op.Failf(codeData, "%s of an empty matrix", c.Def.Source())
		}
		if byRow {
			out.Set(k, 0, f(line))
		} else {
			out.Set(0, k, f(line))
		}
	}
	return out, nil
}

// rows reduces each row: float sums by way of short exact sums, everything else through the accumulator.
func (w whole) rows(out, a *value.Dense, r *lineRoom) {
	if a.Elem.IsFloat() && (w.name == "sum" || w.name == "mean" || w.name == "norm") {
		w.floatRows(out, a, r)
		return
	}
	t := w.acc(a.Elem)
	if r.acc == nil || !r.acc.Type().Equal(t) {
		r.acc = value.New(t.Elem, t.Rows, t.Cols)
	}
	acc := r.acc
	for i := range a.Rows {
		w.empty(acc)
		w.part(acc, a.View(i, 0, 1, a.Cols))
		out.Set(i, 0, w.done(acc, out.Elem, a.Cols))
	}
}

func (w whole) floatRows(out, a *value.Dense, r *lineRoom) {
	var buf []float64
	if a.Elem == types.F32 {
		r.wide = slices.Grow(r.wide[:0], a.Cols)
		buf = r.wide[:a.Cols]
	}
	for i := range a.Rows {
		var row []float64
		switch {
		case a.Cols == 0:
		case buf != nil:
			row = buf
			vec.Convert(row, a.F32[i*a.Stride:i*a.Stride+a.Cols])
		default:
			row = a.F64[i*a.Stride : i*a.Stride+a.Cols]
		}
		var x float64
		switch {
		case w.name == "norm":
			x = math.Sqrt(exact.OfSquares(row))
		case w.name == "mean":
			x = exact.Of(row) / float64(a.Cols)
		case out.Elem == types.F32:
			x = float64(exact.Of32(row))
		default:
			x = exact.Of(row)
		}
		if out.Elem == types.F32 {
			out.F32[i*out.Stride] = float32(x)
		} else {
			out.F64[i*out.Stride] = x
		}
	}
}

// cols reduces each column. Memory is read by rows.
func (w whole) cols(out, a *value.Dense) {
	if w.exactFloats(a) {
		w.floatCols(out, a)
		return
	}
	accs := w.emptyColumns(a)
	w.addColumns(accs, a)
	for j, acc := range accs {
		out.Set(0, j, w.done(acc, out.Elem, a.Rows))
	}
}

// emptyColumns is one accumulator a column; the part of one element is cheap for all but exact sums of integers.
func (w whole) emptyColumns(a *value.Dense) []*value.Dense {
	t := w.acc(a.Elem)
	accs := make([]*value.Dense, a.Cols)
	for j := range accs {
		accs[j] = value.New(t.Elem, t.Rows, t.Cols)
		w.empty(accs[j])
	}
	return accs
}

// addColumns adds the columns of a to their accumulators.
func (w whole) addColumns(accs []*value.Dense, a *value.Dense) {
	for j0 := 0; j0 < a.Cols; j0 += exact.BlockCols {
		n := min(exact.BlockCols, a.Cols-j0)
		for i0 := 0; i0 < a.Rows; i0 += exact.BlockRows {
			block := value.New(a.Elem, n, min(exact.BlockRows, a.Rows-i0))
			turnInto(block, a.View(i0, j0, block.Cols, n))
			for j := range n {
				w.part(accs[j0+j], block.View(j, 0, 1, block.Cols))
			}
		}
	}
}

// turnInto makes dst, contiguous, the transpose of src.
func turnInto(dst, src *value.Dense) {
	turnBlock(slabOf(dst, 0, dst.Rows*dst.Cols), dst.Stride, src, 0, 0, dst.Rows, dst.Cols)
}

func (w whole) floatCols(out, a *value.Dense) {
	c := newColumnSums(a)
	var sums [exact.BlockCols]exact.Sum
	for j0 := 0; j0 < a.Cols; j0 += exact.BlockCols {
		n := min(exact.BlockCols, a.Cols-j0)
		for j := range n {
			sums[j].Reset()
		}
		c.add(sums[:n], a.View(0, j0, a.Rows, n), w.name == "norm")
		for j := range n {
			w.putColumn(out, j0+j, &sums[j], a.Rows)
		}
	}
}

// putColumn writes the result of a column of so many rows.
func (w whole) putColumn(out *value.Dense, j int, sum *exact.Sum, rows int) {
	x := value.Scalar{Elem: out.Elem}
	switch {
	case w.name == "norm":
		x = number(out.Elem, math.Sqrt(sum.Round()))
	case w.name == "mean":
		x = number(out.Elem, sum.Round()/float64(rows))
	case out.Elem == types.F32:
		x.F = float64(sum.Round32())
	default:
		x.F = sum.Round()
	}
	out.Set(0, j, x)
}

// argRow is the place of the least or greatest element of every row or column.
func argRow(word string, byRow, least bool) *op.Def {
	prefix, each, shape := axisNames(byRow)
	name, which := prefix+word, "greatest"
	if least {
		which = "least"
	}
	d := &op.Def{
		Name: name,
		Doc:  name + " is the index of the " + which + " element of each " + each + ", " + shape + "; the first of equals; a nan wins.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Eg:   eg("sum("+name+"(eye(3)))", map[bool]string{true: "1", false: "3"}[least]),
		Type: func(s *op.Sig) (types.Type, error) { return axisType(s, byRow, true, counted) },
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "reduce." + prefix,
		Shard: op.Shard{Kind: op.ShardCols}, Fold: op.FoldCols,
		Cost: func(s *op.Sig, out types.Type) op.Work { return readCost(s, 1) },
	}
	if byRow {
		d.Shard.Kind, d.Fold = op.ShardRows, op.FoldRows
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return eachLine(c, byRow, true, func(x []value.Scalar) value.Scalar {
			best := 0
			for i, v := range x {
				b := x[best]
				if math.IsNaN(b.F) {
					break
				}
				if math.IsNaN(v.F) || least && (v.F < b.F || v.I < b.I) || !least && (v.F > b.F || v.I > b.I) {
					best = i
				}
			}
			return value.I64(int64(best))
		})
	}
	d.Kernel = func(c *op.Call) error {
		a, out := c.Dense(0), c.Result()
		if out.Rows*out.Cols > 0 && a.Rows*a.Cols == 0 {
			return op.Failf(codeData, "%s of an empty matrix", name)
		}
		argsOf(out.I64, a, byRow, least)
		return nil
	}
	if d.Loop = windowLoop(d.Kernel, partRows); !byRow {
		d.Loop = windowLoop(d.Kernel, partCols)
	}
	return d
}
