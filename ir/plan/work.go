package plan

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file counts the operations of nodes with bodies. Their rows see types alone, and a point of a
// body may take one operation or a million.

// ChainFlops returns how many operations an element of a chain takes, or of one elementwise operator.
func ChainFlops(g *ir.Graph, id ir.ID) (flops float64) {
	of := func(g *ir.Graph, id ir.ID) {
		d := g.Nodes[id].Op
		if d.Cost == nil || !d.Laws.Has(op.Elementwise) {
			return
		}
		s := &op.Sig{Def: d, Attrs: g.Nodes[id].Attrs}
		for _, x := range g.In(id) {
			s.In = append(s.In, types.ScalarOf(g.Type(x).Elem))
		}
		flops += max(1, d.Cost(s, types.ScalarOf(g.Type(id).Elem)).Flops)
	}
	r := g.Nodes[id].Region
	if r == nil {
		of(g, id)
		return flops
	}
	for i := range r.Graph.Nodes {
		of(r.Graph, ir.ID(i))
	}
	return flops
}

// BodyFlops returns about how many operations the bodies of a list take at a point: those of
// elementwise operators, which are done in lanes, and those apart from them. known is false if the
// amount of work depends on values of the run. Rows that the run chooses count as the most that there
// may be.
func BodyFlops(r *ir.Region) (inLanes, apart float64, known bool) {
	known = true
	inner := func(r *ir.Region, rounds float64) {
		l, a, k := BodyFlops(r)
		inLanes, apart, known = inLanes+rounds*l, apart+rounds*a, known && k
	}
	for ; r != nil; r = r.Next {
		g := r.Graph
		e := ir.NewEstimator(g)
		for id, n := range g.All() {
			known = known && (g.Type(id).Kind != types.Matrix || g.Type(id).Known())
			t := e.Most(id)
			if t.Kind == types.Matrix && !t.Known() {
				continue
			}
			switch {
			case n.Op.Control == op.Iterate:
				rounds, told := Rounds(g, id)
				inner(n.Region, float64(rounds))
				known = known && told
			case n.Op.Role == op.Points:
				inner(n.Region, float64(max(1, t.Count())))
			case n.Region != nil:
				inner(n.Region, 1)
			case n.Op.Laws.Has(op.Elementwise):
				inLanes += float64(max(1, t.Count())) * ChainFlops(g, id)
			case n.Op.Cost != nil:
				s := &op.Sig{Def: n.Op, Attrs: n.Attrs}
				for _, x := range g.In(id) {
					s.In = append(s.In, e.Most(x))
				}
				if n.Attrs.Bool("drawn") || pickedOnly(g, id) { // only what is read of it is drawn
					t = types.DenseOf(t.Elem, 1, 1)
				}
				apart += max(0, n.Op.Cost(s, t).Flops)
			}
		}
	}
	return inLanes, apart, known
}

// pickedOnly reports a matrix whose elements follow from numbers alone and whose readers take one
// element each. A loop computes no other elements.
func pickedOnly(g *ir.Graph, id ir.ID) bool {
	one := func(n *ir.Node, t types.Type) bool {
		return n.Op.Role == op.Picks || n.Op.Role == op.PicksAt || n.Op.Role == op.Windows && t.Count() == 1
	}
	if g.Nodes[id].Op.Elements == nil || slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return !g.Type(x).IsScalar() }) {
		return false
	}
	for k := int(id) + 1; k < g.Len(); k++ {
		if slices.Contains(g.In(ir.ID(k)), id) && !one(&g.Nodes[k], g.Type(ir.ID(k))) {
			return false
		}
	}
	return true
}

// flopsWithin returns the operations of a node with a body. Its row knows the number told of them.
func flopsWithin(g *ir.Graph, id ir.ID, told float64) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	if t.Kind == types.Matrix && !t.Known() {
		return told
	}
	switch {
	case n.Op.Role == op.Reduces:
		return max(told, float64(n.Attrs.Int("rows"))*float64(n.Attrs.Int("cols"))*ChainFlops(g, id))
	case n.IsChain() && t.IsDense():
		return max(told, float64(t.Count())*ChainFlops(g, id))
	}
	inLanes, apart, known := BodyFlops(n.Region)
	body := inLanes + apart
	if n.Op.Role == op.Points {
		points := float64(t.Count())
		if len(n.Attrs.Ints("lo")) == 1 { // each makes a row
			points = float64(t.Rows)
		}
		if body *= points; known {
			return body
		}
	}
	return max(told, body)
}
