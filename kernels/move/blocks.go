package move

// This file defines the row with which ranks that share the rows of a matrix make its transpose.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// turnedBlocks is the row t.blocks. A rank makes the block of its own rows of x, and sends each other rank
// the rows of it that this one needs for its rows of t(x).
func turnedBlocks() *op.Def {
	return &op.Def{
		Name: "t.blocks", Hidden: true,
		Doc: "t.blocks is the transposes of blocks of rows, one below the other, with zeros where a block has fewer rows than the longest one. " +
			"The compiler writes it for transposes of matrices that ranks share by rows.",
		Args: []op.Arg{{Name: "x", Doc: "n x m"}, {Name: "cuts", Attr: true, Kind: op.IntsVal, Doc: "the first row of each block, and n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.DenseType(s)
			cuts := s.Attrs.Ints("cuts")
			if err == nil && t.Known() && (len(cuts) < 2 || cuts[0] != 0 || cuts[len(cuts)-1] != int64(t.Rows) || !slices.IsSorted(cuts)) {
				err = op.Faultf(1, define.CodeAttr, "cuts are ascending rows, from 0 to the number of rows; these are %v of a %s", cuts, t)
			}
			if err != nil || !t.Known() {
				return t, err
			}
			return types.DenseOf(t.Elem, t.Cols*(len(cuts)-1), longest(cuts)), nil
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x, cuts := c.Dense(0), c.Attrs.Ints("cuts")
			return define.Placed(c.Type, func(i, j int) value.Scalar {
				k := i / x.Cols
				if row := int(cuts[k]) + j; row < int(cuts[k+1]) {
					return x.At(row, i%x.Cols)
				}
				return value.I64(0).Convert(x.Elem)
			}), nil
		},
		Laws: op.Pure | op.Total, Rate: "transpose", Cost: define.CopyWork,
		Kernel: window.RectKernel(turnBlocks), Loop: window.RectLoop(turnBlocks),
	}
}

// longest returns the number of rows of the longest block.
func longest(cuts []int64) (most int) {
	for k := range cuts[1:] {
		most = max(most, int(cuts[k+1]-cuts[k]))
	}
	return most
}

// turnBlocks makes window w of the result.
func turnBlocks(c *op.Call, w window.Rect) {
	x, out, cuts := c.Dense(0), c.Result(), c.Attrs.Ints("cuts")
	for i := w.Row; i < w.Row+w.Rows; {
		k := i / x.Cols
		rows := min(w.Row+w.Rows, (k+1)*x.Cols) - i
		has := min(w.Cols, max(0, int(cuts[k+1]-cuts[k])-w.Col))
		if has > 0 {
			dense.Turn(out.View(i, w.Col, rows, has), x.View(int(cuts[k])+w.Col, i%x.Cols, has, rows))
		}
		for end := i + rows; i < end; i++ {
			if has < w.Cols {
				dense.Clear(out.View(i, w.Col+has, 1, w.Cols-has))
			}
		}
	}
}
