package plan

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// SparseEdge is a sparse matrix of a plan, or a product of sparse ones that was made dense, as
// estimated before the run.
type SparseEdge struct {
	Node  ir.ID   `json:"node"`
	Op    string  `json:"op"`
	Type  string  `json:"type"`
	NNZ   float64 `json:"nonzeros"`
	Basis string  `json:"basis"`          // counted, estimated, at most or guessed
	Bytes float64 `json:"bytes"`          // in the form that it has
	Other float64 `json:"bytes_as_other"` // in the other form: dense or sparse
}

// SparseEdges estimates the sparse matrices of a graph, without its regions.
func SparseEdges(g *ir.Graph) []SparseEdge { return sparseEdges(g, ir.NewEstimator(g)) }

// estimators has the estimators of graphs and of their regions.
type estimators map[*ir.Graph]*ir.Estimator

// of returns the estimator of a graph.
func (x estimators) of(g *ir.Graph) *ir.Estimator {
	if x[g] == nil {
		x[g] = ir.NewEstimator(g)
	}
	return x[g]
}

// enter makes the estimator of region r of node id of g. It knows the estimates of the node's inputs.
func (x estimators) enter(g *ir.Graph, id ir.ID, r *ir.Region) {
	if x[r.Graph] == nil {
		x[r.Graph] = x.of(g).Region(id, r)
	}
}

// bytes returns messageBytes of g.
func (x estimators) bytes(g *ir.Graph) func(id ir.ID) float64 {
	return messageBytes(g, x.of(g))
}

// sparseEdges is SparseEdges with the estimator of g.
func sparseEdges(g *ir.Graph, estimates *ir.Estimator) (out []SparseEdge) {
	for id, n := range g.All() {
		t, d := g.Type(id), n.Op
		if d.Role == op.Exchange || !t.IsMatrix() || !t.Known() || !t.IsSparse() && d.Name != "sp.product" {
			continue
		}
		e := estimates.Of(id)
		x := SparseEdge{Node: id, Op: d.Source(), Type: t.String(), NNZ: e.NNZ, Basis: e.Basis.String()}
		stored := t.Elem.Size()
		if t.Elem == types.Bool {
			stored = 0
		}
		other := e
		other.Full = !e.Full
		x.Bytes, x.Other = e.Bytes(t.Elem.Size(), stored), other.Bytes(t.Elem.Size(), stored)
		out = append(out, x)
	}
	return out
}
