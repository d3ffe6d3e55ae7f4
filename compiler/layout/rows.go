package layout

import (
	"slices"

	"flow/compiler/nodes"
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

// spreads lists the nodes of g that all ranks are to run: loops over an index space and iterates with
// such loops, what selects their results, and what reads rows that ranks share to make such rows, or to
// reduce them. scattered lists those that one rank makes, which then sends each rank its rows.
func spreads(g *ir.Graph, apart func(id ir.ID) bool, s *spreader) (everywhere, scattered []bool) {
	loops := func(n ir.Node) bool { return n.Op.Role == op.Points || n.Op.Control == op.Iterate }
	placed := func(x ir.Grid) bool { return x.Place == ir.Replicated }
	read := func(n ir.Node) bool { return strewn(&n) }
	if !s.whole && !slices.ContainsFunc(g.Nodes, loops) && !slices.ContainsFunc(g.Nodes, read) && !slices.ContainsFunc(g.Grids, placed) {
		return make([]bool, g.Len()), make([]bool, g.Len())
	}
	may := slices.Repeat([]bool{true}, g.Len())
	x, everywhere, scattered := s.tried(g, apart, may) // to know what is partial
	first := true
	for {
		next := x.wanted(everywhere)
		if !first {
			next = slices.Clone(may)
		}
		again := false
		for id, sends := range scattered {
			if g.Type(ir.ID(id)).IsDense() {
				next[id] = sends && !x.gathered(ir.ID(id))
				again = again || sends && !next[id]
			}
			again = again || first && x.partial[id] && g.Type(ir.ID(id)).IsSparse()
		}
		if !again {
			return everywhere, scattered
		}
		may, first = next, false
		x, everywhere, scattered = s.tried(g, apart, may)
	}
}

// gathered reports whether a node on all ranks reads all rows of an old node that is partial.
func (x *spreadGraph) gathered(id ir.ID) bool {
	all, ok := x.whole[id]
	return ok && !plan.Reaches(&x.g.Nodes[all])
}

// tried spreads g. may says which sparse matrices may be partial, and which dense ones scattered.
func (s *spreader) tried(g *ir.Graph, apart func(id ir.ID) bool, may []bool) (x *spreadGraph, everywhere, scattered []bool) {
	everywhere, scattered = make([]bool, g.Len()), make([]bool, g.Len())
	ordered := func(id ir.ID) bool { // behind an effect of one rank: no message carries an effect
		return slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return g.Type(x).Kind == types.Effect && !everywhere[x] })
	}
	x = s.on(g)
	for id, n := range g.All() {
		grid, _, _, sent := g.Dest(id)
		sent = sent && !(s.whole && nodes.Lone(g, grid))
		shares := x.shares
		switch {
		case n.Op.Control == op.Part:
			everywhere[id] = everywhere[g.In(id)[0]]
		case HappensOnce(g, id) || apart(id) || ordered(id):
		case g.Placement(id) == ir.Replicated:
			x.node(id)
			everywhere[id] = true
			continue
		case sent || g.Placement(id) == ir.OneRank:
		case n.Op.Role == op.Points || n.Op.Control == op.Iterate:
			x.node(id)
			everywhere[id] = x.shares > shares
			continue
		case x.chosen(id) || x.relayed(id):
			everywhere[id] = true
			continue
		case g.Type(id).IsSparse():
			if everywhere[id] = may[id] && x.sparse(id); everywhere[id] {
				continue
			}
		case n.Op.Control == op.Select && s.whole && x.ownBranches(id):
			x.node(id)
			everywhere[id] = true
			continue
		default:
			reads := slices.ContainsFunc(g.In(id), func(from ir.ID) bool { return x.partial[from] })
			blocks := !s.whole && n.Op.Rate == productRate // products of blocks are tasks of one rank
			_, _, why := s.shared(g, id, x.partials(id))
			if everywhere[id] = why == ""; everywhere[id] && (reads || s.whole) && !blocks {
				x.node(id)
				continue
			}
			everywhere[id] = s.repeats(g, id, x, everywhere)
		}
		if everywhere[id] {
			x.node(id)
			continue
		}
		in := make([]ir.ID, len(g.In(id)))
		for k, from := range g.In(id) {
			if in[k] = x.to[from]; scattered[from] { // it is where it was made
				in[k] = x.g.In(in[k])[0]
			} else {
				in[k] = x.full(from)
			}
		}
		x.to[id] = x.g.CopyNode(g, id, in...)
		if scattered[id] = !sent && may[id] && s.scatters(g, id); scattered[id] {
			x.to[id], x.partial[id] = x.ownOf(id, x.to[id]), true
		}
	}
	return x, everywhere, scattered
}

// repeats reports a node that each rank makes as a whole: it is little work, and all ranks have its
// operands.
func (s *spreader) repeats(g *ir.Graph, id ir.ID, x *spreadGraph, everywhere []bool) bool {
	return s.whole && s.little(g, id) && !slices.ContainsFunc(g.In(id), x.isLoose) &&
		!slices.ContainsFunc(g.In(id), func(from ir.ID) bool { return !everywhere[from] && !nodes.MadeAnywhere(g, from) })
}

// HappensOnce reports whether node id has an effect that only one rank may have. An assert is none: all
// ranks fail with the same message if it does not hold.
func HappensOnce(g *ir.Graph, id ir.ID) bool {
	once := func(n *ir.Node) bool { return n.Op.Laws.Has(op.Effectful) && n.Op.Elements == nil }
	return nodes.SomeIn(&g.Nodes[id], nodes.IsControl, once)
}

// Why ranks do not share a value, for `flowrun plan` (ir.Graph.Note).
const (
	whyPlaced   = "the program says so"
	whyLittle   = "little work"
	whyFew      = "fewer rows than ranks"
	whyTogether = "makes no row alone"
	whyView     = "a view of other memory"
	whyOrdered  = "adds in the order of rows"
	whyWhole    = "reads all rows"
	whyMessages = "messages would cost more"
	whyFile     = "a file that one rank reads"
	whyKept     = "the session has it on rank 0"
	whyAfter    = "comes after what one rank does"
	whyTile     = "a tile has one owner"
	whyBlock    = "is one block"
	whyLaid     = "brought together for what needs all of it"
	whyBlocks   = "is not cut into blocks"
	whyJoins    = "joins what blocks have given"
	whyNoBlocks = "one rank runs it: it has no form by blocks"
	whyNoRows   = "one rank runs it: it makes no row alone"
	whyAnywhere = "is made where it is read"
	whyOperand  = "its operand is not shared"
	elsewise    = "in another way" // see way
)

// unless returns why unless ok.
func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// way is one way in which ranks share the work of a node.
//
// reads returns what a rank reads of the operands, and why ranks do not share the node: "" if they do,
// elsewise if the way is for other nodes. partial reports, by operand, whether a rank has only its own
// rows of it. make makes the new nodes.
type way struct {
	reads func(s *spreader, g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string)
	make  func(x *spreadGraph, id ir.ID, reads []rowReads)
}

// ways lists the ways. The first that is for a node decides.
var ways = []way{
	{(*spreader).viewReads, (*spreadGraph).byRows},
	{(*spreader).turnedReads, (*spreadGraph).byColumns},
	{(*spreader).transposeReads, (*spreadGraph).transpose},
	{(*spreader).reductionReads, (*spreadGraph).reduced},
	{(*spreader).listReads, (*spreadGraph).listed},
	{(*spreader).tableReads, (*spreadGraph).tabled},
	{(*spreader).chainReads, (*spreadGraph).chained},
	{(*spreader).statedReads, (*spreadGraph).stated},
	{(*spreader).wideReads, (*spreadGraph).turned},
	{(*spreader).selectReads, (*spreadGraph).selected},
	{(*spreader).foldReads, (*spreadGraph).foldedTall},
	{(*spreader).endReads, (*spreadGraph).ordersEnd},
	{(*spreader).orderReads, (*spreadGraph).ordered},
	{(*spreader).scanReads, (*spreadGraph).scanned},
	{(*spreader).rowsReads, (*spreadGraph).byRows},
}

// shared returns the way in which ranks share node id, what they read of its operands, and why they do
// not share it; "" if they do.
func (s *spreader) shared(g *ir.Graph, id ir.ID, partial []bool) (w way, reads []rowReads, why string) {
	switch place := g.Placement(id); {
	case place == ir.Replicated || place == ir.OneRank:
		return w, nil, whyPlaced
	case g.Nodes[id].Attrs.Int("keep") > 0 || s.fewRows(g, id):
		return w, nil, whyLittle
	}
	for _, w = range ways {
		if reads, why = w.reads(s, g, id, partial); why != elsewise {
			break
		}
	}
	return w, reads, why
}

// viewReads returns the reads of columns or of a diagonal of a partial matrix: each rank has the same
// rows of them as of the matrix. Other views are not shared, because rows from other ranks cannot
// arrive in memory that belongs to an operand. A slice of rows of a partial matrix is shared in another
// way. For a reshape of a partial matrix each rank copies its own rows.
func (s *spreader) viewReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n := &g.Nodes[id]
	switch {
	case nodes.Aligned(g, id) && partial[0] && !nodes.Sent(g, id):
		return s.readsOf(g, id, g.Type(id).Rows), ""
	case n.Op.Look != nil && (n.Op.Role != op.Slices && n.Op.RowSpan == nil || !partial[0] || nodes.Sent(g, id)):
		return nil, whyView
	}
	return nil, elsewise
}

// turnedReads says whether ranks share a reduction of the columns of a matrix as one of rows of the
// transpose (op.Def.Turned). They do not if states of the columns take less time. Exact states are
// large, so that needs many entries a column of a sparse matrix. Nor do they if it takes less to find
// keys at places by counts, whose size does not depend on the number of rows (selectReads).
func (s *spreader) turnedReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n := &g.Nodes[id]
	if n.Op.Turned == "" || !partial[0] {
		return nil, elsewise
	}
	switch of := g.Type(g.In(id)[0]); {
	case of.IsSparse():
		return nil, unless(of.Known() && of.Cols >= s.ranks && !s.statesOfColumns(g, id), elsewise)
	case n.Op.Shard.Partial != "" || !s.turns(of) || nodes.Sent(g, id) || n.Op.Select != nil && s.countsLess(g, id):
		return nil, elsewise
	default: // the gather of the results is the second one
		moved := s.spared(float64(of.Bytes()))/float64(s.ranks)/BytesSpread + 2*GatherSpreads
		gains := s.spared(s.workOf(g, id)) + s.wholeCost(of)
		return nil, unless(s.from == 1 || float64(s.from)*moved+2*moveSteps*elements(of)/float64(s.ranks) <= gains, elsewise)
	}
}

// statesOfColumns reports whether ranks merge states of the columns of a sparse matrix in less time
// than they make and send their parts of its transpose.
func (s *spreader) statesOfColumns(g *ir.Graph, id ir.ID) bool {
	if !stated(g.Nodes[id].Op) || s.statedRows(g, id) == 0 {
		return false
	}
	of, e := g.Type(g.In(id)[0]), s.estimates(g).Of(g.In(id)[0])
	state := float64(nodes.TypeOf(s.table.Must(g.Nodes[id].Op.Shard.Partial), nil, of).Bytes())
	moved := func(bytes float64) float64 { return float64(s.from) * bytes / BytesSpread }
	return moved(float64(s.ranks-1)*state) < storedSteps*e.NNZ/float64(s.ranks)+moved(s.spared(e.Bytes(0, of.Elem.Size()))/float64(s.ranks))
}

// inMessages returns reads, and why ranks do not share a node that no other way is for. gains: sharing
// saves more than its messages cost. nil reads: they cannot share it.
func (s *spreader) inMessages(g *ir.Graph, id ir.ID, reads []rowReads, gains bool) ([]rowReads, string) {
	switch {
	case reads != nil:
		return reads, unless(gains, whyMessages)
	case g.Type(g.In(id)[0]).Rows < s.ranks:
		return nil, whyFew
	}
	return nil, whyTogether
}

// rowsReads returns the reads of a node whose rows ranks share.
func (s *spreader) rowsReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n, in, rows := &g.Nodes[id], g.In(id), s.rows(g, id)
	switch {
	case rows == 0 || hasBody(n) && !s.bodyShared(g, id):
		return nil, whyTogether
	case rows < s.ranks:
		return nil, whyFew
	case n.Op.Role == op.Reduces && !s.joins(nodes.PipeFolds(s.table, n), nodes.PipeSpace(n)):
		return nil, whyOrdered
	case n.Op.Role != op.Reduces && !nodes.Elementwise(n) && n.Op.Cost == nil:
		return nil, whyTogether
	}
	least := float64(s.from)
	if n.Op.Role != op.Points {
		least *= GatherSpreads // which brings the rows together again
	}
	gains := s.rowsWork(g, id) >= least || s.all || n.Op.Role == op.Points && g.Placement(id) == ir.ByRows
	if !gains && !slices.Contains(partial, true) {
		return nil, whyLittle
	}
	reads = s.readsOf(g, id, rows)
	for k := range in {
		if n.Region != nil && reads[k].whole && (nodes.Elementwise(n) || n.Op.Role == op.Reduces) {
			reads[k] = rowReads{whole: true, turned: op.Mode(n.Attrs.Ints("modes")[k]) == op.Trans && partial[k] && s.turns(g.Type(in[k]))}
			reads[k].whole = !reads[k].turned
		}
		if nodes.Elementwise(n) && reads[k].whole && nodes.Dividable(g.Type(in[k])) {
			return nil, whyWhole
		}
		gains = gains || partial[k] && !reads[k].whole && n.Op.Role != op.Points
	}
	if n.Op.Role == op.Points {
		return reads, unless(gains, whyLittle)
	}
	return reads, unless(gains, whyWhole) // of what ranks share
}

// rowsWork estimates the operations of a node whose rows ranks may share.
func (s *spreader) rowsWork(g *ir.Graph, id ir.ID) float64 {
	n, t := &g.Nodes[id], g.Type(id)
	switch {
	case n.Op.Role == op.Reduces:
		return float64(nodes.PipeSpace(n).Count())
	case nodes.Elementwise(n):
		return float64(t.Count())
	case n.Op.Role == op.Points:
		return s.workOf(g, id)
	case n.Op.Rate == productRate:
		return s.flopsOf(g, id) / productSteps
	}
	return max(s.flopsOf(g, id), elements(t))
}

// rows returns how many rows of node id ranks may share; 0: none.
func (s *spreader) rows(g *ir.Graph, id ir.ID) int {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Loop == nil || n.Op.Loop.Rows == nil || !n.Op.Laws.Has(op.Pure) {
		return 0
	}
	if n.Op.Role != op.Reduces && !hasBody(n) && t.Kind != types.Tuple && !nodes.Dividable(t) || n.Op.Role == op.Points && n.Attrs.Ints("lo") == nil {
		return 0
	}
	for _, x := range g.In(id) {
		// Each rank reads all of a dense matrix whose size only the run knows. It would be wrong for a chain,
		// which reads it row by row.
		if xt := g.Type(x); !nodes.IsNumber(xt) && !nodes.Dividable(xt) && !xt.IsSparse() && (!xt.IsDense() || xt.Known() || nodes.Elementwise(n)) {
			return 0
		}
	}
	return n.Op.Loop.Rows(nodes.SigOf(g, id), t)
}

// elements returns how many elements a matrix has; 0 for another value.
func elements(t types.Type) float64 {
	if !nodes.Dividable(t) {
		return 0
	}
	return float64(t.Count())
}

// wideReads returns the reads of a product t(a) @ b of floats with more columns than rows. Ranks share
// its columns.
func (s *spreader) wideReads(g *ir.Graph, id ir.ID, _ []bool) (reads []rowReads, why string) {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	if n.Op.Role != op.Multiplies || len(in) != 2 || !n.Attrs.Bool("ta") || n.Attrs.Bool("tb") || !nodes.Dividable(t) || !t.Elem.IsFloat() ||
		!nodes.Dividable(g.Type(in[0])) || !nodes.Dividable(g.Type(in[1])) || t.Rows >= t.Cols || t.Cols < s.ranks {
		return nil, elsewise
	}
	return []rowReads{{whole: true}, {whole: true}}, unless(s.flopsOf(g, id)/productSteps >= GatherSpreads*float64(s.from), whyLittle)
}

// turned makes the new nodes of a wide product.
func (x *spreadGraph) turned(id ir.ID, reads []rowReads) {
	in, t := x.reachAll(id, reads), x.old.Type(id)
	t.Rows, t.Cols = t.Cols, t.Rows
	attrs := x.sharing(op.MakeAttrs(op.Attr{Name: "ta", Val: op.Bool(true)}), t.Rows, x.unit[t.Rows])
	made := x.g.Add(x.old.Nodes[id].Op, attrs, t, x.old.Origin(id).NoDest(), in[1], in[0])
	x.saved += x.spared(x.workOf(x.old, id))
	x.to[id] = x.typed(id, x.table.Must("t"), nil, x.gatherOf(id, x.inUnitsOf(t.Rows), made))
}

// turns reports whether ranks that share the rows of a matrix can share those of its transpose:
//
//	%1 = t(%0)   ->   %1 = t.blocks(%0) {ranks=3, cuts=[0,20,40,60]}   # t of this rank's rows of %0
//	                  %2 = gather(%1) {reach}                          # of each block this rank's rows
//	                  %3 = lay(%2, %2, %2) {ranks=3, boxes}            # side by side
//
// Each rank gets its rows, and not the matrix.
func (s *spreader) turns(t types.Type) bool {
	return nodes.Dividable(t) && t.Rows >= s.ranks && t.Cols >= s.ranks
}

// transposeReads says whether ranks share a transpose.
func (s *spreader) transposeReads(g *ir.Graph, id ir.ID, partial []bool) (reads []rowReads, why string) {
	n := &g.Nodes[id]
	if n.Op.Shard.Kind != op.ShardTranspose || !partial[0] || !s.turns(g.Type(g.In(id)[0])) || nodes.Sent(g, id) {
		return nil, elsewise
	}
	return []rowReads{{turned: true}}, unless(elements(g.Type(id)) >= GatherSpreads*float64(s.from) || s.all, elsewise)
}

// transpose makes the new nodes of a transpose. There are none if all its readers fold its transpose
// (foldOf): turnedRows returns the rows of the operand to them, and nothing else reads x.to.
func (x *spreadGraph) transpose(id ir.ID, reads []rowReads) {
	if x.onlyFolded(id) {
		x.to[id], x.partial[id] = x.to[x.old.In(id)[0]], true
		return
	}
	x.to[id], x.partial[id] = x.reach(x.old.In(id)[0], reads[0]), true
	x.saved += x.spared(x.workOf(x.old, id))
}

// onlyFolded reports whether all readers of a shared transpose fold its transpose. A region may yield
// it.
func (x *spreadGraph) onlyFolded(id ir.ID) bool {
	for r := range x.old.All() {
		if slices.Contains(x.old.In(r), id) {
			_, _, turned := foldOf(x.old, r)
			if !turned || x.old.Placement(r) == ir.Replicated || x.old.Placement(r) == ir.OneRank || x.old.Nodes[r].Attrs.Int("keep") > 0 {
				return false
			}
			if _, why := x.foldReads(x.old, r, []bool{true}); why != "" {
				return false
			}
		}
	}
	return !x.inside
}

// turnedRows returns this rank's rows of the transpose of a partial matrix, an old node. Those of the
// transpose of a transpose are its own.
func (x *spreadGraph) turnedRows(id ir.ID) ir.ID {
	made, ok := x.turnedOf[id]
	if !ok {
		if of := x.old.In(id); x.old.Nodes[id].Op.Shard.Kind == op.ShardTranspose && x.partial[of[0]] {
			if made = x.own(of[0]); x.views[of[0]] != nil { // a gather brings rows of others into memory without gaps
				made = x.ownOf(of[0], made)
			}
		} else {
			made = x.turnedBlocks(id, x.own(id))
		}
		x.turnedOf[id] = made
	}
	return made
}

// turnedBlocks returns this rank's rows of the transpose of a matrix, for old node id. own is the new
// node with this rank's rows of the matrix.
func (x *spreadGraph) turnedBlocks(id, own ir.ID) ir.ID {
	t := x.g.Type(own)
	cuts, boxes := []int{0}, []int(nil)
	var needs []need
	for r := range x.ranks {
		lo, hi := plan.WindowOf(r, x.ranks, t.Rows, x.unit[t.Rows])
		cuts, boxes = append(cuts, hi), append(boxes, r*t.Cols, 0, t.Cols, hi-lo, 0, lo)
		needs = append(needs, need{to: t.Cols, by: 1, lo: r * t.Cols, hi: r*t.Cols + 1})
	}
	attrs := op.MakeAttrs(op.Attr{Name: "cuts", Val: op.Ints(cuts...)})
	blocks := x.typed(id, x.table.Must("t.blocks"), x.sharing(attrs, x.ranks*t.Cols, op.Val{}), own)
	rows := rowsFor(needs, x.windows(t.Cols), x.ranks*t.Cols)
	all := x.gatherOf(id, op.MakeAttrs(op.Attr{Name: plan.Reach, Val: plan.ReachOf(rows)}), blocks)
	attrs = op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(t.Cols)}, op.Attr{Name: "cols", Val: op.Int(t.Rows)}, op.Attr{Name: "boxes", Val: op.Ints(boxes...)})
	return x.typed(id, x.table.Must("lay"), x.sharing(attrs, t.Cols, x.unit[t.Cols]), slices.Repeat([]ir.ID{all}, x.ranks)...)
}

// ownBranches reports whether ranks share the regions of a branch and what it captures, each its own
// rows.
func (x *spreadGraph) ownBranches(id ir.ID) bool {
	before := x.tally
	_, _, yields, own := x.branches(id)
	own = own && (x.shares > before.shares || slices.Contains(yields, true))
	x.tally = before
	return own
}

// whyLoop says why ranks share nothing of an iterate.
func (x *spreadGraph) whyLoop(id ir.ID) string {
	if place := x.old.Placement(id); place == ir.Replicated || place == ir.OneRank {
		return whyPlaced
	}
	return whyMessages
}
