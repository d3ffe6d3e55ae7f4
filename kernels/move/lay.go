package move

// This file writes matrices that are laid out of windows into loops.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/kernels/define"
	"flow/kernels/dense"
)

// layElements is the elements of a matrix laid out of windows. Groups of operators on whole
// matrices, which have no inner loops, take none: there the blocks are tasks.
func layElements(e *op.Elements) op.Element {
	if e.Rounds == nil {
		return nil
	}
	elem := dense.Storage(e.Out.Elem)
	if len(e.In) == 1 {
		if from, to := boxOf(e.Attrs, 0); to.Row == 0 && to.Col == 0 && from.Rows == e.Out.Rows && from.Cols == e.Out.Cols {
			return func(i, j loop.Lin) loop.Val {
				return define.ConvertBody(e.B, elem, e.In[0].At(i.Plus(loop.Num(int64(from.Row))), j.Plus(loop.Num(int64(from.Col)))))
			}
		}
	}
	if e.Out.Count() > define.Unrolled {
		return nil
	}
	m := make([][]loop.Val, e.Out.Rows)
	for i := range m {
		for range e.Out.Cols {
			m[i] = append(m[i], define.Numeral(e.B, elem, 0))
		}
	}
	for k := range e.In {
		from, to := boxOf(e.Attrs, k)
		for i := range from.Rows {
			for j := range from.Cols {
				m[to.Row+i][to.Col+j] = define.ConvertBody(e.B, elem, e.In[k].At(loop.Num(int64(from.Row+i)), loop.Num(int64(from.Col+j))))
			}
		}
	}
	return define.Picked(e, m)
}
