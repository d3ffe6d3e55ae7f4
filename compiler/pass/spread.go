package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads loops over ranks. A node that all ranks run (plan.Everywhere) makes the same
// value on each, or, where its rows are independent and worth it, only that rank's rows of it:
//
//	%2 = iterate(%0, %1) (%p, %v) {                 %2 = iterate(%0, %1) (%p, %v) {
//	  %a = parfor(%p) (i) {..}                        %q = gather(%p)
//	  %w = map(%v, %a) ..                  ->         %a = parfor(%q) {ranks=3} (i) {..}
//	  yield %x %w                                     %w = map(%v, %a) {ranks=3} ..
//	}                                                 yield %x %w
//
// A matrix has its full shape on every rank, and may be partial: valid only in the rows of the rank
// (plan.Window). Who reads a row of it to make the same row of a partial result reads it as it is;
// others read a gather of it. Nothing else moves, and no attribute or index differs among ranks: so
// the bytes are those of one rank.
//
// It would be wrong for a node with an effect that happens once, and for one that reads what only
// rank 0 has.

// spreader spreads the nodes of one graph and its regions.
type spreader struct {
	table *op.Table
	ranks int
	from  int // Sizes.Spread
}

// spreadGraph is a graph being made of another one.
type spreadGraph struct {
	*spreader
	old, g  *ir.Graph
	to      []ir.ID                   // the new node of each old one
	partial []bool                    // of old nodes: only a rank's own rows are valid
	parts   map[ir.ID][]bool          // of results of old nodes with several
	whole   map[ir.ID]ir.ID           // the gather of an old node
	views   map[ir.ID]map[ir.ID]ir.ID // of old slices of partial matrices the new ones, by what they are of
	states  map[ir.ID][]*op.Def       // of old pipes with several results: those of which a rank has only its state
	shares  int                       // nodes whose rows are shared, those in regions included
}

// spreads lists the nodes of g that all ranks are to run: loops over an index space and iterates
// with such loops, what selects their results, and what reads rows that ranks share to make such
// rows, or to reduce them.
func spreads(g *ir.Graph, apart func(id ir.ID) bool, s *spreader) (everywhere []bool) {
	everywhere = make([]bool, g.Len())
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Role == op.Points || n.Op.Control == op.Iterate }) {
		return everywhere
	}
	ordered := func(id ir.ID) bool { // behind an effect of one rank: no message carries an effect
		return slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return g.Type(x).Kind == types.Effect && !everywhere[x] })
	}
	x := s.on(g) // tries, to know what is partial
	for i := range g.Nodes {
		id, n := ir.ID(i), &g.Nodes[i]
		_, _, _, sent := g.Dest(id)
		shares := x.shares
		switch {
		case n.Op.Control == op.Part:
			everywhere[i] = everywhere[g.In(id)[0]]
		case sent || happensOnce(g, id) || apart(id) || ordered(id):
		case n.Op.Role == op.Points || n.Op.Control == op.Iterate:
			x.node(id)
			everywhere[i] = x.shares > shares
			continue
		default:
			reads := slices.ContainsFunc(g.In(id), func(from ir.ID) bool { return x.partial[from] })
			if _, everywhere[i] = s.shared(g, id, x.partials(id)); everywhere[i] && reads {
				x.node(id)
				continue
			}
			everywhere[i] = false
		}
		if everywhere[i] {
			x.node(id)
		} else {
			x.to[id] = x.g.CopyNode(g, id, x.inputs(id, always)...)
		}
	}
	return everywhere
}

// happensOnce reports a node with an effect that only one rank may have. An assert has none where it
// holds, and where it does not all ranks say the same.
func happensOnce(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	if n.Op.Laws.Has(op.Effectful) && n.Op.Elements == nil {
		return true
	}
	if !isControl(n) {
		return false
	}
	for r := n.Region; r != nil; r = r.Next {
		for i := range r.Graph.Nodes {
			if happensOnce(r.Graph, ir.ID(i)) {
				return true
			}
		}
	}
	return false
}

// partials says which inputs of a node are partial.
func (x *spreadGraph) partials(id ir.ID) []bool {
	in := x.old.In(id)
	out := make([]bool, len(in))
	for k, from := range in {
		out[k] = x.partial[from]
	}
	return out
}

func (s *spreader) on(g *ir.Graph) *spreadGraph {
	x := &spreadGraph{spreader: s, old: g, g: ir.New(), to: make([]ir.ID, g.Len()), partial: make([]bool, g.Len()), parts: map[ir.ID][]bool{}, whole: map[ir.ID]ir.ID{}, views: map[ir.ID]map[ir.ID]ir.ID{}, states: map[ir.ID][]*op.Def{}}
	x.g.CopyTables(g)
	return x
}

// full returns the new node of an old one with all its rows.
func (x *spreadGraph) full(id ir.ID) ir.ID {
	if !x.partial[id] {
		return x.to[id]
	}
	if x.views[id] != nil {
		return x.reach(id, rowReads{whole: true})
	}
	g, ok := x.whole[id]
	if ok {
		x.g.Nodes[g].Attrs = nil // no reach
	} else {
		g = x.g.Add(x.table.Must("gather"), nil, x.old.Type(id), x.old.Origin(id).NoDest(), x.to[id])
		x.whole[id] = g
	}
	return g
}

// inputs returns the inputs of a new node: those for which need is false as they are, the others
// with all their rows.
func (x *spreadGraph) inputs(id ir.ID, need func(k int) bool) []ir.ID {
	in := make([]ir.ID, 0, len(x.old.In(id)))
	for k, from := range x.old.In(id) {
		if need(k) {
			in = append(in, x.full(from))
		} else {
			in = append(in, x.own(from))
		}
	}
	return in
}

func always(int) bool { return true }

// node makes the new node of an old one.
func (x *spreadGraph) node(id ir.ID) {
	n := &x.old.Nodes[id]
	switch {
	case n.Op.Control == op.Part:
		from, at := x.old.In(id)[0], n.Attrs.Int("at")
		if d := x.states[from]; d != nil && d[at] != nil {
			state := x.typed(id, n.Op, n.Attrs, x.to[from])
			x.to[id] = x.merged(id, d[at], pipeSpace(&x.old.Nodes[from]), state)
			return
		}
		x.to[id] = x.g.CopyNode(x.old, id, x.to[from])
		if p := x.parts[from]; at < len(p) { // behind them is an effect
			x.partial[id] = p[at]
		}
		return
	case n.Op.Control == op.Iterate:
		starts := make([]bool, n.Carried())
		for k := range starts {
			starts[k] = x.partial[x.old.In(id)[k]]
		}
		region, carried := x.iterate(id, starts)
		x.to[id] = x.g.CopyNode(x.old, id, x.inputs(id, func(k int) bool { return k >= n.Carried() })...)
		x.g.Nodes[x.to[id]].Region = region
		x.parts[id] = carried
		return
	case n.Op.Control == op.Select:
		var first *ir.Region
		next := &first
		for r := n.Region; r != nil; r = r.Next {
			y, _ := x.region(r, nil, always)
			*next = y
			next = &y.Next
		}
		x.to[id] = x.g.CopyNode(x.old, id, x.inputs(id, always)...)
		x.g.Nodes[x.to[id]].Region = first
		return
	}
	if x.view(id) {
		return
	}
	reads, ok := x.shared(x.old, id, x.partials(id))
	if ok && x.reduction(x.old, id) {
		x.reduced(id)
		return
	}
	if !ok {
		x.to[id] = x.g.CopyNode(x.old, id, x.inputs(id, always)...)
		return
	}
	in := make([]ir.ID, len(x.old.In(id)))
	for k, from := range x.old.In(id) {
		in[k] = x.reach(from, reads[k])
	}
	made := x.g.CopyNode(x.old, id, in...)
	x.to[id] = made
	at := &x.g.Nodes[made]
	at.Attrs = at.Attrs.With(plan.Shared, op.Int(x.ranks)).With(plan.SharedRows, op.Int(x.rows(x.old, id)))
	x.shares++
	if n.Op.Role == op.Reduces {
		x.reduces(id, made)
	} else {
		x.partial[id] = true
	}
}

// iterate spreads the regions of a loop. starts says which carried values are partial at first; the
// result says which are in every round, and so at the end.
func (x *spreadGraph) iterate(id ir.ID, starts []bool) (*ir.Region, []bool) {
	n := &x.old.Nodes[id]
	carried := slices.Clone(starts)
	for {
		shares := x.shares
		free := func(k int) bool { return k >= len(carried) }
		body, yields := x.region(n.Region, carried, free)
		again := false
		for k := range carried {
			if yields[k] && !carried[k] {
				carried[k], again = true, true
			}
		}
		if again { // what begins whole may be taken to be partial
			x.shares = shares
			continue
		}
		if r := n.Region.Next; r != nil {
			body.Next, _ = x.region(r, carried, always)
		}
		return body, carried
	}
}

// region spreads a region. carried says which of its first arguments are partial, and need which
// yields must be whole.
func (x *spreadGraph) region(r *ir.Region, carried []bool, need func(k int) bool) (out *ir.Region, yields []bool) {
	in := x.on(r.Graph)
	for k, partial := range carried {
		in.partial[r.Args[k]] = partial
	}
	for i := range r.Graph.Nodes {
		if r.Graph.Nodes[i].Op.Role == op.Argument {
			in.to[i] = in.g.CopyNode(r.Graph, ir.ID(i))
			continue
		}
		in.node(ir.ID(i))
	}
	out = &ir.Region{Graph: in.g}
	for _, a := range r.Args {
		out.Args = append(out.Args, in.to[a])
	}
	for k, y := range r.Yields {
		if need(k) {
			out.Yields = append(out.Yields, in.full(y))
			yields = append(yields, false)
		} else {
			out.Yields = append(out.Yields, in.own(y))
			yields = append(yields, in.partial[y])
		}
	}
	x.shares += in.shares
	return out, yields
}

// shared reports whether ranks share the rows of node id, and if so what they read of its operands.
// partial says which operands have no rows but a rank's own.
func (s *spreader) shared(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, ok bool) {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if s.reduction(g, id) { // by a pipe, and worth it only where a rank has no more than its rows
		rows := g.Type(in[0]).Rows
		return []rowReads{{needs: []plan.Need{ownRows(rows)}}}, partial[0] && rows >= s.ranks && n.Attrs.Int("keep") == 0
	}
	rows := s.rows(g, id)
	if rows < s.ranks || n.Attrs.Int("keep") > 0 {
		return nil, false
	}
	work := 0.0
	switch {
	case n.Op.Role == op.Reduces && (axisOf(pipeFolds(s.table, n)) == op.FoldCols || slices.ContainsFunc(pipeFolds(s.table, n), toState)):
		return nil, false
	case n.Op.Role == op.Reduces:
		work = float64(pipeSpace(n).Count()) // about as many operations
	case elementwise(n):
		work = float64(t.Count())
	default:
		work = n.Op.Cost(sigOf(g, id), t).Flops
	}
	gains := work >= float64(s.from)
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
	if n.Op.Role != op.Reduces && !dividable(t) || n.Op.Role == op.Points && n.Attrs.Ints("lo") == nil {
		return 0
	}
	for _, x := range g.In(id) {
		if xt := g.Type(x); !isNumber(xt) && !dividable(xt) && !xt.IsSparse() {
			return 0
		}
	}
	return n.Op.Loop.Rows(sigOf(g, id), t)
}

// dividable is what ranks can share: a dense matrix of known shape.
func dividable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() > 0 }

// numberGathers numbers the gathers of g and its regions, whose graphs belong to the caller. ok is
// false if there are too many.
func numberGathers(g *ir.Graph) (ok bool) {
	key := 0
	var within func(g *ir.Graph)
	within = func(g *ir.Graph) {
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if plan.IsGather(n) {
				n.Attrs = n.Attrs.With("key", op.Int(key))
				key++
			}
			if isControl(n) {
				for r := n.Region; r != nil; r = r.Next {
					within(r.Graph)
				}
			}
		}
	}
	within(g)
	return key <= plan.MostGathers
}
