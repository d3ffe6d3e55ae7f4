package encode

// This file defines the sparse forms of onehot and ctable.

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/sparse"
)

// sparseAttr asks for a sparse result of a row that makes a dense one otherwise.
var sparseAttr = op.Arg{Name: "sparse", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "whether the result is sparse"}

// inForm is the type t in the form that the call asks for.
func inForm(s *op.Sig, t types.Type, err error) (types.Type, error) {
	if err != nil || !s.Attrs.Bool("sparse") {
		return t, err
	}
	if tell, is := define.Scarce(8 * float64(t.Rows)); is {
		return t, op.Faultf(-1, define.CodeMemory, "`%s`: the pointers of %d rows take %s", s.Def.Source(), t.Rows, tell)
	}
	return sparse.Of(-1, t)
}

// beginOnehot makes a sparse onehot: one element a row.
func beginOnehot(c *op.Call, units int) op.LoopBody {
	a := c.Dense(0)
	codes := codeColumn{a, c.Attrs.Int("k")}
	out := value.NewCSR(types.F64, a.Rows, codes.k, a.Rows)
	return &sparse.UnitLoop{
		RowCut: sparse.RowCut{Rows: a.Rows, Units: units, Before: func(i int) int64 { return int64(i) }},
		Passes: []sparse.Pass{{Run: func(_, lo, hi int) error {
			for i := lo; i < hi; i++ {
				p, err := codes.at(i)
				if err != nil {
					return err
				}
				out.Col[i], out.F64[i], out.Ptr[i+1] = int32(p), 1, int64(i)+1
			}
			return nil
		}, Then: func() (bool, error) { c.Out = out; return true, nil }}},
	}
}

func storedOnehot(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	e := sparsity.Uniform(out.Rows, out.Cols, float64(out.Rows), sparsity.Counted)
	e.MostRow = 1
	return e
}

// storedTable is that all pairs differ.
func storedTable(s *op.Sig, _ []sparsity.Estimate, out types.Type) sparsity.Estimate {
	return sparsity.Uniform(out.Rows, out.Cols, float64(s.In[0].Rows), sparsity.Estimated)
}
