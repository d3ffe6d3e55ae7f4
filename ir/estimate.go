package ir

import (
	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
)

// This file estimates the nonzeros of the matrices on the edges of a graph, from their inputs and
// their rows (op.Def.Stored).

// Estimator estimates the edges of one graph, which may grow meanwhile. It computes only the edges
// that are asked for or needed.
type Estimator struct {
	g     *Graph
	told  bool // see ToldEstimator
	known map[ID]sparsity.Estimate
	most  map[ID]types.Type // see Most
}

// NewEstimator returns an Estimator of g. Where the run chooses how many rows there are, it takes the
// most that there may be.
func NewEstimator(g *Graph) *Estimator {
	return &Estimator{g: g, known: map[ID]sparsity.Estimate{}, most: map[ID]types.Type{}}
}

// ToldEstimator returns an Estimator of g for the order of chains of products, from which the bytes of
// a program follow. It takes nothing for what the run chooses, and no estimate of it becomes better
// (op.Sig.Told).
func ToldEstimator(g *Graph) *Estimator {
	e := NewEstimator(g)
	e.told = true
	return e
}

// Most returns the type of an edge with the most rows and columns that it may have, where these follow
// from the inputs. Others stay types.Unknown.
func (e *Estimator) Most(id ID) types.Type {
	t := e.g.Type(id)
	if !t.IsMatrix() || t.Known() || e.told {
		return t
	}
	if m, ok := e.most[id]; ok {
		return m
	}
	n := &e.g.Nodes[id]
	sig := op.Sig{Def: n.Op, Attrs: n.Attrs}
	for _, x := range e.g.In(id) {
		sig.In = append(sig.In, e.Most(x))
	}
	m := t
	switch {
	case len(sig.In) == 0:
	case n.Op.Role == op.Slices || n.Op.Role == op.Exchange:
		m = sig.In[0]
	case n.Op.MostRows != nil && sig.In[0].Known():
		m.Rows = n.Op.MostRows(&sig)
	case n.IsChain():
		for _, x := range sig.In {
			m.Rows, m.Cols = max(m.Rows, x.Rows), max(m.Cols, x.Cols)
		}
	case n.Op.Type != nil && n.Region == nil:
		if of, err := n.Op.Type(&sig); err == nil && of.IsMatrix() {
			m = of
		}
	}
	if t.Rows == types.Unknown {
		t.Rows = m.Rows
	}
	if t.Cols == types.Unknown {
		t.Cols = m.Cols
	}
	e.most[id] = t
	return t
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
		sig := op.Sig{Def: n.Op, Attrs: n.Attrs, Told: e.told}
		known, told := true, true
		for _, x := range e.g.In(id) {
			t := e.Most(x)
			sig.In = append(sig.In, t)
			known = known && (!t.IsMatrix() || t.Known())
			told = told && t == e.g.Type(x)
		}
		if known {
			s = n.Op.Stored(&sig, e.Inputs(id), t)
			s.Full = t.IsDense()
		}
		if known && !told {
			s.Basis = max(s.Basis, sparsity.Bounded)
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

// Assume sets the estimate of an argument of a region.
func (e *Estimator) Assume(id ID, s sparsity.Estimate) { e.known[id] = s }

// Region returns the Estimator of a region of node id. Arguments with one value in all rounds have the
// estimates of the inputs of the node; nothing is known of the others.
func (e *Estimator) Region(id ID, r *Region) *Estimator {
	n, in := &e.g.Nodes[id], e.g.In(id)
	inner := NewEstimator(r.Graph)
	inner.told = e.told
	for k, a := range r.Args {
		if at := k + n.FirstArg(); at < len(in) && (n.Op.Control != op.Iterate || k >= n.Carried()) {
			inner.known[a], inner.most[a] = e.Of(in[at]), e.Most(in[at])
		}
	}
	return inner
}
