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
	"flow/kernels/exact"
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
			a, n := c.Dense(0), int64(0)
			var x []value.Scalar
			for i := range a.Rows {
				x = append(x, a.At(i, i))
				n += a.At(i, i).I
			}
			if c.Type.Elem == types.I64 {
				return value.I64(n), nil
			}
			return reduce.ExactRef(x, c.Type.Elem, false), nil
		},
		Elements: traceElements,
		Laws:     op.Pure | op.Total, Flow: op.Flow{Rate: op.Once},
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			n := math.Sqrt(define.ElementCount(s.In[0]))
			return op.Work{Flops: 4 * n, Bytes: 64 * n}
		},
		Kernel: func(c *op.Call) error {
			a := c.Dense(0)
			var s exact.Sum
			n, step := int64(0), a.Stride+1
			x := make([]float64, 0, a.Rows)
			for i := range a.Rows {
				switch a.Elem {
				case types.F64:
					x = append(x, a.F64[i*step])
				case types.F32:
					x = append(x, float64(a.F32[i*step]))
				default:
					n += a.At(i, i).I
				}
			}
			s.AddSlice(x)
			switch c.Type.Elem {
			case types.I64:
				c.Out = value.I64(n)
			case types.F32:
				c.Out = value.Scalar{Elem: types.F32, F: float64(s.Round32())}
			default:
				c.Out = value.F64(s.Round())
			}
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
