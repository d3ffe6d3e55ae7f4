package linalg

// This file defines the rows by which ranks share the singular vectors and the pseudo-inverse of a tall
// matrix (op.Unfolding).

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/spectrum"
)

// unfolds returns the rows of this file. tol is the argument tol of pinv.
func unfolds(set *blas.Set, tol op.Arg) []*op.Def {
	z, top := op.Arg{Name: "z", Doc: "the vectors on the left, as columns"}, op.Arg{Name: "top", Doc: "what svd.top returns"}
	heads := op.Arg{Name: "heads", Doc: "what svd.heads returns"}
	n, elem := op.Arg{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows of the matrix"}, op.Arg{Name: "elem", Attr: true, Kind: op.StrVal, Doc: "type of its elements"}
	turned := turnedArg()
	longType := func(s *op.Sig) (types.Type, error) {
		e, _ := types.ElemNamed(s.Attrs.Str("elem"))
		return types.DenseOf(e, s.In[0].Rows, s.In[0].Cols), nil
	}
	one, blockOf := func(types.Type) int { return 1 }, func(t types.Type) int { return spectrum.FoldOf(t.Rows, t.Cols).Block }
	rows := []*op.Def{
		{Name: "svd.unfold", Doc: "svd.unfold is the left singular vectors of a matrix, from those of the triangles of its blocks.",
			Args: []op.Arg{{Name: "f", Doc: "the states of blocks and their reflectors"}, {Name: "z", Doc: "the vectors, in the last rows"},
				{Name: "rows", Attr: true, Kind: op.IntVal, Doc: "rows of the matrix"}},
			Type: func(s *op.Sig) (types.Type, error) {
				return types.DenseOf(types.F64, s.Attrs.Int("rows"), s.In[1].Cols), nil
			},
			// The rows left over are in the last block, so no rank may begin with them.
			RowSpan: func(_ *op.Sig, out types.Type) op.RowSpan {
				return op.RowSpan{By: 1, Hi: 1, Per: spectrum.FoldOf(out.Rows, out.Cols).Block}
			},
			Loop: rowLoop(blockOf, func(c *op.Call, workers int) func(worker, lo, hi int) { return beginUnfold(set, c, workers) })},
		{Name: "svd.heads", Doc: "svd.heads is the element of each column that is greatest in size, the first of equals, for each block of rows.",
			Args: []op.Arg{z},
			Type: func(s *op.Sig) (types.Type, error) {
				t := s.In[0]
				f := spectrum.FoldOf(t.Rows, t.Cols)
				if f.Count == 0 {
					return t, op.Faultf(0, define.CodeShape, "svd.heads of %s, which is not tall", t)
				}
				return types.DenseOf(types.F64, f.Count, t.Cols), nil
			},
			RowSpan: func(s *op.Sig, _ types.Type) op.RowSpan {
				b := spectrum.FoldOf(s.In[0].Rows, s.In[0].Cols).Block
				return op.RowSpan{By: b, Hi: b, Per: 1, Rest: true}
			},
			Loop: rowLoop(one, beginHeads)},
		{Name: "svdu.folded", Doc: "svdu.folded is the left singular vectors of a tall matrix, with their signs.",
			Args: []op.Arg{z, top, heads, n, elem, turned}, Type: longType,
			Loop: rowLoop(blockOf, func(c *op.Call, _ int) func(worker, lo, hi int) {
				x, signs := dense.GridOf[float64](c.Dense(0)), signsOf(c, 2)
				return func(_, lo, hi int) { storeSigned(c.Result(), x, signs, lo, hi) }
			})},
		{Name: "svdv.folded", Doc: "svdv.folded is the right singular vectors of a tall matrix, with the signs of those on the left.",
			Args: []op.Arg{top, heads, n, elem, turned},
			Type: func(s *op.Sig) (types.Type, error) {
				e, _ := types.ElemNamed(s.Attrs.Str("elem"))
				return types.DenseOf(e, s.In[0].Cols, s.In[0].Cols), nil
			},
			Loop: rowLoop(one, func(c *op.Call, _ int) func(worker, lo, hi int) {
				_, right := topOf(c.Dense(0))
				signs := signsOf(c, 1)
				return func(_, lo, hi int) { storeSigned(c.Result(), right, signs, lo, hi) }
			})},
		{Name: "pinv.folded", Doc: "pinv.folded is the transpose of the pseudo-inverse of a tall matrix, or with turned the pseudo-inverse of its transpose.",
			Args: []op.Arg{z, top, heads, tol, n, elem, turned}, Type: longType,
			Loop: rowLoop(blockOf, func(c *op.Call, _ int) func(worker, lo, hi int) { return beginPinv(set, c) })},
	}
	for _, d := range rows {
		d.Hidden, d.Laws, d.Rate = true, op.Pure, "decompose"
		d.Cost = func(s *op.Sig, out types.Type) op.Work {
			return op.Work{Flops: 4 * define.ElementCount(out) * float64(out.Cols), Bytes: define.CopyBytes(s.In[0]) + define.CopyBytes(out)}
		}
		define.ByKernel(d)
	}
	return append(rows, topRow(set))
}

// topRow returns the row that decomposes the stacked triangles of a tall matrix of n columns. Its
// result has n columns. It is the values, in one row, the vectors on the right, one a column, in n
// rows, and those on the left in the rows below (see topOf).
func topRow(set *blas.Set) *op.Def {
	d := decomposition("svd.top", "svd.top is the singular values and vectors of the stacked triangles of a tall matrix.", "the states of blocks", "", "", 14,
		func(s *op.Sig) (types.Type, error) {
			n := spectrum.Columns(s.In[0].Cols)
			return types.DenseOf(types.F64, 1+n+s.In[0].Rows*n, n), nil
		},
		beginFolded(set, true, func(d *decomposed, p *spectrum.Singular, out *value.Dense) {
			d.end = func() {
				x, n := dense.GridOf[float64](out), out.Cols
				copy(x.Row(0), p.Values)
				for i := 1; i < x.Rows; i++ {
					v, long, at := p.Right, n, i-1
					if at >= n {
						v, long, at = p.Left, x.Rows-1-n, at-n
					}
					for j := range n {
						x.Row(i)[j] = v[j*long+at]
					}
				}
			}
		}))
	d.Hidden, d.Eg = true, nil
	d.Args = append(d.Args, op.Arg{Name: "of", Attr: true, Kind: op.StrVal, Doc: "the row that is shared, for messages"},
		op.Arg{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows of the matrix"})
	d.Cost = func(s *op.Sig, out types.Type) op.Work {
		n := float64(out.Cols)
		return op.Work{Flops: 14 * float64(s.In[0].Rows) * n * n * n, Bytes: define.CopyBytes(s.In[0]) + define.CopyBytes(out)}
	}
	return d
}

// topOf returns the singular values and the vectors on the right, as columns, of what topRow makes.
func topOf(x *value.Dense) (values []float64, right dense.Grid[float64]) {
	g := dense.GridOf[float64](x)
	right = g
	right.Rows, right.X = g.Cols, g.X[g.LD:]
	return g.Row(0), right
}

// rowLoop returns the Loop of a row of the table that ranks share by the rows of the result. leaf
// returns how many rows are a leaf. begin returns a function that makes the rows lo..hi-1.
func rowLoop(leaf func(t types.Type) int, begin func(c *op.Call, workers int) func(worker, lo, hi int)) *op.Loop {
	return &op.Loop{
		Rows:  op.RowsOfResult,
		Space: func(c *op.Call) (n, of int) { return c.Type.Rows, leaf(c.Type) },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			c.Result()
			return rowBody(begin(c, workers)), nil
		},
	}
}

// rowBody is one execution of a rowLoop.
type rowBody func(worker, lo, hi int)

// Chunk makes the rows lo..hi-1.
func (b rowBody) Chunk(worker, lo, hi int) error {
	b(worker, lo, hi)
	return nil
}

// End has nothing to do: Chunk completes rows.
func (b rowBody) End() error { return nil }

// beginUnfold begins svd.unfold. Ranks may cut a block anywhere, and the bits of its rows follow from
// the whole block. So a worker makes whole blocks, and keeps the last one for the next chunk.
func beginUnfold(set *blas.Set, c *op.Call, workers int) func(worker, lo, hi int) {
	f, z, out := dense.GridOf[float64](c.Dense(0)), dense.GridOf[float64](c.Dense(1)), dense.GridOf[float64](c.Result())
	n, last := out.Cols, make([]struct {
		block int
		x     []float64
	}, workers)
	fold, first := spectrum.FoldOf(out.Rows, n), z.Rows-f.Rows*n
	return func(worker, lo, hi int) {
		for w := &last[worker]; lo < hi; {
			i := min(lo/fold.Block, fold.Count-1)
			from, to := fold.Of(i, out.Rows)
			high := to - from
			if w.x == nil || w.block != i {
				w.block, w.x = i, slices.Grow(w.x[:0], n*high)[:n*high]
				clear(w.x)
				for j := range n * n {
					w.x[j%n*high+j/n] = z.Row(first + i*n + j/n)[j%n]
				}
				spectrum.Unfold(set, high, n, f.Row(i)[spectrum.StateLen(n):], n, w.x)
			}
			for ; lo < min(hi, to); lo++ {
				for j, row := 0, out.Row(lo); j < n; j++ {
					row[j] = w.x[j*high+lo-from]
				}
			}
		}
	}
}

// beginHeads begins svd.heads.
func beginHeads(c *op.Call, _ int) func(worker, lo, hi int) {
	x, out := dense.GridOf[float64](c.Dense(0)), dense.GridOf[float64](c.Result())
	fold := spectrum.FoldOf(x.Rows, x.Cols)
	return func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := fold.Of(i, x.Rows)
			copy(out.Row(i), x.Row(from))
			for r := from + 1; r < to; r++ {
				greater(out.Row(i), x.Row(r))
			}
		}
	}
}

// greater replaces the elements of best by those of x that are greater in size.
func greater(best, x []float64) {
	for j, v := range x {
		if max(v, -v) > max(best[j], -best[j]) {
			best[j] = v
		}
	}
}

// signsOf returns the signs of vectors: -1 for those whose element that is greatest in size, the first
// of equals, is negative, and 1 for others. Input k is the rows of svd.heads, or with the attribute
// turned the result of svd.top, whose vectors on the right are then those with the sign.
func signsOf(c *op.Call, k int) []float64 {
	h := dense.GridOf[float64](c.Dense(k))
	if c.Attrs.Bool("turned") {
		_, h = topOf(c.Dense(k))
	}
	signs := slices.Clone(h.Row(0))
	for i := 1; i < h.Rows; i++ {
		greater(signs, h.Row(i))
	}
	for j, v := range signs {
		if signs[j] = 1; v < 0 {
			signs[j] = -1
		}
	}
	return signs
}

// storeSigned stores rows lo..hi-1 of x, column j times signs[j], as those of out.
func storeSigned(out *value.Dense, x dense.Grid[float64], signs []float64, lo, hi int) {
	for i := lo; i < hi; i++ {
		for j, v := range x.Row(i) {
			if out.Elem == types.F32 {
				out.F32[i*out.Stride+j] = float32(v*signs[j]) + 0
			} else {
				out.F64[i*out.Stride+j] = v*signs[j] + 0 // no -0 from a changed sign
			}
		}
	}
}

// beginPinv begins pinv.folded. As in pinv, an element is a chain over the singular values that count,
// which divide the vectors on the right of the matrix in the program.
func beginPinv(set *blas.Set, c *op.Call) func(worker, lo, hi int) {
	x, out := dense.GridOf[float64](c.Dense(0)), c.Result()
	values, right := topOf(c.Dense(1))
	k, n, turned := counting(c, values), out.Cols, c.Attrs.Bool("turned")
	v := make([]float64, k*n)
	for i, s := range values[:k] {
		for j := range n {
			if v[i*n+j] = right.Row(j)[i]; !turned {
				v[i*n+j] /= s
			}
		}
	}
	return func(_, lo, hi int) {
		y := make([]float64, (hi-lo)*n)
		z, ld := x.X[lo*x.LD:], x.LD
		if turned {
			z, ld = make([]float64, (hi-lo)*k), k
			for i := range hi - lo {
				for j, s := range values[:k] {
					z[i*k+j] = x.Row(lo + i)[j] / s
				}
			}
		}
		set.F64.Gemm(&blas.Workspace{}, false, false, hi-lo, n, k, z, ld, v, n, y, n)
		for i := lo; i < hi; i++ {
			row := y[(i-lo)*n:][:n]
			if out.Elem == types.F64 {
				copy(out.F64[i*out.Stride:], row)
				continue
			}
			for j, v := range row {
				out.F32[i*out.Stride+j] = float32(v)
			}
		}
	}
}
