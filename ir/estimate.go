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
		sig := op.Sig{Def: n.Op, Attrs: n.Attrs}
		known := true
		for _, x := range e.g.In(id) {
			t := e.g.Type(x)
			sig.In = append(sig.In, t)
			known = known && (!t.IsMatrix() || t.Known())
		}
		if known {
			s = n.Op.Stored(&sig, e.Inputs(id), t)
			s.Full = t.IsDense()
		}
	}
	e.known[id] = s
	return s
}

// Inputs returns the estimates of the inputs of a node.
func (e *Estimator) Inputs(id ID) []sparsity.Estimate {
	of := make([]sparsity.Estimate, len(e.g.In(id)))
	for k, x := range e.g.In(id) {
		of[k] = e.Of(x)
	}
	return of
}

// Region returns the Estimator of a region of node id. Arguments with one value in all rounds have the
// estimates of the inputs of the node; nothing is known of the others.
func (e *Estimator) Region(id ID, r *Region) *Estimator {
	n, in := &e.g.Nodes[id], e.g.In(id)
	inner := NewEstimator(r.Graph)
	for k, a := range r.Args {
		if at := k + n.FirstArg(); at < len(in) && (n.Op.Control != op.Iterate || k >= n.Carried()) {
			inner.known[a] = e.Of(in[at])
		}
	}
	return inner
}
