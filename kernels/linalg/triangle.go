package linalg

// This file defines lower, upper and diag: parts of a matrix with zeros elsewhere.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

func Triangles() []*op.Def {
	return []*op.Def{
		{
			Name: "lower",
			Doc:  "lower is the lower triangle of a matrix, the diagonal included, with zeros above. With unit = true the diagonal becomes ones: `lower(getrf(a), unit = true)`.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"}, define.Flag("unit", "ones on the diagonal"), define.Flag("strict", "zeros on the diagonal, too")},
			Eg: []op.Example{{Program: "emit lower(ones(2, 3))", Output: "1 0 0\n1 1 0\n"},
				{Program: "emit lower(ones(2, 2), strict = true)", Output: "0 0\n1 0\n"}},
			Type: triangleType, Ref: LowerRef, Elements: lowerElements, Laws: op.Pure | op.Total, Shard: op.Shard{Kind: op.ShardTriangle}, Rate: "copy", Cost: define.CopyWork, Kernel: window.RectKernel(lowerRect), Loop: window.RectLoop(lowerRect),
		},
		{
			Name: "upper",
			Doc:  "upper is the upper triangle of a matrix, the diagonal included, with zeros below.",
			Args: []op.Arg{{Name: "a", Doc: "n x m"}, define.Flag("strict", "zeros on the diagonal, too")},
			Eg:   []op.Example{{Program: "emit upper(ones(2, 3))", Output: "1 1 1\n0 1 1\n"}},
			Type: define.DenseType, Ref: UpperRef, Elements: upperElements, Laws: op.Pure | op.Total, Shard: op.Shard{Kind: op.ShardTriangle, Upper: true}, Rate: "copy", Cost: define.CopyWork, Kernel: window.RectKernel(upperRect), Loop: window.RectLoop(upperRect),
		},
		{
			Name: "diag",
			Doc: "diag is the diagonal of a matrix as a column; of a column (n x 1, n above 1) it is the n x n matrix with that diagonal " +
				"and zeros elsewhere.",
			Args: []op.Arg{{Name: "a", Doc: "n x m, or n x 1"}},
			Eg:   []op.Example{{Program: "emit diag(3 * eye(2))", Output: "3\n3\n"}, {Program: "emit diag(ones(2, 1))", Output: "1 0\n0 1\n"}},
			Type: DiagType, Ref: DiagRef, Elements: diagElements, Laws: op.Pure | op.Total, Shard: op.Shard{Kind: op.ShardDiagonal}, Rate: "copy", Cost: define.CopyWork, Kernel: diagKernel,
		},
	}
}

// zeroOf is the zero of an element type.
func zeroOf(e types.Elem) value.Scalar { return value.Scalar{Elem: e} }

// triangleType is the argument's, whose diagonal becomes ones or zeros, not both.
func triangleType(s *op.Sig) (types.Type, error) {
	if s.Attrs.Bool("unit") && s.Attrs.Bool("strict") {
		return types.Type{}, op.Faultf(2, define.CodeAttr, "the diagonal has ones (unit) or zeros (strict), not both")
	}
	return define.DenseType(s)
}

// OffDiagonal is by how much the diagonal is beyond a triangle: 1 if it is strict, else 0.
func OffDiagonal(a *op.Attrs) int {
	if a.Bool("strict") {
		return 1
	}
	return 0
}

func LowerRef(c *op.Call) (value.Value, error) {
	d := c.Dense(0).Clone()
	for i := range d.Rows {
		for j := range d.Cols {
			if j > i-OffDiagonal(c.Attrs) {
				d.Set(i, j, zeroOf(d.Elem))
			} else if j == i && c.Attrs.Bool("unit") {
				d.Set(i, j, value.I64(1))
			}
		}
	}
	return d, nil
}

func UpperRef(c *op.Call) (value.Value, error) {
	d := c.Dense(0).Clone()
	for i := range d.Rows {
		for j := range min(i+OffDiagonal(c.Attrs), d.Cols) {
			d.Set(i, j, zeroOf(d.Elem))
		}
	}
	return d, nil
}

func lowerRect(c *op.Call, w window.Rect) {
	strict := OffDiagonal(c.Attrs)
	for i := w.Row; i < w.Row+w.Rows; i++ {
		copied := copyOrClear(c, i, w.Col, min(i+1-strict, w.Col+w.Cols), w.Col+w.Cols)
		if copied && i < w.Col+w.Cols && c.Attrs.Bool("unit") {
			c.Result().Set(i, i, value.I64(1))
		}
	}
}

func upperRect(c *op.Call, w window.Rect) {
	strict := OffDiagonal(c.Attrs)
	for i := w.Row; i < w.Row+w.Rows; i++ {
		from := min(max(i+strict, w.Col), w.Col+w.Cols)
		dense.Clear(c.Result().View(i, w.Col, 1, from-w.Col))
		copyOrClear(c, i, from, w.Col+w.Cols, w.Col+w.Cols)
	}
}

// copyOrClear makes elements lo..mid-1 of row i of the result copies and mid..hi-1 zeros, and
// reports whether some were copied.
func copyOrClear(c *op.Call, i, lo, mid, hi int) bool {
	mid = max(mid, lo)
	c.Result().View(i, lo, 1, mid-lo).CopyFrom(c.Dense(0).View(i, lo, 1, mid-lo))
	dense.Clear(c.Result().View(i, mid, 1, hi-mid))
	return mid > lo
}

// spreads reports that diag makes a matrix of a column.
func spreads(t types.Type) bool { return t.Cols == 1 && t.Rows > 1 }

func DiagType(s *op.Sig) (types.Type, error) {
	t, err := define.DenseType(s)
	switch {
	case err != nil:
		return t, err
	case spreads(t):
		t.Cols = t.Rows
	case t.Known():
		t.Rows, t.Cols = min(t.Rows, t.Cols), 1
	default:
		return types.Type{}, op.Faultf(0, define.CodeShape, "the shape of %s must be known before the run", t)
	}
	return t, nil
}

func DiagRef(c *op.Call) (value.Value, error) {
	a := c.Dense(0)
	if !spreads(a.Type()) {
		n := min(a.Rows, a.Cols)
		d := value.New(a.Elem, n, 1)
		for i := range n {
			d.Set(i, 0, a.At(i, i))
		}
		return d, nil
	}
	d := value.New(a.Elem, a.Rows, a.Rows)
	for i := range a.Rows {
		d.Set(i, i, a.At(i, 0))
	}
	return d, nil
}

func diagKernel(c *op.Call) error {
	out, a := c.Result(), c.Dense(0)
	dense.Clear(out)
	to, from := out.Stride+1, a.Stride
	if !spreads(a.Type()) {
		to, from = out.Stride, a.Stride+1
	}
	lo, hi := 0, out.Rows
	if c.Hi > 0 { // a rank's own rows
		lo, hi = c.Lo, c.Hi
	}
	steps := dense.ForElem(a.Elem, copySteps[float64], copySteps[float32], copySteps[int64], copySteps[uint8])
	steps(out, to, a, from, lo, hi)
	return nil
}

// copySteps copies elements lo..hi-1 of a to out. Elements are `to` numbers apart in out and `from` in
// a.
func copySteps[T dense.Cell](out *value.Dense, to int, a *value.Dense, from, lo, hi int) {
	dst, src := dense.GridOf[T](out).X, dense.GridOf[T](a).X
	for i := lo; i < hi; i++ {
		dst[i*to] = src[i*from]
	}
}
