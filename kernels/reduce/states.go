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
	"flow/kernels/exact"
)

// hasColumnState reports a reduction whose columns have states to merge. The state of any and all is
// a count, which is no accumulator of theirs.
func (w Whole) hasColumnState() bool { return w.Class != loop.Any && w.Class != loop.All }

// columnState is the type of the states of columns of a matrix.
func (w Whole) columnState(t types.Type) types.Type {
	acc := w.Acc(t.Elem)
	return types.DenseOf(acc.Elem, t.Cols, acc.Cols)
}

// columnRows is the rows of the states of colsum and the like.
func (w Whole) columnRows() []*op.Def {
	if !w.hasColumnState() {
		return nil
	}
	out := []*op.Def{w.columnDone()}
	if w.shared == "" {
		out = append(out, w.columnPart())
	}
	return out
}

func (w Whole) columnPart() *op.Def {
	return &op.Def{
		Name: "col" + w.Name + ".part", Hidden: true, Doc: "col" + w.Name + ".part is the accumulators of the columns of some rows, a row each.",
		Args: []op.Arg{{Name: "x"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsDense() || !s.In[0].Elem.IsNumeric() {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a dense matrix, not %v", s.Def.Name, s.In[0])
			}
			return w.columnState(s.In[0]), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			a := c.Dense(0)
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			for j := range a.Cols {
				acc := w.Accumulator(a.Elem)
				for i := range a.Rows { // one element at a time
					w.Part(acc, a.View(i, j, 1, 1))
				}
				out.View(j, 0, 1, acc.Cols).CopyFrom(acc)
			}
			return out, nil
		},
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Fold: op.FoldCols, Rate: "reduce.col",
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, w.Flops) },
		Kernel: func(c *op.Call) error {
			(&Fold{Axis: OverCols, Whole: w, Part: true}).Cols(c.Result(), c.Dense(0))
			return nil
		},
	}
}

func (w Whole) columnDone() *op.Def {
	done := func(c *op.Call) *value.Dense {
		acc := c.Dense(0)
		out := value.New(c.Type.Elem, 1, c.Type.Cols)
		for j := range out.Cols {
			out.Set(0, j, w.Done(acc.View(j, 0, 1, acc.Cols), out.Elem, c.Attrs.Int("n")))
		}
		return out
	}
	return &op.Def{
		Name: "col" + w.Name + ".done", Hidden: true, Doc: "col" + w.Name + ".done is the results of the accumulators of columns.",
		Args: []op.Arg{
			{Name: "acc"},
			{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "element type of the argument"},
			{Name: "n", Attr: true, Kind: op.IntVal, Doc: "number of elements of a column"},
		},
		Type: func(s *op.Sig) (types.Type, error) {
			e, ok := types.ElemNamed(s.Attrs.Str("elem"))
			if !ok {
				return types.Type{}, op.Faultf(1, define.CodeAttr, "`%s` needs the attribute elem", s.Def.Name)
			}
			t := s.In[0]
			if acc := w.Acc(e); !t.IsDense() || t.Elem != acc.Elem || t.Cols != acc.Cols {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` takes accumulators, not %v", s.Def.Name, t)
			}
			return types.DenseOf(w.Elem(e), 1, t.Rows), nil
		},
		Ref:  func(c *op.Call) (value.Value, error) { return done(c), nil },
		Laws: op.Pure, Flow: op.Flow{Rate: op.Once},
		Cost:   func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Kernel: func(c *op.Call) error { c.Result().CopyFrom(done(c)); return nil },
	}
}

// putStates writes the accumulators of the columns to out, which has a row for each of all columns.
func (s *Columns) putStates(out *value.Dense) {
	f := s.of
	if f.inColumns(s.elem) {
		for p := range s.sums.squares {
			for j := range s.c1 - s.c0 {
				s.sums.of[p][j].PutWords(out.I64[(s.c0+j)*out.Stride+p*exact.Words:][:exact.Words])
			}
		}
		return
	}
	for j := range s.c1 - s.c0 {
		if f.Extreme() {
			out.Set(s.c0+j, 0, s.best.At(0, j))
		} else {
			out.I64[(s.c0+j)*out.Stride] = s.n[j]
		}
	}
}
