package layout

import (
	"slices"

	"flow/compiler/nodes"
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
	from  int  // Sizes.Spread
	all   bool // within a loop that the program wants by rows
	// whole says that no matrix of the graph is cut into blocks: ranks share all rows that are worth
	// it, and each makes what is little.
	whole bool
	// unit is the attribute plan.Unit by the number of rows. Without an entry ranks share single rows.
	unit map[int]op.Val
	// touches keeps the results of spreadGraph.touched, because an estimate takes milliseconds.
	touches    map[edge]float64
	estimators map[*ir.Graph]*ir.Estimator
	rounded    map[edge]float64 // the results of rounds, which takes 50 us
	known      map[edge][]ramp  // the values of integer arguments of regions, if they are ramps
	unread     bool             // some new nodes may have no reader
}

// edge is a node of an old graph.
type edge struct {
	g  *ir.Graph
	id ir.ID
}

// spreadGraph is a graph being made of another one.
type spreadGraph struct {
	*spreader
	old, g   *ir.Graph
	to       []ir.ID                   // the new node of each old one
	partial  []bool                    // of old nodes: only a rank's own rows are valid
	parts    map[ir.ID][]bool          // of old nodes with several results: which are partial
	whole    map[ir.ID]ir.ID           // the gather of an old node
	picked   map[ir.ID][]rowsAt        // what each gather of an old node brings, if the run chooses the rows
	views    map[ir.ID]map[ir.ID]ir.ID // of old slices of partial matrices the new ones, by the matrix
	states   map[ir.ID][]joins         // of old nodes with several results: how the ranks' states are joined
	owned    map[ir.ID]ir.ID           // this rank's rows of an old node that is a whole sparse matrix
	turnedOf map[ir.ID]ir.ID           // this rank's rows of the transpose of an old node
	columns  map[ir.ID]ir.ID           // this rank's columns of an old sparse matrix
	vectors  map[ir.ID]vectors         // singular vectors, by the old node of a tall matrix
	takes    map[ir.ID][]bool          // of old loops: which inputs are read as they are, if they are partial
	lists    map[ir.ID]rowLists        // of old sparse matrices
	numbers  map[numbering]rowLists    // of old columns with numbers of rows
	loose    map[ir.ID]ir.ID           // of old nodes with rows that the run chooses: the old node that chooses them
	counts   map[ir.ID]ir.ID           // of old nodes that choose rows: how many, on all ranks
	together map[looseFor]ir.ID        // the rows of all ranks of an old node with such rows
	owners   []int32                   // the ranks of the first new nodes: see alone
	inside   bool                      // of a region
	args     []ir.ID                   // of a region of an iterate: its old arguments
	around   *spreadGraph              // the graph that the loop is in
	loop     ir.ID                     // the loop in that graph
	apart    *owning                   // nodes of a region that one rank makes each; nil: none
	tally
}

// partials says which inputs of a node are partial.
func (x *spreadGraph) partials(id ir.ID) []bool { return nodes.Through(x.partial, x.old.In(id)) }

// on begins the new graph of g.
func (s *spreader) on(g *ir.Graph) *spreadGraph {
	x := &spreadGraph{
		spreader: s, old: g, g: ir.New(), to: make([]ir.ID, g.Len()), partial: make([]bool, g.Len()),
		parts: map[ir.ID][]bool{}, whole: map[ir.ID]ir.ID{}, views: map[ir.ID]map[ir.ID]ir.ID{}, picked: map[ir.ID][]rowsAt{},
		states: map[ir.ID][]joins{}, owned: map[ir.ID]ir.ID{}, turnedOf: map[ir.ID]ir.ID{}, columns: map[ir.ID]ir.ID{}, vectors: map[ir.ID]vectors{},
		takes: map[ir.ID][]bool{}, lists: map[ir.ID]rowLists{}, numbers: map[numbering]rowLists{},
		loose: map[ir.ID]ir.ID{}, counts: map[ir.ID]ir.ID{}, together: map[looseFor]ir.ID{},
	}
	x.g.CopyTables(g)
	return x
}

// full returns the new node of an old one with all its rows.
func (x *spreadGraph) full(id ir.ID) ir.ID {
	if _, ok := x.loose[id]; ok {
		return x.allLoose(id, plan.Everywhere)
	}
	if !x.partial[id] {
		return x.sentApart(id)
	}
	if x.views[id] != nil && !x.settled(id) {
		return x.reach(id, rowReads{whole: true})
	}
	g, ok := x.whole[id]
	switch {
	case !ok && x.remakes(id):
		g, x.partial[id] = x.to[id], false
		x.g.Nodes[g].Attrs = x.old.Nodes[id].Attrs // ranks do not share its rows
		x.g.Note(g, whyLittle)
	case ok && !x.old.Type(id).IsSparse():
		for range max(0, len(x.picked[id])-1) { // the first one brings all rows, and the others none
			x.g.Nodes[g].Attrs = x.inUnitsOf(x.old.Type(id).Rows).With(plan.Reach, plan.ReachOf(make([][]plan.Range, x.ranks)))
			g = x.g.In(g)[0]
		}
		x.g.Nodes[g].Attrs = x.inUnitsOf(x.old.Type(id).Rows) // no reach
		x.whole[id] = g
		delete(x.picked, id)
	case ok && x.g.Nodes[g].Attrs.Int(plan.Only) > 0:
		x.g.Nodes[g].Attrs = x.g.Nodes[g].Attrs.With(plan.Only, op.Int(0))
	case ok:
	case x.old.Type(id).IsSparse():
		g = x.joined(id, x.to[id], false)
		x.whole[id] = g
	default:
		g = x.gather(id, nil)
		x.whole[id] = g
	}
	return g
}

// settled makes a view an ordinary partial matrix, if it has all rows and at most half of the columns
// of its operand, or is every k-th row. Each rank copies its own rows, and a reader of other rows gets
// these alone:
//
//	%7 = gather(%6)             ->   %7 = window(%6, 0, %k) {ranks=3}
//	%8 = window(%7, 0, %k)           %8 = dense(%7) {ranks=3};  %9 = gather(%8)
//
// It would gain nothing where all rows of the operand are brought anyway. Fewer rows than ranks are not
// shared.
func (x *spreadGraph) settled(id ir.ID) bool {
	from := x.old.In(id)[0]
	if t, of := x.old.Type(id), x.old.Type(from); t.Rows < x.ranks || !nodes.Stepped(x.old, id) && (t.Rows != of.Rows || 2*t.Cols > of.Cols) || x.gathered(from) {
		return false
	}
	x.to[id] = x.ownOf(id, x.own(id))
	delete(x.views, id)
	return true
}

// remakes reports whether id is a constructor whose rows each rank makes in less time than others send
// them.
func (x *spreadGraph) remakes(id ir.ID) bool {
	n, t := &x.old.Nodes[id], x.old.Type(id)
	return n.Op.Shard.Kind == op.ShardGenerate && len(x.old.In(id)) == 0 && n.Op.Reads == nil && !n.Op.Root && nodes.Dividable(t) &&
		x.spared(x.workOf(x.old, id)) < float64(x.from)*(GatherSpreads+x.spared(float64(t.Bytes()))/BytesSpread)
}

// gather makes a gather of an old node that is partial: of the rows that list says, or of all.
func (x *spreadGraph) gather(id ir.ID, list [][]plan.Range) ir.ID {
	attrs := x.inUnitsOf(x.old.Type(id).Rows)
	if list != nil {
		attrs = attrs.With(plan.Reach, plan.ReachOf(list))
	}
	return x.gatherOf(id, attrs, x.to[id])
}

// inUnitsOf returns the attribute that says in which units ranks share a matrix of so many rows.
func (s *spreader) inUnitsOf(rows int) *op.Attrs {
	return inUnits(nil, s.unit[rows])
}

func always(int) bool { return true }

// control makes the new node of an old one with regions, or of a result of such a node. It returns
// false for other nodes.
func (x *spreadGraph) control(id ir.ID) bool {
	n := &x.old.Nodes[id]
	switch {
	case n.Op.Control == op.Part:
		from, at := x.old.In(id)[0], n.Attrs.Int("at")
		if join := x.states[from]; join != nil && join[at] != nil {
			x.to[id] = join[at](id, x.typed(id, n.Op, n.Attrs, x.to[from]))
			return true
		}
		x.to[id] = x.g.CopyNode(x.old, id, x.to[from])
		if p := x.parts[from]; at < len(p) { // behind them is an effect
			x.partial[id] = p[at]
		}
	case n.Op.Control == op.Iterate:
		region, takes, lists := x.iterate(id)
		if region == nil {
			x.to[id] = x.g.CopyNode(x.old, id, x.reachAll(id, nil)...)
			x.g.Note(x.to[id], x.whyLoop(id))
			x.takes[id] = make([]bool, len(x.old.In(id)))
			return true
		}
		in := make([]ir.ID, len(takes))
		for k, from := range x.old.In(id) {
			switch {
			case !takes[k]:
				in[k] = x.full(from)
			case x.old.Type(from).IsSparse():
				in[k] = x.ownSparse(from)
			default:
				in[k] = x.own(from)
			}
		}
		for _, by := range lists {
			from := x.old.In(id)[by.input]
			if by.columns {
				in = append(in, x.columnsOf(from))
				if !by.own {
					in[by.input] = in[len(in)-1]
				}
				continue
			}
			l, near := x.listsOf(from), in[by.input]
			if by.near {
				near = x.nearOf(from)
			}
			if !by.own {
				in[by.input] = near
			}
			in = append(in, l.take, l.give, near)
		}
		x.to[id] = x.g.CopyNode(x.old, id, in...)
		x.g.Nodes[x.to[id]].Region = region
		x.takes[id], x.parts[id] = takes, takes[:n.Carried()]
	case n.Op.Control == op.Select:
		first, takes, yields, _ := x.branches(id)
		in := []ir.ID{x.full(x.old.In(id)[0])}
		for k, from := range x.old.In(id)[1:] {
			if takes[k] {
				in = append(in, x.own(from))
			} else {
				in = append(in, x.full(from))
			}
		}
		x.to[id] = x.g.CopyNode(x.old, id, in...)
		x.g.Nodes[x.to[id]].Region = first
		x.parts[id] = yields
	default:
		return false
	}
	return true
}

// node makes the new node of an old one.
func (x *spreadGraph) node(id ir.ID) {
	if x.control(id) || x.view(id) || x.sparse(id) || x.chosen(id) || x.relayed(id) || x.sumsColumns(id) || x.ownsApart(id) {
		return
	}
	if x.apart != nil && x.lightApart(id) {
		x.notShared(id, whyLittle)
	} else if why := x.share(id); why != "" {
		x.notShared(id, why)
	}
}

// share makes the new nodes of an old one in the way in which ranks share it. If they do not, it makes
// none and returns why.
func (x *spreadGraph) share(id ir.ID) (why string) {
	w, reads, why := x.shared(x.old, id, x.partials(id))
	if why == "" {
		w.make(x, id, reads)
		x.shares++
	}
	return why
}

// notShared makes the new node of a node that each rank computes as a whole, and notes why.
func (x *spreadGraph) notShared(id ir.ID, why string) {
	n := &x.old.Nodes[id]
	var first []rowReads // what it reads of its first operand
	switch {
	case x.fewRows(x.old, id):
		at := int(n.Attrs.Ints("at")[0])
		first = []rowReads{x.fixedRows(at, at+max(1, x.old.Type(id).Rows))}
	case nodes.Aligned(x.old, id): // all rows of a column, which no view is
	case picks(n), n.Op.Numbers > 0:
		first = x.readsOf(x.old, id, 0)[:1]
		first[0].all = true
	}
	x.to[id] = x.g.CopyNode(x.old, id, x.reachAll(id, first)...)
	x.g.Note(x.to[id], why)
}

// byRows makes the new node of node id, whose rows ranks share.
func (x *spreadGraph) byRows(id ir.ID, reads []rowReads) {
	n := &x.old.Nodes[id]
	made, rows := x.g.CopyNode(x.old, id, x.reachAll(id, reads)...), x.rows(x.old, id)
	x.to[id] = made
	at := &x.g.Nodes[made]
	at.Attrs = x.sharing(at.Attrs, rows, x.unit[rows])
	if carry, ok := x.anyRank(id, reads); ok {
		at.Attrs = at.Attrs.With(plan.Helped, op.Int(1)) // numbered at the end
		if len(carry) > 0 {
			at.Attrs = at.Attrs.With(op.CarryAttr, op.Val{Kind: op.IntsVal, L: carry})
		}
	}
	for k := range reads {
		if reads[k].turned {
			modes := slices.Clone(at.Attrs.Ints("modes"))
			modes[k] = int64(op.Full)
			at.Attrs = at.Attrs.With("modes", op.Val{Kind: op.IntsVal, L: modes})
			at.Region = &ir.Region{Graph: n.Region.Graph, Args: n.Region.Args, Yields: n.Region.Yields} // others have its modes
		}
	}
	x.saved += x.spared(x.workOf(x.old, id))
	if x.all || x.old.Placement(id) == ir.ByRows {
		x.asked++
	}
	switch {
	case n.Op.Role == op.Reduces:
		x.ends(id, made, nodes.PipeFolds(x.table, n), nodes.PipeSpace(n))
	case hasBody(n):
		x.bodyEnds(id, made)
	default:
		x.partial[id] = true
	}
}

// sharing adds to a the attributes of a node whose rows ranks share. rows is their number, unit the
// attribute plan.Unit.
func (s *spreader) sharing(a *op.Attrs, rows int, unit op.Val) *op.Attrs {
	return inUnits(a.With(plan.Shared, op.Int(s.ranks)).With(plan.SharedRows, op.Int(rows)), unit)
}

// iterate spreads the regions of a loop. partial says which inputs the regions take as they are if
// they are partial, and so which carried values are in every round, and at the end. Another input is
// partial in them if it is outside and nothing in them needs all of it. region is nil where a round
// costs more in messages than others do of it. The regions have three more arguments for each of the
// inputs in lists (rowLists).
func (x *spreadGraph) iterate(id ir.ID) (region *ir.Region, partial []bool, lists []listed) {
	n := &x.old.Nodes[id]
	place := x.old.Placement(id)
	switch place {
	case ir.Replicated, ir.OneRank:
		return nil, nil, nil
	case ir.ByRows:
		defer func(all bool) { x.all = all }(x.all)
		x.all = true
	}
	partial = x.partials(id)
	carried := n.Carried()
	kept := make([]bool, carried) // whole in every round
	free := func(k int) bool {    // and what may begin with another number of rows than it goes on with is whole
		return k >= carried || kept[k] || n.Region.Graph.Type(n.Region.Args[k]).Rows == types.Unknown
	}
	before := x.tally
	for r := n.Region; r != nil; r = r.Next {
		x.estimatesIn(x.old, id, r)
	}
	for {
		body, in, yields, gathered := x.region(n.Region, id, partial, free)
		inside := []*spreadGraph{in}
		if r := n.Region.Next; r != nil {
			stop, in, _, more := x.region(r, id, partial, always)
			body.Next, inside = stop, append(inside, in)
			for k := range gathered {
				gathered[k] = gathered[k] || more[k]
			}
		}
		again := false
		for k := range partial {
			switch {
			case k < carried && yields[k] && !partial[k]: // what begins whole may be taken to be partial
				partial[k], again = true, true
			case k >= carried && gathered[k]:
				partial[k], again = false, true
			case inside[0].apart != nil && k < carried && partial[k] && !yields[k] && gathered[k]: // each round has all of it
				partial[k], kept[k], again = false, true, true
			}
		}
		worth := x.saved-before.saved >= x.paid-before.paid || x.asked > before.asked
		if !again && worth {
			rounds := x.rounds(x.old, id) // which matter only in other loops
			x.saved, x.paid = before.saved+rounds*(x.saved-before.saved), before.paid+rounds*(x.paid-before.paid)
			return body, partial, append(takeLists(body, inside), takeColumns(body, inside)...)
		}
		x.tally = before
		if !again {
			return nil, nil, nil
		}
	}
}

// branches spreads the regions of a branch. takes says which partial matrices the branch captures as
// they are. yields says which results are partial. A result is partial if one region makes each rank's
// rows alone, even if another region has all rows of it.
//
//	%5 = gather(%1);  %6 = select(%4, %5) { yield map(%0) } { yield %0 }
//	->  %5 = select(%4, %1) { yield map(%0) {ranks=3} } { yield %0 }
//
// own is false, and all results are whole, if a region needs all rows of a partial matrix. Each round
// would bring it together, also one that chooses another region, and that costs more than others spare.
func (x *spreadGraph) branches(id ir.ID) (first *ir.Region, takes, yields []bool, own bool) {
	captured := x.old.In(id)[1:]
	takes = make([]bool, len(captured))
	for k, from := range captured { // rows of others cannot be brought into a view that has not been copied
		takes[k] = x.partial[from] && nodes.Dividable(x.old.Type(from)) && (x.views[from] == nil || x.settled(from))
	}
	before := x.tally
	for own = true; ; own = false {
		yields = make([]bool, len(x.old.Nodes[id].Region.Yields))
		more, next := false, &first
		for r := x.old.Nodes[id].Region; r != nil; r = r.Next {
			x.estimatesIn(x.old, id, r)
			whole := func(k int) bool { return !own || !nodes.Dividable(r.Graph.Type(r.Yields[k])) }
			y, in, parts, _ := x.region(r, ir.None, takes, whole)
			for k, a := range r.Args[:len(takes)] {
				more = more || takes[k] && in.gathered(a)
			}
			for k := range parts {
				yields[k] = yields[k] || parts[k]
			}
			*next, next = y, &y.Next
		}
		if !more {
			return first, takes, yields, own
		}
		x.tally = before
		clear(takes)
	}
}

// region spreads a region, of an iterate or, without a loop, of a branch. partial says which of its
// arguments are, and need which yields must be whole. yields says which results are partial, and
// gathered which arguments are needed with all rows. Ranks share the rows of its nodes, or each makes
// some of the nodes, whichever spares more.
func (x *spreadGraph) region(r *ir.Region, loop ir.ID, partial []bool, need func(k int) bool) (out *ir.Region, in *spreadGraph, yields, gathered []bool) {
	out, in, yields, gathered = x.regionBy(r, loop, partial, need, nil)
	spared := in.saved - in.paid - in.gathers()
	if a := x.newApart(r.Graph); a != nil {
		if o, i, y, g := x.regionBy(r, loop, partial, need, a); i.settleApart(o.Yields) && i.saved-i.paid-i.gathers() > spared {
			out, in, yields, gathered = o, i, y, g
		}
	}
	x.shares += in.shares
	x.saved += in.saved
	x.paid += in.paid + in.gathers()
	x.asked += in.asked
	return out, in, yields, gathered
}

// regionBy is region with these nodes apart.
func (x *spreadGraph) regionBy(r *ir.Region, loop ir.ID, partial []bool, need func(k int) bool, a *owning) (out *ir.Region, in *spreadGraph, yields, gathered []bool) {
	in = x.on(r.Graph)
	in.inside, in.apart = true, a
	if loop != ir.None {
		in.around, in.loop, in.args = x, loop, r.Args
	}
	for k, a := range r.Args[:len(partial)] {
		in.partial[a] = partial[k]
		if loop != ir.None && k >= x.old.Nodes[loop].Carried() {
			x.capture(r.Graph, a, x.old, x.old.In(loop)[k], false)
		}
	}
	for i := range r.Graph.Nodes {
		if r.Graph.Nodes[i].Op.Role == op.Argument {
			in.to[i] = in.g.CopyNode(r.Graph, ir.ID(i))
			continue
		}
		shares := in.shares
		in.node(ir.ID(i))
		in.tick(ir.ID(i), in.shares > shares)
	}
	out = &ir.Region{Graph: in.g}
	for _, a := range r.Args {
		out.Args = append(out.Args, in.to[a])
	}
	for k, y := range r.Yields {
		switch {
		case need(k):
			out.Yields = append(out.Yields, in.full(y))
			yields = append(yields, false)
		case r.Graph.Type(y).IsSparse() && partial[k]:
			out.Yields = append(out.Yields, in.ownSparse(y))
			yields = append(yields, true)
		default:
			out.Yields = append(out.Yields, in.own(y))
			yields = append(yields, in.partial[y])
		}
	}
	e := x.estimates(in.g)
	for _, a := range r.Args {
		e.Assume(in.to[a], x.estimates(r.Graph).Of(a))
	}
	gathered = make([]bool, len(partial))
	for k, a := range r.Args[:len(partial)] {
		g, ok := in.whole[a]
		gathered[k] = ok && !in.byNumbers(g)
	}
	return out, in, yields, gathered
}
