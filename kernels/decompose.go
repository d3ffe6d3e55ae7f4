package kernels

// This file defines the rows on eigenvalues and singular values: eigvals, eigvecs, svdvals, svdu, svdv, rank, pinv.
// They compute in f64 (package blas). A node has one result, so values and vectors are rows of their own.
//
// Here definition and kernel are one code, because no obvious code gives LAPACK's bits: that values and vectors are
// right is tested by their properties (decompose_test.go).

import (
	"math"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/spectrum"
)

// decompositions is the rows of this file.
func decompositions(set blas.Set) []*op.Def {
	square := func(s *op.Sig) (types.Type, error) { return squareFloat(s, 0) }
	tol := op.Arg{Name: "tol", Attr: true, Kind: op.FloatVal, Optional: true,
		Doc: "singular values up to it count as 0; absent: eps(a) * the longer side * the greatest one"}
	return []*op.Def{
		decomposition("eigvals",
			"eigvals is the eigenvalues of a symmetric matrix as a column, in ascending order. Only its lower triangle is read.",
			"n x n, symmetric", "eigvals(2 * eye(2) + 1)", "2\n4\n", 4,
			func(s *op.Sig) (types.Type, error) {
				t, err := square(s)
				return types.DenseOf(t.Elem, t.Rows, 1), err
			},
			beginEigen(set, false)),
		decomposition("eigvecs",
			"eigvecs is the eigenvectors of a symmetric matrix as columns of length 1, in the order of eigvals; the element of each that is "+
				"greatest in size, the first of equals, is positive. Only the lower triangle is read. a @ eigvecs(a) is eigvecs(a) * t(eigvals(a)).",
			"n x n, symmetric", "eigvecs(eye(2))", "1 0\n0 1\n", 9, square,
			beginEigen(set, true)),
		decomposition("svdvals",
			"svdvals is the singular values of a matrix as a column of min(n, m) numbers, in descending order.",
			"n x m", "svdvals(3 * eye(2))", "3\n3\n", 4,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s)
				return types.DenseOf(t.Elem, lesserDim(t), 1), err
			},
			atOnce(func(c *op.Call, out *value.Dense) error {
				_, s, _, err := singular(c, false)
				setColumn(out, s)
				return err
			})),
		decomposition("svdu",
			"svdu is the left singular vectors of a matrix as columns, in the order of svdvals; the element of each that is greatest in "+
				"size, the first of equals, is positive. a is (svdu(a) * t(svdvals(a))) @ t(svdv(a)).",
			"n x m", "svdu(3 * eye(2))", "1 0\n0 1\n", 14,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s)
				return types.DenseOf(t.Elem, t.Rows, lesserDim(t)), err
			},
			atOnce(func(c *op.Call, out *value.Dense) error {
				u, _, _, err := singular(c, true)
				if err == nil {
					setGrid(out, u)
				}
				return err
			})),
		decomposition("svdv",
			"svdv is the right singular vectors of a matrix as columns, in the order of svdvals and with the signs that go with svdu.",
			"n x m", "svdv(3 * eye(2))", "1 0\n0 1\n", 14,
			func(s *op.Sig) (types.Type, error) {
				t, err := floatMatrix(s)
				return types.DenseOf(t.Elem, t.Cols, lesserDim(t)), err
			},
			atOnce(func(c *op.Call, out *value.Dense) error {
				_, _, vt, err := singular(c, true)
				if err == nil {
					setGrid(out, turnedCopy(vt))
				}
				return err
			})),
		rank(tol), pinv(tol),
	}
}

// beginning begins a computation whose result goes to out, or for a scalar into the call.
type beginning func(c *op.Call, out *value.Dense, workers int) (*decomposed, error)

// atOnce is the beginning of what run does alone.
func atOnce(run func(c *op.Call, out *value.Dense) error) beginning {
	return func(c *op.Call, out *value.Dense, _ int) (*decomposed, error) {
		return &decomposed{c: c, end: func() error { return run(c, out) }}, nil
	}
}

// decomposition is a row with a dense result; work is its cost in n m min(n, m) operations.
func decomposition(name, doc, arg, example, output string, work float64, rule func(*op.Sig) (types.Type, error), begin beginning) *op.Def {
	alone := func(c *op.Call, out *value.Dense) error {
		d, err := begin(c, out, 1)
		if err != nil {
			return err
		}
		return d.alone()
	}
	d := &op.Def{
		Name: name, Doc: doc, Args: []op.Arg{{Name: "a", Doc: arg}}, Eg: eg(example, output),
		Type: rule, Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "decompose",
		Cost: decompositionWork(work),
		Ref: func(c *op.Call) (value.Value, error) {
			out := value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
			return out, alone(c, out)
		},
		Kernel: func(c *op.Call) error { return alone(c, c.Result()) },
		Loop:   decomposedLoop(begin),
	}
	if name == "eigvals" || name == "eigvecs" {
		d.Lower = []int{0}
	}
	return d
}

func decompositionWork(factor float64) func(s *op.Sig, out types.Type) op.Work {
	return func(s *op.Sig, out types.Type) op.Work {
		n := elementCount(s.In[0])
		return op.Work{Flops: factor * n * float64(max(lesserDim(s.In[0]), 0)), Bytes: 8*n + copyBytes(out)}
	}
}

// floatMatrix is the type of the first argument, a matrix of floats.
func floatMatrix(s *op.Sig) (types.Type, error) {
	t := s.In[0]
	if !t.IsDense() || !t.Elem.IsFloat() {
		f := op.Faultf(0, codeKind, "%s takes a matrix of f64 or f32; this is %s", s.Def.Source(), t)
		if t.IsDense() && t.Elem.IsNumeric() {
			f.WithHelp("f64(x) converts")
		}
		return types.Type{}, f
	}
	return t, nil
}

// lesserDim is the number of singular values.
func lesserDim(t types.Type) int { return min(t.Rows, t.Cols) } // Unknown is the least number there is

func diverged(c *op.Call) error {
	return op.Failf("E606", "%s: the iteration did not converge", c.Def.Source())
}

// beginEigen begins the eigenproblem of the first input, whose values or vectors go to out.
func beginEigen(set blas.Set, vectors bool) beginning {
	return func(c *op.Call, out *value.Dense, workers int) (*decomposed, error) {
		d := &decomposed{c: c}
		a, err := finiteCopy(c, true)
		if err != nil || a.rows == 0 {
			return d, err
		}
		p := spectrum.NewEigen(set, workers, a.rows, a.x, vectors)
		d.m = p.Machine
		if !vectors {
			d.end = func() error {
				setColumn(out, p.Values)
				return nil
			}
			return d, nil
		}
		d.columns = a.rows
		d.write = func(lo, hi int) {
			v := grid[float64]{rows: a.rows, cols: a.rows, ld: a.rows, x: p.Vectors}
			setColumns(out, v, lo, hi, func(i int) bool { return !headPositive(v.row(i)) })
		}
		return d, nil
	}
}

// singular is the decomposition u diag(s) vt of the first input, signs fixed; u and vt are empty unless asked for.
func singular(c *op.Call, vectors bool) (u grid[float64], s []float64, vt grid[float64], err error) {
	a, err := finiteCopy(c, false)
	if err != nil {
		return u, nil, vt, err
	}
	k := min(a.rows, a.cols)
	s = make([]float64, k)
	if vectors {
		u = grid[float64]{rows: a.rows, cols: k, ld: k, x: make([]float64, a.rows*k)}
		vt = grid[float64]{rows: k, cols: a.cols, ld: a.cols, x: make([]float64, k*a.cols)}
	}
	if !blas.SVD(a.rows, a.cols, a.x, s, u.x, vt.x) {
		return u, s, vt, diverged(c)
	}
	for j := range u.cols {
		turnSign(u, j, vt.row(j))
	}
	return u, s, vt, nil
}

// turnSign makes the element of column j of u that is greatest in size positive; other changes its sign along.
func turnSign(u grid[float64], j int, other []float64) {
	best := 0.0
	for i := range u.rows {
		if x := u.row(i)[j]; math.Abs(x) > math.Abs(best) {
			best = x
		}
	}
	if best >= 0 {
		return
	}
	for i := range u.rows {
		u.row(i)[j] = -u.row(i)[j]
	}
	for i := range other {
		other[i] = -other[i]
	}
}

func setColumn(out *value.Dense, x []float64) {
	for i, v := range x {
		out.Set(i, 0, number(out.Elem, v))
	}
}

func setGrid(out *value.Dense, g grid[float64]) {
	for i := range g.rows {
		for j, v := range g.row(i) {
			out.Set(i, j, number(out.Elem, v+0)) // no -0 from a changed sign
		}
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
	eps := 0x1p-52
	if c.Dense(0).Elem == types.F32 {
		eps = 0x1p-23
	}
	return eps * float64(max(c.Dense(0).Rows, c.Dense(0).Cols)) * s[0]
}

func checkTol(s *op.Sig) error {
	if v, ok := s.Attrs.Get("tol"); ok && (v.Kind != op.FloatVal && v.Kind != op.IntVal || !(s.Attrs.Float("tol") >= 0)) {
		return op.Faultf(1, codeAttr, "tol of `%s` is a number from 0 on, not %v", s.Def.Source(), v)
	}
	return nil
}

func rank(tol op.Arg) *op.Def {
	run := func(c *op.Call) (value.Value, error) {
		_, s, _, err := singular(c, false)
		if err != nil {
			return nil, err
		}
		n := int64(0)
		for _, x := range s {
			if x > cutoff(c, s) {
				n++
			}
		}
		return value.I64(n), nil
	}
	return &op.Def{
		Name: "rank", Doc: "rank is the number of singular values of a matrix that are above tol.",
		Args: []op.Arg{{Name: "a", Doc: "n x m"}, tol}, Eg: eg("rank(ones(3, 3))", "1"),
		Type: func(s *op.Sig) (types.Type, error) {
			if _, err := floatMatrix(s); err != nil {
				return types.Type{}, err
			}
			return types.ScalarOf(types.I64), checkTol(s)
		},
		Ref: run, Laws: op.Pure, Flow: op.Flow{Rate: op.Once}, Rate: "decompose", Cost: decompositionWork(4),
		Kernel: func(c *op.Call) (err error) { c.Out, err = run(c); return err },
	}
}

func pinv(tol op.Arg) *op.Def {
	// pinv = v diag(1/s) t(u), each element one chain over the singular values that count.
	run := func(c *op.Call, out *value.Dense) error {
		u, s, vt, err := singular(c, true)
		if err != nil {
			return err
		}
		least := cutoff(c, s)
		for i := range out.Rows {
			for j := range out.Cols {
				x := 0.0
				for k, w := range s {
					if w > least {
						x = math.FMA(vt.row(k)[i]/w, u.row(j)[k], x)
					}
				}
				out.Set(i, j, number(out.Elem, x))
			}
		}
		return nil
	}
	d := decomposition("pinv", "pinv is the pseudo-inverse of a matrix (Moore, Penrose), m x n, in which singular values up to tol count as 0.",
		"n x m", "pinv(2 * eye(2))", "0.5 0\n0 0.5\n", 20,
		func(s *op.Sig) (types.Type, error) {
			t, err := floatMatrix(s)
			if err == nil {
				err = checkTol(s)
			}
			return types.DenseOf(t.Elem, t.Cols, t.Rows), err
		}, atOnce(run))
	d.Args = append(d.Args, tol)
	return d
}
