package linalg

// This file defines cov, cor and trace. cov is a contraction: the columns less their means (rounded
// exact sums), then each element one chain of fused multiply-adds down the rows, like t(d) @ d,
// then a division.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/exact"
	"flow/kernels/reduce"
)

// Covariances is the rows of this file on the given kernel set.
func Covariances(set blas.Set) []*op.Def {
	l := NewLinear(set)
	sample := define.Flag("sample", "divide by n - 1, not n")
	d := func(name, doc, output string, args []op.Arg, elements func(*op.Elements) op.Element, ref, kernel func(c *op.Call) *value.Dense) *op.Def {
		return &op.Def{
			Name: name, Doc: doc, Args: args, Eg: define.Eg(name+"(reshape(seq(1, 7), 3, 2))", output),
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := define.NumberMatrix(s, 0)
				return types.DenseOf(reduce.Averaged(t.Elem), t.Cols, t.Cols), err
			},
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "gemm",
			Cost: func(s *op.Sig, out types.Type) op.Work {
				return op.Work{Flops: 2 * define.ElementCount(s.In[0]) * math.Max(float64(s.In[0].Cols), 0), Bytes: 3*8*define.ElementCount(s.In[0]) + define.CopyBytes(out)}
			},
			Elements: elements,
			Ref:      func(c *op.Call) (value.Value, error) { return ref(c), nil },
			Kernel:   func(c *op.Call) error { dense.Copy(c.Result(), kernel(c)); return nil },
		}
	}
	x := op.Arg{Name: "x", Doc: "n x m, a variable a column"}
	return []*op.Def{
		d("cov", "cov is the m x m covariances of the columns of x, divided by n like var; sample = true divides by n - 1.",
			"2.6666666666666665 2.6666666666666665\n2.6666666666666665 2.6666666666666665\n", []op.Arg{x, sample}, covElements, covRef, func(c *op.Call) *value.Dense { return cov(l, c) }),
		d("cor", "cor is the m x m correlations of the columns of x (Pearson), from -1 to 1; nan for a column that does not vary.",
			"1 1\n1 1\n", []op.Arg{x}, corElements,
			func(c *op.Call) *value.Dense { return correlations(covRef(c)) },
			func(c *op.Call) *value.Dense { return correlations(cov(l, c)) }),
		trace(),
	}
}

// divisor is what the sums of products are divided by.
func divisor(c *op.Call) float64 {
	if c.Attrs.Bool("sample") {
		return float64(c.Dense(0).Rows - 1)
	}
	return float64(c.Dense(0).Rows)
}

// covRef is the definition: means, differences, matmul's definition, quotients.
func covRef(c *op.Call) *value.Dense {
	a, e := c.Dense(0), c.Type.Elem
	d := value.New(e, a.Rows, a.Cols)
	for j := range a.Cols {
		mean := define.Number(e, reduce.ExactRef(define.Elements(a.View(0, j, a.Rows, 1)), types.F64, false).F/float64(a.Rows))
		for i := range a.Rows {
			d.Set(i, j, define.Number(e, a.At(i, j).Convert(e).F-mean.F))
		}
	}
	product := &op.Call{In: []value.Value{d, d}, Attrs: op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}), Type: c.Type}
	v, err := MatmulRef(product)
	if err != nil {
		panic("BUG: the definition of @ fails: " + err.Error())
	}
	out := v.(*value.Dense)
	for i := range out.Rows {
		for j := range out.Cols {
			out.Set(i, j, define.Number(e, out.At(i, j).F/divisor(c)))
		}
	}
	return out
}

// cov is the kernel.
func cov(l *Linear, c *op.Call) *value.Dense {
	a, e := c.Dense(0), c.Type.Elem
	out := value.New(e, a.Cols, a.Cols)
	if a.Cols == 0 {
		return out
	}
	mean := value.New(e, 1, a.Cols)
	if a.Rows > 0 {
		reduce.Named("colmean").Cols(mean, a)
	}
	d := value.New(e, a.Rows, a.Cols)
	dense.Copy(d, dense.Widened(a, e))
	if e == types.F32 {
		center(dense.GridOf[float32](d), mean.F32)
	} else {
		center(dense.GridOf[float64](d), mean.F64)
	}
	l.Accumulate(out, d, d, true, false, false)
	n := divisor(c)
	for i, x := range out.F64 {
		out.F64[i] = x / n
	}
	for i, x := range out.F32 {
		out.F32[i] = float32(float64(x) / n)
	}
	return out
}

func center[T dense.Precision](d dense.Grid[T], mean []T) {
	for i := range d.Rows {
		for j, m := range mean {
			d.X[i*d.LD+j] -= m
		}
	}
}

// correlations is the covariances c divided by the standard deviations on both sides, in place.
func correlations(c *value.Dense) *value.Dense {
	dev := make([]float64, c.Rows)
	for i := range dev {
		dev[i] = math.Sqrt(c.At(i, i).F)
	}
	for i := range c.Rows {
		for j := range c.Cols {
			x := c.At(i, j).F / float64(dev[i]*dev[j])
			if i == j && dev[i] > 0 && !math.IsInf(dev[i], 0) {
				x = 1
			}
			c.Set(i, j, define.Number(c.Elem, define.Lesser(define.Greater(x, -1), 1)))
		}
	}
	return c
}

func trace() *op.Def {
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
