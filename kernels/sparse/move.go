package sparse

// This file defines the rows that move elements of sparse matrices: t, slices, elements;
// parts.go has more.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/move"
	"flow/kernels/vec"
	"flow/kernels/window"
)

func sparseMoves() []*op.Def {
	return []*op.Def{
		sparseDiag(),
		sparseTransposed(),
		sparseSlice(),
		sparseItem(),
		sparseTriangle("lower", linalg.LowerRef, func(i, strict, cols int) (lo, hi int) { return 0, min(i+1-strict, cols) }),
		sparseTriangle("upper", linalg.UpperRef, func(i, strict, cols int) (lo, hi int) { return min(i+strict, cols), cols }),
		sparseBind("rbind", true), sparseBind("cbind", false),
	}
}

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

func sparseSlice() *op.Def {
	d := sparseWindow("slice", []op.Arg{{Name: "a"}, {Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[first row, first column, rows, columns]"}},
		move.SliceType, move.SliceRef, func(c *op.Call, _ *value.CSR) (window.Rect, error) {
			w, _ := window.RectOf(c.Attrs, "at")
			return w, nil
		})
	d.Word, d.Cost = "slice", define.SparseCost(1)
	return d
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

// layTurned writes the entries of m to t, its transpose. t.Ptr[j] is the place of the next entry of row j
// of t. At the end it is the begin of row j+1.
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

// beginColumnsOf makes the columns of window w of m.
func beginColumnsOf(c *op.Call, m *value.CSR, w window.Rect, units int) *UnitLoop {
	return beginRangeOf(c, m, w.Col, w.Cols, func(int) (lo, hi int) { return w.Col, w.Col + w.Cols }, units)
}

// beginRangeOf copies a range of columns of m, columns(i) of row i, into a matrix of cols columns
// whose first is column c0 of m. It takes two passes: find where the ranges begin and end, and copy.
func beginRangeOf(c *op.Call, m *value.CSR, c0, cols int, columns func(i int) (lo, hi int), units int) *UnitLoop {
	out := value.NewCSR(m.Elem, m.Rows, cols, 0)
	first := make([]int64, m.Rows) // of each row: the first entry that is kept
	count := func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			cols, at := m.Row(i)
			from, to := columns(i)
			p, q := vec.NotLess(cols, int32(from)), vec.NotLess(cols, int32(to))
			first[i], out.Ptr[i+1] = int64(at+p), int64(q-p)
		}
		return nil
	}
	copyRows := func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			p, to := first[i], out.Ptr[i]
			q := p + out.Ptr[i+1] - to
			for k, j := range m.Col[p:q] {
				out.Col[to+int64(k)] = j - int32(c0)
			}
			out.CopyValues(int(to), m, int(p), int(q))
		}
		return nil
	}
	layOut := func() (bool, error) { out = laidOut(out); return false, nil }
	return &UnitLoop{
		RowCut: cutByEntries(units, m),
		Passes: []Pass{{count, layOut}, {copyRows, func() (bool, error) { c.Out = out; return true, nil }}},
	}
}

// laidOut returns a matrix with room for the entries of m. m.Ptr holds the length of each row, and becomes
// their offsets.
func laidOut(m *value.CSR) *value.CSR {
	m.SumLengths()
	out := value.NewCSR(m.Elem, m.Rows, m.Cols, int(m.Ptr[m.Rows]))
	out.Ptr = m.Ptr
	return out
}
