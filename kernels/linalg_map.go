package kernels

// This file defines the row `map.product`: a chain of elementwise operators on a product, which is
// not stored. How it runs by strips of rows is in linalg_strips.go.

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

// denseProducts is the rows of linear algebra on the given kernel set, with those of products
// inside of chains and pipes.
func denseProducts(set blas.Set) []*op.Def {
	l := linalg.NewLinear(set)
	return append(l.Rows(), pipeProduct(l), mapProduct(l))
}

// mapProduct is the row. Its inputs are those of the chain, in the place `place` what the product
// is added to or, if there is no such matrix, its left factor; then the left factor, if it is not
// there, and the right one. Its attributes are those of map, that place, whether something is added
// to (acc), those of gemm, and held, which is 0 for each input in whose memory the result may lie:
// those that are read to the end when it is written, or elsewhere, have 1.
func mapProduct(l *linalg.Linear) *op.Def {
	f := &productMaps{Linear: l, run: &engine{}}
	return &op.Def{
		Name:   "map.product",
		Hidden: true,
		Doc:    "map.product runs a chain of elementwise operators on each part of a matrix product while a cache has it; fusion makes it.",
		Args:   []op.Arg{{Name: "x", Rest: true}},
		Type:   define.OwnType,
		Ref:    mapProductRef,
		Laws:   op.Pure,
		Flow:   op.Flow{Rate: op.Once},
		Rate:   "gemm",
		Cost:   mapProductCost,
		Along: func(a *op.Attrs) []int {
			out := alongModes(a)
			if a.Bool("acc") { // the left factor is behind the chain's operands
				out = append(out, len(a.Ints("modes")))
			}
			return out
		},
		Alias: true, // of the inputs for which the attribute held is 0
		Kernel: func(c *op.Call) error {
			switch {
			case c.Type.Count() == 0:
				return nil
			case !inStrips(typesIn(c), c.Type):
				return f.whole(c)
			}
			b := f.begin(c, 1)
			if err := b.Chunk(0, 0, c.Type.Rows); err != nil {
				return err
			}
			return b.End()
		},
		Loop: &op.Loop{
			Light: true,
			Takes: func(s *op.Sig, out types.Type) bool {
				return inStrips(productIn(s.Attrs, func(k int) types.Type { return s.In[k] }, len(s.In)), out)
			},
			Rows: func(s *op.Sig, out types.Type) int {
				turned := slices.Contains(s.Attrs.Ints("modes"), int64(op.Trans))
				if turned || !inStrips(productIn(s.Attrs, func(k int) types.Type { return s.In[k] }, len(s.In)), out) {
					return 0
				}
				return out.Rows
			},
			Space: func(c *op.Call) (n, leaf int) {
				p := typesIn(c)
				if c.Type.Count() == 0 || !inStrips(p, c.Type) {
					return 0, 0
				}
				height := stripRows(c.Type)
				return c.Type.Rows, linalg.RoundUp(max(height, window.LeafElements/max(p.a.Cols, c.Type.Cols)), height)
			},
			Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return f.begin(c, workers), nil },
		},
	}
}

// factors is the operands of the product in a call, as values or as types.
type factors[T any] struct {
	a, b   T
	ta, tb bool
}

// productIn is the factors among n inputs.
func productIn[T any](attrs *op.Attrs, in func(k int) T, n int) factors[T] {
	a := n - 2
	if !attrs.Bool("acc") {
		a = attrs.Int("place")
	}
	return factors[T]{in(a), in(n - 1), attrs.Bool("ta"), attrs.Bool("tb")}
}

// typesIn is the types of the factors of a call.
func typesIn(c *op.Call) factors[types.Type] {
	return productIn(c.Attrs, func(k int) types.Type { return c.In[k].Type() }, len(c.In))
}

// inStrips reports a product that is made by strips of rows, with the right factor packed
// beforehand: one that stays in a second-level cache. The rows of a left factor that is read
// transposed lie too far apart for that.
func inStrips(p factors[types.Type], out types.Type) bool {
	return !p.ta && p.b.Count() > 0 && p.b.Count() <= linalg.MostRight && out.Count() > 0
}

// mapProductCost counts some operations an element for the chain.
func mapProductCost(s *op.Sig, out types.Type) op.Work {
	p := productIn(s.Attrs, func(k int) types.Type { return s.In[k] }, len(s.In))
	_, k := define.Turned(p.a, p.ta)
	return op.Work{Flops: (2*float64(max(k, 0)) + 8) * float64(out.Count()), Bytes: define.Traffic(s, out)}
}

// mapProductRef is the product stored, then the definition of the map.
func mapProductRef(c *op.Call) (value.Value, error) {
	at := c.Attrs.Int("place")
	p := productIn(c.Attrs, c.Dense, len(c.In))
	product := value.New(c.Body.In[at].Elem, c.Type.Rows, c.Type.Cols)
	if c.Attrs.Bool("acc") {
		dense.Copy(product, c.Dense(at))
	}
	linalg.ProductRef(product, p.a, p.b, p.ta, p.tb, c.Attrs.Bool("sub"), false)
	m := *c
	m.In = chainIn(c)
	m.In[at] = product
	return mapRef(&m)
}

// alongModes lists the operands of a chain that are read by rows. The place of a product has its left
// factor, which is read so, too.
func alongModes(a *op.Attrs) (out []int) {
	for k, m := range a.Ints("modes") {
		if m := op.Mode(m); m == op.Full || m == op.ColVec {
			out = append(out, k)
		}
	}
	return out
}

// chainIn is a copy of the inputs of the chain.
func chainIn(c *op.Call) []value.Value {
	return append([]value.Value(nil), c.In[:len(c.Attrs.Ints("modes"))]...)
}

// productMaps runs the row's calls.
type productMaps struct {
	*linalg.Linear
	run *engine
}

// whole makes the whole product, by the blocks that the kernels choose for the caches, and then
// runs the chain on it. The product lies in the result where that has its type: of the inputs it
// shares memory with what is added to, if with any.
func (f *productMaps) whole(c *op.Call) error {
	at := c.Attrs.Int("place")
	p := productIn(c.Attrs, c.Dense, len(c.In))
	out, e := c.Result(), c.Body.In[at].Elem
	product := out
	if out.Elem != e {
		product = value.New(e, out.Rows, out.Cols)
	}
	switch acc := c.Dense(at); {
	case !c.Attrs.Bool("acc"):
		dense.Clear(product)
	case product != out || !lendsMemory(c.In[at:at+1], out):
		dense.Copy(product, acc)
	}
	f.Accumulate(product, p.a, p.b, p.ta, p.tb, c.Attrs.Bool("sub"))
	in := chainIn(c)
	in[at] = product
	return f.run.execute(c.Body, in, out, placeOf(c))
}

// begin prepares a call that runs by strips.
func (f *productMaps) begin(c *op.Call, workers int) op.LoopBody {
	if c.Body.In[c.Attrs.Int("place")].Elem == types.F32 {
		return beginStrips(f, f.F32, c, workers)
	}
	return beginStrips(f, f.F64, c, workers)
}
