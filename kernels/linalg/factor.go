package linalg

// This file defines the factorisations of one tile: Cholesky (potrf) and LU without pivoting
// (getrf).

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
)

func (l *Linear) factorizations() []*op.Def {
	return []*op.Def{
		{
			Name: "potrf",
			Doc: "potrf is the lower Cholesky factor L of a symmetric positive definite matrix, a = L @ t(L). Only the lower triangle of a is " +
				"read; above its diagonal the factor is zero. It runs as one task: `cholesky` cuts large matrices into tiles.",
			Args: []op.Arg{{Name: "a", Doc: "n x n, f64 or f32"}},
			Eg:   []op.Example{{Program: "emit potrf(4 * eye(2))", Output: "2 0\n0 2\n"}},
			Type: squareFloat,
			Ref:  potrfRef, Elements: potrfElements, Laws: op.Pure, Accum: 1, Lower: []int{0},
			Cost: func(s *op.Sig, out types.Type) op.Work {
				n := float64(out.Rows)
				return op.Work{Flops: n*n*n/3 + n*n/2 + n/6, Bytes: define.Traffic(s, out)}
			},
			Kernel: l.potrf,
		},
		{
			Name: "getrf",
			Doc: "getrf is the LU factorisation without pivoting, a = L @ U, packed in one matrix: U on and above the diagonal, L below it with " +
				"ones on its diagonal that are not stored. `lower(x, unit = true)` and `upper(x)` unpack it. A zero pivot fails the run, or " +
				"with singular = true makes the whole result zero; " +
				"for matrices that are not diagonally dominant or positive definite large errors are possible.",
			Args: []op.Arg{{Name: "a", Doc: "n x n, f64 or f32"}, {Name: "singular", Doc: "a matrix with a zero pivot is no failure", Attr: true, Kind: op.BoolVal, Optional: true}},
			Eg:   []op.Example{{Program: "emit getrf(ones(2, 2) + eye(2))", Output: "  2   1\n0.5 1.5\n"}},
			Type: squareFloat,
			Ref:  getrfRef, Elements: getrfElements, Laws: op.Pure, Accum: 1,
			Cost: func(s *op.Sig, out types.Type) op.Work {
				n := float64(out.Rows)
				return op.Work{Flops: 2*n*n*n/3 - n*n/2 - n/6, Bytes: define.Traffic(s, out)}
			},
			Kernel: l.getrf,
		},
	}
}

// floatMatrix is the type of argument i, which must be a dense matrix of floats.
func floatMatrix(s *op.Sig, i int) (types.Type, error) {
	t := s.In[i]
	if !t.IsDense() || !t.Elem.IsFloat() {
		f := op.Faultf(i, define.CodeKind, "%s takes a matrix of f64 or f32; this is %s", s.Def.Source(), t)
		if t.IsMatrix() && t.Elem.IsNumeric() {
			f.WithHelp("f64(x) converts")
		}
		return types.Type{}, f
	}
	return t, nil
}

// squareFloat is floatMatrix of the first argument, which must be square.
func squareFloat(s *op.Sig) (types.Type, error) {
	t, err := floatMatrix(s, 0)
	if err == nil && !define.Agree(t.Rows, t.Cols) {
		return types.Type{}, op.Faultf(0, define.CodeSquare, "%s takes a square matrix; this has %d rows and %d columns", s.Def.Source(), t.Rows, t.Cols)
	}
	return t, err
}

// notDefinite is potrf's failure; pivot is what stood under the root.
func notDefinite(minor int, pivot value.Scalar) error {
	if math.IsNaN(pivot.F) {
		f := op.Failf(define.CodeDefinite, "leading minor %d is NaN", minor)
		f.Help = "there is a nan or an inf in the matrix"
		return f
	}
	return op.Failf(define.CodeDefinite, "leading minor %d is not positive definite (pivot %s)", minor, pivot)
}

// zeroPivot is getrf's failure.
func zeroPivot(k int) error {
	f := op.Failf(define.CodePivot, "pivot %d of LU without pivoting is zero", k)
	f.Help = "the matrix is singular, or its rows need another order, which solve, inv and det do not mind"
	return f
}

func (l *Linear) potrf(c *op.Call) error {
	s := l.Pool.Get()
	defer l.Pool.Put(s)
	out := c.Result()
	if out.Elem == types.F32 {
		return potrfInto(l.F32, s, dense.GridOf[float32](out), out.Elem)
	}
	return potrfInto(l.F64, s, dense.GridOf[float64](out), out.Elem)
}

func potrfInto[T dense.Precision](k blas.Kernels[T], s *Scratch, a dense.Grid[T], e types.Elem) error {
	if a.Rows == 0 {
		return nil
	}
	diagonal := ScratchGrid[T](s, 1, a.Rows).X
	for i := range diagonal {
		diagonal[i] = a.X[i*a.LD+i]
	}
	minor := k.Potrf(&s.Ws, a.Rows, a.X, a.LD)
	if minor == 0 {
		return nil
	}
	// Row minor-1 of the factor is there, so the pivot's chain can be run again for the message.
	i := minor - 1
	for p, x := range a.Row(i)[:i] {
		blas.Axpy(-x, a.Row(i)[p:p+1], diagonal[i:i+1])
	}
	return notDefinite(minor, value.Scalar{Elem: e, F: float64(diagonal[i])})
}

func (l *Linear) getrf(c *op.Call) error {
	s := l.Pool.Get()
	defer l.Pool.Put(s)
	k := 0
	if out := c.Result(); out.Elem == types.F32 {
		k = getrfInto(l.F32, s, dense.GridOf[float32](out))
	} else {
		k = getrfInto(l.F64, s, dense.GridOf[float64](out))
	}
	switch {
	case k == 0:
	case c.Attrs.Bool("singular"):
		dense.Clear(c.Result())
	default:
		return zeroPivot(k)
	}
	return nil
}

// getrfBlock is the edge of the diagonal blocks that getrf eliminates element by element; all else
// is trsm and gemm. Smaller leaves less to the slow loop and gives gemm thinner panels: at n = 256
// and 512, 16 and 24 were equal (28 and 31 GFLOP/s where potrf had 36 and 41), 32 and 48 slower.
const getrfBlock = 24

// getrfInto factors a in place and returns 0, or the 1-based number of the zero pivot it met.
// Right-looking: the trailing matrix always holds chains that are as long as the columns done, so
// the order is that of getrfRef.
func getrfInto[T dense.Precision](k blas.Kernels[T], s *Scratch, a dense.Grid[T]) (zero int) {
	n := a.Rows
	turned := ScratchGrid[T](s, 1, n*getrfBlock).X
	corner := ScratchGrid[T](s, 1, getrfBlock*getrfBlock).X
	for j := 0; j < n; j += getrfBlock {
		w := min(getrfBlock, n-j)
		rest := n - j - w
		d := a.Part(j, j, w, w)
		if bad := eliminate(d); bad > 0 {
			return j + bad
		}
		if rest == 0 {
			break
		}
		below, right := a.Part(j+w, j, rest, w), a.Part(j, j+w, w, rest)
		t := dense.Grid[T]{Rows: w, Cols: w, LD: w, X: corner}
		dense.Transpose(t, d) // below = below @ inverse(U): trsm with t(U)
		k.Trsm(&s.Ws, rest, w, t.X, t.LD, below.X, below.LD)
		r := dense.Grid[T]{Rows: rest, Cols: w, LD: w, X: turned}
		dense.Transpose(r, right) // right = inverse(L) @ right, as t(right) @ inverse(t(L)), L with a unit diagonal
		for i := range w {
			copy(t.Row(i), d.Row(i))
			t.Row(i)[i] = 1
		}
		k.Trsm(&s.Ws, rest, w, t.X, t.LD, r.X, r.LD)
		dense.Transpose(right, r)
		c := a.Part(j+w, j+w, rest, rest)
		k.Gemm(&s.Ws, true, true, rest, rest, w, below.X, below.LD, r.X, r.LD, c.X, c.LD)
	}
	return 0
}

// eliminate is LU of a small block, row operations in ascending order of the pivot.
func eliminate[T dense.Precision](a dense.Grid[T]) (zero int) {
	for p := range a.Rows {
		from := a.Row(p)
		if from[p] == 0 {
			return p + 1
		}
		for i := p + 1; i < a.Rows; i++ {
			to := a.Row(i)
			to[p] /= from[p]
			blas.Axpy(-to[p], from[p+1:], to[p+1:])
		}
	}
	return 0
}
