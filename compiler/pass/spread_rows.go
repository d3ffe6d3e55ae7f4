package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file decides which nodes ranks share by rows, and what they then read of their operands.
//
// Of products with more columns than rows ranks share the columns, which are the rows of the
// transpose.
//
//	%2 = matmul(%0, %1) {ta} : f64[8,600]   ->   %2 = matmul(%1, %0) {ta, ranks=3, shared=600} : f64[600,8]
//	                                             %3 = gather(%2);  %4 = t(%3) : f64[8,600]
//
// Bits stay, since fma(a, b, c) is fma(b, a, c). The sums are chains over all rows of the operands, so
// a rank needs these whole.

// shared reports whether ranks share the rows of node id, and if so what they read of its operands.
// partial says which operands have no rows but a rank's own.
func (s *spreader) shared(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, ok bool) {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	place := g.Placement(id)
	if place == ir.Replicated || place == ir.OneRank {
		return nil, false
	}
	if n.Attrs.Int("keep") > 0 || s.fewRows(g, id) {
		return nil, false
	}
	// The memory of what only looks at other memory is not its own, so no rows may arrive there. A slice
	// of a partial matrix is a view.
	_, _, _, sent := g.Dest(id)
	if aligned(g, id) && partial[0] && !sent {
		return readsOf(g, id, t.Rows), true
	}
	if n.Op.Look != nil && (n.Op.Role != op.Slices || !partial[0] || sent) {
		return nil, false
	}
	if n.Op.Turned != "" && partial[0] && g.Type(in[0]).Known() && g.Type(in[0]).Cols >= s.ranks {
		return nil, true
	}
	if s.reduction(g, id) { // by a pipe
		space := g.Type(in[0])
		gains := partial[0] || space.Count() >= s.from
		return []rowReads{{needs: []plan.Need{ownRows(space.Rows)}}}, gains && space.Rows >= s.ranks && s.joins([]*op.Def{n.Op}, space)
	}
	if stated(n.Op) {
		rows := s.statedRows(g, id)
		reads = slices.Repeat([]rowReads{{needs: []plan.Need{ownRows(rows)}}}, len(in))
		gains := slices.Contains(partial, true) || s.flopsOf(g, id) >= float64(s.from) && !t.IsSparse() && !g.Type(in[0]).IsSparse()
		return reads, gains && rows >= s.ranks
	}
	if s.wide(g, id) {
		return s.wideReads(g, id)
	}
	if n.Op.Select != nil {
		return s.selectReads(g, id, partial)
	}
	if n.Op.Order != nil {
		return s.orderReads(g, id, partial)
	}
	if n.Op.Scan != nil {
		return s.scanReads(g, id, partial)
	}
	rows := s.rows(g, id)
	if rows < s.ranks || hasBody(n) && !s.bodyShared(g, id) {
		return nil, false
	}
	work := 0.0
	switch {
	case n.Op.Role == op.Reduces && !s.joins(pipeFolds(s.table, n), pipeSpace(n)):
		return nil, false
	case n.Op.Role == op.Reduces:
		work = float64(pipeSpace(n).Count()) // about as many operations
	case elementwise(n):
		work = float64(t.Count())
	case n.Op.Cost == nil:
		return nil, false
	case n.Op.Role == op.Points:
		work = s.workOf(g, id)
	case n.Op.Rate == productRate:
		work = s.flopsOf(g, id) / productSteps
	default:
		work = max(s.flopsOf(g, id), elements(t))
	}
	least := float64(s.from)
	if n.Op.Role != op.Points {
		least *= gatherSpreads // which brings the rows together again
	}
	gains := work >= least || s.all || n.Op.Role == op.Points && place == ir.ByRows
	if !gains && !slices.Contains(partial, true) {
		return nil, false
	}
	reads = readsOf(g, id, rows)
	for k := range in {
		if elementwise(n) && reads[k].whole && dividable(g.Type(in[k])) { // turned
			return nil, false
		}
		gains = gains || partial[k] && !reads[k].whole && n.Op.Role != op.Points
	}
	return reads, gains
}

// rows returns how many rows of node id ranks may share; 0: none.
func (s *spreader) rows(g *ir.Graph, id ir.ID) int {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Loop == nil || n.Op.Loop.Rows == nil || !n.Op.Laws.Has(op.Pure) {
		return 0
	}
	if n.Op.Role != op.Reduces && t.Kind != types.Tuple && !dividable(t) || n.Op.Role == op.Points && n.Attrs.Ints("lo") == nil {
		return 0
	}
	for _, x := range g.In(id) {
		if xt := g.Type(x); !isNumber(xt) && !dividable(xt) && !xt.IsSparse() {
			return 0
		}
	}
	return n.Op.Loop.Rows(sigOf(g, id), t)
}

// elements returns how many elements a matrix has; 0 for another value.
func elements(t types.Type) float64 {
	if !dividable(t) {
		return 0
	}
	return float64(t.Count())
}

// dividable is what ranks can share: a dense matrix of known shape.
func dividable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() > 0 }

// wide reports a product of floats whose columns ranks are to share.
func (s *spreader) wide(g *ir.Graph, id ir.ID) bool {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if n.Op.Role != op.Multiplies || len(in) != 2 || !n.Attrs.Bool("ta") || n.Attrs.Bool("tb") || !dividable(t) || !t.Elem.IsFloat() {
		return false
	}
	return dividable(g.Type(in[0])) && dividable(g.Type(in[1])) && t.Rows < t.Cols && t.Cols >= s.ranks
}

// wideReads is shared of a wide product.
func (s *spreader) wideReads(g *ir.Graph, id ir.ID) (reads []rowReads, ok bool) {
	return []rowReads{{whole: true}, {whole: true}}, s.flopsOf(g, id)/productSteps >= gatherSpreads*float64(s.from)
}

// turned makes the new nodes of a wide product.
func (x *spreadGraph) turned(id ir.ID, reads []rowReads) {
	in := x.old.In(id)
	a, b := x.reach(in[0], reads[0]), x.reach(in[1], reads[1])
	t := x.old.Type(id)
	t.Rows, t.Cols = t.Cols, t.Rows
	attrs := x.sharing(op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}), t.Rows, x.unit[t.Rows])
	made := x.g.Add(x.old.Nodes[id].Op, attrs, t, x.old.Origin(id).NoDest(), b, a)
	x.shares++
	x.saved += x.spared(x.workOf(x.old, id))
	x.to[id] = x.typed(id, x.table.Must("t"), nil, x.g.Add(x.table.Must("gather"), x.inUnitsOf(t.Rows), t, x.old.Origin(id).NoDest(), made))
}
