package reduce

// This file defines the reductions of every row (a result of n x 1) and of every column (1 x m):
// rowsum, colsum, rowmean and so on. Blocks hold whole rows or whole columns, so that there are no
// partial results.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

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
