package reduce

// This file defines the states of reductions of columns, which ranks merge: colsum.part makes the
// accumulators of some rows, one below the other, a row for each column. sum.join merges those of
// several ranks row by row, and colsum.done makes the results.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// hasColumnState reports a reduction whose columns have states to merge. The state of any and all is
// a count, which is no accumulator of theirs.
func (w Whole) hasColumnState() bool { return w.Class != loop.Any && w.Class != loop.All }

// columnRows is the rows of the states of colsum and the like.
func (w Whole) columnRows() []*op.Def {
	if !w.hasColumnState() {
		return nil
	}
	out := []*op.Def{w.doneRow(true)}
	if w.shared == "" {
		out = append(out, w.partRow(true))
	}
	return out
}

// hiddenName returns the name of a hidden row of the reduction, of each column or of all elements.
func (w Whole) hiddenName(columns bool, part string) string {
	if columns {
		return "col" + w.Name + part
	}
	return w.Name + part
}

// partRow returns the row that makes the accumulators of a block: one, or one for each column.
func (w Whole) partRow(columns bool) *op.Def {
	d := define.ByKernel(&op.Def{
		Name: w.hiddenName(columns, ".part"), Hidden: true, Doc: w.Name + ".part is the accumulator of one block.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
			}
			t := w.Acc(s.In[0].Elem)
			if columns {
				t.Rows = s.In[0].Cols
			}
			return t, nil
		},
		Laws: op.Pure, Fold: op.FoldAll, Rate: "reduce." + w.Name,
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
		Kernel: func(c *op.Call) error {
			(&Fold{Whole: w, Part: true}).Into(c.Result(), c.Dense(0))
			return nil
		},
	})
	if columns {
		d.Doc = d.Name + " is the accumulators of the columns of some rows, a row each."
		d.Fold, d.Rate = op.FoldCols, "reduce.col"
		d.Kernel = func(c *op.Call) error {
			(&Fold{Axis: OverCols, Whole: w, Part: true}).Into(c.Result(), c.Dense(0))
			return nil
		}
	}
	return d
}

// doneRow returns the row that makes the result from an accumulator, or from those of all columns.
func (w Whole) doneRow(columns bool) *op.Def {
	done := func(c *op.Call) (value.Value, error) {
		acc, n := c.Dense(0), c.Attrs.Int("n")
		if len(c.In) > 1 { // rows that the run has chosen
			n = int(c.Scalar(1).I)
			if n == 0 {
				if err := w.ofNone(c, columns); err != nil {
					return nil, err
				}
			}
			if !columns {
				n *= c.Attrs.Int("cols")
			}
		}
		if !columns {
			return w.Done(acc, c.Type.Elem, n), nil
		}
		out := c.Result()
		for j := range out.Cols {
			out.Set(0, j, w.Done(acc.View(j, 0, 1, acc.Cols), out.Elem, n))
		}
		return out, nil
	}
	return define.ByKernel(&op.Def{
		Name: w.hiddenName(columns, ".done"), Hidden: true, Doc: w.hiddenName(columns, ".done") + " is the result of an accumulator, of a column each.",
		Args: []op.Arg{
			{Name: "acc"}, {Name: "rows", Optional: true, Doc: "number of rows, if only the run knows it"},
			{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of the argument"},
			{Name: "n", Attr: true, Optional: true, Kind: op.IntVal, Doc: "number of elements that each accumulator is of"},
			{Name: "cols", Attr: true, Optional: true, Kind: op.IntVal, Doc: "number of columns, if only the run knows that of rows"},
		},
		Type: func(s *op.Sig) (types.Type, error) {
			e, ok := types.ElemNamed(s.Attrs.Str("elem"))
			if !ok {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "`%s` needs the attribute elem", s.Def.Name)
			}
			t := s.In[0]
			if acc := w.Acc(e); !t.IsDense() || t.Elem != acc.Elem || t.Cols != acc.Cols || !columns && t.Rows != 1 {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` takes an accumulator, not %v", s.Def.Name, t)
			}
			if columns {
				return types.DenseOf(w.Elem(e), 1, t.Rows), nil
			}
			return types.ScalarOf(w.Elem(e)), nil
		},
		Laws:   op.Pure,
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) (err error) { c.Out, err = done(c); return err },
	})
}

// ofNone returns the failure of the reduction that c ends for a matrix without rows, or nil if it has a
// value.
func (w Whole) ofNone(c *op.Call, columns bool) error {
	e, _ := types.ElemNamed(c.Attrs.Str("elem"))
	whole := &op.Def{Name: w.hiddenName(columns, ""), Type: func(s *op.Sig) (types.Type, error) {
		if columns {
			return AxisType(s, false, w.Nonempty, w.Elem)
		}
		return w.Type(s, 0)
	}}
	return (&op.Call{Def: whole, In: []value.Value{value.New(e, 0, c.Attrs.Int("cols"))}}).Settle()
}
