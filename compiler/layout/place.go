package layout

import (
	"fmt"
	"maps"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// Placed is a graph with an exchange on every edge between ranks, and the owners.
type Placed struct {
	Graph *ir.Graph
	Owner []int32
	// Speedup is how many times as fast as one rank the ranks are, by the cost model. It is known of
	// a graph without blocks.
	Speedup float64
	Slowest ir.Node // the node with the most work that ranks do not share; its Op may be nil
}

// Place assigns every task to a rank and inserts an exchange on every edge between ranks:
//
//	%4 = trsm(%1, %3) on 0;  %9 = gemm(%8, %4, %5) on 2
//	->  %5 = exchange(%4) {to=[2]} on 0;  %10 = gemm(%9, %5, %6) on 2
//
// Owner computes: a task runs on the owner of its result, and results are distributed on a 2-D
// block-cyclic grid of ranks, as square as possible (a matrix of one column or row of blocks: in
// contiguous shares). That bounds what one rank sends in a step of a factorisation by P + Q instead
// of P Q, and balances the shrinking rest. A product of few blocks runs where its factors lie, and a
// task that only moves the elements of one block where its readers are. Scalars, whole matrices and
// effects are on rank 0, where output goes. Constants, and matrices of zeros and the like, are made
// wherever they are read, which costs less than a message. Tasks that read a file that not all ranks
// share run on rank 0, which sends their results.
//
// Loops over an index space, and iterates with such loops, run on all ranks: see spread.go. What
// they read of others is sent to all.
func Place(p *nodes.Partitioned, ranks int, table *op.Table, sizes nodes.Sizes) *Placed {
	if ranks == 1 {
		return &Placed{Graph: p.Graph}
	}
	s := &spreader{table: table, ranks: ranks, from: sizes.Filled().Spread, unit: map[int]op.Val{}, touches: map[edge]float64{}, estimators: map[*ir.Graph]*ir.Estimator{}, whole: sizes.Whole}
	s.units(p.Graph)
	s.cuts(p.Graph)
	everywhere, scattered := spreads(p.Graph, func(id ir.ID) bool { return readsUnshared(p, &p.Graph.Nodes[id]) }, s)
	out := placed(p, s, everywhere, scattered)
	if s.unread {
		dropUnread(out)
	}
	if !numberGathers(out.Graph) {
		none := make([]bool, p.Graph.Len())
		out = placed(p, s, none, none)
	}
	if s.whole {
		out.Speedup, out.Slowest = s.speedup(out.Graph)
	}
	return out
}

// dropUnread drops the rows of transposes that nothing reads, because all products read columns.
func dropUnread(p *Placed) {
	alive := func(g *ir.Graph) []bool {
		return nodes.Alive(g, func(id ir.ID) bool { return g.Required(id) || ir.MayFail(g, id) })
	}
	p.Graph = nodes.Bodies(p.Graph, func(g *ir.Graph) *ir.Graph {
		if keep := alive(g); keep != nil {
			return g.Compact(keep)
		}
		return g
	})
	if keep := alive(p.Graph); keep != nil {
		p.Graph, p.Owner = p.Graph.Compact(keep), nodes.Kept(p.Owner, keep)
	}
}

// Alone gives all nodes of a graph that has been placed for one rank to rank 0 of several.
func Alone(g *ir.Graph) (owner []int32) {
	for in, id := range nodes.NodesIn(g, nodes.IsControl) {
		why := whyMessages
		if in.Placement(id) == ir.OneRank {
			why = whyPlaced
		}
		in.Note(id, why)
	}
	return make([]int32, g.Len())
}

// numberGathers numbers the gathers of g and its regions, whose graphs belong to the caller, and the
// loops in which ranks help each other. ok is false if there are too many gathers.
func numberGathers(g *ir.Graph) (ok bool) {
	key, helped := 0, 0
	for r, id := range nodes.NodesIn(g, nodes.IsControl) {
		n := &r.Nodes[id]
		if plan.IsGather(n) {
			n.Attrs = n.Attrs.With("key", op.Int(key))
			key++
		}
		if n.Attrs.Int(plan.Helped) > 0 {
			helped++
			n.Attrs = n.Attrs.With(plan.Helped, op.Int(helped))
		}
	}
	return key <= plan.MostGathers
}

// placed is Place with these nodes on all ranks. Of the scattered ones each rank gets its own rows.
func placed(p *nodes.Partitioned, s *spreader, everywhere, scattered []bool) *Placed {
	g, ranks := p.Graph, s.ranks
	owner := owners(p, ranks)
	for i, every := range everywhere {
		if every {
			owner[i] = plan.Everywhere
		}
	}
	rearrangeAtReaders(p, owner)
	reach := ranksReading(g, owner, scattered, ranks)
	all := s.on(g) // what nodes on all ranks read
	ng := all.g
	attrs := map[string]*op.Attrs{}
	to := make([]ir.ID, g.Len())    // the value at its owner
	moved := make([]ir.ID, g.Len()) // its exchange
	copies := map[[2]int32]ir.ID{}  // constants at other ranks, by (node, rank)
	var in []ir.ID
	for id := range g.All() {
		if everywhere[id] {
			all.node(id)
			continue
		}
		in = in[:0]
		for _, x := range g.In(id) {
			switch {
			case everywhere[x]:
				in = append(in, all.onRank(x, int(owner[id])))
			case len(reach[x]) > 0 && nodes.MadeAnywhere(g, x):
				in = append(in, copies[[2]int32{int32(x), owner[id]}])
			case owner[x] == owner[id]:
				in = append(in, to[x])
			default:
				in = append(in, moved[x])
			}
		}
		if len(reach[id]) > 0 && nodes.MadeAnywhere(g, id) {
			for _, r := range reach[id] {
				made := all.alone(ng.CopyNode(g, id), r)
				ng.Note(made, whyAnywhere)
				copies[[2]int32{int32(id), r}] = made
			}
			all.to[id] = copies[[2]int32{int32(id), plan.Everywhere}]
			continue
		}
		to[id] = all.alone(ng.CopyNode(g, id, in...), owner[id])
		ng.Note(to[id], s.whyAlone(p, id, everywhere, all.partials(id)))
		if len(reach[id]) == 0 {
			continue
		}
		ranked := reach[id]
		if ranked[0] == plan.Everywhere { // first, and all others are there
			ranked = ranked[1:]
			if scattered[id] {
				rows := g.Type(id).Rows
				each := inUnits(exchangeTo(others(owner[id], ranks)), s.unit[rows]).With(plan.SharedRows, op.Int(rows))
				all.to[id], all.partial[id] = all.ownOf(id, all.sent(to[id], owner[id], each)), true
			}
		}
		if len(ranked) == 0 {
			continue
		}
		key := fmt.Sprint(ranked)
		a := attrs[key]
		if a == nil { // many exchanges go to the same ranks
			a = exchangeTo(ranked)
			attrs[key] = a
		}
		moved[id] = all.sent(to[id], owner[id], a)
		if !scattered[id] {
			all.to[id] = moved[id]
		}
	}
	return &Placed{Graph: ng, Owner: append(all.owners, slices.Repeat([]int32{plan.Everywhere}, ng.Len()-len(all.owners))...)}
}

// whyAlone says why one rank runs a node. partial says which of its operands ranks share.
func (s *spreader) whyAlone(p *nodes.Partitioned, id ir.ID, everywhere, partial []bool) string {
	g := p.Graph
	n := &g.Nodes[id]
	place := g.Placement(id)
	block := p.Block[id]
	switch { // what needs no reads comes first: there may be a million tiles
	case n.Op.Root:
		return whyKept
	case readsUnshared(p, n):
		return whyFile
	case place == ir.Replicated || place == ir.OneRank:
		return whyPlaced
	case nodes.Sent(g, id) || int(block.Rows)*int(block.Cols) > 1:
		return whyTile
	case block.Rows > 0 && n.Op.Role == op.Lays:
		return whyLaid
	case block.Rows > 0:
		return whyBlock
	case nodes.MadeAnywhere(g, id):
		return whyAnywhere
	case nodes.IsControl(n) || g.Type(id).IsSparse():
		return whyMessages
	case n.Op.Role != op.Points && !s.whole:
		switch {
		case n.Op.Shard.Kind != op.ShardWhole || n.Region != nil || n.Op.Control != op.NoControl:
			return whyBlocks
		case n.Op.Hidden:
			return whyJoins
		}
		return whyNoBlocks
	}
	_, _, why := s.shared(g, id, partial)
	if after := func(x ir.ID) bool { return !everywhere[x] && !nodes.MadeAnywhere(g, x) }; (why == "" || why == whyLittle) && slices.ContainsFunc(g.In(id), after) {
		return whyAfter
	}
	if why == whyTogether {
		return whyNoRows
	}
	return why
}

// ranksReading returns the other ranks that read the result of each node, ascending. One that a
// node on all ranks reads lists plan.Everywhere, and all others unless each gets its rows. For a
// value that each reader makes itself (nodes.MadeAnywhere), the list contains the owner only if the
// owner reads it. Other owners need not make it.
func ranksReading(g *ir.Graph, owner []int32, scattered []bool, ranks int) [][]int32 {
	reach := make([][]int32, g.Len())
	add := func(x ir.ID, r int32) {
		if at, found := slices.BinarySearch(reach[x], r); !found {
			reach[x] = slices.Insert(reach[x], at, r)
		}
	}
	for i := range g.Nodes {
		for _, in := range g.In(ir.ID(i)) {
			switch r := owner[i]; {
			case owner[in] == plan.Everywhere || r == owner[in] && !nodes.MadeAnywhere(g, in):
			case r == plan.Everywhere:
				add(in, r)
				for _, k := range others(owner[in], ranks) {
					if !nodes.MadeAnywhere(g, in) && !scattered[in] {
						add(in, k)
					}
				}
			default:
				add(in, r)
			}
		}
	}
	return reach
}

func owners(p *nodes.Partitioned, ranks int) []int32 {
	g := p.Graph
	owner := make([]int32, g.Len())
	gp, gq := nodes.RankGrid(ranks)
	alone := make([]bool, g.Len()) // read what rank 0 has to read
	for i := range g.Nodes {
		if alone[i] = readsUnshared(p, &g.Nodes[i]); alone[i] {
			continue
		}
		b := p.Block[i]
		if !g.Effects(ir.ID(i)) { // an assert in what is sent: no message carries an effect
			b = p.BlockOf(ir.ID(i))
		}
		owner[i] = int32(nodes.OwnerOf(b, g.Placement(ir.ID(i)), gp, gq, ranks))
	}
	follow(p, owner)
	// A whole result is placed with its largest input rather than on rank 0, unless it is an
	// effect, or a loop or branch with one: a scalar made of a tile stays with the tile.
	for id, n := range g.All() {
		if n.Op.Control == op.Part { // several results lie where they are made
			owner[id] = owner[g.In(id)[0]]
			continue
		}
		if nodes.Sent(g, id) || g.Effects(id) || alone[id] {
			continue
		}
		in, few := g.In(id), false
		if b := p.Block[id]; b.Rows > 0 {
			if b.Rows*b.Cols == 1 && rearranges(p, id) {
				owner[id] = mostBytes(g, owner, in)
				continue
			}
			if in, few = Factors(g, id); !few || int(b.Rows)*int(b.Cols) >= ranks {
				continue
			}
		}
		best, bytes := int32(0), -1
		for _, x := range in {
			if n := g.Type(x).Bytes(); n > bytes {
				best, bytes = owner[x], n
			}
		}
		if bytes >= 0 && len(in) <= 3 && (!few || bytes >= g.Type(id).Bytes()) {
			owner[id] = best
		}
	}
	return owner
}

// mostBytes returns the rank that owns the most bytes of a list of values, the least if several do.
func mostBytes(g *ir.Graph, owner []int32, list []ir.ID) (rank int32) {
	bytes := map[int32]int{0: 0}
	for _, x := range list {
		bytes[owner[x]] += g.Type(x).Bytes()
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(bytes)), func(a, b int32) int { return bytes[a] - bytes[b] })
}

// rearrangeAtReaders moves a task that only moves elements, such as a transpose or a tile laid out of
// blocks, to the rank on which all its readers are, unless more bytes would travel. Then what it reads
// travels instead of the result, and tasks that rearrange one piece for the readers of a rank share its
// message:
//
//	%2 = reverse(%1) on 0;  %3 = reverse(%1) on 0;  f(%2) on 1;  g(%3) on 1   ->   both reverse on 1
//
// A result that several ranks read stays, because each of them would be sent what it is made of.
func rearrangeAtReaders(p *nodes.Partitioned, owner []int32) {
	const none, several = plan.Everywhere - 1, plan.Everywhere - 2
	g := p.Graph
	reader := make([]int32, g.Len())
	for i := range reader {
		reader[i] = none
	}
	for i := g.Len() - 1; i >= 0; i-- { // readers first: what they read may follow them
		id := ir.ID(i)
		if r := reader[i]; r >= 0 && owner[i] >= 0 && r != owner[i] && rearranges(p, id) {
			there, here := 0, g.Type(id).Bytes() // bytes that travel
			for _, x := range g.In(id) {
				bytes := g.Type(x).Bytes()
				if owner[x] != r {
					there += bytes
				}
				if owner[x] != owner[i] {
					here += bytes
				}
			}
			if there <= here {
				owner[i] = r
			}
		}
		for _, x := range g.In(id) {
			switch {
			case reader[x] == none:
				reader[x] = owner[i]
			case reader[x] != owner[i]:
				reader[x] = several
			}
		}
	}
}

// rearranges reports a node whose result has elements of its operands in other places. Programs may
// have placed it; then it stays.
func rearranges(p *nodes.Partitioned, id ir.ID) bool {
	g := p.Graph
	n, in := &g.Nodes[id], g.In(id)
	if len(in) == 0 || n.Region != nil || g.Effects(id) || readsUnshared(p, n) || n.Op.Control != op.NoControl || n.Op.Cost(nodes.SigOf(g, id), g.Type(id)).Flops != 0 {
		return false
	}
	for _, x := range append(in[:len(in):len(in)], id) {
		if !g.Type(x).IsDense() || g.Type(x).IsScalar() {
			return false
		}
	}
	grid, _, _, sent := g.Dest(id)
	return g.Placement(id) == ir.AnyPlace && (!sent || g.Grids[grid].Place == ir.AnyPlace)
}

// Factors returns what a product multiplies. A product of tall matrices with fewer blocks than there
// are ranks would be made by few of them, which would be sent all factors. So each part of its chain is
// made where its factors lie, and the sum travels.
func Factors(g *ir.Graph, id ir.ID) (in []ir.ID, ok bool) {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Shard.Kind != op.ShardContract && (n.Op.Accum != 1 || len(in) < 2) {
		return nil, false
	}
	if n.Op.Accum == 1 {
		in = in[1:]
	}
	return in, true
}

// readsUnshared reports whether a node, or a node of its regions, reads a file that only rank 0 has, or
// a file whose parts cannot be read alone.
func readsUnshared(p *nodes.Partitioned, n *ir.Node) bool {
	enters := func(n *ir.Node) bool { return !nodes.Elementwise(n) } // a chain reads nothing
	return nodes.SomeIn(n, enters, func(n *ir.Node) bool {
		return n.Op.Root || n.Op.Reads != nil && (n.Op.Parts == nil || !n.Op.Parts(n.Attrs) || slices.Contains(p.Unshared, n.Op.Reads(n.Attrs)))
	})
}

// follow moves pieces of matrices to the tiles of placed arrays: the tile [1,2] of %A to that of L,
// where L[1,2] <- f(%A[1,2]), and what is made of that tile of L alone.
func follow(p *nodes.Partitioned, owner []int32) {
	g := p.Graph
	if !slices.ContainsFunc(g.Grids, func(x ir.Grid) bool { return x.Place != ir.AnyPlace }) {
		return
	}
	moved := make([]bool, g.Len())
	for id, n := range g.All() {
		b := p.BlockOf(id)
		grid, _, _, tile := g.Dest(id)
		moved[id] = tile && g.Grids[grid].Place != ir.AnyPlace
		if b.Rows == 0 || readsUnshared(p, n) {
			continue
		}
		for _, x := range g.In(id) {
			if p.BlockOf(x) != b {
				continue
			}
			switch {
			case !tile && moved[x]:
				owner[id], moved[id] = owner[x], true
			case moved[id] && !nodes.Sent(g, x) && !moved[x] && !readsUnshared(p, &g.Nodes[x]):
				owner[x], moved[x] = owner[id], true
			}
		}
	}
}
