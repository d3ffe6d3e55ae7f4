package kernels

// This file defines the rows `map.product` and `pipe.product`. They run a chain of elementwise
// operators on a product that is not stored. pipe.product reduces the rows of the chain. A worker makes
// a strip of the product in memory that stays in its cache, and runs the chain on it. The right factor
// is packed once for all strips and workers. So the left factor and the other operands are read from
// memory once, and the result is written once.

import (
	"slices"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/blas"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/window"
)

// denseProducts returns the rows of linear algebra on the given kernel set, and those of products
// inside of chains and pipes.
func denseProducts(set *blas.Set) []*op.Def {
	f := &products{Linear: linalg.NewLinear(set), run: &engine{}}
	piped := f.row("pipe.product", "pipe.product is a pipe that reduces rows and reads a product of a tall matrix by a small one, which is not stored; fusion makes it.")
	mapped := f.row("map.product", "map.product runs a chain of elementwise operators on each part of a matrix product while a cache has it; fusion makes it.")
	mapped.Alias = true // of the inputs for which the attribute held is 0
	return append(f.Rows(), piped, mapped)
}

// products runs the calls of map.product and pipe.product.
type products struct {
	*linalg.Linear
	run *engine
}

// row returns one of the two rows. Its attributes are those of map or pipe, those of gemm, and
//
//   - place: the operand of the chain that is the product;
//   - acc: the product is added to a matrix. A pipe has no such matrix;
//   - held, for each input: 0 if the result may use the memory of the input, else 1.
//
// The inputs are the operands of the chain. Input `place` is the matrix that the product is added to,
// or without acc the left factor. Then come the left factor with acc, and the right factor.
func (f *products) row(name, doc string) *op.Def {
	return &op.Def{
		Name:   name,
		Hidden: true,
		Doc:    doc,
		Args:   []op.Arg{{Name: "x", Rest: true}},
		Type:   define.OwnType,
		Ref:    productRef,
		Laws:   op.Pure,
		Rate:   "gemm",
		Cost: func(s *op.Sig, out types.Type) op.Work { // some operations an element for the chain
			p, n := sigFactors(s), float64(productSpace(s.Attrs, out).Count())
			_, k := define.Turned(p.a, p.ta)
			return op.Work{Flops: (2*float64(max(k, 0)) + 8) * n, Bytes: define.Traffic(s, out)}
		},
		Along: func(a *op.Attrs) (out []int) {
			for k, m := range a.Ints("modes") { // the left factor in the place of a product is read by rows, too
				if m := op.Mode(m); m == op.Full || m == op.ColVec {
					out = append(out, k)
				}
			}
			if a.Bool("acc") { // the left factor is behind the chain's operands
				out = append(out, len(a.Ints("modes")))
			}
			return out
		},
		Kernel: f.kernel,
		Loop: &op.Loop{
			Light: true,
			Early: true,
			Takes: func(s *op.Sig, out types.Type) bool { return inStrips(sigFactors(s), productSpace(s.Attrs, out)) },
			Rows: func(s *op.Sig, out types.Type) int {
				if space := productSpace(s.Attrs, out); !slices.Contains(s.Attrs.Ints("modes"), int64(op.Trans)) && inStrips(sigFactors(s), space) {
					return space.Rows
				}
				return 0
			},
			RowsEach: func(c *op.Call) (rows, iterations int) {
				if p := callFactors(c); p.ta || !inStrips(p, productSpace(c.Attrs, c.Type)) {
					return 0, 0
				}
				return 1, 1
			},
			Space: func(c *op.Call) (n, leaf int) {
				p, space := callFactors(c), productSpace(c.Attrs, c.Type)
				if !inStrips(p, space) {
					return 0, 0
				}
				height := stripRows(p, space)
				if p.ta {
					return space.Rows, height
				}
				return space.Rows, linalg.RoundUp(max(height, window.LeafElements/max(p.a.Cols, space.Cols)), height)
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
				j, err := f.job(c)
				if err != nil {
					return nil, err
				}
				return f.begin(c, j, workers), nil
			},
		},
	}
}

// factors are the operands of the product in a call, as values or as types.
type factors[T any] struct {
	a, b   T
	ta, tb bool
}

// factorsIn returns the factors among n inputs.
func factorsIn[T any](attrs *op.Attrs, in func(k int) T, n int) factors[T] {
	a := n - 2
	if !attrs.Bool("acc") {
		a = attrs.Int("place")
	}
	return factors[T]{in(a), in(n - 1), attrs.Bool("ta"), attrs.Bool("tb")}
}

// callFactors and sigFactors return the types of the factors.
func callFactors(c *op.Call) factors[types.Type] {
	return factorsIn(c.Attrs, func(k int) types.Type { return c.In[k].Type() }, len(c.In))
}

func sigFactors(s *op.Sig) factors[types.Type] {
	return factorsIn(s.Attrs, func(k int) types.Type { return s.In[k] }, len(s.In))
}

// productSpace returns the type of the chain's result before it is reduced; out is the type of the
// node.
func productSpace(attrs *op.Attrs, out types.Type) types.Type {
	if attrs.Str("fold") != "" {
		return types.DenseOf(out.Elem, attrs.Int("rows"), attrs.Int("cols"))
	}
	return out
}

// inStrips reports whether the product is made by strips of rows. The right factor is then packed
// beforehand and has to fit a second-level cache. A transposed left factor is read by strips of its
// columns if the right one is a column. Otherwise its rows lie too far apart.
func inStrips(p factors[types.Type], space types.Type) bool {
	return (!p.ta || space.Cols == 1) && p.b.Count() > 0 && p.b.Count() <= linalg.MostRight && space.Count() > 0
}

// productRef computes the product first, then the map or the pipe by its definition.
func productRef(c *op.Call) (value.Value, error) {
	at, space := c.Attrs.Int("place"), productSpace(c.Attrs, c.Type)
	p := factorsIn(c.Attrs, c.Dense, len(c.In))
	product := value.New(c.Body.In[at].Elem, space.Rows, space.Cols)
	if c.Attrs.Bool("acc") {
		product.CopyFrom(c.Dense(at))
	}
	linalg.ProductRef(product, p.a, p.b, p.ta, p.tb, c.Attrs.Bool("sub"), false)
	m := *c
	m.In = chainIn(c)
	m.In[at] = product
	if c.Attrs.Str("fold") != "" {
		return pipeRef(&m)
	}
	return mapRef(&m)
}

// chainIn returns a copy of the inputs of the chain.
func chainIn(c *op.Call) []value.Value {
	return append([]value.Value(nil), c.In[:len(c.Attrs.Ints("modes"))]...)
}

// job returns the chain and the reductions of a call. The caller replaces operand `place` by the
// product.
func (f *products) job(c *op.Call) (job, error) {
	chain := *c
	chain.In = chainIn(c)
	if c.Attrs.Str("fold") != "" {
		return pipeJob(&chain)
	}
	return f.run.mapJob(&chain)
}

func (f *products) kernel(c *op.Call) error {
	j, err := f.job(c)
	switch {
	case err != nil:
		return err
	case j.rows == 0 || j.cols == 0:
		return j.empty(c)
	case len(j.ends) == 0 && !inStrips(callFactors(c), c.Type):
		return f.whole(c, j)
	}
	b := f.begin(c, j, 1)
	if err := b.Chunk(0, 0, j.rows); err != nil {
		return err
	}
	return b.End()
}

// whole makes the whole product and then runs the chain on it. The product uses the memory of the
// result if both have the same type of elements, unless it tells which element of the chain has no
// value. The result shares memory with no input but the matrix that the product is added to.
func (f *products) whole(c *op.Call, j job) error {
	at := c.Attrs.Int("place")
	p := factorsIn(c.Attrs, c.Dense, len(c.In))
	e := c.Body.In[at].Elem
	product := j.out
	if j.out.Elem != e || nestsOf(j.p).fails {
		product = value.New(e, j.rows, j.cols)
	}
	switch acc := c.Dense(at); {
	case !c.Attrs.Bool("acc"):
		dense.Clear(product)
	case product != j.out || !shareMemory(acc, j.out):
		product.CopyFrom(acc)
	}
	f.Accumulate(product, p.a, p.b, p.ta, p.tb, c.Attrs.Bool("sub"))
	j.in[at] = product
	return f.run.whole(c, j)
}

// begin prepares a call that runs by strips.
func (f *products) begin(c *op.Call, j job, workers int) op.LoopBody {
	if c.Body.In[c.Attrs.Int("place")].Elem == types.F32 {
		return beginStrips(f, f.F32, c, j, workers)
	}
	return beginStrips(f, f.F64, c, j, workers)
}

// stripElements is about the number of elements of a strip. A strip and the right factor fit a
// second-level cache.
const stripElements = 1 << 13

// stripRows returns the rows of a strip: a multiple of the rows of every micro-tile, and of the rows of
// a transposed operand that are turned at a time. A product by a column takes as long as it takes to
// read the left factor, so there a strip is a leaf.
func stripRows(p factors[types.Type], space types.Type) int {
	if space.Cols == 1 && p.a.Count() >= linalg.LeastByVector {
		return linalg.RoundUp(min(stripElements, linalg.ByVectorLeaf(p.a, p.ta)), dense.Panel)
	}
	return linalg.RoundUp(max(1, stripElements/space.Cols), dense.Panel)
}

// evenStrips returns the height of strips that divide n rows evenly. No strip has more than most rows.
// Strips of one height share what the chain's loop is bound to. A long and a short strip in turn bound
// it anew each time, which took a ninth of a round of logistic regression.
func evenStrips(n, most int) int {
	strips := max(1, (n+most-1)/most)
	return min(most, linalg.RoundUp((n+strips-1)/strips, blas.TallRows))
}

// stripBody is one execution by strips.
type stripBody[T dense.Precision] struct {
	f       *products
	by      blas.Kernels[T]
	job     job  // the chain; its operand `place` is the strip at work
	height  int  // of a strip
	stream  bool // the result goes past the caches
	place   int
	acc     *value.Dense // or nil
	a, b    dense.Grid[T]
	tb, sub bool
	ta      bool // b is a column
	packed  []T  // the right factor; nil where the kernels cannot
	shared  *linalg.Scratch
	by1     []stripWorker[T]
}

// stripWorker is the state of a worker: a strip of the product, windows of the operands and results
// that are read or written by rows, and a machine for the chain.
type stripWorker[T dense.Precision] struct {
	s     *linalg.Scratch
	m     *machine
	x     execution     // of the strip at work
	in    []value.Value // of the chain
	room  []T           // for a strip, and TallCols elements behind it
	strip value.Dense
	views []value.Dense // of operands, then of results, the stored elements first
	_     [128]byte
}

func beginStrips[T dense.Precision](f *products, by blas.Kernels[T], c *op.Call, j job, workers int) *stripBody[T] {
	p, space := factorsIn(c.Attrs, c.Dense, len(c.In)), types.DenseOf(j.elem, j.rows, j.cols)
	b := &stripBody[T]{f: f, by: by, job: j, height: min(stripRows(callFactors(c), space), j.rows), place: c.Attrs.Int("place"), a: dense.GridOf[T](p.a), b: dense.GridOf[T](p.b),
		ta: p.ta, tb: p.tb, sub: c.Attrs.Bool("sub"), stream: j.streams(), shared: f.Pool.Get(), by1: make([]stripWorker[T], workers)}
	if c.Attrs.Bool("acc") {
		b.acc = c.Dense(b.place)
	}
	if by.Pack != nil && j.cols > 1 { // a column has kernels that pack nothing
		b.packed = by.Pack(&b.shared.Ws, b.tb, j.cols, b.a.Cols, b.b.X, b.b.LD)
	}
	return b
}

// worker is the state of worker k, made with its first chunk.
func (b *stripBody[T]) worker(k int) *stripWorker[T] {
	w := &b.by1[k]
	if w.s == nil {
		w.s, w.m = b.f.Pool.Get(), b.f.run.machine()
		w.room = linalg.ScratchGrid[T](w.s, 1, b.height*b.job.cols+blas.TallCols).X
		w.x = execution{job: b.job, e: b.f.run}
		w.in, w.x.ends = slices.Clone(b.job.in), slices.Clone(b.job.ends)
		w.views = make([]value.Dense, len(w.in)+1+len(w.x.ends))
		w.m.start(&w.x.job)
	}
	return w
}

func (b *stripBody[T]) Chunk(worker, lo, hi int) error {
	w := b.worker(worker)
	for height := evenStrips(hi-lo, b.height); lo < hi; lo += height {
		n := min(height, hi-lo)
		w.product(b, lo, n)
		if err := w.chain(b, lo, n); err != nil {
			return err
		}
	}
	return nil
}

// product makes n rows of the product from row i on.
func (w *stripWorker[T]) product(b *stripBody[T], i, n int) {
	cols := b.job.cols
	c := dense.Grid[T]{Rows: n, Cols: cols, LD: cols, X: w.room[:n*cols]}
	w.strip = value.Dense{Elem: b.job.p.In[b.place].Elem, Rows: n, Cols: cols, Stride: cols}
	*dense.Cells[T](&w.strip) = c.X
	if b.acc == nil {
		clear(c.X)
	} else {
		from := dense.GridOf[T](b.acc)
		for r := range n {
			copy(c.Row(r), from.Row(i+r))
		}
	}
	a := b.a
	if b.ta {
		a = a.Part(0, i, a.Rows, n)
	} else {
		a = a.Part(i, 0, n, a.Cols)
	}
	if b.packed != nil {
		b.by.GemmPacked(&w.s.Ws, b.sub, n, cols, a.Cols, a.X, a.LD, b.packed, w.room[:n*cols+blas.TallCols], cols)
		return
	}
	linalg.GemmInto(b.by, w.s, c, a, b.b, b.ta, b.tb, b.sub)
}

// chain runs the chain and the reductions on the strip, to n rows of the results from row i on.
func (w *stripWorker[T]) chain(b *stripBody[T], i, n int) error {
	j, to := &w.x.job, len(w.in)
	view := func(k int, d *value.Dense) *value.Dense {
		d.Window(&w.views[k], i, 0, n, d.Cols)
		return &w.views[k]
	}
	for k, v := range b.job.in {
		d, dense := v.(*value.Dense)
		switch mode := b.job.p.In[k].Mode; {
		case k == b.place:
			w.in[k] = &w.strip
		case dense && mode == op.Trans:
			d.Window(&w.views[k], 0, i, d.Rows, n)
			w.in[k] = &w.views[k]
		case dense && (mode == op.Full || mode == op.ColVec) && d.Rows == b.job.rows:
			w.in[k] = view(k, d)
		}
	}
	if b.job.out != nil {
		j.out = view(to, b.job.out)
	}
	for k := range j.ends {
		j.ends[k].out = view(to+1+k, b.job.ends[k].out)
	}
	j.in, j.rows, j.cols, j.from.row = w.in, n, b.job.cols, b.job.from.row+i
	w.m.prepare(&w.x)
	w.m.past = b.stream
	return w.m.work(&w.x, area{0, n, 0, b.job.cols})
}

// End gives the memory back.
func (b *stripBody[T]) End() error {
	for k := range b.by1 {
		if w := &b.by1[k]; w.s != nil {
			w.m.release()
			b.f.run.idle.Put(w.m)
			b.f.Pool.Put(w.s)
		}
	}
	b.f.Pool.Put(b.shared)
	*b = stripBody[T]{}
	return nil
}
