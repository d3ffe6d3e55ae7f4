package sparse

// This file defines the rows that move elements of sparse matrices: t, slices, elements, diag,
// triangles, rbind, cbind.

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/move"
	"flow/kernels/vec"
)

func sparseTransposed() *op.Def {
	return &op.Def{
		Name: "sp.t", For: "t", Word: "t", Hidden: true, Role: op.Relocates,
		Doc:  "sp.t is the transpose of a sparse matrix, sparse: entries are counted by column and laid out in one pass.",
		Args: []op.Arg{{Name: "a"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			t.Rows, t.Cols = t.Cols, t.Rows
			return Of(0, t)
		},
		Ref:  define.InForm(move.TransposeRef),
		Laws: op.Pure | op.Total, Rate: "transpose", Cost: define.SparseCost(4),
		Beside: entriesByRange,
		Kernel: func(c *op.Call) error { c.Out = transposed(c.In[0].(*value.CSR)); return nil },
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) { return transposeSpace(c.In[0].Type()) },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				return beginTranspose(c.In[0].(*value.CSR), workers, func(t *value.CSR) error { c.Out = t; return nil }), nil
			},
		},
	}
}

func sparseItem() *op.Def {
	return &op.Def{
		Name: "sp.item", For: "item", Word: "item", Hidden: true,
		Doc:  "sp.item is one element of a sparse matrix as a scalar.",
		Args: []op.Arg{{Name: "a"}, {Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[row, column]"}},
		Type: func(s *op.Sig) (types.Type, error) { return move.ItemType(denseSig(s)) },
		Ref:  define.InForm(move.ItemRef),
		Laws: op.Pure, Rate: "copy",
		Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Bytes: 64} },
		Kernel: func(c *op.Call) error {
			at := c.Attrs.Ints("at")
			c.Out = c.In[0].(*value.CSR).At(int(at[0]), int(at[1]))
			return nil
		},
	}
}

// transposed is the transpose of m by counting: the entries of every column are counted, the counts
// summed up to where each begins, and the rows gone over once more. Columns of the result ascend
// because rows are gone over in order.
func transposed(m *value.CSR) *value.CSR {
	t := value.NewCSR(m.Elem, m.Cols, m.Rows, m.NNZ())
	for _, j := range m.Col[m.Ptr[0]:m.Ptr[m.Rows]] {
		t.Ptr[j+1]++
	}
	t.SumLengths()
	dense.ForElem(m.Elem, layTurned[float64], layTurned[float32], layTurned[int64], layTurned[uint8])(t, m)
	copy(t.Ptr[1:], t.Ptr[:m.Cols])
	t.Ptr[0] = 0
	return t
}

// layTurned writes the entries of m to t, its transpose. t.Ptr[j] is the place of the next entry of row
// j of t. At the end it is the begin of row j+1.
func layTurned[T vec.Element](t, m *value.CSR) {
	to, from := numbersOf[T](t, t.Elem), numbersOf[T](m, m.Elem)
	for i := range m.Rows {
		cols, at := m.Row(i)
		for k, j := range cols {
			p := t.Ptr[j]
			t.Ptr[j]++
			if t.Col[p] = int32(i); to != nil {
				to[p] = from[at+k]
			}
		}
	}
}

// beginRangeOf copies a range of columns of m, columns(i) of row i, into a matrix of cols columns
// whose first is column c0 of m.
func beginRangeOf(c *op.Call, m *value.CSR, c0, cols int, columns func(i int) (lo, hi int), units int) *UnitLoop {
	first := make([]int64, m.Rows) // of each row: the first entry that is kept
	return beginKept(c, types.SparseOf(m.Elem, m.Rows, cols), cutByEntries(units, m), func(i int) int {
		cols, at := m.Row(i)
		from, to := columns(i)
		p := vec.NotLess(cols, int32(from))
		first[i] = int64(at + p)
		return vec.NotLess(cols, int32(to)) - p
	}, func(out *value.CSR, i int) {
		to := out.Ptr[i]
		copyEntries(out, to, m, first[i], first[i]+out.Ptr[i+1]-to, -int32(c0))
	})
}

// beginKept makes a matrix of type t row by row, in two passes: count(i) is how many entries row i has,
// and put writes them.
func beginKept(c *op.Call, t types.Type, cut RowCut, count func(i int) int, put func(out *value.CSR, i int)) *UnitLoop {
	out := value.NewCSR(t.Elem, t.Rows, t.Cols, 0)
	each := func(f func(i int)) func(_, lo, hi int) error {
		return func(_, lo, hi int) error {
			for ; lo < hi; lo++ {
				f(lo)
			}
			return nil
		}
	}
	return &UnitLoop{RowCut: cut, Passes: []Pass{
		{each(func(i int) { out.Ptr[i+1] = int64(count(i)) }), func() (bool, error) { return false, layOut(out) }},
		{each(func(i int) { put(out, i) }), func() (bool, error) { c.Out = out; return true, nil }},
	}}
}

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
		Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(1), Along: firstInput,
		Stored: func(_ *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
			e := sparsity.Uniform(out.Rows, out.Cols, in[0].NNZ, in[0].Basis)
			e.MostRow, e.MostCol = 1, 1
			return e
		},
		Loop: &op.Loop{
			Rows: func(_ *op.Sig, out types.Type) int {
				if out.IsSparse() {
					return 0
				}
				return rowsShared(out)
			},
			Space: func(c *op.Call) (n, leaf int) {
				if c.Type.IsSparse() {
					return 0, 0
				}
				return rowSpace(c.Type)
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return diagonal(c), nil },
		},
		Kernel: func(c *op.Call) error {
			m := c.In[0].(*value.CSR)
			if !c.Type.IsSparse() {
				diagonal(c)(0, c.Type.Rows)
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

// diagonal returns the loop over the rows of the first input that writes its diagonal, a dense column.
func diagonal(c *op.Call) rowLoop {
	m, out := c.In[0].(*value.CSR), c.Result()
	return func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out.Set(i, 0, m.At(i, i))
		}
	}
}

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
		Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(1), Along: everyInput,
		Loop: unitLoop(begin),
	}
}

// storedTriangle is a triangle's. For the order of a chain it is half of the elements, wherever they
// lie.
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
	along, role := everyInput, op.NoRole
	if down {
		along, role = nil, op.Relocates
	}
	return &op.Def{
		Name: "sp." + name, For: name, Word: name, Hidden: true, Role: role,
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
		Laws: op.Pure | op.Total, Rate: "copy", Cost: define.SparseCost(1), Along: along,
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
