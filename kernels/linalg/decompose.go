package linalg

// This file defines the rows on eigenvalues and singular values: eigvals, eigvecs, svdvals, svdu,
// svdv, rank, pinv. They compute in f64 (package spectrum). A node has one result, so values and
// vectors are rows of their own.
//
// Here definition and kernel are one code, because no obvious code gives the same bits: that values
// and vectors are right is tested by their properties (in packages kernels and spectrum).

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/spectrum"
)

func Decompositions(set *blas.Set) []*op.Def {
	tol := op.Arg{Name: "tol", Attr: true, Kind: op.FloatVal, Optional: true,
		Doc: "singular values up to it count as 0; absent: eps(a) * the longer side * the greatest one"}
	lower := func(d *op.Def) *op.Def {
		d.Lower = []int{0}
		return d
	}
	vectors := op.Unfolding{Top: "svd.top", By: "svd.unfold", Heads: "svd.heads"}
	long, turned := vectors, vectors
	long.Long, turned.Long, turned.Turned = true, true, true
	folded := func(d *op.Def, v *op.Unfolding, wide string, w *op.Unfolding) *op.Def {
		by := func(of string, v *op.Unfolding) *op.Folding {
			return &op.Folding{By: "svd.fold", Again: "svd.refold", Of: of + ".folded", Vectors: v}
		}
		d.Folds = by(d.Name, v)
		d.Folds.Wide = by(wide, w)
		return d
	}
	return append([]*op.Def{
		lower(decomposition("eigvals",
			"eigvals is the eigenvalues of a symmetric matrix as a column, in ascending order. Only its lower triangle is read.",
			"n x n, symmetric", "eigvals(2 * eye(2) + 1)", "2\n4\n", 4,
			func(s *op.Sig) (types.Type, error) {
				t, err := squareFloat(s)
				return types.DenseOf(t.Elem, t.Rows, 1), err
			},
			beginEigen(set, false))),
		lower(decomposition("eigvecs",
			"eigvecs is the eigenvectors of a symmetric matrix as columns of length 1, in the order of eigvals; the element of each that is "+
				"greatest in size, the first of equals, is positive. Only the lower triangle is read. a @ eigvecs(a) is eigvecs(a) * t(eigvals(a)).",
			"n x n, symmetric", "eigvecs(eye(2))", "1 0\n0 1\n", 9, squareFloat,
			beginEigen(set, true))),
		folded(decomposition("svdvals",
			"svdvals is the singular values of a matrix as a column of min(n, m) numbers, in descending order.",
			"n x m", "svdvals(3 * eye(2))", "3\n3\n", 4,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s, 0)
				return types.DenseOf(t.Elem, lesserDim(t), 1), err
			},
			beginSingular(set, false, storeValues)), nil, "svdvals", nil),
		folded(decomposition("svdu",
			"svdu is the left singular vectors of a matrix as columns, in the order of svdvals; the element of each that is greatest in "+
				"size, the first of equals, is positive. a is (svdu(a) * t(svdvals(a))) @ t(svdv(a)).",
			"n x m", "svdu(3 * eye(2))", "1 0\n0 1\n", 14,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s, 0)
				return types.DenseOf(t.Elem, t.Rows, lesserDim(t)), err
			},
			beginSingular(set, true, func(d *decomposed, p *spectrum.Singular, out *value.Dense) {
				storeVectors(d, p, out, func() []float64 { return p.Left })
			})), &long, "svdv", &vectors),
		folded(decomposition("svdv",
			"svdv is the right singular vectors of a matrix as columns, in the order of svdvals and with the signs that go with svdu.",
			"n x m", "svdv(3 * eye(2))", "1 0\n0 1\n", 14,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s, 0)
				return types.DenseOf(t.Elem, t.Cols, lesserDim(t)), err
			},
			beginSingular(set, true, func(d *decomposed, p *spectrum.Singular, out *value.Dense) {
				storeVectors(d, p, out, func() []float64 { return p.Right })
			})), &vectors, "svdu", &long),
		folded(rankOf(tol, func(store storing) beginning { return beginSingular(set, false, store) }), nil, "rank", nil),
		folded(pinv(set, tol), &turned, "pinv", &long),
	}, append(folds(set, tol), unfolds(set, tol)...)...)
}

// beginning begins a computation whose result goes to out, or for a scalar into the call.
type beginning func(c *op.Call, out *value.Dense, workers int) (*decomposed, error)

// decomposition is a row with a dense result; work is its cost in n m min(n, m) operations.
func decomposition(name, doc, arg, example, output string, work float64, rule func(*op.Sig) (types.Type, error), begin beginning) *op.Def {
	return define.ByKernel(&op.Def{
		Name: name, Doc: doc, Args: []op.Arg{{Name: "a", Doc: arg}}, Eg: define.Eg(example, output),
		Type: rule, Laws: op.Pure, Rate: "decompose",
		Cost: decompositionWork(work), Loop: decomposedLoop(begin),
	})
}

func decompositionWork(factor float64) func(s *op.Sig, out types.Type) op.Work {
	return func(s *op.Sig, out types.Type) op.Work {
		n := define.ElementCount(s.In[0])
		return op.Work{Flops: factor * n * float64(max(lesserDim(s.In[0]), 0)), Bytes: 8*n + define.CopyBytes(out)}
	}
}

// lesserDim is the number of singular values.
func lesserDim(t types.Type) int { return min(t.Rows, t.Cols) } // Unknown is the least number there is

// beginEigen begins the eigenproblem of the first input, whose values or vectors go to out.
func beginEigen(set *blas.Set, vectors bool) beginning {
	return func(c *op.Call, out *value.Dense, workers int) (*decomposed, error) {
		d := &decomposed{c: c}
		a, err := finiteCopy(c, true)
		if err != nil || a.Rows == 0 {
			return d, err
		}
		p := spectrum.NewEigen(set, workers, a.Rows, a.X, vectors)
		d.m = p.Machine
		if !vectors {
			d.end = func() { setColumn(out, p.Values) }
			return d, nil
		}
		d.columns = a.Rows
		d.write = func(lo, hi int) {
			v := dense.Grid[float64]{Rows: a.Rows, Cols: a.Rows, LD: a.Rows, X: p.Vectors}
			setColumns(out, v, lo, hi, func(i int) bool { return !headPositive(v.Row(i)) })
		}
		return d, nil
	}
}

// storing arranges that the results of p go to out, or for a scalar into the call, at the end of d.
type storing func(d *decomposed, p *spectrum.Singular, out *value.Dense)

// storeValues stores the singular values as a column, in descending order.
func storeValues(d *decomposed, p *spectrum.Singular, out *value.Dense) {
	d.end = func() { setColumn(out, p.Values) }
}

// beginSingular begins the singular value decomposition of the first input; store says what becomes
// of it, where there is anything.
func beginSingular(set *blas.Set, vectors bool, store storing) beginning {
	return func(c *op.Call, out *value.Dense, workers int) (*decomposed, error) {
		d := &decomposed{c: c}
		a, err := finiteCopy(c, false)
		if err != nil || len(a.X) == 0 {
			return d, err
		}
		p := spectrum.NewSingular(set, workers, a.Rows, a.Cols, a.X, vectors)
		d.m = p.Machine
		store(d, p, out)
		return d, nil
	}
}

// storeVectors makes the columns of out the vectors that of returns, with the signs of those on the
// left.
func storeVectors(d *decomposed, p *spectrum.Singular, out *value.Dense, of func() []float64) {
	k := out.Cols
	d.columns = k
	d.write = func(lo, hi int) {
		v, left := of(), p.Left
		m := len(left) / k
		setColumns(out, dense.Grid[float64]{Rows: k, Cols: out.Rows, LD: out.Rows, X: v}, lo, hi, func(i int) bool { return !headPositive(left[i*m : (i+1)*m]) })
	}
}

func setColumn(out *value.Dense, x []float64) {
	for i, v := range x {
		out.Set(i, 0, define.Number(out.Elem, v))
	}
}

// cutoff is the size up to which singular values s of the first input count as 0.
func cutoff(c *op.Call, s []float64) float64 {
	if _, ok := c.Attrs.Get("tol"); ok {
		return c.Attrs.Float("tol")
	}
	if len(s) == 0 {
		return 0
	}
	e, longer := c.Dense(0).Elem, max(c.Dense(0).Rows, c.Dense(0).Cols)
	if rows := c.Attrs.Int("n"); rows > 0 { // the input is the states of a tall matrix
		longer = rows
		e, _ = types.ElemNamed(c.Attrs.Str("elem"))
	}
	eps := 0x1p-52
	if e == types.F32 {
		eps = 0x1p-23
	}
	return eps * float64(longer) * s[0]
}

func checkTol(s *op.Sig) error {
	if v, ok := s.Attrs.Get("tol"); ok && (v.Kind != op.FloatVal && v.Kind != op.IntVal || !(s.Attrs.Float("tol") >= 0)) {
		return op.Faultf(1, define.CodeAttr, "tol of `%s` is a number from 0 on, not %v", s.Def.Source(), v)
	}
	return nil
}

// rankOf returns the row `rank`. singular begins the decomposition of its first input.
func rankOf(tol op.Arg, singular func(store storing) beginning) *op.Def {
	begin := func(c *op.Call, _ *value.Dense, workers int) (*decomposed, error) {
		c.Out = value.I64(0)
		return singular(func(d *decomposed, p *spectrum.Singular, _ *value.Dense) {
			d.end = func() { c.Out = value.I64(int64(counting(c, p.Values))) }
		})(c, nil, workers)
	}
	return define.ByKernel(&op.Def{
		Name: "rank", Doc: "rank is the number of singular values of a matrix that are above tol.",
		Args: []op.Arg{{Name: "a", Doc: "n x m"}, tol}, Eg: define.Eg("rank(ones(3, 3))", "1"),
		Type: func(s *op.Sig) (types.Type, error) {
			if _, err := floatMatrix(s, 0); err != nil {
				return types.Type{}, err
			}
			return types.ScalarOf(types.I64), checkTol(s)
		},
		Laws: op.Pure, Rate: "decompose", Cost: decompositionWork(4),
		Loop: decomposedLoop(begin),
	})
}

// counting is how many of the values, which descend, count.
func counting(c *op.Call, s []float64) int {
	n := 0
	for n < len(s) && s[n] > cutoff(c, s) {
		n++
	}
	return n
}

func pinv(set *blas.Set, tol op.Arg) *op.Def {
	// pinv = v diag(1/s) t(u), each element one chain over the singular values that count.
	begin := beginSingular(set, true, func(d *decomposed, p *spectrum.Singular, out *value.Dense) {
		d.columns = out.Rows
		d.write = func(lo, hi int) {
			k := counting(d.c, p.Values)
			rows, n := hi-lo, out.Rows
			v := make([]float64, k*rows)
			for i, s := range p.Values[:k] {
				for j := range rows {
					v[i*rows+j] = p.Right[i*n+lo+j] / s
				}
			}
			x := dense.Grid[float64]{Rows: rows, Cols: out.Cols, LD: out.Cols, X: make([]float64, rows*out.Cols)}
			set.F64.GemmTN(&blas.Workspace{}, false, rows, out.Cols, k, v, rows, p.Left, out.Cols, x.X, x.LD)
			for i := range rows {
				if out.Elem == types.F32 {
					for j, v := range x.Row(i) {
						out.F32[(lo+i)*out.Stride+j] = float32(v)
					}
				} else {
					copy(out.F64[(lo+i)*out.Stride:], x.Row(i))
				}
			}
		}
	})
	d := decomposition("pinv", "pinv is the pseudo-inverse of a matrix (Moore, Penrose), m x n, in which singular values up to tol count as 0.",
		"n x m", "pinv(2 * eye(2))", "0.5   0\n  0 0.5\n", 20,
		func(s *op.Sig) (types.Type, error) {
			t, err := floatMatrix(s, 0)
			if err == nil {
				err = checkTol(s)
			}
			return types.DenseOf(t.Elem, t.Cols, t.Rows), err
		}, begin)
	d.Args = append(d.Args, tol)
	return d
}
