package linalg

// This file defines the triangular solves of one tile. All five are trsm, x @ t(l) = b solved for
// x, on operands that are turned and reversed where needed: moving n*n elements is cheap beside
// n*n*m operations.
//
// The unknowns are solved in the order that the triangle forces: ascending for a lower matrix from
// the left, descending for an upper one. A chain subtracts the solved unknowns in that order. So a
// tiled substitution that ascends has the same bits for every tile size. When it descends, gemm within
// a tile still ascends, and bits depend on the tile edge; `reverse` of both operands avoids that.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/window"
)

// triangular describes one of the solves.
type triangular struct {
	name     string
	doc      string
	coef     string // name of the triangular argument
	eg       op.Example
	left     bool // the triangle stands left of b: the unknowns are rows of b
	turn     bool // the equations are the columns of the triangle
	unit     bool // has the attribute unit
	readLow  bool // reads only the lower triangle of the coefficients
	backward bool // the last unknown is solved first
}

func (l *Linear) triangularSolves() []*op.Def {
	forms := []triangular{
		{name: "trsm", coef: "l", readLow: true,
			doc: "trsm is b @ inverse(t(l)) for a lower triangular l: the tiles below the diagonal in Cholesky. What l has above its diagonal is not read.",
			eg:  op.Example{Program: "emit trsm(2 * eye(2), ones(1, 2))", Output: "0.5 0.5\n"}},
		{name: "trsm_upper", coef: "u", turn: true,
			doc: "trsm_upper is b @ inverse(u) for an upper triangular u: the tiles below the diagonal in LU. What u has below its diagonal is not read.",
			eg:  op.Example{Program: "emit trsm_upper(2 * eye(2), ones(1, 2))", Output: "0.5 0.5\n"}},
		{name: "trsm_left", coef: "l", left: true, readLow: true, unit: true,
			doc: "trsm_left is inverse(l) @ b for a lower triangular l: forward substitution. With unit = true the diagonal of l counts as ones and is not read.",
			eg:  op.Example{Program: "emit trsm_left(lower(ones(2, 2)), ones(2, 1))", Output: "1\n0\n"}},
		{name: "trsm_left_t", coef: "l", left: true, turn: true, backward: true, readLow: true,
			doc: "trsm_left_t is inverse(t(l)) @ b for a lower triangular l: the back substitution after Cholesky.",
			eg:  op.Example{Program: "emit trsm_left_t(lower(ones(2, 2)), ones(2, 1))", Output: "0\n1\n"}},
		{name: "trsm_left_upper", coef: "u", left: true, backward: true,
			doc: "trsm_left_upper is inverse(u) @ b for an upper triangular u: the back substitution after LU.",
			eg:  op.Example{Program: "emit trsm_left_upper(upper(ones(2, 2)), ones(2, 1))", Output: "0\n1\n"}},
	}
	var rows []*op.Def
	for _, f := range forms {
		rows = append(rows, l.triangularSolve(f))
	}
	return rows
}

func (l *Linear) triangularSolve(f triangular) *op.Def {
	d := &op.Def{
		Name: f.name, Doc: f.doc, Eg: []op.Example{f.eg},
		Args:     []op.Arg{{Name: f.coef, Doc: "n x n, triangular"}, {Name: "b", Doc: "m x n"}},
		Type:     func(s *op.Sig) (types.Type, error) { return solveType(s, f.left) },
		Ref:      func(c *op.Call) (value.Value, error) { return solveRef(c, f) },
		Elements: f.elements,
		Laws:     op.Pure,
		Accum:    2,
		Rate:     "trsm",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: float64(out.Count()) * float64(s.In[0].Rows), Bytes: define.Traffic(s, out)}
		},
		Kernel: func(c *op.Call) error { return l.solve(c, f) },
	}
	if f.left {
		d.Args[1].Doc = "n x m"
	}
	if f.unit {
		d.Args = append(d.Args, define.Flag("unit", "the diagonal counts as ones"))
	}
	if f.readLow {
		d.Lower = []int{0}
	}
	if !f.left {
		d.Along, d.Loop = func(*op.Attrs) []int { return []int{1} }, solveLoop(d.Kernel)
	}
	return d
}

// solveLoop is the Loop of a solve from the right: each row of the unknowns follows from its row of b.
// Workers share tall systems, and ranks the rows of any. A chunk has enough rows to be worth packing
// the triangle.
func solveLoop(kernel func(c *op.Call) error) *op.Loop {
	rows := window.Loop(kernel, window.Whole, window.Rows)
	takes := func(_ *op.Sig, out types.Type) bool { return out.Cols > 0 && out.Rows >= tallRatio*out.Cols }
	return &op.Loop{
		Light: true,
		Takes: takes,
		Rows:  op.RowsOfResult,
		Space: func(c *op.Call) (n, leaf int) {
			if !c.Part && !takes(nil, c.Type) {
				return 0, 0
			}
			return c.Type.Rows, max(c.Type.Cols/2, window.LeafElements/max(1, c.Type.Cols))
		},
		Begin: rows.Begin,
	}
}

// solveType is the type of b, when it fits the triangle.
func solveType(s *op.Sig, left bool) (types.Type, error) {
	l, err := squareFloat(s)
	if err != nil {
		return l, err
	}
	b := s.In[1]
	if !b.IsDense() || b.Elem != l.Elem {
		f := op.Faultf(1, define.CodeElem, "%s takes two matrices of one element type; these are %s and %s", s.Def.Source(), l, b)
		if b.IsDense() && b.Elem.IsNumeric() {
			f.WithHelp("%s(x) converts", l.Elem)
		}
		return types.Type{}, f
	}
	if left && !define.Agree(l.Cols, b.Rows) {
		return types.Type{}, op.Faultf(1, define.CodeShape, "%s: the triangle has order %d, the right side %d rows", s.Def.Source(), l.Cols, b.Rows)
	}
	if !left && !define.Agree(l.Cols, b.Cols) {
		return types.Type{}, op.Faultf(1, define.CodeShape, "%s: the triangle has order %d, the left side %d columns", s.Def.Source(), l.Cols, b.Cols)
	}
	return b, nil
}

func solveRef(c *op.Call, f triangular) (value.Value, error) {
	t := c.Dense(0)
	coef := func(i, k int) value.Scalar { return atRef(t, f.turn, i, k) }
	return substituteRef(c.Dense(1).Clone(), f.left, f.backward, c.Attrs.Bool("unit"), coef), nil
}

func (l *Linear) solve(c *op.Call, f triangular) error {
	s := l.Pool.Get()
	defer l.Pool.Put(s)
	out, t := c.Result(), c.Dense(0)
	unit := c.Attrs.Bool("unit")
	if out.Elem == types.F32 {
		solveInto(l.F32, s, f, unit, dense.GridOf[float32](t), dense.GridOf[float32](out))
	} else {
		solveInto(l.F64, s, f, unit, dense.GridOf[float64](t), dense.GridOf[float64](out))
	}
	return nil
}

// solveInto overwrites b with the unknowns. The set solves x @ t(m) = b for a lower m with one
// equation a row, so
//
//	rows of unknowns (left):   turn b, solve, turn back
//	descending:                reverse the order of equations and unknowns in m and in b, which makes it ascending
//	equations are columns:     turn m
func solveInto[T dense.Precision](k blas.Kernels[T], s *Scratch, f triangular, unit bool, t, b dense.Grid[T]) {
	n := t.Rows
	if n == 0 || b.Rows == 0 || b.Cols == 0 {
		return
	}
	m := t
	if f.turn || f.backward || unit {
		m = ScratchGrid[T](s, n, n)
		lowerCopy(m, t, f.turn, f.backward)
		if unit {
			for i := range n {
				m.Row(i)[i] = 1
			}
		}
	}
	x := b
	if f.left {
		x = ScratchGrid[T](s, b.Cols, n)
		dense.Transpose(x, b)
		if f.backward {
			mirror(x)
		}
	}
	k.Trsm(&s.Ws, x.Rows, n, m.X, m.LD, x.X, x.LD)
	if f.left {
		if f.backward {
			mirror(x)
		}
		dense.Transpose(b, x)
	}
}

// lowerCopy fills the lower triangle of m with the coefficients t, turned and with rows and columns
// in reverse as asked. Above the diagonal m is left as it is.
func lowerCopy[T dense.Precision](m, t dense.Grid[T], turn, back bool) {
	n := m.Rows
	for i := range n {
		row := m.Row(i)
		e, step := i, 1 // equation, and direction of the unknowns
		first := 0
		if back {
			e, first, step = n-1-i, n-1, -1
		}
		at, move := e*t.LD+first, step
		if turn {
			at, move = first*t.LD+e, step*t.LD
		}
		for k := range i + 1 {
			row[k] = t.X[at]
			at += move
		}
	}
}

// mirror reverses every row of g.
func mirror[T dense.Precision](g dense.Grid[T]) {
	for i := range g.Rows {
		slices.Reverse(g.Row(i))
	}
}
