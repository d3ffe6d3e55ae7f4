package sparse

// This file defines slices, and the rows of subscripts of sparse matrices that the run knows and of
// lists of places: element, window, cut, pick.rows, pick.cols, take and stride.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/move"
	"flow/kernels/window"
)

func sparsePicks() []*op.Def {
	list := []op.Arg{{Name: "a"}, {Name: "at", Doc: "k x 1 positions, i64"}}
	corner := []op.Arg{{Name: "a"}, {Name: "i"}, {Name: "j"}}
	size := op.Arg{Name: "size", Attr: true, Kind: op.IntsVal, Doc: "[rows, columns]"}
	byRows := func(name string, place func(p int64, axis, n int) (int, error)) *op.Def {
		return sparseSelect(name, list, move.PickType(0), move.PickRef(0, place), func(c *op.Call, m *value.CSR, units int) (*UnitLoop, error) {
			at, err := move.Places(c, 0, m.Rows, place)
			if err != nil {
				return nil, err
			}
			return beginRowsAt(c, m, at, units), nil
		})
	}
	columns := sparseSelect("pick.cols", list, move.PickType(1), move.PickRef(1, move.FromEither), func(c *op.Call, m *value.CSR, units int) (*UnitLoop, error) {
		at, err := move.Places(c, 1, m.Cols, move.FromEither)
		if err != nil {
			return nil, err
		}
		return beginColumnsAt(c, m, at, units), nil
	})
	columns.Role, columns.Along = 0, firstInput
	stride := sparseSelect("stride", []op.Arg{{Name: "a"}, {Name: "rows", Attr: true, Kind: op.IntVal}, {Name: "cols", Attr: true, Kind: op.IntVal}},
		move.StrideType, move.StrideRef, func(c *op.Call, m *value.CSR, units int) (*UnitLoop, error) {
			rows, cols := move.Steps(c.Attrs)
			if rows == 1 {
				return beginColumnsAt(c, m, every(m.Cols, cols), units), nil
			}
			l := beginRowsAt(c, m, every(m.Rows, rows), units)
			if cols == 1 {
				return l, nil
			}
			err := op.RunAll(l, units)
			return beginColumnsAt(c, c.Out.(*value.CSR), every(m.Cols, cols), units), err
		})
	stride.Laws |= op.Total
	return []*op.Def{
		{
			Name: "sp.element", For: "element", Hidden: true,
			Doc: "sp.element is element of a sparse matrix.", Args: corner,
			Type: ofFirst(move.ElementType), Ref: define.InForm(move.ElementRef),
			Laws: op.Pure, Rate: "copy",
			Cost: func(*op.Sig, types.Type) op.Work { return op.Work{Bytes: 64} },
			Kernel: func(c *op.Call) error {
				m := c.In[0].(*value.CSR)
				i, j, err := move.ElementAt(c, m.Rows, m.Cols)
				if err == nil {
					c.Out = m.At(i, j)
				}
				return err
			},
		},
		sparseWindow("window", append(corner, size), move.WindowType, move.WindowRef, func(c *op.Call, m *value.CSR) (w window.Rect, err error) {
			w.Rows, w.Cols = c.Type.Rows, c.Type.Cols
			w.Row, w.Col, err = move.Corner(c, m.Rows, m.Cols)
			return w, err
		}),
		sparseWindow("cut", []op.Arg{{Name: "a"}, {Name: "i"}, {Name: "k"}, {Name: "j"}, {Name: "l"}, size, {Name: "through", Attr: true, Kind: op.IntsVal}},
			move.CutType, move.CutRef, func(c *op.Call, m *value.CSR) (window.Rect, error) { return move.CutWindow(c, m.Rows, m.Cols) }),
		byRows("pick.rows", move.FromEither), byRows("take", move.FromStart), columns,
		stride,
	}
}

// sparseSelect returns the row name on sparse matrices: a sparse part of a sparse matrix m, in units of
// the rows of the result. begin returns nil if c.Out is made. ref and rule are those of dense matrices.
func sparseSelect(name string, args []op.Arg, rule func(*op.Sig) (types.Type, error), ref func(*op.Call) (value.Value, error),
	begin func(c *op.Call, m *value.CSR, units int) (*UnitLoop, error)) *op.Def {
	return &op.Def{
		Name: "sp." + name, For: name, Hidden: true, Role: op.Relocates,
		Doc: "sp." + name + " is " + name + " of a sparse matrix, sparse.", Args: args,
		Type: func(s *op.Sig) (types.Type, error) { return sparseOf(ofFirst(rule)(s)) },
		Ref:  define.InForm(ref), Laws: op.Pure, Rate: "copy", Cost: partCost,
		Loop: &op.Loop{
			Space: func(c *op.Call) (n, leaf int) {
				t := c.Type
				if t.Rows == types.Unknown {
					t.Rows = c.In[0].Type().Rows
				}
				return UnitSpace(t)
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				m, t := c.In[0].(*value.CSR), c.Type
				if t.Rows == types.Unknown {
					t.Rows = m.Rows
				}
				n, _ := UnitSpace(t)
				l, err := begin(c, m, n)
				if l == nil {
					return rowLoop(func(int, int) {}), err
				}
				return l, err
			},
		},
	}
}

// sparseWindow returns the row name on sparse matrices: the rectangle that rect returns. Whole rows are
// a view of the matrix: nothing is copied.
func sparseWindow(name string, args []op.Arg, rule func(*op.Sig) (types.Type, error), ref func(*op.Call) (value.Value, error),
	rect func(c *op.Call, m *value.CSR) (window.Rect, error)) *op.Def {
	d := sparseSelect(name, args, rule, ref, func(c *op.Call, m *value.CSR, units int) (*UnitLoop, error) {
		w, err := rect(c, m)
		if err != nil {
			return nil, err
		}
		if m = m.View(w.Row, w.Rows); w.Cols == m.Cols {
			c.Out = m
			return nil, nil
		}
		return beginRangeOf(c, m, w.Col, w.Cols, func(int) (lo, hi int) { return w.Col, w.Col + w.Cols }, units), nil
	})
	space := d.Loop.Space
	d.Loop.Space = func(c *op.Call) (n, leaf int) {
		if c.Type.Cols == c.In[0].Type().Cols { // a view
			return 0, 0
		}
		return space(c)
	}
	return d
}

// ofFirst returns rule, of dense matrices, for calls whose first operand alone is sparse.
func ofFirst(rule func(*op.Sig) (types.Type, error)) func(*op.Sig) (types.Type, error) {
	return func(s *op.Sig) (types.Type, error) {
		if !s.In[0].IsSparse() { // another operand is, which no rule allows
			return rule(s)
		}
		d := *s
		d.In = slices.Clone(s.In)
		d.In[0].Repr = types.Dense
		return rule(&d)
	}
}

// partCost is the work of copying rows of a matrix, each with as many entries as others.
func partCost(s *op.Sig, out types.Type) op.Work {
	n := define.Entries(s, 0)
	if t := s.In[0]; t.Rows > 0 && out.Rows >= 0 {
		n *= float64(out.Rows) / float64(t.Rows)
	}
	return op.Work{Flops: n, Bytes: n * float64(out.Elem.Size()+4)}
}

// storedPart is the estimate of a part whose rows are as full as others.
func storedPart(_ *op.Sig, in []sparsity.Estimate, out types.Type) sparsity.Estimate {
	e := in[0]
	share := 1.0
	for _, n := range [][2]int{{out.Rows, e.Rows}, {out.Cols, e.Cols}} {
		if n[0] >= 0 && n[1] > 0 {
			share *= float64(n[0]) / float64(n[1])
		}
	}
	return sparsity.Uniform(out.Rows, out.Cols, e.NNZ*share, max(e.Basis, sparsity.Estimated))
}

// every returns the places, of 0..n-1, that a step takes.
func every(n, step int) []int64 {
	at := make([]int64, 0, n)
	for i := move.FirstOf(n, step); i >= 0 && i < n; i += step {
		at = append(at, int64(i))
	}
	return at
}

// beginRowsAt makes rows at[0], at[1], .. of m.
func beginRowsAt(c *op.Call, m *value.CSR, at []int64, units int) *UnitLoop {
	length := func(k int) int { return int(m.Ptr[at[k]+1] - m.Ptr[at[k]]) }
	upTo := make([]int64, len(at)+1)
	for k := range at {
		upTo[k+1] = upTo[k] + 1 + int64(length(k))
	}
	cut := RowCut{Rows: len(at), Units: units, Before: func(k int) int64 { return upTo[k] }}
	return beginKept(c, types.SparseOf(m.Elem, len(at), m.Cols), cut, length, func(out *value.CSR, k int) {
		copyEntries(out, out.Ptr[k], m, m.Ptr[at[k]], m.Ptr[at[k]+1], 0)
	})
}

// beginColumnsAt makes columns at[0], at[1], .. of m. It turns m twice unless they ascend.
func beginColumnsAt(c *op.Call, m *value.CSR, at []int64, units int) *UnitLoop {
	place := make([]int32, m.Cols) // of each column in the result, and one more
	for k, j := range at {
		if k > 0 && j <= at[k-1] {
			turned := *c
			if err := op.RunAll(beginRowsAt(&turned, transposed(m), at, 1), 1); err != nil {
				panic("BUG: " + err.Error())
			}
			c.Out = transposed(turned.Out.(*value.CSR))
			return nil
		}
		place[j] = int32(k + 1)
	}
	return beginKept(c, types.SparseOf(m.Elem, m.Rows, len(at)), cutByEntries(units, m), func(i int) (n int) {
		cols, _ := m.Row(i)
		for _, j := range cols {
			if place[j] > 0 {
				n++
			}
		}
		return n
	}, func(out *value.CSR, i int) {
		cols, from := m.Row(i)
		to := int(out.Ptr[i])
		for k, j := range cols {
			if place[j] > 0 {
				out.Col[to] = place[j] - 1
				out.CopyValues(to, m, from+k, from+k+1)
				to++
			}
		}
	})
}

func sparseSlice() *op.Def {
	d := sparseWindow("slice", []op.Arg{{Name: "a"}, {Name: "at", Attr: true, Kind: op.IntsVal, Doc: "[first row, first column, rows, columns]"}},
		move.SliceType, move.SliceRef, func(c *op.Call, _ *value.CSR) (window.Rect, error) {
			w, _ := window.RectOf(c.Attrs, "at")
			return w, nil
		})
	d.Word, d.Cost, d.Laws = "slice", define.SparseCost(1), d.Laws|op.Total
	return d
}
