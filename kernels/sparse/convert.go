package sparse

// This file defines the rows that make sparse matrices of dense ones and back: sparse, dense, nnz.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
	"flow/kernels/vec"
)

func sparseToDense() *op.Def {
	return &op.Def{
		Name: "sp.dense", For: "dense", Word: "dense", Hidden: true,
		Doc:  "sp.dense is a sparse matrix in dense representation.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			return denseResult(s, types.DenseOf(s.In[0].Elem, s.In[0].Rows, s.In[0].Cols))
		},
		Ref:  func(c *op.Call) (value.Value, error) { return define.EveryElement(c.In[0]), nil },
		Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(1), Along: firstInput,
		Loop: &op.Loop{
			Rows: op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) {
				if n, leaf = wideSpace(c.Type); n == 0 { // one leaf: no loop, unless ranks share it
					n, leaf = c.Type.Rows, max(1, c.Type.Rows)
				}
				return n, leaf
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				out, m := c.Result(), c.In[0].(*value.CSR)
				return rowLoop(func(lo, hi int) { spread(out.View(lo, 0, hi-lo, out.Cols), m.View(lo, hi-lo)) }), nil
			},
		},
	}
}

func toSparse() *op.Def {
	return &op.Def{
		Name: "sparse",
		Doc: "sparse is a matrix stored by its elements that are not zero; a sparse one is returned as it is. A negative zero becomes zero. " +
			"Every operator has one representation of its result: see the table in the language reference.",
		Args: []op.Arg{{Name: "x", Doc: "matrix of at most 2147483647 columns"}},
		Eg:   define.Eg("sparse(eye(2) * 3)", "sparse f64[2,2], 2 stored\n0 0 3\n1 1 3\n"),
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsMatrix() || !t.Elem.IsNumeric() {
				return t, op.Faultf(0, define.CodeKind, "`sparse` needs a matrix of numbers, not %v", t)
			}
			return Of(-1, t)
		},
		Ref:  define.InForm(func(c *op.Call) (value.Value, error) { return c.In[0], nil }),
		Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(1), ByRows: true,
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) {
				if c.In[0].Type().IsSparse() {
					return 0, 0
				}
				return UnitSpace(c.In[0].Type())
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				if m, ok := c.In[0].(*value.CSR); ok {
					c.Out = m
					return rowLoop(nil), nil
				}
				n, _ := UnitSpace(c.In[0].Type())
				begin := dense.ForElem(c.Dense(0).Elem, compress[float64], compress[float32], compress[int64], compress[uint8])
				return begin(c, c.Dense(0), n), nil
			},
		},
	}
}

func compress[T vec.Element](c *op.Call, d *value.Dense, units int) *UnitLoop {
	x := dense.GridOf[T](d).X
	from, to := define.OwnRows(c, d.Rows)
	row := func(i int) []T {
		if d.Cols == 0 || i < from || i >= to {
			return nil
		}
		return x[i*d.Stride:][:d.Cols]
	}
	return beginKept(c, types.SparseOf(d.Elem, d.Rows, d.Cols), evenly(units, d.Rows), func(i int) int {
		return int(vec.CountNonZero(row(i)))
	}, func(out *value.CSR, i int) {
		k, col, val := out.Ptr[i], out.Col, numbersOf[T](out, out.Elem)
		for j, v := range row(i) {
			if v == 0 {
				continue
			}
			if col[k] = int32(j); val != nil {
				val[k] = v
			}
			k++
		}
	})
}

func nnz() *op.Def {
	return &op.Def{
		Name: "nnz",
		Doc:  "nnz is the number of elements that are not zero, stored or not; nan counts. Of a sparse matrix it is known without looking at the elements.",
		Args: []op.Arg{{Name: "x", Doc: "matrix"}},
		Eg:   append(define.Eg("nnz(sparse(eye(5)))", "5"), define.Eg("nnz(eye(5))", "5")...),
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsMatrix() {
				return s.In[0], op.Faultf(0, define.CodeKind, "`nnz` needs a matrix, not %v", s.In[0])
			}
			return types.ScalarOf(types.I64), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			return reduce.Named("count").Whole.Ref(define.Elements(define.EveryElement(c.In[0])), types.I64), nil
		},
		Laws:  op.Pure | op.Total,
		Shard: op.Shard{Partial: "sp.count.part", Combine: "count.join", Finish: "count.done"}, // of a sparse matrix
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			if s.In[0].IsSparse() {
				return op.Work{Bytes: 16}
			}
			return op.Work{Bytes: float64(s.In[0].Rows) * float64(s.In[0].Cols) * float64(s.In[0].Elem.Size())}
		},
		Kernel: func(c *op.Call) error {
			if m, ok := c.In[0].(*value.CSR); ok {
				c.Out = value.I64(int64(m.NNZ()))
			} else {
				c.Out = value.I64(reduce.NonZeros(c.Dense(0)))
			}
			return nil
		},
	}
}
