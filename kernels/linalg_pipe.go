package kernels

// This file defines the row `pipe.product`: a pipe that reduces rows and reads a product of a tall
// matrix, which is made block by block while the pipe takes it from a cache.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/dense"
	"flow/kernels/linalg"
	"flow/kernels/window"
)

// pipeProduct is the row. Its inputs are those of the pipe, with the product's left factor in the
// place of the product, and then its right factor; its attributes are those of the pipe, that
// place, and whether the right factor is transposed.
func pipeProduct(l *linalg.Linear) *op.Def {
	f := &productPipes{Linear: l, run: &engine{}}
	return &op.Def{
		Name:   "pipe.product",
		Hidden: true,
		Doc:    "pipe.product is a pipe that reduces rows and reads a product of a tall matrix by a small one, which is not stored; fusion makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		Type: func(s *op.Sig) (types.Type, error) {
			return types.Type{}, op.Faultf(-1, define.CodeKind, "`pipe.product` has the type that its node says")
		},
		Ref:   productPipeRef,
		Laws:  op.Pure,
		Flow:  op.Flow{Rate: op.Once},
		Cost:  productPipeCost,
		Along: func(a *op.Attrs) []int { return alongModes(a) },
		Kernel: func(c *op.Call) error {
			b, err := f.begin(c, 1)
			if err != nil {
				return err
			}
			if err := b.Chunk(0, 0, b.job.rows); err != nil {
				return err
			}
			return b.End()
		},
		Loop: &op.Loop{
			Light: true,
			Rows:  op.RowsOfResult,
			Space: func(c *op.Call) (n, leaf int) {
				k := c.In[c.Attrs.Int("place")].Type().Cols
				return c.Attrs.Int("rows"), max(linalg.LeastTall, window.LeafElements/max(1, k))
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return f.begin(c, workers) },
		},
	}
}

func productPipeCost(s *op.Sig, out types.Type) op.Work {
	w := pipeCost(s, out)
	w.Flops += 2 * float64(s.In[s.Attrs.Int("place")].Count()) * float64(s.Attrs.Int("cols"))
	return w
}

// productPipeRef is the product stored, then the definition of the pipe.
func productPipeRef(c *op.Call) (value.Value, error) {
	last, at := len(c.In)-1, c.Attrs.Int("place")
	a, b := c.Dense(at), c.Dense(last)
	t := types.DenseOf(c.Body.In[at].Elem, c.Attrs.Int("rows"), c.Attrs.Int("cols"))
	attrs := op.MakeAttrs(op.Attr{Name: "tb", Val: op.Bool(c.Attrs.Bool("tb"))})
	p, err := linalg.MatmulRef(&op.Call{In: []value.Value{a, b}, Attrs: attrs, Type: t})
	if err != nil {
		return nil, err
	}
	pipe := *c
	pipe.In = append([]value.Value(nil), c.In[:last]...)
	pipe.In[at] = p
	return pipeRef(&pipe)
}

type productPipes struct {
	*linalg.Linear
	run *engine
}

// productBody is one execution.
type productBody struct {
	f     *productPipes
	job   job
	place int
	tb    bool
	a, b  *value.Dense
	by    []*productWorker
}

// productWorker is a worker's part: the product of some rows, windows of the operands that lie
// along the rows, and a pipe of them.
type productWorker struct {
	x       execution
	m       *machine
	product *value.Dense
	in      []value.Value
	view    []value.Dense
	out     value.Dense
	left    value.Dense
}

func (f *productPipes) begin(c *op.Call, workers int) (*productBody, error) {
	last := len(c.In) - 1
	pipe := *c
	pipe.In = c.In[:last]
	j, err := pipeJob(&pipe)
	if err != nil {
		return nil, err
	}
	b := &productBody{f: f, job: j, place: c.Attrs.Int("place"), tb: c.Attrs.Bool("tb"), b: c.Dense(last), by: make([]*productWorker, workers)}
	b.a = c.Dense(b.place)
	return b, nil
}

// worker is the state of worker k, made with its first chunk.
func (b *productBody) worker(k int) *productWorker {
	if b.by[k] == nil {
		w := &productWorker{x: execution{job: b.job, e: b.f.run}, m: b.f.run.machine(), in: append([]value.Value(nil), b.job.in...)}
		w.view = make([]value.Dense, len(w.in))
		w.product = value.New(b.job.p.In[b.place].Elem, b.block(), b.job.cols)
		w.x.ends = []ending{b.job.ends[0]}
		w.m.start(&w.x.job)
		b.by[k] = w
	}
	return b.by[k]
}

// block is the rows that are made at a time: a product that stays in a second-level cache.
func (b *productBody) block() int {
	return min(b.job.rows, max(16, 4*blockElems/b.job.cols))
}

// Chunk reduces rows lo..hi-1.
func (b *productBody) Chunk(worker, lo, hi int) error {
	w := b.worker(worker)
	for step := b.block(); lo < hi; lo += step {
		n := min(step, hi-lo)
		if err := w.rows(b, lo, n); err != nil {
			return err
		}
	}
	return nil
}

// rows reduces n rows from row i on.
func (w *productWorker) rows(b *productBody, i, n int) error {
	for k, o := range b.job.p.In {
		d, isDense := b.job.in[k].(*value.Dense)
		switch {
		case k == b.place:
			w.product.Window(&w.view[k], 0, 0, n, b.job.cols)
			w.in[k] = &w.view[k]
			dense.Clear(&w.view[k])
			b.a.Window(&w.left, i, 0, n, b.a.Cols)
			b.f.Accumulate(&w.view[k], &w.left, b.b, false, b.tb, false)
		case isDense && (o.Mode == op.Full || o.Mode == op.ColVec) && d.Rows == b.job.rows:
			d.Window(&w.view[k], i, 0, n, d.Cols)
			w.in[k] = &w.view[k]
		}
	}
	b.job.ends[0].out.Window(&w.out, i, 0, n, 1)
	w.x.rows, w.x.ends[0].out = n, &w.out
	w.m.prepare(b.job.p, w.in, n, b.job.cols)
	return w.m.work(&w.x, area{0, n, 0, b.job.cols})
}

// End gives the machines back.
func (b *productBody) End() error {
	for _, w := range b.by {
		if w != nil {
			w.m.release()
			b.f.run.idle.Put(w.m)
		}
	}
	return nil
}
