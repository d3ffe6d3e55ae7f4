package order

// This file defines order.below, which counts the elements of an ordered column that are below a
// number.

import (
	"sort"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// below is the operator that the pass segments writes for a parfor that takes the rows of groups. It
// tells where a group begins among all rows in order and, with equal = true, where it ends.
func below() *op.Def {
	return &op.Def{
		Name: "order.below", Hidden: true,
		Doc: "order.below returns how many elements of an ascending column are below x. With equal = true it counts elements equal to x, too. " +
			"No nan is counted, and nothing is counted if x is nan. The column is in the order of sort.",
		Args: []op.Arg{{Name: "x", Doc: "a scalar"}, {Name: "sorted", Doc: "n x 1, ascending, nan last"}, define.Flag("equal", "whether equal elements count")},
		Eg:   []op.Example{{Program: "g = [2, 0, 1, 2, 0, 3]\nx = seq(10, 16)\nemit t(parfor j in 0..64 { sum(x[g == j]) })[0, 0..4]", Output: "25 12 23 15\n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			return types.ScalarOf(types.I64), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x, column, n := c.Scalar(0), c.Dense(1), 0
			e, _ := types.Widen(x.Elem, column.Elem)
			for i := range column.Rows {
				if precedes(column.At(i, 0).Convert(e), x.Convert(e), c.Attrs.Bool("equal")) {
					n++
				}
			}
			return value.I64(int64(n)), nil
		},
		Laws: op.Pure | op.Total,
		Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Flops: 64, Bytes: 64} },
		Kernel: func(c *op.Call) error {
			x, column, equal := c.Scalar(0), c.Dense(1), c.Attrs.Bool("equal")
			e, _ := types.Widen(x.Elem, column.Elem)
			x = x.Convert(e)
			n := sort.Search(column.Rows, func(i int) bool { return !precedes(column.At(i, 0).Convert(e), x, equal) })
			c.Out = value.I64(int64(n))
			return nil
		},
		Elements: belowElements,
	}
}

// precedes reports whether k is below x or, if equal, at most x.
func precedes(k, x value.Scalar, equal bool) bool {
	if k.Elem.IsFloat() {
		return k.F < x.F || equal && k.F == x.F
	}
	return k.I < x.I || equal && k.I == x.I
}

// belowElements writes order.below into a loop as a binary search without branches. All searches take
// the same steps, so no lane of a loop waits for others.
func belowElements(e *op.Elements) op.Element {
	b, column, code := e.B, e.In[1], loop.Lt
	if !column.Type.Known() {
		return nil
	}
	elem, _ := types.Widen(e.In[0].Type.Elem, column.Type.Elem)
	if e.Attrs.Bool("equal") {
		code = loop.Le
	}
	return func(i, j loop.Lin) loop.Val {
		x, from := define.ConvertBody(b, elem, e.In[0].At(i, j)), define.Numeral(b, types.I64, 0)
		for n := column.Type.Rows; n > 0; {
			half := (n + 1) / 2
			last := column.At(loop.Of(loop.ValSym, int(from)).Plus(loop.Num(int64(half-1))), loop.Num(0))
			next := b.Op(loop.Add, from, define.Numeral(b, types.I64, half))
			from = b.Op(loop.Select, b.Op(code, define.ConvertBody(b, elem, last), x), next, from)
			n -= half
		}
		return from
	}
}
