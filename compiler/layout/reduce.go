package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// This file spreads reductions over ranks: each reduces its own rows, and their states are joined.

// reduced makes a reduction the pipe of no chain, of the rows of one rank.
func (x *spreadGraph) reduced(id ir.ID, reads []rowReads) {
	n, from := &x.old.Nodes[id], x.old.In(id)[0]
	x.to[id] = x.pipeOf(id, from, n.Op.Name, x.old.Type(id), reads[0])
	x.saved += x.spared(float64(x.old.Type(from).Count()))
	x.ends(id, x.to[id], []*op.Def{n.Op}, x.old.Type(from))
}

// pipeOf makes the pipe that folds the rows of a rank of the old node from. The pipe takes the place of
// the old node id.
func (x *spreadGraph) pipeOf(id, from ir.ID, fold string, t types.Type, reads rowReads) ir.ID {
	space := x.old.Type(from)
	attrs := op.MakeAttrs(op.Attr{Name: "modes", Val: op.Ints(int(op.Full))}, op.Attr{Name: "fold", Val: op.Str(fold)},
		op.Attr{Name: "rows", Val: op.Int(space.Rows)}, op.Attr{Name: "cols", Val: op.Int(space.Cols)})
	attrs = x.sharing(attrs, space.Rows, x.unit[space.Rows])
	made := x.g.Add(x.table.Must("pipe"), attrs, t, x.old.Origin(id).NoDest(), x.reach(from, reads))
	r := &ir.Region{Graph: ir.New()} // a chain without operators
	r.Args = []ir.ID{r.Graph.Add(x.table.Must("arg"), nil, types.ScalarOf(space.Elem), ir.Origin{Span: x.old.Nodes[id].Span})}
	r.Yields = r.Args
	x.g.Nodes[made].Region = r
	return made
}

// reductionReads returns the reads of a reduction of rows, of columns or of all elements that is no
// part of a pipe.
func (s *spreader) reductionReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Fold == op.NoFold || len(in) != 1 || !nodes.Dividable(g.Type(in[0])) {
		return nil, elsewise
	}
	space := g.Type(in[0])
	reads = []rowReads{s.ownRows(space.Rows)}
	switch {
	case space.Rows < s.ranks:
		return reads, whyFew
	case !s.joins([]*op.Def{n.Op}, space):
		return reads, whyOrdered
	}
	return reads, unless(partial[0] || space.Count() >= s.from, whyLittle)
}

// joins reports reductions of a space whose states ranks can merge, in less time than other ranks
// spare. Those of rows have no state. A reduction to a state has none itself.
func (s *spreader) joins(folds []*op.Def, space types.Type) bool {
	bytes := 0
	for _, d := range folds {
		switch {
		case d == nil || d.Fold == op.FoldRows:
		case d.Shard.Partial == "":
			return false
		default:
			t := nodes.TypeOf(s.table.Must(d.Shard.Partial), nil, space)
			if bytes += t.Bytes(); s.mergesApart(d, t) { // together they send a rank as much as one state is
				bytes -= t.Bytes() - t.Bytes()/(s.ranks-1)
			}
		}
	}
	return s.sendsLess(bytes, float64(space.Count())*moveSteps)
}

// sendsLess reports whether ranks send and merge states of so many bytes in less time than sharing the
// work saves.
func (s *spreader) sendsLess(bytes int, work float64) bool {
	return float64(s.from)*float64((s.ranks-1)*bytes)/BytesSpread <= s.spared(work) || bytes <= mostState
}

// mostState is the size of states that messages carry in no more time than an empty one takes.
const mostState = 4096

// stated reports an operator on whole matrices that reduces rows, and whose row says how states of
// some rows are made and merged.
func stated(d *op.Def) bool { return d.Shard.Kind == op.ShardWhole && d.Shard.Partial != "" }

// reducedBy returns the first input of a stated operator that is no number.
func reducedBy(g *ir.Graph, id ir.ID) ir.ID {
	in := g.In(id)
	return in[max(0, slices.IndexFunc(in, func(x ir.ID) bool { return !nodes.IsNumber(g.Type(x)) }))]
}

// statedRows returns how many rows a stated operator reduces, if ranks can share them; else 0.
// Panels, whose results lie one below the other, are shared in units of a panel.
func (s *spreader) statedRows(g *ir.Graph, id ir.ID) int {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	partial, rows := s.table.Must(n.Op.Shard.Partial), g.Type(reducedBy(g, id)).Rows
	for _, x := range in {
		if t := g.Type(x); !nodes.IsNumber(t) && (!nodes.Dividable(t) && !(t.IsSparse() && t.Known()) || t.Rows != rows) {
			return 0
		}
	}
	panel := n.Attrs.Int("panel")
	if n.Op.Shard.Combine == "" && (!t.Elem.IsFloat() || panel == 0 || int(s.unit[rows].I) != panel) {
		return 0
	}
	sig := nodes.SigOf(g, id)
	sig.Def = partial
	if state, err := partial.Type(sig); err != nil || partial.Loop.Rows(sig, state) == 0 {
		return 0
	}
	return rows
}

// statedReads returns the reads of a stated operator.
func (s *spreader) statedReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n := &g.Nodes[id]
	if !stated(n.Op) {
		return nil, elsewise
	}
	rows, in, shard := s.statedRows(g, id), g.In(id), &n.Op.Shard
	reads = slices.Repeat([]rowReads{s.ownRows(rows)}, len(in))
	sparse := g.Type(id).IsSparse() || g.Type(in[0]).IsSparse()
	switch {
	case rows < s.ranks:
		return reads, s.whyNoStates(g, id)
	case !sparse && shard.Combine != "" && shard.Finish != "" &&
		!s.sendsLess(tableMoves*nodes.TypeOf(s.table.Must(shard.Partial), n.Attrs, nodes.SigOf(g, id).In...).Bytes(), s.workOf(g, id)):
		return reads, whyMessages
	case slices.Contains(partial, true) || !sparse && s.flopsOf(g, id) >= float64(s.from):
		return reads, ""
	case sparse:
		return reads, whyOperand
	}
	return reads, whyLittle
}

// whyNoStates says why ranks have no states of a stated operator to join.
func (s *spreader) whyNoStates(g *ir.Graph, id ir.ID) string {
	switch t, from := g.Type(id), g.Type(g.In(id)[0]); {
	case from.Known() && from.Rows < s.ranks:
		return whyFew
	case t.Known() && t.Elem.IsFloat():
		return whyOrdered
	}
	return whyTogether
}

// stated makes the new nodes of a stated operator: the states of a rank's rows, and the merge.
func (x *spreadGraph) stated(id ir.ID, reads []rowReads) {
	n := &x.old.Nodes[id]
	x.saved += x.spared(x.workOf(x.old, id))
	state := x.typed(id, x.table.Must(n.Op.Shard.Partial), n.Attrs, x.reachAll(id, reads)...)
	rows := x.old.Type(reducedBy(x.old, id)).Rows
	unit := x.unit[rows]
	if n.Op.Shard.Combine == "" {
		rows, unit = x.g.Type(state).Rows, op.Int(x.old.Type(id).Rows)
	}
	at := &x.g.Nodes[state]
	at.Attrs = x.sharing(at.Attrs, rows, unit)
	x.to[id] = x.joinsStated(n.Op)(id, state)
}

// joins makes the result of an old node of the new node that has a rank's state of it.
type joins func(id, state ir.ID) ir.ID

// joinsStated is how the states of a stated operator are joined.
func (x *spreadGraph) joinsStated(d *op.Def) joins {
	return func(id, state ir.ID) ir.ID {
		if x.g.Type(state).IsSparse() {
			return x.joinedAdding(id, state)
		}
		if d.Shard.Combine != "" {
			of := x.old.Type(x.old.In(id)[0])
			if d.Turned != "" && of.IsSparse() { // of each column
				of.Cols = 1
			}
			return x.merged(id, d, of, state)
		}
		rows := x.old.Type(id).Rows
		all := x.gatherOf(id, op.MakeAttrs(op.Attr{Name: plan.Unit, Val: op.Int(rows)}), state)
		return x.typed(id, x.table.Must(d.Shard.Finish), op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}), all)
	}
}

// scanReads returns the reads of a running reduction (op.Scan).
func (s *spreader) scanReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	if g.Nodes[id].Op.Scan == nil {
		return nil, elsewise
	}
	t, from := g.Type(id), g.Type(g.In(id)[0])
	if !nodes.Dividable(t) || !nodes.Dividable(from) || t.Rows < s.ranks {
		return s.inMessages(g, id, nil, false)
	}
	reads = []rowReads{s.ownRows(t.Rows)}
	if g.Nodes[id].Op.Scan.Joins(t.Elem) {
		return s.inMessages(g, id, reads, partial[0] || t.Count() >= GatherSpreads*s.from)
	}
	// Ranks make a chain one after the other, so sharing saves no time. It saves sending all rows, and
	// costs a message for each rank.
	return s.inMessages(g, id, reads, partial[0] && (s.from == 1 || float64(from.Bytes()) > float64((s.ranks-1)*GatherSpreads*BytesSpread)))
}

// scanned makes the new nodes of a running reduction: the last rows of the ranks' windows, and the
// windows. Ranks make the last rows at once if the steps associate, and one after the other if not.
func (x *spreadGraph) scanned(id ir.ID, reads []rowReads) {
	scan, t := x.old.Nodes[id].Op.Scan, x.old.Type(id)
	in := []ir.ID{x.reach(x.old.In(id)[0], reads[0])}
	unit := x.unit[t.Rows]
	windows := x.sharing(op.MakeAttrs(op.Attr{Name: "by", Val: unit}), x.ranks, op.Val{})
	end := x.table.Must(scan.End)
	if scan.Joins(t.Elem) {
		in = append(in, x.gatherOf(id, nil, x.typed(id, end, windows, in...)))
		x.saved += x.spared(x.workOf(x.old, id))
	} else {
		for r := range x.ranks - 1 {
			in = append(in, x.turn(id, end, windows, r, in[:1:1], in[1:]))
		}
	}
	x.to[id] = x.typed(id, x.table.Must(scan.From), x.sharing(nil, t.Rows, unit), in...)
	x.partial[id] = true
}

// tableReads returns the reads of a reduction to a table (op.Shard.Rows), if the tables that ranks
// would send are no smaller than the operands. Ranks then send the operands, and each makes its own
// rows of the table.
func (s *spreader) tableReads(g *ir.Graph, id ir.ID, _ []bool) (reads []rowReads, why string) {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if n.Op.Shard.Rows == "" || !nodes.Dividable(t) || t.Rows < s.ranks || s.flopsOf(g, id) < float64(s.from) {
		return nil, elsewise
	}
	bytes, most := 0, s.ranks*t.Bytes()
	if stated(n.Op) && s.statedRows(g, id) > 0 { // tables can be merged, and all ranks then have the result
		most = t.Bytes()
	}
	for _, x := range in {
		if !nodes.Dividable(g.Type(x)) {
			return nil, elsewise
		}
		bytes += g.Type(x).Bytes()
	}
	return slices.Repeat([]rowReads{{whole: true}}, len(in)), unless(bytes <= most, elsewise)
}

// tabled makes the new node of a reduction for which tableReads returns reads.
func (x *spreadGraph) tabled(id ir.ID, reads []rowReads) {
	n, rows := &x.old.Nodes[id], x.old.Type(id).Rows
	x.to[id] = x.typed(id, x.table.Must(n.Op.Shard.Rows), x.sharing(n.Attrs, rows, x.unit[rows]), x.reachAll(id, reads)...)
	x.partial[id] = true
	x.saved += x.spared(x.workOf(x.old, id))
}

// hasBody reports operators on whole matrices that are one loop.
func hasBody(n *ir.Node) bool {
	return n.Region != nil && !n.IsChain() && (n.Op.Along != nil || n.Op.Role == op.Grouped)
}

// bodyShared reports whether ranks can share the rows of such a loop: each of its results has these
// rows, or has a state that ranks merge.
func (s *spreader) bodyShared(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	b, rows := n.Region.Graph, n.Op.Loop.Rows(nodes.SigOf(g, id), g.Type(id))
	var folds []*op.Def
	var space types.Type
	for _, y := range n.Region.Yields {
		of, list, at := s.bodyFolds(b, y)
		switch t := b.Type(y); {
		case list != nil && list[at] != nil && (list[at].Fold == op.FoldAll || list[at].Fold == op.FoldCols):
			folds, space = append(folds, list[at]), nodes.SpaceIn(b, of)
		case stated(b.Nodes[y].Op) && b.Nodes[y].Op.Keyed != nil:
			if s.statedRows(b, y) != rows {
				return false
			}
		case !nodes.Dividable(t) || t.Rows != rows:
			return false
		}
	}
	return s.joins(folds, space)
}

// bodyFolds returns the node of a body that gives y, the reductions of that node, and the number of y
// among its results. folds is nil if y is no result of a pipe or of a reduction of all elements or of
// columns.
func (s *spreader) bodyFolds(b *ir.Graph, y ir.ID) (of ir.ID, folds []*op.Def, at int) {
	if of = y; b.Nodes[y].Op.Control == op.Part {
		of, at = b.In(y)[0], b.Nodes[y].Attrs.Int("at")
	}
	switch n := &b.Nodes[of]; {
	case n.Op.Role == op.Reduces:
		folds = nodes.PipeFolds(s.table, n)
	case n.Op.Fold == op.FoldAll || n.Op.Fold == op.FoldCols:
		folds = []*op.Def{n.Op}
	}
	return of, folds, at
}

// bodyEnds changes the region of made, the new node of loop id, so that it gives the rows of one rank
// and the states of its reductions.
func (x *spreadGraph) bodyEnds(id, made ir.ID) {
	of := x.old.Nodes[id].Region
	region := &ir.Region{Graph: of.Graph.Clone(), Args: of.Args, Yields: of.Yields}
	ts, join := make([]types.Type, len(of.Yields)), make([]joins, len(of.Yields))
	for k, y := range of.Yields {
		n := &of.Graph.Nodes[y]
		if ts[k] = of.Graph.Type(y); n.Op.Keyed != nil {
			state := x.table.Must(n.Op.Shard.Partial)
			ts[k] = nodes.TypeOf(state, n.Attrs, nodes.SigOf(of.Graph, y).In...)
			region.Graph.Replace(y, state, n.Attrs, of.Graph.In(y)...)
			join[k] = x.joinsStated(n.Op)
		} else if pipe, folds, at := x.bodyFolds(of.Graph, y); folds != nil {
			names, t, joined := x.folded(folds, nodes.SpaceIn(of.Graph, pipe))
			if n := &region.Graph.Nodes[pipe]; n.Region != nil {
				n.Attrs = n.Attrs.With("fold", op.Str(names))
			} else {
				region.Graph.Replace(y, x.table.Must(names), nil, of.Graph.In(y)...)
			}
			region.Graph.SetType(pipe, t)
			ts[k], join[k] = t.Parts()[at], joined[at]
		}
		region.Graph.SetType(y, ts[k])
	}
	x.g.Nodes[made].Region = region
	x.results(id, made, nodes.TupleOf(ts), join)
}

// ends changes the pipe made, the new node of id, so that it gives the results of one rank. folds are
// its reductions, space is the type of its index space.
func (x *spreadGraph) ends(id, made ir.ID, folds []*op.Def, space types.Type) {
	names, t, join := x.folded(folds, space)
	at := &x.g.Nodes[made]
	at.Attrs = at.Attrs.With("fold", op.Str(names))
	x.results(id, made, t, join)
}

// folded returns the attribute fold and the type of a pipe whose rows ranks share. A reduction of rows
// gives results, any other one gives a state, which join merges.
func (x *spreadGraph) folded(folds []*op.Def, space types.Type) (names string, t types.Type, join []joins) {
	state := func(d *op.Def) bool { return d.Fold != op.FoldRows }
	join = make([]joins, len(folds))
	for k, d := range folds {
		if d != nil && state(d) {
			join[k] = func(id, state ir.ID) ir.ID { return x.merged(id, d, space, state) }
		}
	}
	names, t = nodes.FoldedParts(x.table, folds, space, state)
	return names, t, join
}

// results sets the type of made to t and records its results as those of node id. join[k] merges the
// states of result k; nil: the result is the rows of a rank.
func (x *spreadGraph) results(id, made ir.ID, t types.Type, join []joins) {
	x.g.SetType(made, t)
	if x.old.Type(id).Kind == types.Tuple {
		x.parts[id], x.states[id] = make([]bool, len(join)), join
		for k := range join {
			x.parts[id][k] = join[k] == nil
		}
		return
	}
	if x.partial[id] = join[0] == nil; !x.partial[id] {
		x.to[id] = join[0](id, made)
	}
}

// merged returns the result of the reduction d of a space: each rank has reduced its rows to a
// state. If columns have large states, each rank merges and rounds those of some columns.
func (x *spreadGraph) merged(id ir.ID, d *op.Def, space types.Type, state ir.ID) ir.ID {
	attrs := op.MakeAttrs(op.Attr{Name: plan.Stacked, Val: op.Int(x.ranks)})
	cols := x.g.Type(state).Rows
	shares := x.mergesApart(d, x.g.Type(state))
	if shares {
		need := make([][]plan.Range, x.ranks)
		for r := range need {
			lo, hi := plan.WindowOf(r, x.ranks, cols, op.Val{})
			for k := range x.ranks {
				need[r] = append(need[r], plan.Range{From: k*cols + lo, To: k*cols + hi})
			}
		}
		attrs = x.sharing(attrs, cols, op.Val{}).With(plan.Reach, plan.ReachOf(need))
	}
	out := x.typed(id, x.table.Must(d.Shard.Combine), attrs, state)
	if d.Shard.Finish == "" {
		return out
	}
	count := space.Count()
	if d.Fold == op.FoldCols {
		count = space.Rows
	}
	n := op.Int(count)
	if sizes, ok := x.old.Nodes[id].Attrs.Get("n"); ok && stated(d) { // of the result
		n = sizes
	}
	attrs = op.MakeAttrs(op.Attr{Name: "n", Val: n}, op.Attr{Name: "elem", Val: op.Str(space.Elem.String())})
	if !shares {
		return x.typed(id, x.table.Must(d.Shard.Finish), attrs, out)
	}
	attrs = x.sharing(attrs.With(turned, op.Bool(true)), cols, op.Val{})
	return x.typed(id, x.table.Must("t"), nil, x.gatherOf(id, nil, x.typed(id, x.table.Must(d.Shard.Finish), attrs, out)))
}

// mergesApart reports that the states of the columns that d reduces, of type t, are merged and rounded
// in less time if each rank does so for some of the columns, and sends the results to the others.
func (s *spreader) mergesApart(d *op.Def, t types.Type) bool {
	bytes := float64(t.Bytes())
	if t.Cols > 1 { // words of exact sums
		bytes *= tableMoves
	}
	turns := func(a op.Arg) bool { return a.Name == turned }
	return t.Rows >= s.ranks && s.spared(bytes) >= roundSpreads*BytesSpread && d.Shard.Finish != "" && slices.ContainsFunc(s.table.Must(d.Shard.Finish).Args, turns)
}

// turned is the attribute of a Finish row that makes its results a column.
const turned = "turned"

// typed makes a node for node id of the old graph whose type comes from its row.
func (x *spreadGraph) typed(id ir.ID, d *op.Def, attrs *op.Attrs, in ...ir.ID) ir.ID {
	return x.g.Add(d, attrs, nodes.TypeOf(d, attrs, x.g.Types(nil, in...)...), x.old.Origin(id).NoDest(), in...)
}

// tileOwner returns the rank with the tile that an old node is sent to, or -1: tiles lie as outside of
// loops.
func (x *spreadGraph) tileOwner(id ir.ID) int {
	if _, _, _, ok := x.old.Dest(id); !ok {
		return -1
	}
	p, q := nodes.RankGrid(x.ranks)
	return nodes.OwnerOf((&nodes.Partitioned{Graph: x.old}).BlockOf(id), x.old.Placement(id), p, q, x.ranks)
}

// own1 gives a new node to one rank. Nothing of it is made on the others.
func (x *spreadGraph) own1(made ir.ID, rank int) {
	at, rows := &x.g.Nodes[made], x.g.Type(made).Rows
	at.Attrs = x.sharing(at.Attrs, rows, x.allOn(rank, rows)).With(plan.Owner, op.Int(1+rank))
}

// allOn returns the plan.Unit of a matrix whose rows all lie on one rank.
func (s *spreader) allOn(rank, rows int) op.Val {
	cuts := make([]int, s.ranks+1)
	for k := rank + 1; k < len(cuts); k++ {
		cuts[k] = rows
	}
	return op.Ints(cuts...)
}

// vectors has the new nodes for the singular vectors of a tall matrix (op.Unfolding). Each rank has its
// own rows of long, and all rows of the others. Without a reader of long and heads, these are not made.
type vectors struct {
	long, top, heads ir.ID
	folds            []fold
	unfolded         bool
}

// vectorsOf makes the vectors of the tall matrix that old node id reads. Blocks and rows are each
// shared evenly, so a block may have rows of two ranks. Both unfold it.
func (x *spreadGraph) vectorsOf(id ir.ID, reads []rowReads) vectors {
	f, of, turned := foldOf(x.old, id)
	v, ok := x.vectors[x.old.In(id)[0]]
	if !ok {
		var states ir.ID
		states, v.folds = x.statesOf(id, reads)
		v.top = x.typed(id, x.table.Must(f.Vectors.Top), op.MakeAttrs(op.Attr{Name: "of", Val: op.Str(x.old.Nodes[id].Op.Source())}, op.Attr{Name: "n", Val: op.Int(of.Rows)}), states)
		v.heads = v.top
	}
	if v.unfolded || turned && !f.Vectors.Long {
		return v
	}
	v.long, v.unfolded = v.top, true
	folds, by, heads := v.folds, x.table.Must(f.Vectors.By), x.table.Must(f.Vectors.Heads)
	for k := len(folds) - 1; k >= 0; k-- {
		f, unit, t := folds[k], op.Val{}, x.g.Type(v.long)
		if k == 0 {
			unit = x.unit[f.rows]
		}
		attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(f.rows)})
		blocks := x.spanned(id, by, attrs, unit, f.made, v.long)
		if k < len(folds)-1 {
			list, _ := plan.Needs(x.g.Nodes[blocks].Attrs)
			v.long = x.reaching(id, v.long, rowsFor([]need{{to: t.Rows, by: t.Cols, hi: t.Cols}}, list, t.Rows))
		}
		v.long = x.typed(id, by, attrs, blocks, v.long)
		x.g.Nodes[v.long].Attrs = x.sharing(attrs, f.rows, unit)
	}
	if !turned {
		v.heads = x.gatherOf(id, nil, x.ownStates(x.typed(id, heads, nil, x.spanned(id, heads, nil, op.Val{}, v.long))))
	}
	return v
}
