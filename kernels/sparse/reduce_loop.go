package sparse

// This file runs reductions of all elements of sparse matrices as loops over ranges of entries.

import (
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/reduce"
)

// entryLoop is the Loop of a reduction of all elements of a sparse matrix. An iteration is as good
// a share of the entries as any other.
func entryLoop(w reduce.Whole) *op.Loop {
	return &op.Loop{
		Light: true,
		Space: func(c *op.Call) (n, leaf int) { return UnitSpace(c.In[0].Type()) },
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) {
			m := ofRank(c)
			if m.Rows*m.Cols == 0 && w.Nonempty && c.Type.IsScalar() {
				return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			n, _ := UnitSpace(c.In[0].Type())
			l := &entryBody{c: c, w: w, m: m, units: n, by: make([]entryWorker, workers)}
			fold := &reduce.Fold{Whole: w, Part: c.Type.IsMatrix()} // the state of a rank
			for i := range l.by {
				l.by[i].acc.Open(fold, m.Elem, 0, 1)
			}
			return l, nil
		},
	}
}

type entryBody struct {
	c     *op.Call
	w     reduce.Whole
	m     *value.CSR
	units int
	by    []entryWorker
	fill  func() (z *value.Dense, n int) // what the elements beside some entries are, and how many; nil: there are none
}

type entryWorker struct {
	acc reduce.Accumulators
	_   [128]byte
}

// Chunk adds the entries of units lo..hi-1 to the worker's accumulator.
func (l *entryBody) Chunk(worker, lo, hi int) error {
	n := l.m.NNZ()
	from, to := n/l.units*lo+n%l.units*lo/l.units, n/l.units*hi+n%l.units*hi/l.units
	addEntries(&l.by[worker].acc, l.w, l.m, from, to-from)
	return nil
}

// End joins the accumulators, and adds one zero for all that are not stored.
func (l *entryBody) End() error {
	all, zeros := &l.by[0].acc, l.m.Rows*l.m.Cols-l.m.NNZ()
	if l.fill != nil {
		z, n := l.fill()
		addCopies(all, z, n)
		zeros -= n
	}
	if zeros > 0 {
		all.Add(value.New(l.m.Elem, 1, 1), 0, 0, 0)
	}
	for i := range l.by[1:] {
		all.Merge(&l.by[1+i].acc)
	}
	if l.c.Type.IsMatrix() {
		all.Finish(l.c.Result(), 0)
	} else {
		l.c.Out = all.Result(0, l.c.Type.Elem, l.m.Rows*l.m.Cols)
	}
	return nil
}

// addCopies adds n elements z to acc: accumulators of 1, 2, 4, .. of them are joined.
func addCopies(acc *reduce.Accumulators, z *value.Dense, n int) {
	if n == 0 {
		return
	}
	some := acc.Alike()
	for some.Add(z, 0, 0, 0); ; n /= 2 {
		if n%2 == 1 {
			acc.Merge(some)
		}
		if n == 1 {
			return
		}
		twice := acc.Alike()
		twice.Merge(some)
		twice.Merge(some)
		some = twice
	}
}

// sparseBeside is the row that reduces the elements of a sparse matrix where another has its entries,
// and a number for all other elements.
func sparseBeside(w reduce.Whole) *op.Def {
	loop := entryLoop(w)
	begin := loop.Begin
	loop.Begin = func(c *op.Call, workers int) (op.LoopBody, error) {
		body, err := begin(c, workers)
		if err != nil {
			return nil, err
		}
		body.(*entryBody).fill = func() (*value.Dense, int) {
			z := value.New(c.In[0].Type().Elem, 1, 1)
			z.Set(0, 0, c.Scalar(2))
			s := c.In[1].(*value.CSR)
			return z, s.Rows*s.Cols - s.NNZ()
		}
		return body, nil
	}
	return &op.Def{
		Name: "sp." + w.Name + ".beside", Hidden: true,
		Doc: "sp." + w.Name + ".beside is " + w.Name + " of the matrix that is x where s has entries, and z elsewhere. x has no other entries. The " +
			"compiler makes it of chains on sparse matrices.",
		Args: []op.Arg{{Name: "x", Doc: "sparse matrix"}, {Name: "s", Doc: "sparse matrix"}, {Name: "z", Doc: "scalar"}},
		Type: func(s *op.Sig) (types.Type, error) {
			if x, of, z := s.In[0], s.In[1], s.In[2]; !x.IsSparse() || !of.IsSparse() || x.Rows != of.Rows || x.Cols != of.Cols || !z.IsScalar() || z.Elem != x.Elem {
				return x, op.Faultf(0, define.CodeShape, "sp.%s.beside of %s, %s and %s", w.Name, x, of, z)
			}
			return w.Type(denseSig(&op.Sig{Def: s.Def, Attrs: s.Attrs, In: s.In[:1]}), 0)
		},
		Ref: func(c *op.Call) (value.Value, error) {
			x, of := define.Elements(define.EveryElement(c.In[0])), define.Elements(define.EveryElement(c.In[1]))
			for i := range x {
				if !of[i].True() {
					x[i] = c.Scalar(2)
				}
			}
			if len(x) == 0 && w.Nonempty {
				return nil, op.Failf(define.CodeData, "%s of an empty matrix", c.Def.Source())
			}
			return w.Ref(x, c.Type.Elem), nil
		},
		Laws: op.Pure, Rate: "reduce." + w.Name, Cost: define.SparseCost(w.Flops), Loop: loop,
	}
}
