package kernels

// This file defines the rows that move elements of sparse matrices: t, slices, elements, rbind, diag.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

func sparseMoves() []*op.Def {
	return []*op.Def{
		{
			Name: "sp.t", For: "t", Word: "t", Hidden: true,
			Doc:  "sp.t is the transpose of a sparse matrix, sparse: entries are counted by column and laid out in one pass.",
			Args: []op.Arg{{Name: "a"}},
			Type: func(s *op.Sig) (types.Type, error) {
				t := s.In[0]
				t.Rows, t.Cols = t.Cols, t.Rows
				return sparseOf(0, t)
			},
			Ref: func(c *op.Call) (value.Value, error) {
				a := everyElement(c.In[0])
				d := value.New(a.Elem, a.Cols, a.Rows)
				for i := range a.Rows {
					for j := range a.Cols {
						d.Set(j, i, a.At(i, j))
					}
				}
				return keptRef(d), nil
			},
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "transpose", Cost: sparseCost(4),
			Kernel: func(c *op.Call) error { c.Out = transposed(c.In[0].(*value.CSR)); return nil },
		},
		{
			Name: "sp.slice", For: "slice", Word: "slice", Hidden: true,
			Doc:  "sp.slice is a window of a sparse matrix, sparse. Whole rows are a view of the matrix: nothing is copied.",
			Args: []op.Arg{{Name: "a"}, {Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[first row, first column, rows, columns]"}},
			Type: func(s *op.Sig) (types.Type, error) {
				t, err := sliceType(denseSig(s))
				if err != nil {
					return t, err
				}
				return sparseOf(0, t)
			},
			Ref: func(c *op.Call) (value.Value, error) {
				w, _ := windowOf(c.Attrs, "at")
				a := everyElement(c.In[0])
				d := value.New(a.Elem, w.rows, w.cols)
				for i := range w.rows {
					for j := range w.cols {
						d.Set(i, j, a.At(w.r0+i, w.c0+j))
					}
				}
				return keptRef(d), nil
			},
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "copy", Cost: sparseCost(1),
			Kernel: func(c *op.Call) error {
				w, _ := windowOf(c.Attrs, "at")
				m := c.In[0].(*value.CSR).View(w.r0, w.rows)
				if w.c0 > 0 || w.cols < m.Cols {
					m = columns(m, w.c0, w.cols)
				}
				c.Out = m
				return nil
			},
		},
		{
			Name: "sp.item", For: "item", Word: "item", Hidden: true,
			Doc:  "sp.item is one element of a sparse matrix as a scalar.",
			Args: []op.Arg{{Name: "a"}, {Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[row, column]"}},
			Type: func(s *op.Sig) (types.Type, error) { return itemType(denseSig(s)) },
			Ref: func(c *op.Call) (value.Value, error) {
				at := c.Attrs.Ints("at")
				return everyElement(c.In[0]).At(int(at[0]), int(at[1])), nil
			},
			Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "copy",
			Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Bytes: 64} },
			Kernel: func(c *op.Call) error {
				at := c.Attrs.Ints("at")
				c.Out = c.In[0].(*value.CSR).At(int(at[0]), int(at[1]))
				return nil
			},
		},
	}
}

// transposed is the transpose of m by counting: the entries of every column are counted, the counts summed up to where
// each begins, and the rows gone over once more. Columns of the result ascend because rows are gone over in order.
func transposed(m *value.CSR) *value.CSR {
	n := m.NNZ()
	t := value.NewCSR(m.Elem, m.Cols, m.Rows, n)
	lo, hi := m.Ptr[0], m.Ptr[m.Rows]
	for _, j := range m.Col[lo:hi] {
		t.Ptr[j+1]++
	}
	for j := range m.Cols {
		t.Ptr[j+1] += t.Ptr[j]
	}
	// While the rows are laid out, Ptr[j] is where the next entry of row j goes: at the end, where row j+1 begins.
	for i := range m.Rows {
		cols, at := m.Row(i)
		switch m.Elem {
		case types.F64:
			for k, j := range cols {
				p := t.Ptr[j]
				t.Ptr[j]++
				t.Col[p], t.F64[p] = int32(i), m.F64[at+k]
			}
		case types.F32:
			for k, j := range cols {
				p := t.Ptr[j]
				t.Ptr[j]++
				t.Col[p], t.F32[p] = int32(i), m.F32[at+k]
			}
		case types.Bool:
			for _, j := range cols {
				t.Col[t.Ptr[j]] = int32(i)
				t.Ptr[j]++
			}
		default:
			for k, j := range cols {
				p := t.Ptr[j]
				t.Ptr[j]++
				t.Col[p], t.I64[p] = int32(i), m.I64[at+k]
			}
		}
	}
	copy(t.Ptr[1:], t.Ptr[:m.Cols])
	t.Ptr[0] = 0
	return t
}

// columns is columns c0..c0+n-1 of m.
func columns(m *value.CSR, c0, n int) *value.CSR {
	out := value.NewCSR(m.Elem, m.Rows, n, 0)
	for i := range m.Rows {
		cols, at := m.Row(i)
		for k, j := range cols {
			if int(j) < c0 || int(j) >= c0+n {
				continue
			}
			out.Col = append(out.Col, j-int32(c0))
			switch m.Elem {
			case types.F64:
				out.F64 = append(out.F64, m.F64[at+k])
			case types.F32:
				out.F32 = append(out.F32, m.F32[at+k])
			case types.I64:
				out.I64 = append(out.I64, m.I64[at+k])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}
	return out
}
