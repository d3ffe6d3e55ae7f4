package move

// This file defines the row put, which changes a few elements of a matrix, or a block of it.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
)

// put is the operator that the pass lines writes. Its result is made in the memory of its first input
// if that has no other reader. A call then costs as much as the places that it changes.
func put() *op.Def {
	change := func(c *op.Call, out *value.Dense) {
		x, at := c.Dense(1), c.Dense(2)
		if at.Rows == 1 { // a block
			i, j := at.At(0, 0).I, at.At(0, 1).I
			row, rows := within(i, x.Rows, out.Rows)
			col, cols := within(j, x.Cols, out.Cols)
			if rows > 0 && cols > 0 {
				out.View(row, col, rows, cols).CopyFrom(x.View(row-int(i), col-int(j), rows, cols))
			}
			return
		}
		switch out.Elem {
		case types.F64:
			putAll(out, out.F64, x, x.F64, at)
		case types.F32:
			putAll(out, out.F32, x, x.F32, at)
		case types.Bool:
			putAll(out, out.Bool, x, x.Bool, at)
		default:
			putAll(out, out.I64, x, x.I64, at)
		}
	}
	return &op.Def{
		Name: "put", Hidden: true,
		Doc: "put returns a with some elements replaced: row k of at is a row and a column, and the element there becomes element k of x. " +
			"The last of equal places wins. If at is one place, x may be a block, whose first element gets this place. A place outside of the matrix changes nothing. " +
			"The compiler writes put for a round that changes one element of each row of a matrix, or one row or column.",
		Args: []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "x", Doc: "k x 1, as a; a block if k is 1"}, {Name: "at", Doc: "k x 2 of i64"}},
		Eg: []op.Example{{Program: "iterate A = zeros(2, 3), d = 1 times 2 {\n  next A = parfor i in 0..2, j in 0..3 { if j - i == d { f64(d) } else { A[i, j] } }\n" +
			"  next d = d + 1\n}\nemit A", Output: "0 1 2\n0 0 1\n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.DenseType(s)
			if x, at := s.In[1], s.In[2]; err == nil && (!x.IsDense() || x.Elem != t.Elem || !at.IsDense() || at.Elem != types.I64 || at.Cols != 2 || at.Rows != 1 && (x.Cols != 1 || at.Rows != x.Rows)) {
				return t, op.Faultf(1, define.CodeKind, "put takes a %s, a column of %s and as many places, or a block and a place, not %s and %s", t, t.Elem, x, at)
			}
			return t, err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			out, x, at := c.Dense(0).Clone(), c.Dense(1), c.Dense(2)
			for i := range out.Rows {
				for j := range out.Cols {
					for p := range x.Rows {
						for q := range x.Cols {
							k := min(p, at.Rows-1)
							row, col := at.At(k, 0).I+int64(p-k), at.At(k, 1).I+int64(q)
							if row == int64(i) && col == int64(j) {
								out.Set(i, j, x.At(p, q))
							}
						}
					}
				}
			}
			return out, nil
		},
		Laws: op.Pure | op.Total, Accum: 1, Rate: "copy",
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			n := define.ElementCount(s.In[1])
			return op.Work{Flops: n, Bytes: 32 * n}
		},
		Kernel: func(c *op.Call) error { change(c, c.Result()); return nil },
	}
}

// within returns the part of rows i..i+n-1 that is in rows 0..m-1: its first row, and how many there
// are.
func within(i int64, n, m int) (from, many int) {
	if i >= int64(m) || i <= -int64(n) {
		return 0, 0
	}
	from = int(max(i, 0))
	return from, min(int(i)+n, m) - from
}

// putAll sets the elements of out at the places at to those of column x. to and from are the memory of
// out and x.
func putAll[T any](out *value.Dense, to []T, x *value.Dense, from []T, at *value.Dense) {
	for k := range at.Rows {
		i, j := at.I64[k*at.Stride], at.I64[k*at.Stride+1]
		if 0 <= i && i < int64(out.Rows) && 0 <= j && j < int64(out.Cols) {
			to[int(i)*out.Stride+int(j)] = from[k*x.Stride]
		}
	}
}
