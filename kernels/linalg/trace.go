package linalg

// This file defines trace.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// Trace returns the row of trace.
func Trace() *op.Def {
	return &op.Def{
		Name: "trace",
		Doc:  "trace is the sum of the diagonal of a square matrix: exact, rounded once, like sum.",
		Args: []op.Arg{{Name: "a", Doc: "n x n"}},
		Eg:   define.Eg("trace(2 * eye(3))", "6"),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.NumberMatrix(s, 0)
			if err == nil && !define.Agree(t.Rows, t.Cols) {
				err = op.Faultf(0, define.CodeSquare, "trace takes a square matrix; this has %d rows and %d columns", t.Rows, t.Cols).
					WithHelp("the sum of all elements is sum(x)")
			}
			return types.ScalarOf(reduce.Summed(t.Elem)), err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			var x []value.Scalar
			for i := range c.Dense(0).Rows {
				x = append(x, c.Dense(0).At(i, i))
			}
			return reduce.Named("sum").Whole.Ref(x, c.Type.Elem), nil
		},
		Elements: traceElements,
		Laws:     op.Pure | op.Total,
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			n := math.Sqrt(define.ElementCount(s.In[0]))
			return op.Work{Flops: 4 * n, Bytes: 64 * n}
		},
		Kernel: func(c *op.Call) error {
			diagonal := *c.Dense(0)
			diagonal.Cols, diagonal.Stride = 1, diagonal.Stride+1
			c.Out = reduce.Named("sum").Of(diagonal.Clone(), c.Type.Elem)
			return nil
		},
	}
}

// traceElements writes the sum of the diagonal into a loop.
func traceElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !x.Rows.Known() || x.Rows.Const == 0 {
		return nil
	}
	out := dense.Storage(e.Out.Elem)
	s := e.Fold(loop.Sum, out, x.Rows, loop.Num(1), func(i, _ loop.Lin) []loop.Val { return []loop.Val{define.ConvertBody(e.B, out, x.At(i, i))} })
	return func(loop.Lin, loop.Lin) loop.Val { return s }
}
