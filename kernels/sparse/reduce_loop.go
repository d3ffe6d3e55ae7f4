package sparse

// This file runs reductions of all elements of sparse matrices as loops over ranges of entries.

import (
	"flow/ir/op"
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
	all := &l.by[0].acc
	if l.m.NNZ() < l.m.Rows*l.m.Cols {
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
