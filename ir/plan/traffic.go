package plan

import (
	"sync"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file predicts what ranks send each other.

// scalarBytes is the message of a number: as a floating-point number and as an integer.
const scalarBytes = 16

// messageBytes returns a function of the size of a value in a message. That of a sparse matrix is an
// estimate, and that of rows that the run chooses the most that there may be.
func messageBytes(g *ir.Graph, e *ir.Estimator) func(id ir.ID) float64 {
	stored := map[ir.ID]float64{}
	for _, x := range sparseEdges(g, e) {
		stored[x.Node] = x.Bytes
	}
	return func(id ir.ID) float64 {
		switch t := e.Most(id); {
		case t.IsScalar() && t.Elem.Size() > 0:
			return scalarBytes
		case t.IsMatrix() && !t.Known(): // nothing is known of it
			return 0
		case !t.IsSparse():
			return float64(t.Bytes())
		}
		for g.Nodes[id].Op.Role == op.Exchange {
			id = g.In(id)[0]
		}
		return stored[id]
	}
}

// Received returns a function that returns the bytes that a gather of g brings a rank in a round, on
// average. e estimates g.
func Received(g *ir.Graph, e *ir.Estimator, ranks int) func(id ir.ID) float64 {
	bytes := sync.OnceValue(func() func(ir.ID) float64 { return messageBytes(g, e) })
	return func(id ir.ID) float64 {
		return gatherOf(g, id, ranks, func(id ir.ID) float64 { return bytes()(id) }).bytes / float64(ranks)
	}
}

// gatherOf predicts one round of a gather. A part of a sparse matrix is sent as the lengths of its
// rows, its columns and, unless it is of bool, its values.
func gatherOf(g *ir.Graph, id ir.ID, ranks int, bytes func(ir.ID) float64) traffic {
	t, n := g.Type(id), float64(ranks)
	of := gatheredBy(g.Nodes[id].Attrs, t)
	if !t.IsSparse() {
		return of.traffic(ranks)
	}
	messages := 3.0
	if t.Elem == types.Bool {
		messages = 2
	}
	lengths := 4 * float64(t.Rows)
	entries := bytes(id) - 8*float64(t.Rows+1)
	a := g.Nodes[id].Attrs
	switch some := a.Int(Fetch); {
	case of.Own || a.Int(Only) > 0: // each rank gets the entries of its own rows, or one rank all
		entries /= n
	case some > 0: // as many of the entries as of the rows
		entries *= float64(some-1) / (float64(t.Rows) * (n - 1))
	}
	return traffic{messages * n * (n - 1), (n - 1) * (lengths + entries)}
}

// sentBy returns the bytes that an exchange sends to so many ranks: each gets all of the value, or its
// rows.
func sentBy(g *ir.Graph, id ir.ID, to int, bytes func(ir.ID) float64) float64 {
	if g.Nodes[id].Attrs.Int(SharedRows) > 0 {
		return float64(to) / float64(to+1) * bytes(id)
	}
	return float64(to) * bytes(id)
}
