package construct

// This file defines the rows that look at types alone: nrow, ncol, ncell, auto_tile, eps. The
// compiler folds every call of them, but for the sizes of matrices that only the run knows.

import (
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// shapeRow is a row whose value is f of the argument's type.
func shapeRow(name, doc, example, output string, f func(t types.Type) int) *op.Def {
	constant := func(in []types.Type) (value.Value, error) {
		if !in[0].Known() {
			return nil, op.Faultf(0, define.CodeAttr, "`%s` needs a shape that is known before the run", name)
		}
		return value.I64(int64(f(in[0]))), nil
	}
	return &op.Def{
		Name: name, Doc: doc, Eg: define.Eg(example, output),
		Args: []op.Arg{{Name: "x", Doc: "matrix"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if !s.In[0].IsMatrix() {
				return types.Type{}, op.Faultf(0, define.CodeKind, "`%s` needs a matrix, not %v", name, s.In[0])
			}
			return types.ScalarOf(types.I64), nil
		},
		Ref:   func(c *op.Call) (value.Value, error) { return constant([]types.Type{c.In[0].Type()}) },
		Laws:  op.Pure,
		Shape: constant,
		Cost:  func(*op.Sig, types.Type) op.Work { return op.Work{} },
	}
}

// sizeRow is a shapeRow that is a value of the run where f of the type is not known before: f is
// negative then.
func sizeRow(name, doc, example, output string, f func(t types.Type) int, size func(e *op.Elements) loop.Val) *op.Def {
	d := shapeRow(name, doc, example, output, f)
	d.Shape = func(in []types.Type) (value.Value, error) {
		if n := f(in[0]); n >= 0 {
			return value.I64(int64(n)), nil
		}
		return nil, nil
	}
	d.Elements = func(e *op.Elements) op.Element {
		n := size(e)
		return func(loop.Lin, loop.Lin) loop.Val { return n }
	}
	d.Kernel = func(c *op.Call) error {
		c.Out = value.I64(int64(f(c.In[0].Type())))
		return nil
	}
	return d
}

// shapes returns the rows nrow, ncol, ncell and auto_tile.
func shapes() []*op.Def {
	return []*op.Def{
		sizeRow("nrow", "nrow is the number of rows of x; x.rows is the same.", "nrow(ones(3, 2))", "3", func(t types.Type) int { return t.Rows },
			func(e *op.Elements) loop.Val { return e.Number(e.In[0].Rows) }),
		sizeRow("ncol", "ncol is the number of columns of x; x.cols is the same.", "ncol(ones(3, 2))", "2", func(t types.Type) int { return t.Cols },
			func(e *op.Elements) loop.Val { return e.Number(e.In[0].Cols) }),
		sizeRow("ncell", "ncell is the number of elements of x.", "ncell(ones(3, 2))", "6", func(t types.Type) int {
			if !t.Known() {
				return types.Unknown
			}
			return t.Rows * t.Cols
		}, func(e *op.Elements) loop.Val { return e.B.Op(loop.Mul, e.Number(e.In[0].Rows), e.Number(e.In[0].Cols)) }),
		shapeRow("auto_tile", "auto_tile is the tile edge that suits x: a function of its shape and element type alone.",
			"auto_tile(ones(4096, 4096))", "336", func(t types.Type) int { return DefaultTile(t.Elem, t.Rows, t.Cols) }),
	}
}

// eps is how a fn that takes any element type learns of it: tolerances, and conversions of what it
// makes itself.
func eps() *op.Def {
	d := shapeRow("eps", "eps is the distance from 1 to the next number of the element type of x, a constant of that type; 1 for i64 and bool.",
		"eps(ones(2, 2))", "2.220446049250313e-16", nil)
	constant := func(in []types.Type) (value.Value, error) {
		switch in[0].Elem {
		case types.F64:
			return value.F64(0x1p-52), nil
		case types.F32:
			return value.F64(0x1p-23).Convert(types.F32), nil
		case types.I64, types.Bool:
			return value.I64(1), nil
		}
		return nil, op.Faultf(0, define.CodeKind, "`eps` needs numbers, not %v", in[0])
	}
	d.Type = func(s *op.Sig) (types.Type, error) {
		v, err := constant(s.In)
		if err != nil {
			return types.Type{}, err
		}
		return v.Type(), nil
	}
	d.Ref = func(c *op.Call) (value.Value, error) { return constant([]types.Type{c.In[0].Type()}) }
	d.Shape = constant
	return d
}

// tileEdges is the table behind DefaultTile: for matrices whose longer side is at most upTo (0:
// any), the edge. It is set by measurement (tiled Cholesky of orders 1024 to 8192 on two cores, all
// edges in multiples of 24 from 96 to 528; 2026-11; f32 of 3072 to 6144 once more on AVX-512 with
// 336 to 528, where 464 is nine panels of 48 and two vectors) and committed, never measured at run
// time: tile size must not depend on the machine.
var tileEdges = []struct {
	elem types.Elem // NoElem: any
	upTo int
	edge int // 0: the whole matrix is one tile
}{
	{types.NoElem, 512, 0},
	{types.F32, 1536, 144},
	{types.F32, 3072, 192},
	{types.F32, 6144, 464},
	{types.F32, 0, 480},
	{types.NoElem, 1536, 144},
	{types.NoElem, 3072, 240},
	{types.NoElem, 6144, 336},
	{types.NoElem, 0, 384},
}

// DefaultTile is the default tile edge for a matrix: a function of element type and shape alone, at
// least 1. Small matrices are one tile, whose edge is their longer side rounded up to a multiple of
// 8.
func DefaultTile(elem types.Elem, rows, cols int) int {
	n := max(rows, cols, 1)
	for _, t := range tileEdges {
		if (t.elem == types.NoElem || t.elem == elem) && (t.upTo == 0 || n <= t.upTo) {
			if t.edge == 0 {
				return (n + 7) / 8 * 8
			}
			return t.edge
		}
	}
	return n
}
