package reduce

// This file defines the reductions of every row (a result of n x 1) and of every column (1 x m):
// rowsum, colsum, rowmean and so on. Blocks hold whole rows or whole columns, so that there are no
// partial results.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
)

// axisRows returns the forms by rows and by columns of each whole reduction, and of argmin and argmax.
func axisRows() []*op.Def {
	var out []*op.Def
	for _, w := range Wholes() {
		out = append(out, AxisRow(w, w.Name, true), AxisRow(w, w.Name, false))
		out = append(out, w.columnRows()...)
	}
	for _, byRow := range []bool{true, false} {
		for _, s := range argExtremes() {
			d := s.lineRow(byRow)
			d.Eg = define.Eg("sum("+d.Name+"(eye(3)))", s.row)
			out = append(out, d)
		}
	}
	return out
}

// AxisNames are the words of the two directions.
func AxisNames(byRow bool) (prefix, each, of string) {
	if byRow {
		return "row", "row", "n x 1"
	}
	return "col", "column", "1 x m"
}

// AxisType is the type rule of a reduction of each row or each column, whose elements are elem of
// the argument's. A nonempty one has no value of an empty line.
func AxisType(s *op.Sig, byRow, nonempty bool, elem func(types.Elem) types.Elem) (types.Type, error) {
	t := s.In[0]
	if !t.IsDense() {
		return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Source(), t)
	}
	if !t.Elem.IsNumeric() {
		return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` is not defined on %v", s.Def.Source(), t.Elem)
	}
	along, out := t.Cols, types.DenseOf(elem(t.Elem), t.Rows, 1)
	if !byRow {
		along, out = t.Rows, types.DenseOf(elem(t.Elem), 1, t.Cols)
	}
	if nonempty && along == 0 {
		return types.Type{}, op.Faultf(0, define.CodeShape, "`%s` of %v: there is nothing to choose from", s.Def.Source(), t)
	}
	return out, nil
}

// AxisRow is the row that reduces each row or each column of a matrix by w; word names it behind
// row or col.
func AxisRow(w Whole, word string, byRow bool) *op.Def {
	prefix, each, shape := AxisNames(byRow)
	d := &op.Def{
		Name: prefix + word,
		Doc:  prefix + word + " is " + word + " of each " + each + ", " + shape + ".",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}},
		Type: func(s *op.Sig) (types.Type, error) { return AxisType(s, byRow, w.Nonempty, w.Elem) },
		Laws: w.laws(), Class: w.Class, Rate: "reduce." + prefix,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
	}
	d.Shard.Kind, d.Fold, d.Eg = op.ShardCols, op.FoldCols, axisExample(word, byRow)
	switch {
	case byRow:
		d.Shard.Kind, d.Fold = op.ShardRows, op.FoldRows
	case w.hasColumnState():
		d.Shard.Partial, d.Shard.Combine, d.Shard.Finish = "col"+w.Family()+".part", w.Family()+".join", "col"+w.Name+".done"
	}
	d.Ref = func(c *op.Call) (value.Value, error) {
		return EachLine(c, byRow, w.Nonempty, func(x []value.Scalar) value.Scalar { return w.Ref(x, c.Type.Elem) })
	}
	d.Kernel = func(c *op.Call) error {
		a, out := c.Dense(0), c.Result()
		if w.Nonempty && out.Rows*out.Cols > 0 && a.Rows*a.Cols == 0 {
			return op.Failf(define.CodeData, "%s of an empty matrix", d.Name)
		}
		switch {
		case out.Rows*out.Cols == 0:
		case byRow:
			s := pool.Get().(*Accumulators)
			defer pool.Put(s)
			(&Fold{Axis: OverRows, Whole: w}).ByRow(out, a, s)
		default:
			(&Fold{Axis: OverCols, Whole: w}).Into(out, a)
		}
		return nil
	}
	if byRow {
		d.Loop = window.Loop(d.Kernel, window.Rows)
	}
	return d
}

// axisExample is the program of the manual for one direction of a reduction of a 3 x 2 matrix of
// ones.
func axisExample(word string, byRow bool) []op.Example {
	result := map[string][2]string{"sum": {"2\n2\n2\n", "3 3\n"}, "count": {"2\n2\n2\n", "3 3\n"},
		"any": {"true\ntrue\ntrue\n", "true true\n"}, "all": {"true\ntrue\ntrue\n", "true true\n"},
		"norm": {"1.4142135623730951\n1.4142135623730951\n1.4142135623730951\n", "1.7320508075688772 1.7320508075688772\n"}}
	r, ok := result[word]
	if !ok {
		r = [2]string{"1\n1\n1\n", "1 1\n"}
	}
	if byRow {
		return define.Eg("row"+word+"(ones(3, 2))", r[0])
	}
	return define.Eg("col"+word+"(ones(3, 2))", r[1])
}

// EachLine applies a definition on lists to every row or column.
func EachLine(c *op.Call, byRow, nonempty bool, f func(x []value.Scalar) value.Scalar) (value.Value, error) {
	a := c.Dense(0)
	out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	for k := range out.Rows * out.Cols {
		var line []value.Scalar
		if byRow {
			line = define.Elements(a.View(k, 0, 1, a.Cols))
		} else {
			line = define.Elements(a.View(0, k, a.Rows, 1))
		}
		if len(line) == 0 && nonempty {
			return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
		}
		if byRow {
			out.Set(k, 0, f(line))
		} else {
			out.Set(0, k, f(line))
		}
	}
	return out, nil
}
