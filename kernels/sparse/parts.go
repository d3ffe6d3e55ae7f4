package sparse

// This file defines the rows that take sparse matrices apart by their diagonal and put them
// together: lower, upper, rbind, cbind.

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/linalg"
	"flow/kernels/move"
)

// sparseTriangle is the row name on a sparse matrix. columns is what it keeps of row i of a matrix
// of so many columns; strict is 1 where the diagonal goes, else 0.
func sparseTriangle(name string, ref func(*op.Call) (value.Value, error), columns func(i, strict, cols int) (lo, hi int)) *op.Def {
	begin := func(c *op.Call, units, _ int) op.LoopBody {
		m, strict := c.In[0].(*value.CSR), linalg.OffDiagonal(c.Attrs)
		return beginRangeOf(c, m, 0, m.Cols, func(i int) (lo, hi int) { return columns(i, strict, m.Cols) }, units)
	}
	return &op.Def{
		Name: "sp." + name, For: name, Word: name, Hidden: true,
		Doc: "sp." + name + " is a triangle of a sparse matrix, sparse.",
		// unit is here to be refused: a diagonal of ones would be entries that the matrix does not
		// have.
		Args: []op.Arg{{Name: "a"}, define.Flag("unit", "ones on the diagonal; of dense matrices only"), define.Flag("strict", "zeros on the diagonal, too")},
		Type: func(s *op.Sig) (types.Type, error) {
			if s.Attrs.Bool("unit") {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "unit = true is for dense matrices").
					WithHelp("%s(a, strict = true) + eye_sparse(n) has ones on the diagonal", name)
			}
			return Of(0, s.In[0])
		},
		Ref:  define.InForm(ref),
		Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(1), Along: everyInput,
		Loop: unitLoop(begin),
	}
}

// storedTriangle is a triangle's. For the order of a chain it is half of the elements, wherever they lie.
func storedTriangle(side sparsity.Side) stored {
	return func(s *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
		if s.Told {
			return sparsity.Uniform(out.Rows, out.Cols, in[0].NNZ/2, max(in[0].Basis, sparsity.Estimated))
		}
		return in[0].Triangle(side)
	}
}

// sparseBind is the row name, rbind (down) or cbind, on sparse matrices.
func sparseBind(name string, down bool) *op.Def {
	along := everyInput
	if down {
		along = nil
	}
	return &op.Def{
		Name: "sp." + name, For: name, Word: name, Hidden: true,
		Doc:  "sp." + name + " is " + name + " of sparse matrices, sparse.",
		Args: []op.Arg{{Name: "x", Rest: true, Doc: "matrices"}},
		Type: func(s *op.Sig) (types.Type, error) {
			for i, t := range s.In {
				if !t.IsSparse() {
					return types.Type{}, op.Faultf(i, define.CodeKind, "%s takes sparse matrices or dense ones, not both; this is %s", name, t).
						WithHelp("sparse(x) and dense(x) convert")
				}
			}
			return sparseOf(move.BindType(denseSig(s), down))
		},
		Ref:  define.InForm(func(c *op.Call) (value.Value, error) { return move.BindRef(c, down) }),
		Laws: op.Pure, Rate: "copy", Cost: define.SparseCost(1), Along: along,
		Loop: unitLoop(func(c *op.Call, units, _ int) op.LoopBody { return beginBind(c, down, units) }),
	}
}

// storedBind is what all parts store.
func storedBind(_ *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
	n, basis := 0.0, sparsity.Counted
	for _, e := range in {
		n, basis = n+e.NNZ, max(basis, e.Basis)
	}
	return sparsity.Uniform(out.Rows, out.Cols, n, basis)
}

// beginBind binds the matrices of a call in one pass: where its rows begin follows from those of
// the parts.
func beginBind(c *op.Call, down bool, units int) *UnitLoop {
	parts := make([]*value.CSR, len(c.In))
	rows, cols, n := 0, 0, 0
	for k, v := range c.In {
		m := v.(*value.CSR)
		parts[k], n = m, n+m.NNZ()
		if down {
			rows, cols = rows+m.Rows, m.Cols
		} else {
			rows, cols = m.Rows, cols+m.Cols
		}
	}
	out := value.NewCSR(c.Type.Elem, rows, cols, n)
	at := 0
	for _, m := range parts {
		for i := range m.Rows {
			if down {
				out.Ptr[at+i+1] = out.Ptr[at] + m.Ptr[i+1] - m.Ptr[0]
			} else {
				out.Ptr[i+1] += m.Ptr[i+1] - m.Ptr[0]
			}
		}
		if down {
			at += m.Rows
		}
	}
	place := besideRows
	if down {
		place = belowRows
	}
	return &UnitLoop{RowCut: cutByEntries(units, out), Passes: []Pass{{
		func(_, lo, hi int) error { place(out, parts, lo, hi); return nil },
		func() (bool, error) { c.Out = out; return true, nil },
	}}}
}

// belowRows makes rows lo to hi-1 of out, the parts one below the other.
func belowRows(out *value.CSR, parts []*value.CSR, lo, hi int) {
	at := 0
	for _, m := range parts {
		if from, to := max(lo-at, 0), min(hi-at, m.Rows); from < to {
			copyEntries(out, out.Ptr[at+from], m, m.Ptr[from], m.Ptr[to], 0)
		}
		at += m.Rows
	}
}

// besideRows makes rows lo to hi-1 of out, the parts side by side.
func besideRows(out *value.CSR, parts []*value.CSR, lo, hi int) {
	for i := lo; i < hi; i++ {
		to, col := out.Ptr[i], 0
		for _, m := range parts {
			copyEntries(out, to, m, m.Ptr[i], m.Ptr[i+1], int32(col))
			to += m.Ptr[i+1] - m.Ptr[i]
			col += m.Cols
		}
	}
}

// copyEntries copies entries from..to-1 of m to out, where they are entries at.., col columns
// further right.
func copyEntries(out *value.CSR, at int64, m *value.CSR, from, to int64, col int32) {
	for k, j := range m.Col[from:to] {
		out.Col[at+int64(k)] = j + col
	}
	switch {
	case out.Elem == types.Bool: // the places are all there is
	case out.Elem != m.Elem:
		for k := range to - from {
			out.SetEntry(int(at+k), m.Entry(int(from+k)).Convert(out.Elem))
		}
	default:
		out.CopyValues(int(at), m, int(from), int(to))
	}
}
