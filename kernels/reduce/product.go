package reduce

// This file defines products: prod of all elements, rowprod and colprod of each line.
//
// A float product rounds at every step, so its order is part of its meaning. That of a line is the
// chain of its elements, as cumprod has it. prod has many chains of a fixed place each, so that neither
// a vector nor a second worker has to wait (see RATIONALE.md).

import (
	"math"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

const (
	// prodRun is how many elements, in row-major order, are a run: runs are multiplied by
	// themselves.
	prodRun = 32768
	// prodChains is how many chains a run has: element k of it belongs to chain k mod prodChains.
	prodChains = 512
)

// prod is the product of all elements.
func prod() *op.Def {
	return &op.Def{
		Name: "prod",
		Doc: "prod is the product of all elements; 1 for none. Integers wrap. Float products round at each step: of every run of 32768 " +
			"elements in row-major order, element k is a factor of chain k mod 512; the chains of a run are multiplied by halves, chain k " +
			"with k + 256, then k + 128, and so on, and the products of runs neighbour with neighbour, until one is left.",
		Args:  []op.Arg{{Name: "x", Doc: "matrix or scalar"}},
		Eg:    define.Eg(`prod(seq(1, 6))`, "120"),
		Type:  func(s *op.Sig) (types.Type, error) { return Whole{Elem: Summed}.Type(s, 0) },
		Ref:   func(c *op.Call) (value.Value, error) { return refProd(define.Elements(c.In[0]), c.Type.Elem), nil },
		Laws:  op.Pure | op.Total,
		Folds: &op.Folding{By: "prod.runs", Of: "prod.joined"},
		Elements: func(e *op.Elements) op.Element {
			x := e.In[0]
			if !x.Rows.Known() || !x.Cols.Known() {
				return nil
			}
			y := e.Fold(loop.Product, e.Out.Elem, x.Rows, x.Cols, func(i, j loop.Lin) []loop.Val {
				return []loop.Val{define.ConvertBody(e.B, dense.Storage(e.Out.Elem), x.At(i, j))}
			})
			return func(loop.Lin, loop.Lin) loop.Val { return y }
		},
		Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
		Loop: &op.Loop{
			Light: true,
			Space: func(c *op.Call) (n, leaf int) {
				if t := c.In[0].Type(); t.IsDense() {
					return prodRuns(t.Count()), 1
				}
				return 1, 1
			},
			Begin: func(c *op.Call, _ int) (op.LoopBody, error) {
				in := define.AsDense(c.In[0])
				return &prodBody{c: c, in: in, runs: value.New(c.Type.Elem, prodRuns(in.Rows*in.Cols), 1)}, nil
			},
		},
	}
}

// prodRuns is how many runs n elements are.
func prodRuns(n int) int { return (n + prodRun - 1) / prodRun }

// refProd is the definition of prod: whole runs of whole chains, of ones where there are no
// elements.
func refProd(x []value.Scalar, e types.Elem) value.Scalar {
	one := value.I64(1).Convert(e)
	runs := []value.Scalar{one}
	for at := 0; at < len(x); at += prodRun {
		chains := make([]value.Scalar, prodChains)
		for k := range chains {
			chains[k] = one
		}
		for k, v := range x[at:min(at+prodRun, len(x))] {
			chains[k%prodChains] = times(chains[k%prodChains], v, e)
		}
		for len(chains) > 1 {
			half := len(chains) / 2
			for k := range half {
				chains[k] = times(chains[k], chains[k+half], e)
			}
			chains = chains[:half]
		}
		if runs = append(runs, chains[0]); at == 0 {
			runs = runs[1:]
		}
	}
	return joinedRuns(runs, e)
}

// times returns the product of two numbers of e.
func times(a, b value.Scalar, e types.Elem) value.Scalar {
	if e.IsFloat() {
		return define.Number(e, a.F*b.F)
	}
	return value.I64(a.I * b.I)
}

// joinedRuns multiplies the products of runs pairwise, neighbour with neighbour. There is at least
// one run.
func joinedRuns(runs []value.Scalar, e types.Elem) value.Scalar {
	for len(runs) > 1 {
		next := runs[:0]
		for ; len(runs) > 1; runs = runs[2:] {
			next = append(next, times(runs[0], runs[1], e))
		}
		runs = append(next, runs...)
	}
	return define.Canonical(runs[0])
}

// sharedRuns returns the rows by which ranks share prod and identical (op.Folding): what each run gives
// is a row, and a rank reads the rows of its runs.
func sharedRuns() []*op.Def {
	runs := func(name, doc string, elem func(types.Elem) types.Elem, begin func(c *op.Call) op.LoopBody, args ...op.Arg) *op.Def {
		return define.ByKernel(&op.Def{
			Name: name, Hidden: true, Doc: doc, Laws: op.Pure | op.Total,
			Args: append(args, op.Arg{Name: "of", Attr: true, Kind: op.StrVal, Optional: true, Doc: "the row that is shared"}),
			Type: func(s *op.Sig) (types.Type, error) {
				t := s.In[0]
				if !t.IsDense() || !t.Known() || t != s.In[len(s.In)-1] || elem(t.Elem) == types.NoElem {
					return t, op.Faultf(0, define.CodeKind, "%s of %v", name, s.In)
				}
				if t.Count() <= prodRun {
					return t, op.Faultf(0, define.CodeShape, "%s of %v, which is one run", name, t)
				}
				return types.DenseOf(elem(t.Elem), prodRuns(t.Count()), 1), nil
			},
			Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
			RowSpan: func(s *op.Sig, _ types.Type) op.RowSpan {
				return op.RowSpan{By: prodRun, Hi: prodRun, Per: s.In[0].Cols}
			},
			Loop: &op.Loop{
				Light: true, Rows: op.RowsOfResult,
				Space: func(c *op.Call) (n, leaf int) { return c.Type.Rows, 1 },
				Begin: func(c *op.Call, _ int) (op.LoopBody, error) { return begin(c), nil },
			},
		})
	}
	return []*op.Def{
		runs("prod.runs", "prod.runs is the product of each run of the elements of x, as prod has them.", Summed,
			func(c *op.Call) op.LoopBody { return &prodBody{c: c, in: c.Dense(0), runs: c.Result()} },
			op.Arg{Name: "x", Doc: "matrix"}),
		define.ByKernel(&op.Def{
			Name: "prod.joined", Hidden: true, Doc: "prod.joined is the product of the products of runs.", Laws: op.Pure | op.Total,
			Args: []op.Arg{{Name: "x", Doc: "column of at least one"}},
			Type: func(s *op.Sig) (types.Type, error) { return Whole{Elem: Summed}.Type(s, 0) },
			Cost: func(s *op.Sig, out types.Type) op.Work { return define.ReadCost(s, 1) },
			Kernel: func(c *op.Call) error {
				c.Out = joinedRuns(define.Elements(c.In[0]), c.Type.Elem)
				return nil
			},
		}),
		runs("identical.runs", "identical.runs tells for each such run of two matrices of one type whether both have the same bits.",
			func(types.Elem) types.Elem { return types.Bool },
			func(c *op.Call) op.LoopBody { return sameRuns{c} }, op.Arg{Name: "a", Doc: "matrix"}, op.Arg{Name: "b", Doc: "matrix"}),
	}
}

// sameRuns is one execution of identical.runs.
type sameRuns struct{ c *op.Call }

func (b sameRuns) Chunk(_, lo, hi int) error {
	x, y := prodBody{in: b.c.Dense(0)}, prodBody{in: b.c.Dense(1)}
	var roomX, roomY value.Dense
	for r := lo; r < hi; r++ {
		b.c.Result().Set(r, 0, value.Bool(value.Same(x.run(&roomX, r), y.run(&roomY, r))))
	}
	return nil
}

// End has nothing to do: Chunk completes rows.
func (b sameRuns) End() error { return nil }

// prodBody is one execution of prod or prod.runs: iteration r makes the product of run r.
type prodBody struct {
	c    *op.Call
	in   *value.Dense
	runs *value.Dense
}

func (b *prodBody) Chunk(_, lo, hi int) error {
	chains := dense.ForNumber(b.c.Type.Elem, chainsOf[float64], chainsOf[float32], chainsOf[int64])
	var room value.Dense
	for r := lo; r < hi; r++ {
		if x := b.run(&room, r); x.Elem == types.Bool {
			b.runs.Set(r, 0, value.I64(int64(extremeBool(x.Bool[:x.Cols], true))))
		} else {
			b.runs.Set(r, 0, chains(x))
		}
	}
	return nil
}

// run returns run r of the operand, as one row. It copies the elements to room if they are not
// contiguous.
func (b *prodBody) run(room *value.Dense, r int) *value.Dense {
	d, at := b.in, r*prodRun
	n := min(prodRun, d.Rows*d.Cols-at)
	if d.Stride == d.Cols || d.Rows == 1 {
		return oneLine(d).View(0, at, 1, n)
	}
	if room.Cols < n {
		*room = *value.New(d.Elem, 1, n)
	}
	var to, from value.Dense
	for k := 0; k < n; k += to.Cols {
		i, j := (at+k)/d.Cols, (at+k)%d.Cols
		m := min(n-k, d.Cols-j)
		room.Window(&to, 0, k, 1, m)
		d.Window(&from, i, j, 1, m)
		to.CopyFrom(&from)
	}
	return room.View(0, 0, 1, n)
}

// chainsOf returns the product of a run, which is not empty.
func chainsOf[T vec.Number](run *value.Dense) value.Scalar {
	x, chains := dense.GridOf[T](run).Row(0), make([]T, prodChains)
	n := copy(chains, x)
	for x = x[n:]; len(x) > 0; {
		m := min(n, len(x))
		vec.Mul(chains[:m], chains[:m], x[:m])
		x = x[m:]
	}
	for half := prodChains / 2; half > 0; half /= 2 { // a chain without elements is 1: a factor that changes nothing
		if n > half {
			vec.Mul(chains[:n-half], chains[:n-half], chains[half:n])
			n = half
		}
	}
	if run.Elem.IsFloat() {
		return value.Scalar{Elem: run.Elem, F: float64(chains[0])}
	}
	return value.I64(int64(chains[0]))
}

// End multiplies the products of the runs, if the result is no list of them.
func (b *prodBody) End() error {
	runs := define.Elements(b.runs)
	switch {
	case b.c.Type.IsMatrix():
		return nil
	case len(runs) == 0:
		runs = []value.Scalar{value.I64(1).Convert(b.c.Type.Elem)}
	}
	b.c.Out = joinedRuns(runs, b.c.Type.Elem)
	return nil
}

// lineProduct is rowprod and colprod.
func lineProduct() statistic {
	return statistic{
		name: "prod", elem: Summed, flops: 1, row: "6\n120\n", col: "4 10 18\n",
		ref: func(_ *op.Attrs, x []value.Scalar, e types.Elem) value.Scalar {
			p := value.I64(1).Convert(e)
			for _, v := range x {
				p.F, p.I = define.Number(e, p.F*v.F).F, p.I*v.I
			}
			return define.Canonical(p)
		},
		lines: linesProducts, chain: chainedProducts,
		elements: func(e *op.Elements, rows, cols bool) op.Element {
			elem := dense.Storage(e.Out.Elem)
			return lineElements(e, rows, cols, func(x []loop.Val) loop.Val {
				p := define.Numeral(e.B, elem, 1)
				for _, v := range x {
					p = e.B.Op(loop.Mul, p, define.ConvertBody(e.B, elem, v))
				}
				return p
			})
		},
	}
}

// linesProducts writes the product of every line of a to out.
func linesProducts(out, a *value.Dense, byRow bool) {
	if out.Rows*out.Cols == 0 {
		return
	}
	products := dense.ForNumber(out.Elem, productsOf[float64], productsOf[float32], productsOf[int64])
	products(out, dense.Widened(a, out.Elem), byRow)
}

// chainedProducts multiplies the products in Call.Out, one a column, by rows lo..hi-1 of the first
// input.
func chainedProducts(c *op.Call, _ *value.Dense, lo, hi int) error {
	a, out := c.Dense(0), c.Result()
	rows := dense.Widened(a.View(lo, 0, hi-lo, a.Cols), out.Elem)
	dense.ForNumber(out.Elem, chainProducts[float64], chainProducts[float32], chainProducts[int64])(out, rows, lo > 0)
	return nil
}

// chainProducts is chainedProducts for rows with the element type of out. Unless begun, out has no
// products yet. All NaNs of the result have the same bits.
func chainProducts[T vec.Number](out, rows *value.Dense, begun bool) {
	x, a, nan := dense.GridOf[T](out).Row(0), dense.GridOf[T](rows), math.NaN()
	if !begun {
		vec.Fill(x, 1)
	}
	for i := range a.Rows {
		vec.Mul(x, x, a.Row(i))
	}
	for i, v := range x {
		if v != v {
			x[i] = T(nan)
		}
	}
}

// productsOf is linesProducts for an a with the element type of out. All NaNs of the result have the
// same bits.
func productsOf[T vec.Number](out, a *value.Dense, byRow bool) {
	x, nan := dense.GridOf[T](out).X, math.NaN()
	multiplyLines(x, dense.GridOf[T](a), byRow)
	for i, v := range x {
		if v != v {
			x[i] = T(nan)
		}
	}
}

// multiplyLines writes the products of a's lines, each a chain, to out: columns by whole rows, and
// eight rows beside each other.
func multiplyLines[T vec.Number](out []T, a dense.Grid[T], byRow bool) {
	if vec.Fill(out, 1); a.Cols == 0 { // and perhaps no memory
		return
	}
	if !byRow {
		out = out[:a.Cols]
		for i := range a.Rows {
			vec.Mul(out, out, a.Row(i))
		}
		return
	}
	i := 0
	for ; i+8 <= a.Rows; i += 8 {
		*(*[8]T)(out[i:]) = eightProducts(a, i)
	}
	for ; i < a.Rows; i++ {
		p := T(1)
		for _, v := range a.Row(i) {
			p *= v
		}
		out[i] = p
	}
}

// eightProducts is the products of rows i..i+7: of chains in step none waits for its own last
// multiplication.
func eightProducts[T vec.Number](a dense.Grid[T], i int) [8]T {
	r0 := a.Row(i)
	n := len(r0)
	r1, r2, r3, r4 := a.Row(i + 1)[:n], a.Row(i + 2)[:n], a.Row(i + 3)[:n], a.Row(i + 4)[:n]
	r5, r6, r7 := a.Row(i + 5)[:n], a.Row(i + 6)[:n], a.Row(i + 7)[:n]
	var p0, p1, p2, p3, p4, p5, p6, p7 T = 1, 1, 1, 1, 1, 1, 1, 1
	for k, v := range r0 {
		p0, p1, p2, p3 = p0*v, p1*r1[k], p2*r2[k], p3*r3[k]
		p4, p5, p6, p7 = p4*r4[k], p5*r5[k], p6*r6[k], p7*r7[k]
	}
	return [8]T{p0, p1, p2, p3, p4, p5, p6, p7}
}
