package sparse

// This file defines diag of sparse matrices.

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/linalg"
)

// sparseDiag is diag of a sparse matrix: of a column a sparse matrix, else a dense column.
func sparseDiag() *op.Def {
	return &op.Def{
		Name: "sp.diag", For: "diag", Word: "diag", Hidden: true,
		Doc:  "sp.diag is the diagonal of a sparse matrix as a dense column; of a sparse column it is the sparse matrix with that diagonal.",
		Args: []op.Arg{{Name: "a"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := linalg.DiagType(denseSig(s))
			if err != nil || t.Cols == 1 {
				return t, err
			}
			return Of(0, t)
		},
		Ref:  define.InForm(linalg.DiagRef),
		Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(1),
		Stored: func(_ *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
			e := sparsity.Uniform(out.Rows, out.Cols, in[0].NNZ, in[0].Basis)
			e.MostRow, e.MostCol = 1, 1
			return e
		},
		Kernel: func(c *op.Call) error {
			m := c.In[0].(*value.CSR)
			if !c.Type.IsSparse() {
				out := c.Result()
				for i := range out.Rows {
					out.Set(i, 0, m.At(i, i))
				}
				return nil
			}
			out := *m // the row pointers and the values are the column's own
			out.Cols, out.Col = m.Rows, make([]int32, m.Ptr[m.Rows])
			for i := range m.Rows {
				if m.Ptr[i+1] > m.Ptr[i] {
					out.Col[m.Ptr[i]] = int32(i)
				}
			}
			c.Out = &out
			return nil
		},
	}
}
