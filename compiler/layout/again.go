package layout

// This file rewrites nodes that need whole files as nodes that read them in parts (InParts), at the
// cost of repeated work: iterates read their files in each round, and a loop with several results
// becomes several loops.

import (
	"slices"
	"strings"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// againInParts splits loops over the rows of a file into loops that can read it in parts. It splits a
// reduction that also stores its elements: a map makes the elements for their other readers, and a
// reduction makes them again. With bodies, it also splits loops whose bodies are operators on whole
// matrices. owner and the second result are the owners of nodes, or nil (InParts).
//
//	%1 = pipe(%0) {fold="store sum"} { .. };  %2 = part(%1) {at=0};  %3 = part(%1) {at=1}
//	->  %2 = map(%0) { .. };  %3 = pipe(%0) {fold="sum"} { .. }
//	%1 = panels.along(%0) { %1 = map.product(%0); %2 = matmul.panels(%0, %1) };  %3 = part(%1) {at=1}
//	->  %1 = map.product(%0) { .. };  %3 = matmul.panels(%0, %1)
//
// With bodies, it also gives a sort that makes places the compared column alone (sortedColumn), and
// finds a few sorted rows by their places (sortedByPlaces).
func againInParts(r *ir.Region, owner []int32, table *op.Table, bodies bool) (*ir.Region, []int32) {
	g := r.Graph
	readers, file := make([][]ir.ID, g.Len()), make([]bool, g.Len())
	uses := g.Uses()
	for _, y := range r.Yields {
		uses[y]++
	}
	windows := make([][]ir.ID, g.Len()) // of parts of sorts (PartSorts)
	for id, n := range g.All() {
		if n.Op.Control == op.Part {
			readers[g.In(id)[0]] = append(readers[g.In(id)[0]], id)
		}
		if (n.Op.Role == op.Slices || n.Op.Role == op.PicksAt) && (owner == nil || owner[id] == owner[g.In(id)[0]]) {
			windows[g.In(id)[0]] = append(windows[g.In(id)[0]], id)
		}
		file[id] = readInParts(n) || n.Op.Laws.Has(op.Pure) && n.Op.Control == 0 && g.Type(id).IsDense() && slices.ContainsFunc(g.In(id), func(x ir.ID) bool {
			return file[x] && (n.Op.Look != nil || g.Type(x).Rows == g.Type(id).Rows)
		})
	}
	c := nodes.CopyOf(g)
	var owners []int32
	for id, n := range g.All() {
		if c.To[id] != ir.None { // a part, or a window of a sort
			continue
		}
		names, parts := strings.Fields(n.Attrs.Str("fold")), readers[id]
		switch ofFile := slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return file[x] }); {
		case bodies && ofFile && n.Region != nil && !n.IsChain() && n.Op.Control == 0 && n.Op.Role != op.Points && n.Op.Loop != nil:
			outer := c.G.Len()
			made := c.G.Splice(n.Region, c.In(id), n.Call)
			for k := outer; k < c.G.Len(); k++ {
				if r := &c.G.Nodes[k]; r.Op.Loop != nil {
					r.Attrs = withShares(r.Attrs, n.Attrs)
				}
			}
			if c.To[id] = made[n.Region.Yields[0]]; g.Type(id).Kind == types.Tuple {
				for _, x := range parts {
					c.To[x] = made[n.Region.Yields[g.Nodes[x].Attrs.Int("at")]]
				}
			}
		case ofFile && len(names) > 1 && names[0] == nodes.Stores && len(parts) == len(names):
			modes := op.MakeAttrs(op.Attr{Name: "modes", Val: n.Attrs.Val("modes")})
			c.Made(table, "map", withShares(modes, n.Attrs), n.Region, c.In(id), g.Origin(id), parts[0])
			c.Made(table, n.Op.Name, n.Attrs.With("fold", op.Str(strings.Join(names[1:], " "))), n.Region, c.In(id), g.Origin(id), parts[1:]...)
		case bodies && ofFile && n.Op.Order != nil && n.Op.Order.Pairs && g.Type(g.In(id)[0]).Cols > 1 && n.Attrs.Int(plan.Shared) == 0:
			in := c.In(id)
			in[0] = sortedColumn(c, table, id)
			c.To[id] = c.G.Add(n.Op, n.Attrs.With("by", op.Int(0)), g.Type(id), g.Origin(id), in...)
		case bodies && ofFile && fewSorted(g, id, windows[id], int(uses[id])):
			sortedByPlaces(c, table, id, windows[id])
		default:
			c.Node(id)
		}
		owners = ownedAs(owners, owner, id, c.G)
	}
	return c.Region(r), owners
}

// fewSorted reports whether node id sorts rows of several columns by one of them, and only these
// windows and elements read it, which have at most fewRows rows in all. uses is the number of its
// readers. It is false for a sort that ranks share, whose windows come from exchanges.
func fewSorted(g *ir.Graph, id ir.ID, windows []ir.ID, uses int) bool {
	n := &g.Nodes[id]
	if n.Op.Order == nil || n.Op.Order.Places == "" || len(windows) != uses || len(g.In(id)) != 1 || g.Type(id).Cols < 2 || n.Attrs.Int(plan.Shared) > 0 {
		return false
	}
	rows := 0
	for _, w := range windows {
		rows += g.Nodes[w].Op.RowsRead(g.Nodes[w].Attrs).Count
	}
	return rows <= fewRows
}

// sortedColumn makes the column that sort id compares.
func sortedColumn(c *nodes.Copying, table *op.Table, id ir.ID) ir.ID {
	x, by := c.Old.Type(c.Old.In(id)[0]), c.Old.Nodes[id].Attrs.Int("by")
	if by < 0 {
		by += x.Cols
	}
	at := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, by, x.Rows, 1)})
	return c.G.Add(table.Must("slice"), at, types.DenseOf(x.Elem, x.Rows, 1), c.Old.Origin(id), c.In(id)[0])
}

// sortedByPlaces makes windows of sort id without the other rows. It finds their places from the column
// that the sort compares, and takes the rows at these places. Both can be read in parts:
//
//	%1 = sort.part(%0) {by=2, spans=[0,0,5,0]};  %2 = slice(%1) {at=[0,0,5,8]}
//	->  %1 = slice(%0) {at=[0,2,n,1]};  %2 = argsort.part(%1) {by=0, spans=[0,0,5,0]};
//	    %3 = slice(%2) {at=[0,0,5,1]};  %4 = pick.rows(%0, %3);  %5 = slice(%4) {at=[0,0,5,8]}
func sortedByPlaces(c *nodes.Copying, table *op.Table, id ir.ID, windows []ir.ID) {
	g, n, t := c.Old, &c.Old.Nodes[id], c.Old.Type(id)
	var spans []int // without the pass PartSorts the sort has none
	for _, w := range windows {
		spans = append(spans, g.Nodes[w].Op.RowsRead(g.Nodes[w].Attrs).Ints()...)
	}
	attrs := n.Attrs.With("by", op.Int(0)).With("spans", op.Ints(spans...))
	places := c.G.Add(table.Must(n.Op.Order.Places), attrs, types.DenseOf(types.I64, t.Rows, 1), g.Origin(id), sortedColumn(c, table, id))
	for _, w := range windows {
		r, o := &g.Nodes[w], g.Origin(w)
		from := r.Op.RowsRead(r.Attrs)
		at := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(from.From, 0, from.Count, 1)})
		rows := c.G.Add(table.Must("slice"), at, types.DenseOf(types.I64, from.Count, 1), o, places)
		picked := c.G.Add(table.Must("pick.rows"), nil, types.DenseOf(t.Elem, from.Count, t.Cols), o, c.In(id)[0], rows)
		within := slices.Clone(r.Attrs.Val("at").L)
		within[0] = 0
		c.To[w] = c.G.Add(r.Op, r.Attrs.With("at", op.Val{Kind: op.IntsVal, L: within}), g.Type(w), o, picked)
	}
}

// sinkFiles moves reads of files, and views of their columns, into the bodies of iterates that can
// read them in parts in each round. A slice of the first row stays in the old place: it reads all of
// the file once, so a mistake in the file is still reported there.
//
//	%0 = read() {path};  %1 = iterate(%2, %0) { %1 = arg(); .. }
//	->  %0 = read() {path};  %3 = slice(%0) {at=[0,0,1,m]};  %1 = iterate(%2) { %1 = read() {path}; .. }
//
// Reads with attributes in whole are not moved. sunk has the attributes of the moved reads. If more is
// not empty, it has those of further reads that must not be moved, and the other results are nil.
func sinkFiles(r *ir.Region, owner []int32, table *op.Table, sizes nodes.Sizes, whole []*op.Attrs) (out *ir.Region, owners []int32, sunk, more []*op.Attrs) {
	g, c := r.Graph, nodes.CopyOf(r.Graph)
	views := make([][]ir.ID, g.Len()) // a read, and the views that lead from it to a node
	sinks := map[ir.ID]*ir.Region{}
	moved, stays := make([]bool, g.Len()), make([]bool, g.Len()) // iterates, or other nodes, read it
	for id, n := range g.All() {
		switch in := g.In(id); {
		case readInParts(n) && !slices.Contains(whole, n.Attrs):
			views[id] = []ir.ID{id}
			continue
		case n.Op.Role == op.Slices && views[in[0]] != nil && g.Type(id).Rows == g.Type(in[0]).Rows:
			views[id] = append(slices.Clip(views[in[0]]), id)
			continue
		case n.Op.Control == op.Iterate:
			if sinks[id], more = sinkInto(g, id, views, table, sizes); len(more) > 0 {
				return nil, nil, nil, more
			}
		}
		for k, x := range g.In(id) {
			into := sinks[id] != nil && k >= n.Carried()
			moved[x], stays[x] = moved[x] || into, stays[x] || !into
		}
	}
	for _, y := range r.Yields {
		stays[y] = true
	}
	for id := ir.ID(g.Len() - 1); id >= 0; id-- {
		if len(views[id]) > 1 {
			x := g.In(id)[0]
			moved[x], stays[x] = moved[x] || moved[id], stays[x] || stays[id] || !moved[id]
		}
	}
	for id, n := range g.All() {
		switch {
		case len(views[id]) > 1 && moved[id] && !stays[id]:
		case sinks[id] != nil:
			var in []ir.ID
			for k, x := range g.In(id) {
				if k < n.Carried() || views[x] == nil {
					in = append(in, c.To[x])
				}
			}
			c.To[id] = c.G.CopyNode(g, id, in...)
			c.G.Nodes[c.To[id]].Region = sinks[id]
		default:
			if c.Node(id); n.Op.Reads != nil && moved[id] {
				sunk = append(sunk, n.Attrs)
				row := g.Type(id)
				row.Rows = 1
				at := op.MakeAttrs(op.Attr{Name: "at", Val: op.Ints(0, 0, 1, row.Cols)})
				c.G.Add(table.Must("slice"), withShares(at, n.Attrs), row, g.Origin(id), c.To[id])
			}
		}
		owners = ownedAs(owners, owner, id, c.G)
	}
	return c.Region(r), owners, sunk, nil
}

// sinkInto returns the regions of iterate id that read the files of views among its operands in parts,
// or nil if there are no such operands. more has the attributes of the reads that a region needs whole.
func sinkInto(g *ir.Graph, id ir.ID, views [][]ir.ID, table *op.Table, sizes nodes.Sizes) (first *ir.Region, more []*op.Attrs) {
	n, in := &g.Nodes[id], g.In(id)
	sinks := func(k int) bool { return k >= n.Carried() && views[in[k]] != nil }
	last := &first
	for r := n.Region; r != nil; r = r.Next {
		c, made, sunk := nodes.CopyOf(r.Graph), map[ir.ID]ir.ID{}, map[ir.ID]int{}
		var args []ir.ID
		for k, a := range r.Args {
			switch {
			case !sinks(k):
				args = append(args, a)
			case slices.Contains(r.Yields, a):
				return nil, []*op.Attrs{g.Nodes[views[in[k]][0]].Attrs}
			default:
				sunk[a] = k
			}
		}
		if len(sunk) == 0 {
			return nil, nil
		}
		for x := range r.Graph.All() {
			if _, is := sunk[x]; is {
				continue
			}
			for _, a := range r.Graph.In(x) { // a file is read just before what reads it
				k, is := sunk[a]
				if !is || c.To[a] != ir.None {
					continue
				}
				var from []ir.ID
				for _, v := range views[in[k]] {
					if _, ok := made[v]; !ok {
						made[v] = c.G.Add(g.Nodes[v].Op, g.Nodes[v].Attrs, g.Type(v), ir.Origin{Span: g.Nodes[v].Span}, from...)
					}
					from = []ir.ID{made[v]}
				}
				c.To[a] = from[0]
			}
			c.Node(x)
		}
		to := &ir.Region{Graph: c.G, Args: nodes.Through(c.To, args), Yields: nodes.Through(c.To, r.Yields)}
		inner, _, whole := regionInParts(to, nil, table, sizes, true)
		for v := range made {
			if a := g.Nodes[v].Attrs; slices.Contains(whole, a) {
				more = append(more, a)
			}
		}
		if inner == nil {
			inner = to
		}
		*last = inner
		last = &inner.Next
	}
	return first, more
}
