package pass

import (
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Hoist moves loop invariants in front of the loop:
//
//	iterate(%c, %G) { %2 = t(%G); %3 = mul(%2, %c); .. }   ->   %5 = t(%G);  iterate(%c, %5) { %3 = mul(%5', %c); .. }
//
// It would be wrong for what may fail: a loop without rounds does not fail. It could waste work on what
// a branch may not need, so nothing leaves a branch. It skips a matrix that the body passes unchanged
// to the next round, which would be copied every time. A matrix of codes is not built, so it stays.
//
// Constants move only if constants is set. Rewrite rules match a constant in the body of a loop, but
// not an argument that stands for it. So constants stay until the rules have been applied. Divisors
// stay: a quotient of integers by an argument may fail, and what may fail joins no loop.
//
// A parfor computes its invariants once by itself. What moves out of it are sorts, and what they sort:
// a sort in it would be made in part for each point where points read different rows (part-sorts).
func Hoist(g *ir.Graph, table *op.Table, constants bool) *ir.Graph {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return nodes.IsControl(&n) || sortsOfPoints(&n) }) {
		return g
	}
	h := &hoisting{Copying: nodes.CopyOf(g), arg: table.Must("arg"), constants: constants}
	for i := range g.Nodes {
		if id := ir.ID(i); g.Nodes[i].Op.Control == op.Iterate || sortsOfPoints(&g.Nodes[i]) {
			h.To[i] = h.copied(id, h.In(id), func(r *ir.Region, in []ir.ID) outside {
				return h.invariants(id, r, in, g.Origin(id).NoDest())
			})
		} else {
			h.Node(id)
		}
	}
	if h.moved == 0 {
		return g
	}
	for i := range h.G.Nodes {
		switch h.G.Nodes[i].Op.Control {
		case op.Iterate, op.Select:
			nodes.DropInputs(h.G, ir.ID(i))
		}
	}
	return h.G
}

type hoisting struct {
	*nodes.Copying
	arg       *op.Def
	constants bool // constants move, too
	moved     int
}

// sortsOfPoints reports a parfor in whose body something is sorted.
func sortsOfPoints(n *ir.Node) bool {
	return n.Op.Role == op.Points && !n.Attrs.Bool("pairs") && len(sorted(n.Region.Graph)) > 0
}

// sorted returns the sorts of g that have all rows, and what they sort.
func sorted(g *ir.Graph) map[ir.ID]bool {
	is := map[ir.ID]bool{}
	for i := ir.ID(g.Len()) - 1; i >= 0; i-- {
		if o := g.Nodes[i].Op.Order; is[i] || o != nil && o.Part != "" {
			is[i] = true
			for _, x := range g.In(i) {
				is[x] = true
			}
		}
	}
	return is
}

// copied copies a loop or branch, whose regions read some of their values from outside.
func (h *hoisting) copied(id ir.ID, in []ir.ID, find func(r *ir.Region, in []ir.ID) outside) ir.ID {
	n := &h.Old.Nodes[id]
	inputs := in
	var more []outside
	for r := n.Region; r != nil; r = r.Next {
		out := find(r, in)
		more = append(more, out)
		inputs = append(inputs, out.at...)
	}
	if len(inputs) == len(in) {
		return h.G.CopyNode(h.Old, id, in...)
	}
	to := h.G.CopyNode(h.Old, id, inputs...)
	k := -1
	h.G.Nodes[to].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
		k++
		return h.rewritten(r, more, k)
	})
	return to
}

// outside lists nodes of a region that are computed before the loop and still read in the region,
// and their new places.
type outside struct {
	ids, at []ir.ID
	moved   []bool // of the region's nodes: computed outside
}

// invariants moves the invariants of region r of loop l to the outer graph.
func (h *hoisting) invariants(l ir.ID, r *ir.Region, in []ir.ID, origin ir.Origin) (out outside) {
	g, moves := r.Graph, func(ir.ID) bool { return true }
	first, shift := nodes.Captures(h.Old, l, r)
	if h.Old.Nodes[l].Op.Role == op.Points {
		some := sorted(g)
		moves = func(id ir.ID) bool { return some[id] }
	}
	at := slices.Repeat([]ir.ID{ir.None}, g.Len())
	for k, a := range r.Args {
		if k >= first {
			at[a] = in[k+shift]
		}
	}
	yielded := nodes.SetOf(r.Yields)
	moved := make([]bool, g.Len())
	constant := func(id ir.ID) bool { return g.Nodes[id].Op.Role == op.Constant }
	divides := make([]bool, g.Len())
	for i := range g.Nodes {
		if id := ir.ID(i); g.Nodes[i].Op.Partial == op.NotByZero && g.Type(id).IsMatrix() && g.Nodes[i].Region == nil && !ir.MayFail(g, id) {
			in := g.In(id)
			divides[in[len(in)-1]] = true
		}
	}
	uses := g.Uses()
	add := func(id ir.ID, from ...ir.ID) {
		o, n := origin, &g.Nodes[id]
		o.Span = n.Span
		at[id] = h.G.Add(n.Op, n.Attrs, g.Type(id), o, from...)
		h.G.Nodes[at[id]].Region = n.Region
	}
	for id, n := range g.All() {
		if n.Op == h.arg || !moves(id) || ofCodes(g, id) || yielded[id] && !g.Type(id).IsScalar() || !harmless(g, id) ||
			constant(id) && (!h.constants || divides[id] || uses[id] == 0 && !yielded[id]) {
			continue
		}
		in := g.In(id)
		if slices.ContainsFunc(in, func(x ir.ID) bool { return at[x] == ir.None && !constant(x) }) {
			continue
		}
		from := make([]ir.ID, len(in))
		for k, x := range in {
			if at[x] == ir.None {
				add(x)
			}
			from[k] = at[x]
		}
		add(id, from...)
		moved[id] = true
	}
	return h.left(r, moved, at)
}

// left returns the values that are computed outside of a region and still read in it. at has their
// nodes.
func (h *hoisting) left(r *ir.Region, moved []bool, at []ir.ID) (out outside) {
	g, yielded := r.Graph, nodes.SetOf(r.Yields)
	out.moved = moved
	needed := make([]bool, g.Len())
	for i := range g.Nodes {
		for _, x := range g.In(ir.ID(i)) {
			needed[x] = needed[x] || !moved[i]
		}
	}
	for i := range g.Nodes {
		id := ir.ID(i)
		if moved[i] {
			h.moved++
		}
		if moved[i] && (needed[i] || yielded[id]) {
			out.ids, out.at = append(out.ids, id), append(out.at, at[i])
		}
	}
	return out
}

// rewritten returns region k with arguments for what was moved out of it, and for what was moved
// out of the others.
func (h *hoisting) rewritten(r *ir.Region, more []outside, k int) *ir.Region {
	c, isArg := nodes.CopyOf(r.Graph), nodes.SetOf(more[k].ids)
	for i := range r.Graph.Nodes {
		switch id := ir.ID(i); {
		case isArg[id]:
			c.To[i] = c.G.Add(h.arg, nil, r.Graph.Type(id), ir.Origin{Span: r.Graph.Nodes[i].Span})
		case more[k].moved[i]:
			c.To[i] = ir.None
		default:
			c.Node(id)
		}
	}
	out := c.Region(r)
	for j, o := range more {
		for i, id := range o.ids {
			if j == k {
				out.Args = append(out.Args, c.To[id])
			} else {
				out.Args = append(out.Args, c.G.Add(h.arg, nil, h.G.Type(o.at[i]), ir.Origin{}))
			}
		}
	}
	return out
}

// harmless reports an operator that cannot fail on these inputs.
func harmless(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	d := n.Op
	if nodes.Sent(g, id) || !d.Laws.Has(op.Pure) || d.Control != op.NoControl || d.Reads != nil {
		return false
	}
	if d.Role == op.Constant {
		return true
	}
	if n.Region != nil { // a parfor may fail; chains are made later
		return false
	}
	sized := func(t types.Type) bool { return t.Known() && (t.IsDense() || t.IsSparse()) }
	if t := g.Type(id); t.Elem.Size() == 0 || t.Kind != types.Scalar && !sized(t) {
		return false
	}
	empty := false
	for _, x := range g.In(id) {
		xt := g.Type(x)
		if xt.IsMatrix() && !sized(xt) {
			return false
		}
		empty = empty || xt.IsMatrix() && xt.Count() == 0
	}
	switch d.Shard.Kind {
	case op.ShardReduce, op.ShardRows, op.ShardCols:
		return !empty
	}
	return !ir.MayFail(g, id)
}

// ReadAbove makes branches take elements of matrices that are already read above them:
//
//	%4 = element(%1, %2);  select(%5, %1, %2) { %2 = element(%0, %1); .. }   ->   select(%5, %4) { .. }
//
// A branch mostly reads again the elements that its condition has read. A loop then knows that the
// subscript in the branch is the one that has passed the condition. The operator may be one that fails,
// because it is computed above anyway. An operator with effects stays in the branch.
func ReadAbove(g *ir.Graph, table *op.Table) *ir.Graph {
	branch := func(n ir.Node) bool { return n.Op.Control == op.Select }
	if !slices.ContainsFunc(g.Nodes, branch) {
		return g
	}
	h := &hoisting{Copying: nodes.CopyOf(g), arg: table.Must("arg")}
	readers := map[uint64][]ir.ID{} // by hash
	for i := range g.Nodes {
		if branch(g.Nodes[i]) {
			h.To[i] = h.branch(ir.ID(i), readers)
		} else {
			h.Node(ir.ID(i))
		}
		if in := h.G.In(h.To[i]); len(in) > 0 && h.G.Nodes[h.To[i]].Region == nil && h.G.Type(in[0]).IsMatrix() {
			key := h.hash(h.G, h.To[i], nil)
			readers[key] = append(readers[key], h.To[i])
		}
	}
	if h.moved == 0 {
		return g
	}
	for i := range h.G.Nodes {
		if branch(h.G.Nodes[i]) {
			nodes.DropInputs(h.G, ir.ID(i))
		}
	}
	return h.G
}

// branch copies the branch id. Nodes of its regions that equal one of readers are replaced by that one.
func (h *hoisting) branch(id ir.ID, readers map[uint64][]ir.ID) ir.ID {
	return h.copied(id, h.In(id), func(r *ir.Region, in []ir.ID) outside {
		g, at := r.Graph, slices.Repeat([]ir.ID{ir.None}, r.Graph.Len())
		_, shift := nodes.Captures(h.Old, id, r)
		for k, a := range r.Args {
			at[a] = in[k+shift]
		}
		moved := make([]bool, g.Len())
		for x, n := range g.All() {
			if in := g.In(x); len(in) == 0 || at[in[0]] == ir.None || n.Region != nil || nodes.Sent(g, x) || n.Op.Laws.Has(op.Effectful) || fuses(g, x) {
				continue
			}
			list := readers[h.hash(g, x, at)]
			if k := slices.IndexFunc(list, func(y ir.ID) bool { return h.equal(g, x, y, at) }); k >= 0 {
				at[x], moved[x] = list[k], true
			}
		}
		return h.left(r, moved, at)
	})
}

// fuses reports whether loops that read matrix x mostly make it themselves. If a branch read it from
// above, it would be stored in memory for the loops above, too.
func fuses(g *ir.Graph, x ir.ID) bool {
	return g.Type(x).IsMatrix() && g.Nodes[x].Op.Laws&(op.Elementwise|op.View) != 0
}

// hash returns the same number for nodes that are equal: node x of a region, or of the copy if at is
// nil.
func (h *hoisting) hash(g *ir.Graph, x ir.ID, at []ir.ID) uint64 {
	key := hashOf(&g.Nodes[x])
	for _, y := range g.In(x) {
		g := g
		if at != nil && at[y] != ir.None {
			g, y = h.G, at[y]
		}
		if n := &g.Nodes[y]; n.Op.Role == op.Constant {
			key = (key ^ hashOf(n)) * hashPrime
		} else if g == h.G {
			key = (key ^ uint64(y)) * hashPrime
		}
	}
	return key
}

// equal reports whether node x of a region computes the same as node y of the copy. at has the nodes of
// the copy for values from outside of the region.
func (h *hoisting) equal(g *ir.Graph, x, y ir.ID, at []ir.ID) bool {
	same := func(x, y ir.ID) bool {
		a, b := &g.Nodes[x], &h.G.Nodes[y]
		return a.Op == b.Op && g.Type(x).Equal(h.G.Type(y)) && (a.Attrs == b.Attrs || a.Attrs.Equal(b.Attrs))
	}
	return same(x, y) && slices.EqualFunc(g.In(x), h.G.In(y), func(x, y ir.ID) bool {
		return at[x] == y || at[x] == ir.None && g.Nodes[x].Op.Role == op.Constant && same(x, y)
	})
}

// Ahead moves what a branch with effects computes to a branch of its own in front of it. Effects happen
// on one rank, and so does all work of a branch with effects. Ranks share the new branch:
//
//	%4 = select(%3, %0) { %1 = median(%0); emit(%1) } { emit("none") }
//	->  %4 = select(%3, %0) { yield median(%0) } { yield 0.0 };  %5 = part(%4) {at=0}
//	    %6 = select(%3, %0, %5) { emit(%5) } { emit("none") }
//
// It would be wrong for an operator that may fail and follows an effect: its failure would come before
// the effect, which then does not happen. A branch stays as it is if its effects read large matrices,
// or if it works on no matrix of `least` elements or more.
func Ahead(g *ir.Graph, table *op.Table, least int) *ir.Graph {
	return nodes.Deep(g, func(g *ir.Graph) *ir.Graph {
		ahead := map[ir.ID][]*aheadOf{}
		return nodes.Changed(g, func(id ir.ID) bool {
			if n := &g.Nodes[id]; n.Op.Control == op.Select && len(n.Region.Yields) == 0 {
				ahead[id] = partsAhead(n.Region, least)
			}
			return ahead[id] != nil
		}, func(c *nodes.Copying, id ir.ID) { computesAhead(c, table, id, ahead[id]) })
	})
}

// aheadOf divides the nodes of a region into those that are computed ahead and those that stay with the
// effects. A node may be in both parts.
type aheadOf struct {
	moves, stays []bool  // by node
	values       []ir.ID // nodes that move, and are read by nodes that stay
}

// mostAhead is the most elements of a matrix that the new branch yields for the effects.
const mostAhead = 4096

// partsAhead divides each region of a branch. It returns nil if the branch stays as it is.
func partsAhead(r *ir.Region, least int) (out []*aheadOf) {
	worth := false
	for ; r != nil; r = r.Next {
		g, seen := r.Graph, false
		a := &aheadOf{moves: make([]bool, g.Len()), stays: make([]bool, g.Len())}
		large := func(x ir.ID) bool { return nodes.Dividable(g.Type(x)) && g.Type(x).Count() >= least }
		for i := range g.Nodes {
			id, in := ir.ID(i), g.In(ir.ID(i))
			effect := layout.HappensOnce(g, id) || g.Type(id).Kind == types.Effect || slices.ContainsFunc(in, func(x ir.ID) bool { return g.Type(x).Kind == types.Effect })
			a.moves[i] = !effect && !nodes.Sent(g, id) && !(seen && ir.MayFail(g, id)) && !slices.ContainsFunc(in, func(x ir.ID) bool { return !a.moves[x] })
			a.stays[i], seen = !a.moves[i], seen || effect && g.Nodes[i].Op.Role != op.Argument
			worth = worth || a.moves[i] && g.Nodes[i].Op.Role != op.Argument && (large(id) || slices.ContainsFunc(in, large))
		}
		for i := ir.ID(g.Len()) - 1; i >= 0; i-- {
			if !a.stays[i] {
				continue
			}
			for _, x := range g.In(i) {
				switch t, n := g.Type(x), &g.Nodes[x]; {
				case a.stays[x] || n.Op.Role == op.Argument || slices.Contains(a.values, x):
				case n.Op.Role != op.Constant && (nodes.IsNumber(t) || nodes.Dividable(t) && t.Count() <= mostAhead) && t.Elem != types.F32:
					a.values = append(a.values, x)
				case t.IsMatrix() || t.Kind == types.Tuple:
					return nil
				default:
					a.stays[x] = true
				}
			}
		}
		out = append(out, a)
	}
	if !worth {
		return nil
	}
	return out
}

// computesAhead copies a branch as two: one that yields the values, and one with the effects.
func computesAhead(c *nodes.Copying, table *op.Table, id ir.ID, parts []*aheadOf) {
	n, o := &c.Old.Nodes[id], c.Old.Origin(id).NoDest()
	var ts []types.Type // of the values of all regions, one after the other
	first := make([]int, len(parts))
	for k, r := 0, n.Region; r != nil; k, r = k+1, r.Next {
		first[k] = len(ts)
		for _, x := range parts[k].values {
			ts = append(ts, r.Graph.Type(x))
		}
	}
	moves, stays := make([][]bool, len(parts)), make([][]bool, len(parts))
	for k, a := range parts {
		moves[k], stays[k] = a.moves, a.stays
	}
	made := partOf(c, id, moves, types.TupleOf(ts...), nil, func(k int, x *nodes.Copying, out *ir.Region) {
		copyNodes(x, moves[k])
		for j, t := range ts {
			if j -= first[k]; j >= 0 && j < len(parts[k].values) {
				out.Yields = append(out.Yields, x.To[parts[k].values[j]])
			} else {
				out.Yields = append(out.Yields, nothing(x.G, table, t, o))
			}
		}
	})
	values := make([]ir.ID, len(ts))
	for j, t := range ts {
		values[j] = c.G.Add(table.Must("part"), op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(j)}), t, o, made)
	}
	c.To[id] = partOf(c, id, stays, c.Old.Type(id), values, func(k int, x *nodes.Copying, out *ir.Region) {
		for j, t := range ts {
			out.Args = append(out.Args, x.G.Add(table.Must("arg"), nil, t, o))
			if j -= first[k]; j >= 0 && j < len(parts[k].values) {
				x.To[parts[k].values[j]] = out.Args[len(out.Args)-1]
			}
		}
		copyNodes(x, stays[k])
	})
}

// partOf adds a branch of type t with some nodes of branch id. in tells by region which nodes they are.
// more is inputs that id does not have. write copies the nodes of region k, and completes out.
func partOf(c *nodes.Copying, id ir.ID, in [][]bool, t types.Type, more []ir.ID, write func(k int, x *nodes.Copying, out *ir.Region)) ir.ID {
	n := &c.Old.Nodes[id]
	read := make([]bool, len(c.Old.In(id)))
	read[0] = true // the condition
	for k, r := 0, n.Region; r != nil; k, r = k+1, r.Next {
		for i, is := range in[k] {
			for _, x := range r.Graph.In(ir.ID(i)) {
				if a := slices.Index(r.Args, x); is && a >= 0 {
					read[1+a] = true
				}
			}
		}
	}
	made := c.G.Add(n.Op, n.Attrs, t, c.Old.Origin(id).NoDest(), append(nodes.Kept(c.In(id), read), more...)...)
	k := -1
	c.G.Nodes[made].Region = nodes.EachRegion(n.Region, func(r *ir.Region) *ir.Region {
		k++
		x := nodes.CopyOf(r.Graph)
		out := &ir.Region{Graph: x.G}
		for _, a := range nodes.Kept(r.Args, read[1:]) {
			x.Node(a)
			out.Args = append(out.Args, x.To[a])
		}
		write(k, x, out)
		return out
	})
	return made
}

// copyNodes copies the nodes of in that have no copy yet. It leaves out arguments.
func copyNodes(c *nodes.Copying, in []bool) {
	for i, is := range in {
		if is && c.To[i] == ir.None && c.Old.Nodes[i].Op.Role != op.Argument {
			c.Node(ir.ID(i))
		}
	}
}

// nothing makes a value of type t for a region that does not compute it. No node reads it.
func nothing(g *ir.Graph, table *op.Table, t types.Type, o ir.Origin) ir.ID {
	zero := map[types.Elem]op.Val{types.F64: op.Float(0), types.I64: op.Int(0), types.Bool: op.Bool(false)}[t.Elem]
	if t.IsScalar() {
		return g.Add(table.Must("const"), op.MakeAttrs(op.Attr{Name: "value", Val: zero}), t, o)
	}
	attrs := op.MakeAttrs(op.Attr{Name: "x", Val: zero}, op.Attr{Name: "n", Val: op.Int(t.Rows)}, op.Attr{Name: "m", Val: op.Int(t.Cols)})
	return g.Add(table.Must("fill"), attrs, t, o)
}
