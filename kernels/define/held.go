package define

// This file defines small matrices in loops: all of their elements are values.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/kernels/dense"
)

// Unrolled is the most elements of a matrix that is held, and the most terms of a reduction that is
// written out.
const Unrolled = 64

// WrittenLines is up to how many lines of a matrix a loop over them is written out.
const WrittenLines = 16

// Written is a matrix of the body by its elements, which are numbers of e; nil where it has too
// many of them.
func Written(e *op.Elements, x op.Source, elem types.Elem) [][]loop.Val {
	if !x.Rows.Known() || !x.Cols.Known() || x.Rows.Const*x.Cols.Const > Unrolled {
		return nil
	}
	m := make([][]loop.Val, x.Rows.Const)
	for i := range m {
		m[i] = make([]loop.Val, x.Cols.Const)
		for j := range m[i] {
			m[i][j] = ConvertBody(e.B, dense.Storage(elem), x.At(loop.Num(int64(i)), loop.Num(int64(j))))
		}
	}
	return m
}

// Picked is the elements of a matrix that are listed row by row.
func Picked(e *op.Elements, m [][]loop.Val) op.Element {
	var list []loop.Val
	for _, row := range m {
		list = append(list, row...)
	}
	return e.Held(list)
}
