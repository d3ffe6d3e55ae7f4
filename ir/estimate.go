package ir

import (
	"flow/ir/op"
	"flow/ir/sparsity"
)

// This file estimates the nonzeros of the matrices on the edges of a graph, from their inputs and
// their rows (op.Def.Stored).

// Estimator estimates the edges of one graph, which may grow meanwhile. It computes only the edges
// that are asked for or needed.
type Estimator struct {
	g     *Graph
	known map[ID]sparsity.Estimate
}

// NewEstimator returns an Estimator of g.
func NewEstimator(g *Graph) *Estimator {
	return &Estimator{g: g, known: map[ID]sparsity.Estimate{}}
}

// Of returns the estimate of an edge, empty if it is no matrix.
func (e *Estimator) Of(id ID) sparsity.Estimate {
	t := e.g.Type(id)
	if !t.IsMatrix() {
		return sparsity.Estimate{}
	}
	if s, ok := e.known[id]; ok {
		return s
	}
	n := &e.g.Nodes[id]
	if n.Op.Role == op.Exchange {
		return e.Of(e.g.In(id)[0])
	}
	s := sparsity.Dense(t.Rows, t.Cols)
	if t.IsSparse() {
		s = sparsity.Unknown(t.Rows, t.Cols)
	}
	if n.Op.Stored != nil && t.Known() {
		in := e.g.In(id)
		sig := op.Sig{Def: n.Op, Attrs: n.Attrs}
		of := make([]sparsity.Estimate, len(in))
		known := true
		for k, x := range in {
			sig.In = append(sig.In, e.g.Type(x))
			of[k] = e.Of(x)
			known = known && (!sig.In[k].IsMatrix() || sig.In[k].Known())
		}
		if known {
			s = n.Op.Stored(&sig, of, t)
			s.Full = t.IsDense()
		}
	}
	e.known[id] = s
	return s
}
