package linalg

// This file defines the contractions: matmul (`@`), its accumulating form gemm, and syrk, the lower
// half of a symmetric gemm. Every element is one chain of fused multiply-adds in ascending k
// (package blas), so the three agree bit for bit wherever they compute the same element; that is
// what lets the compiler choose among them.

import (
	"math"
	"math/bits"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/reduce"
)

// Linear is the kernels of one blas set with their scratch memory. It is safe for concurrent use.
type Linear struct {
	Pool *scratchPool
	F64  blas.Kernels[float64]
	F32  blas.Kernels[float32]
	i64  blas.Kernels[int64]
}

// NewLinear is a kernel set with no scratch memory yet.
func NewLinear(set *blas.Set) *Linear {
	pool := &scratchPool{}
	return &Linear{Pool: pool, F64: set.F64, F32: set.F32, i64: integers(pool, set.F64)}
}

// rowsOfLeft says that a product has the rows of its left factor.
func rowsOfLeft(a *op.Attrs) []int {
	if a.Bool("ta") {
		return nil
	}
	return []int{0}
}

// rowsOfSum says that a sum with a product has the rows of what it adds to and of the left factor.
func rowsOfSum(a *op.Attrs) []int {
	if a.Bool("ta") {
		return []int{0}
	}
	return []int{0, 1}
}

// tallRatio is the rows to columns of the result, and to the inner size, from which on a product runs
// as a loop over the rows of its result.
const tallRatio = 8

// productWork is the work of a product whose left factor is a: two operations an element of the
// result and k.
func productWork(s *op.Sig, a, out types.Type) op.Work {
	k := a.Cols
	if s.Attrs.Bool("ta") {
		k = a.Rows
	}
	return op.Work{Flops: 2 * float64(out.Count()) * float64(max(k, 0)), Bytes: define.Traffic(s, out)}
}

// ProductType is the type of op(a) @ op(b); first is the argument index of a.
func ProductType(s *op.Sig, first int) (types.Type, error) {
	a, b := s.In[first], s.In[first+1]
	for i, t := range []types.Type{a, b} {
		if !t.IsDense() || !t.Elem.IsNumeric() {
			f := op.Faultf(first+i, define.CodeKind, "`@` takes matrices of numbers; this is %s", t)
			if t.IsScalar() {
				f.WithHelp("`*` multiplies by a scalar")
			}
			return types.Type{}, f
		}
	}
	e, ok := types.Widen(a.Elem, b.Elem)
	if !ok {
		return types.Type{}, op.Faultf(first+1, define.CodeElem, "`@` of %s and %s", a.Elem, b.Elem).
			WithHelp("convert one side: f64(x) or f32(x)")
	}
	if e == types.Bool {
		e = types.I64 // a product of bools counts
	}
	n, k := define.Turned(a, s.Attrs.Bool("ta"))
	k2, m := define.Turned(b, s.Attrs.Bool("tb"))
	if !define.Agree(k, k2) {
		f := op.Faultf(first+1, define.CodeInner, "inner sizes of `@` differ: %d columns, %d rows", k, k2)
		if define.Agree(k, m) {
			f.WithHelp("t(b) transposes the right side")
		} else if define.Agree(n, k2) {
			f.WithHelp("t(a) transposes the left side")
		}
		return types.Type{}, f
	}
	return types.DenseOf(e, n, m), nil
}

func matmulType(s *op.Sig) (types.Type, error) { return ProductType(s, 0) }

// accumulates checks that a product p can be added into c without a conversion: the chain starts
// from c.
func accumulates(c, p types.Type) (types.Type, error) {
	if !c.IsDense() || c.Elem != p.Elem {
		return types.Type{}, op.Faultf(0, define.CodeElem, "a product %s cannot be accumulated into a %s", p, c)
	}
	if !define.Agree(c.Rows, p.Rows) || !define.Agree(c.Cols, p.Cols) {
		return types.Type{}, op.Faultf(0, define.CodeShape, "a product %s cannot be accumulated into a %s", p, c)
	}
	return c, nil
}

func gemmType(s *op.Sig) (types.Type, error) {
	p, err := ProductType(s, 1)
	if err != nil {
		return p, err
	}
	return accumulates(s.In[0], p)
}

func syrkType(s *op.Sig) (types.Type, error) {
	a := s.In[1]
	if !a.IsDense() || !a.Elem.IsNumeric() {
		return types.Type{}, op.Faultf(1, define.CodeKind, "syrk takes matrices of numbers; this is %s", a)
	}
	n, _ := define.Turned(a, s.Attrs.Bool("ta"))
	p := types.DenseOf(a.Elem, n, n)
	if a.Elem == types.Bool {
		p.Elem = types.I64
	}
	return accumulates(s.In[0], p)
}

func (l *Linear) matmul(c *op.Call) error {
	out := c.Result()
	dense.Clear(out)
	l.Accumulate(out, c.Dense(0), c.Dense(1), c.Attrs.Bool("ta"), c.Attrs.Bool("tb"), false)
	return nil
}

func (l *Linear) gemm(c *op.Call) error {
	l.Accumulate(c.Result(), c.Dense(1), c.Dense(2), c.Attrs.Bool("ta"), c.Attrs.Bool("tb"), c.Attrs.Bool("sub"))
	return nil
}

// Accumulate adds op(a) @ op(b) into out, or subtracts it.
func (l *Linear) Accumulate(out, a, b *value.Dense, ta, tb, sub bool) {
	a, b = dense.Widened(a, out.Elem), dense.Widened(b, out.Elem)
	s := l.Pool.Get()
	defer l.Pool.Put(s)
	switch out.Elem {
	case types.F64:
		GemmInto(l.F64, s, dense.GridOf[float64](out), dense.GridOf[float64](a), dense.GridOf[float64](b), ta, tb, sub)
	case types.F32:
		GemmInto(l.F32, s, dense.GridOf[float32](out), dense.GridOf[float32](a), dense.GridOf[float32](b), ta, tb, sub)
	default:
		GemmInto(l.i64, s, dense.GridOf[int64](out), dense.GridOf[int64](a), dense.GridOf[int64](b), ta, tb, sub)
	}
}

func (l *Linear) syrk(c *op.Call) error {
	out, a := c.Result(), dense.Widened(c.Dense(1), c.Result().Elem)
	ta, sub := c.Attrs.Bool("ta"), c.Attrs.Bool("sub")
	s := l.Pool.Get()
	defer l.Pool.Put(s)
	switch out.Elem {
	case types.F64:
		syrkInto(l.F64, s, dense.GridOf[float64](out), dense.GridOf[float64](a), ta, sub)
	case types.F32:
		syrkInto(l.F32, s, dense.GridOf[float32](out), dense.GridOf[float32](a), ta, sub)
	default:
		syrkInto(l.i64, s, dense.GridOf[int64](out), dense.GridOf[int64](a), ta, sub)
	}
	return nil
}

// GemmInto is c ± op(a)@op(b) on the set's kernels. They have no form for two transposes: then a is
// turned first.
func GemmInto[T dense.Factor](k blas.Kernels[T], s *Scratch, c, a, b dense.Grid[T], ta, tb, sub bool) {
	if ta && tb {
		at := ScratchGrid[T](s, a.Cols, a.Rows)
		dense.Transpose(at, a)
		a, ta = at, false
	}
	inner := a.Cols
	if ta {
		inner = a.Rows
	}
	if c.Rows == 0 || c.Cols == 0 || inner == 0 {
		return
	}
	if ta {
		k.GemmTN(&s.Ws, sub, c.Rows, c.Cols, inner, a.X, a.LD, b.X, b.LD, c.X, c.LD)
		return
	}
	k.Gemm(&s.Ws, tb, sub, c.Rows, c.Cols, inner, a.X, a.LD, b.X, b.LD, c.X, c.LD)
}

// syrkInto is the lower triangle of c ± a@t(a).
func syrkInto[T dense.Factor](k blas.Kernels[T], s *Scratch, c, a dense.Grid[T], ta, sub bool) {
	if ta {
		at := ScratchGrid[T](s, a.Cols, a.Rows)
		dense.Transpose(at, a)
		a = at
	}
	if a.Rows > 0 && a.Cols > 0 {
		k.Syrk(&s.Ws, sub, a.Rows, a.Cols, a.X, a.LD, c.X, c.LD)
	}
}

// integers returns the kernels of products of integers modulo 2^64, where the order of terms is free. A
// product whose sums all fit in the 53 bits of a float is computed by the kernels f, exactly.
func integers(pool *scratchPool, f blas.Kernels[float64]) blas.Kernels[int64] {
	grid := func(x []int64, ld, rows, cols int) dense.Grid[int64] {
		return dense.Grid[int64]{Rows: rows, Cols: cols, LD: ld, X: x}
	}
	product := func(ws *blas.Workspace, c, a, b dense.Grid[int64], ta, tb, sub bool) {
		inner := b.Rows
		if tb {
			inner = b.Cols
		}
		if c.Rows >= 8 && c.Cols >= 8 && widest(a)+widest(b)+bits.Len(uint(inner)) <= 53 {
			s := pool.Get()
			defer pool.Put(s)
			x, y, z := inFloats(s, a), inFloats(s, b), ScratchGrid[float64](s, c.Rows, c.Cols)
			clear(z.X)
			if ta {
				f.GemmTN(ws, false, c.Rows, c.Cols, inner, x.X, x.LD, y.X, y.LD, z.X, z.LD)
			} else {
				f.Gemm(ws, tb, false, c.Rows, c.Cols, inner, x.X, x.LD, y.X, y.LD, z.X, z.LD)
			}
			addFloats(c, z, sub)
			return
		}
		if ta {
			a = dense.TurnedCopy(a)
		}
		if tb {
			b = dense.TurnedCopy(b)
		}
		gemmI64(c, a, b, sub)
	}
	return blas.Kernels[int64]{
		Gemm: func(ws *blas.Workspace, tb, sub bool, m, n, k int, a []int64, lda int, b []int64, ldb int, c []int64, ldc int) {
			y := grid(b, ldb, k, n)
			if tb {
				y = grid(b, ldb, n, k)
			}
			product(ws, grid(c, ldc, m, n), grid(a, lda, m, k), y, false, tb, sub)
		},
		GemmTN: func(ws *blas.Workspace, sub bool, m, n, k int, a []int64, lda int, b []int64, ldb int, c []int64, ldc int) {
			product(ws, grid(c, ldc, m, n), grid(a, lda, k, m), grid(b, ldb, k, n), true, false, sub)
		},
		Syrk: func(ws *blas.Workspace, sub bool, n, k int, a []int64, lda int, c []int64, ldc int) {
			s := pool.Get()
			defer pool.Put(s)
			all := ScratchGrid[int64](s, n, n)
			clear(all.X)
			product(ws, all, grid(a, lda, n, k), grid(a, lda, n, k), false, true, sub)
			for i := range n {
				for j, x := range all.Row(i)[:i+1] {
					c[i*ldc+j] += x
				}
			}
		},
	}.WithTall()
}

// widest returns the least number of bits b for which every |x| of g is at most 2^b.
func widest(g dense.Grid[int64]) int {
	var all int64
	for i := range g.Rows {
		for _, x := range g.Row(i) {
			all |= x ^ x>>63
		}
	}
	return bits.Len64(uint64(all))
}

// inFloats returns a copy of g as floats in memory of s. It is exact for |x| up to 2^53.
func inFloats(s *Scratch, g dense.Grid[int64]) dense.Grid[float64] {
	out := ScratchGrid[float64](s, g.Rows, g.Cols)
	for i := range g.Rows {
		to := out.Row(i)
		for j, x := range g.Row(i) {
			to[j] = float64(x)
		}
	}
	return out
}

// addFloats adds the whole numbers z to c, or subtracts them if sub.
func addFloats(c dense.Grid[int64], z dense.Grid[float64], sub bool) {
	for i := range c.Rows {
		to := c.Row(i)
		for j, x := range z.Row(i) {
			if sub {
				x = -x
			}
			to[j] += int64(x)
		}
	}
}

// gemmI64 is c ± a @ b.
func gemmI64(c, a, b dense.Grid[int64], sub bool) {
	for i := range c.Rows {
		row := c.Row(i)
		for k, x := range a.Row(i) {
			if sub {
				x = -x
			}
			for j, y := range b.Row(k) {
				row[j] += x * y
			}
		}
	}
}

// Trace returns the row of trace.
func Trace() *op.Def {
	return &op.Def{
		Name: "trace",
		Doc:  "trace is the sum of the diagonal of a square matrix: exact, rounded once, like sum.",
		Args: []op.Arg{{Name: "a", Doc: "n x n"}},
		Eg:   define.Eg("trace(2 * eye(3))", "6"),
		Type: func(s *op.Sig) (types.Type, error) {
			t, err := define.NumberMatrix(s, 0)
			if err == nil && !define.Agree(t.Rows, t.Cols) {
				err = op.Faultf(0, define.CodeSquare, "trace takes a square matrix; this has %d rows and %d columns", t.Rows, t.Cols).
					WithHelp("the sum of all elements is sum(x)")
			}
			return types.ScalarOf(reduce.Summed(t.Elem)), err
		},
		Ref: func(c *op.Call) (value.Value, error) {
			var x []value.Scalar
			for i := range c.Dense(0).Rows {
				x = append(x, c.Dense(0).At(i, i))
			}
			return reduce.Named("sum").Whole.Ref(x, c.Type.Elem), nil
		},
		Elements: traceElements,
		Laws:     op.Pure | op.Total,
		Cost: func(s *op.Sig, _ types.Type) op.Work {
			n := math.Sqrt(define.ElementCount(s.In[0]))
			return op.Work{Flops: 4 * n, Bytes: 64 * n}
		},
		Kernel: func(c *op.Call) error {
			diagonal := *c.Dense(0)
			diagonal.Cols, diagonal.Stride = 1, diagonal.Stride+1
			c.Out = reduce.Named("sum").Of(diagonal.Clone(), c.Type.Elem)
			return nil
		},
	}
}

// traceElements writes the sum of the diagonal into a loop.
func traceElements(e *op.Elements) op.Element {
	x := e.In[0]
	if !x.Rows.Known() || x.Rows.Const == 0 {
		return nil
	}
	out := dense.Storage(e.Out.Elem)
	s := e.Fold(loop.Sum, out, x.Rows, loop.Num(1), func(i, _ loop.Lin) []loop.Val { return []loop.Val{define.ConvertBody(e.B, out, x.At(i, i))} })
	return func(loop.Lin, loop.Lin) loop.Val { return s }
}
