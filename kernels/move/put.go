package move

// This file defines the row put, which changes a few elements of a matrix.

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
		for k := range at.Rows {
			i, j := at.At(k, 0).I, at.At(k, 1).I
			if 0 <= i && i < int64(out.Rows) && 0 <= j && j < int64(out.Cols) {
				out.Set(int(i), int(j), x.At(k, 0))
			}
		}
	}
	return &op.Def{
		Name: "put", Hidden: true,
		Doc: "put returns a with some elements replaced: row k of at is a row and a column, and the element there becomes element k of x. " +
			"The last of equal places wins. A place outside of the matrix changes nothing. The compiler writes put for a parfor that keeps all elements but one in each row.",
		Args: []op.Arg{{Name: "a", Doc: "n x m"}, {Name: "x", Doc: "k x 1, as a"}, {Name: "at", Doc: "k x 2 of i64"}},
		Eg: []op.Example{{Program: "iterate A = zeros(2, 3), d = 1 times 2 {\n  next A = parfor i in 0..2, j in 0..3 { if j - i == d { f64(d) } else { A[i, j] } }\n" +
			"  next d = d + 1\n}\nemit A", Output: "0 1 2\n0 0 1\n"}},
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.DenseType(s)
			if x, at := s.In[1], s.In[2]; err == nil && (!x.IsDense() || x.Elem != t.Elem || x.Cols != 1 || !at.IsDense() || at.Elem != types.I64 || at.Cols != 2 || at.Rows != x.Rows) {
				return t, op.Faultf(1, define.CodeKind, "put takes a %s, a column of %s and as many places, not %s and %s", t, t.Elem, x, at)
			}
			return t, err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			out := c.Dense(0).Clone()
			for i := range out.Rows {
				for j := range out.Cols {
					for k := range c.Dense(2).Rows {
						if at := c.Dense(2); at.At(k, 0).I == int64(i) && at.At(k, 1).I == int64(j) {
							out.Set(i, j, c.Dense(1).At(k, 0))
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
