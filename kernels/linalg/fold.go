package linalg

// This file defines the rows by which ranks share the singular values of a tall matrix (op.Folding).
// The rows on the whole matrix fold it in the same way, so the bits are the same. The rows for singular
// vectors are in unfold.go.

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/spectrum"
)

// folds returns the rows of this file. tol is the argument tol of rank.
func folds(set *blas.Set, tol op.Arg) []*op.Def {
	of := op.Arg{Name: "of", Attr: true, Kind: op.StrVal, Doc: "the row that is shared, for messages"}
	turned := turnedArg()
	attrs := []op.Arg{{Name: "x", Doc: "the states of blocks"},
		{Name: "n", Attr: true, Kind: op.IntVal, Doc: "rows of the matrix"}, {Name: "elem", Attr: true, Kind: op.StrVal, Doc: "type of its elements"}, of, turned}
	values := decomposition("svdvals.folded", "svdvals.folded is the singular values of a tall matrix.", "", "", "", 4,
		func(s *op.Sig) (types.Type, error) {
			e, _ := types.ElemNamed(s.Attrs.Str("elem"))
			return types.DenseOf(e, spectrum.Columns(s.In[0].Cols), 1), nil
		},
		beginFolded(set, false, storeValues))
	number := rankOf(tol, func(store storing) beginning { return beginFolded(set, false, store) })
	number.Name, number.Doc, number.Eg = "rank.folded", "rank.folded is the rank of a tall matrix.", nil
	for _, d := range []*op.Def{values, number} {
		d.Hidden, d.Args, d.Eg = true, append(attrs[:len(attrs):len(attrs)], d.Args[1:]...), nil
		d.Cost = func(s *op.Sig, out types.Type) op.Work {
			n := float64(spectrum.Columns(s.In[0].Cols))
			return op.Work{Flops: 4 * float64(s.In[0].Rows) * n * n * n, Bytes: 8 * define.ElementCount(s.In[0])}
		}
	}
	kept := op.Arg{Name: "vectors", Attr: true, Kind: op.BoolVal, Optional: true,
		Doc: "whether the rows have the reflectors, too (spectrum.Fold.Len)"}
	return []*op.Def{
		foldRow(set, "svd.fold", "svd.fold takes blocks of the rows of a tall matrix to triangular form, and returns a row for each (spectrum.StateLen).",
			[]op.Arg{{Name: "a", Doc: "n x m"}, of, kept, turned},
			func(t types.Type) (spectrum.Fold, int, int) { return spectrum.FoldOf(t.Rows, t.Cols), t.Cols, 1 }),
		foldRow(set, "svd.refold", "svd.refold does the same with blocks of the triangles in such rows.",
			[]op.Arg{{Name: "x", Doc: "the states of blocks"}, of, kept},
			func(t types.Type) (spectrum.Fold, int, int) {
				n := spectrum.Columns(t.Cols)
				return spectrum.FoldOf(t.Rows*n, n), n, n
			}),
		values, number,
	}
}

// foldRow returns a row that makes the state of each block of rows (spectrum.StateLen): a row of f64
// for each block. With the attribute vectors, the row also has the reflectors (spectrum.Fold.Len).
// For a type of the operand, shape returns how the matrix is folded, its number of columns n, and
// how many rows of a block are one row of the operand: 1, or n if that row is a state. Count is 0
// for an operand that is not tall, and the type rule then fails.
func foldRow(set *blas.Set, name, doc string, args []op.Arg, shape func(t types.Type) (f spectrum.Fold, n, per int)) *op.Def {
	return define.ByKernel(&op.Def{
		Name: name, Hidden: true, Doc: doc, Args: args,
		Type: func(s *op.Sig) (types.Type, error) {
			t := s.In[0]
			if !t.IsDense() || !t.Known() || !t.Elem.IsFloat() {
				return t, op.Faultf(0, define.CodeKind, "%s of %s", name, t)
			}
			f, n, _ := shape(t)
			if f.Count == 0 {
				return t, op.Faultf(0, define.CodeShape, "%s of %s, which is not tall", name, t)
			}
			if s.Attrs.Bool("vectors") {
				return types.DenseOf(types.F64, f.Count, f.Len(n)), nil
			}
			return types.DenseOf(types.F64, f.Count, spectrum.StateLen(n)), nil
		},
		Laws: op.Pure, Rate: "decompose",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			f, n, _ := shape(s.In[0])
			rows := float64(f.Count) * float64(f.Block)
			return op.Work{Flops: 4 * rows * float64(n) * float64(n), Bytes: 8*define.ElementCount(s.In[0]) + define.CopyBytes(out)}
		},
		RowSpan: func(s *op.Sig, _ types.Type) op.RowSpan {
			f, _, per := shape(s.In[0])
			return op.RowSpan{By: f.Block / per, Hi: f.Block / per, Per: 1, Rest: true}
		},
		Loop: &op.Loop{
			Rows:  op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) { return c.Type.Rows, 1 },
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				b := &foldBody{set: set, c: c, workers: make([]spectrum.Folder, workers)}
				b.f, b.n, b.per = shape(c.In[0].Type())
				return b, nil
			},
		},
	})
}

// foldBody is one execution of a row that foldRow returns.
type foldBody struct {
	set     *blas.Set
	c       *op.Call
	f       spectrum.Fold
	n, per  int
	workers []spectrum.Folder
}

// turnedArg is the attribute of a row for a matrix with a tall transpose.
func turnedArg() op.Arg {
	return op.Arg{Name: "turned", Attr: true, Kind: op.BoolVal, Optional: true, Doc: "whether the matrix is the transpose of that in the program"}
}

// Chunk makes the states of blocks lo..hi-1. It fails for an element of the matrix that is not finite.
// With `turned`, the state is a mark instead (markOf): the element that a message names, the first
// one by columns, may be in a later block.
func (b *foldBody) Chunk(worker, lo, hi int) error {
	x, out, w := b.c.Dense(0), dense.GridOf[float64](b.c.Result()), &b.workers[worker]
	for i := lo; i < hi; i++ {
		from, to := i*b.f.Block/b.per, (i+1)*b.f.Block/b.per
		if i == b.f.Count-1 {
			to = x.Rows
		}
		if b.per > 1 {
			if mark := markOf(x, from, to); mark != nil {
				setMark(out.Row(i), mark)
				continue
			}
			w.States(b.set, out.Row(i), to-from, b.n, func(k int) []float64 { return stateOf(x, from+k) })
			continue
		}
		var mark []float64
		a, err := copyRows(b.c, from, to, false, func(r, j int, v float64) error {
			if !b.c.Attrs.Bool("turned") {
				return notFinite(b.c, r, j, v)
			}
			if at := float64(j*x.Rows + r); mark == nil || at < mark[0] {
				mark = []float64{at, v}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if mark != nil {
			setMark(out.Row(i), mark)
			continue
		}
		w.Rows(b.set, out.Row(i), to-from, b.n, a.X)
	}
	return nil
}

// End has nothing to do: Chunk completes states.
func (b *foldBody) End() error { return nil }

// markOf returns the least mark of states from..to-1 of x, nil if there is none. A mark is the number
// of an element in the transpose, row by row, and the element, which is not finite. In states the
// second number is finite.
func markOf(x *value.Dense, from, to int) (mark []float64) {
	for i := from; i < to; i++ {
		if s := stateOf(x, i); !(math.Abs(s[1]) <= math.MaxFloat64) && (mark == nil || s[0] < mark[0]) {
			mark = s[:2]
		}
	}
	return mark
}

// setMark makes state a mark.
func setMark(state, mark []float64) { clear(state[copy(state, mark):]) }

// stateOf returns state i of a matrix of states, one a row.
func stateOf(x *value.Dense, i int) []float64 { return x.F64[i*x.Stride:][:x.Cols] }

// beginFolded returns what begins the singular values of a matrix whose states are the first input.
// With vectors, it begins the vectors of the stacked triangles, too.
func beginFolded(set *blas.Set, vectors bool, store storing) beginning {
	return func(c *op.Call, out *value.Dense, workers int) (*decomposed, error) {
		d, x := &decomposed{c: c}, c.Dense(0)
		if mark := markOf(x, 0, x.Rows); mark != nil {
			at, n := int(mark[0]), c.Attrs.Int("n")
			return d, notFinite(c, at/n, at%n, mark[1])
		}
		p := spectrum.NewFolded(set, workers, x.Rows, spectrum.Columns(x.Cols), vectors, func(i int) []float64 { return stateOf(x, i) })
		d.m = p.Machine
		store(d, p, out)
		return d, nil
	}
}
