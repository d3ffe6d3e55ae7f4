package layout

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// InParts makes loops over rows out of core, which read files part by part:
//
//	%0 = read() {path};  %1 = pipe(%0, %2) {fold="colsum", ..}
//	->  %1 = inparts(%2) {rows, part, ..} { %0 = read() {path};  %1 = pipe(%0, %2) {..} }
//
// A loop takes the files that it reads row by row, also through views of columns and through chains.
// Each of several loops reads the file again, and computes the chains again. A window of a matrix,
// such as its first rows, becomes a loop that copies it. A file stays whole if another node reads it,
// because it would be in memory anyway.
//
// Reading a file may fail, and its first loop then fails in its place. So it would be wrong to move the
// read past another node that may fail. owner has the owner of each node of g, or is nil if nodes have
// none. InParts returns the new graph and its owners, or g and owner if there is no such loop.
//
// With again, it also makes more nodes read in parts by repeating work (again.go): iterates read their
// files in each round, and operators of bodies become loops.
func InParts(g *ir.Graph, owner []int32, table *op.Table, sizes nodes.Sizes, again bool) (*ir.Graph, []int32) {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return readInParts(&n) }) {
		return g, owner
	}
	if r, owners, _ := regionInParts(&ir.Region{Graph: g}, owner, table, sizes, again); r != nil {
		return r.Graph, owners
	}
	return g, owner
}

// regionInParts is InParts for a region. It returns nil if there is no such loop. whole has the
// attributes of reads whose files stay whole.
func regionInParts(was *ir.Region, owner []int32, table *op.Table, sizes nodes.Sizes, again bool) (r *ir.Region, owners []int32, whole []*op.Attrs) {
	for {
		r, owners = was, owner
		var sunk []*op.Attrs
		if again {
			var more []*op.Attrs
			if r, owners, sunk, more = sinkFiles(was, owner, table, sizes, whole); len(more) > 0 {
				whole = append(whole, more...)
				continue
			}
		}
		r, owners = againInParts(r, owners, table, again)
		f := newInParts(r.Graph, table, sizes)
		f.yields = r.Yields
		for f.changed = true; f.changed; {
			f.changed = false
			f.find()
		}
		parts := map[ir.ID]bool{}
		for _, x := range f.of {
			for _, m := range x.members {
				parts[m] = true
			}
		}
		more := false
		for id, n := range r.Graph.All() {
			if n.Op.Reads != nil && !parts[id] && !slices.Contains(whole, n.Attrs) {
				whole, more = append(whole, n.Attrs), more || slices.Contains(sunk, n.Attrs)
			}
		}
		switch {
		case more: // a file that is there as a whole need not be read again
		case len(f.at) == 0:
			return nil, nil, whole
		default:
			r, owners = f.build(r, owners)
			return r, owners, whole
		}
	}
}

// newInParts prepares the search for loops in g.
func newInParts(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *inParts {
	f := &inParts{g: g, table: table, most: sizes.Filled().Part, readers: make([][]ir.ID, g.Len()), whole: make([]bool, g.Len()), stops: nodes.StopsOf(g)}
	f.s = &spreader{table: table, ranks: trialRanks, from: 1, unit: map[int]op.Val{}, touches: map[edge]float64{}, estimators: map[*ir.Graph]*ir.Estimator{}}
	for id := range g.All() {
		for _, x := range g.In(id) {
			f.readers[x] = append(f.readers[x], id)
		}
	}
	return f
}

// trialRanks is a number of ranks. An operand is read row by row if each of so many ranks would read
// only its own rows of it.
const trialRanks = 7

// readInParts reports whether a node reads a dense matrix from a file whose rows can be read alone.
func readInParts(n *ir.Node) bool {
	return n.Op.Reads != nil && n.Op.Parts != nil && n.Op.Loop != nil && !n.Attrs.Bool("sparse") && n.Op.Parts(n.Attrs)
}

// WholeReads joins reads of several columns of a file to one read and views of it. A loop can then read
// the file in parts for other columns, too. Columns that no node reads are read because they may fail;
// alone they would stay whole.
func WholeReads(g *ir.Graph, table *op.Table) *ir.Graph {
	// columnsOf returns which columns of all rows a node reads, and what else it says. from is -1 if it
	// reads others.
	columnsOf := func(id ir.ID) (from, count int, file *op.Attrs) {
		n := g.Nodes[id]
		at := n.Attrs.Ints("at")
		if n.Op.Reads == nil || len(at) == 0 || at[0] > 0 {
			return -1, 0, nil
		}
		n.Attrs = op.MakeAttrs(slices.DeleteFunc(slices.Clone(n.Attrs.List()), func(a op.Attr) bool { return a.Name == "at" })...)
		if !readInParts(&n) {
			return -1, 0, nil
		}
		return int(at[1]), int(at[3]), n.Attrs
	}
	columns, whole := map[string]int{}, map[string]ir.ID{} // by file: how many there are, and the read of all
	for id := range g.All() {
		if from, count, file := columnsOf(id); from >= 0 && from == columns[file.String()] {
			columns[file.String()] += count
		}
	}
	uses := g.Uses()
	return nodes.Changed(g, func(id ir.ID) bool {
		from, count, file := columnsOf(id)
		return from >= 0 && count < columns[file.String()]
	}, func(c *nodes.Copying, id ir.ID) {
		n, t, o := &g.Nodes[id], g.Type(id), g.Origin(id)
		_, _, file := columnsOf(id)
		all, ok := whole[file.String()]
		if !ok {
			all = c.G.Add(n.Op, file, types.DenseOf(t.Elem, t.Rows, columns[file.String()]), o)
			whole[file.String()] = all
		}
		if c.To[id] = all; uses[id] > 0 {
			c.To[id] = c.G.Add(table.Must("slice"), op.MakeAttrs(op.Attr{Name: "at", Val: n.Attrs.Val("at")}), t, o, all)
		}
	})
}

// inParts finds and makes the loops of InParts.
type inParts struct {
	g       *ir.Graph
	table   *op.Table
	s       *spreader
	most    int // bytes of a part
	readers [][]ir.ID
	whole   []bool // nodes that must stay out of these loops
	changed bool   // whole has changed, so find must run again
	yields  []ir.ID
	stops   nodes.Stops
	of      map[ir.ID]*partsLoop // by loop
	at      map[ir.ID][]ir.ID    // the loops that are made after a node, which may be themselves
}

// partsLoop is a loop with the nodes that it takes into its body.
type partsLoop struct {
	members []ir.ID // ascending; not the loop
	attrs   *op.Attrs
}

// stay keeps nodes out of all loops.
func (f *inParts) stay(ids ...ir.ID) {
	for _, id := range ids {
		f.changed, f.whole[id] = f.changed || !f.whole[id], true
	}
}

// find finds the loops. It keeps nodes out (stay) whose reader is in no loop with them.
func (f *inParts) find() {
	f.of, f.at = map[ir.ID]*partsLoop{}, map[ir.ID][]ir.ID{}
	found, inside := make([]*partsLoop, f.g.Len()), map[ir.ID]bool{}
	for id := ir.ID(f.g.Len() - 1); id >= 0; id-- {
		if inside[id] { // it is made in parts for another loop
			continue
		}
		if found[id] = f.loop(id); found[id] != nil {
			for _, m := range found[id].members {
				inside[m] = true
			}
		}
	}
	known := map[ir.ID]bool{} // what earlier loops make in parts
	until := ir.ID(0)         // the place of the last of them
	for i, x := range found {
		if x == nil {
			continue
		}
		id := ir.ID(i)
		place, ok := f.place(id, x.members, func(m ir.ID) bool { return inside[m] && !known[m] }, known)
		if !ok || place < until { // the file of a later loop would be read first
			f.stay(x.members...)
			continue
		}
		until = place
		f.of[id], f.at[place] = x, append(f.at[place], id)
		for _, m := range x.members {
			known[m] = true
		}
	}
	for r := range f.g.All() {
		if f.of[r] == nil && !known[r] {
			f.wholeFor(r, nil, known)
		}
	}
	for _, y := range f.yields {
		if known[y] {
			f.stay(y)
		}
	}
	for id, x := range f.of {
		for _, r := range append(slices.Clone(x.members), id) {
			f.wholeFor(r, x.members, known)
		}
	}
}

// wholeFor keeps operands of node r whole that other loops would make in parts. members are those of
// r's own loop, and parts has all nodes that loops make in parts.
func (f *inParts) wholeFor(r ir.ID, members []ir.ID, parts map[ir.ID]bool) {
	for _, x := range f.g.In(r) {
		if parts[x] && !slices.Contains(members, x) {
			f.stay(x)
		}
	}
}

// call returns a call of node id whose operands have shapes and no elements. It returns nil if a
// shape is not known, or if the node cannot be called so.
func (f *inParts) call(id ir.ID) *op.Call {
	n := &f.g.Nodes[id]
	c := &op.Call{Def: n.Op, Attrs: n.Attrs, Type: f.g.Type(id), Part: n.Attrs.Int(plan.SharedRows) > 0}
	for _, x := range f.g.In(id) {
		switch t := f.g.Type(x); {
		case t.IsDense() && t.Known():
			c.In = append(c.In, &value.Dense{Elem: t.Elem, Rows: t.Rows, Cols: t.Cols, Stride: t.Cols})
		case t.IsScalar():
			c.In = append(c.In, value.Scalar{Elem: t.Elem})
		case t.Kind == types.Effect:
			c.In = append(c.In, nil)
		default:
			return nil
		}
	}
	if n.Enter(c) != nil {
		return nil
	}
	return c
}

// loop returns node id as a loop over rows of files. It returns nil if it is none, or if the files
// are so small that they would be read in fewer than two parts.
func (f *inParts) loop(id ir.ID) *partsLoop {
	n := &f.g.Nodes[id]
	l := n.Op.Loop
	writes := n.Op.Writes != nil && n.Op.Parts(n.Attrs)
	fixed := f.fixed(id)
	shares := n.Attrs
	if fixed && n.Attrs.Int(plan.Shared) == 0 { // columns of what ranks share
		shares = f.g.Nodes[f.g.In(id)[0]].Attrs
	}
	picks := f.picks(id)
	if !writes && !fixed && !picks && (l == nil || l.RowsEach == nil || f.whole[id] || !n.Op.Laws.Has(op.Pure)) || n.Op.Reads != nil || nodes.Sent(f.g, id) || n.Attrs.Int("keep") > 0 {
		return nil
	}
	rows := 0
	for _, x := range f.g.In(id) {
		if t := f.g.Type(x); t.IsDense() && t.Known() {
			rows = max(rows, t.Rows)
		}
	}
	c := f.call(id)
	if rows < trialRanks || c == nil && !picks {
		return nil
	}
	each, per, leaf := 1, 1, 1 // a row
	switch {
	case fixed && n.Attrs.Int(plan.Shared) > 0: // all rows (sinkFiles)
	case fixed && n.Op.Look != nil:
		rows = f.g.Type(id).Rows
	case fixed:
		rows = n.Op.RowsRead(n.Attrs).Count
		each = rows
	case !writes && !picks:
		if each, per = l.RowsEach(c); each == 0 || per == 0 {
			return nil
		}
		count, by := l.Space(c)
		if leaf = by; count != (rows+each-1)/each*per || n.Op.Accum > 0 && each*per != 1 {
			return nil
		}
	}
	members, spread := f.members(id, rows)
	row, all := 0, 0 // bytes of a row that a part has, and of all matrices
	of := func(m ir.ID) int { return f.g.Type(m).Bytes() / f.g.Type(m).Rows }
	var small []ir.ID // that only others are made of
	for _, m := range members {
		if f.g.Nodes[m].Op.Look != nil {
			continue
		}
		if all += f.g.Type(m).Bytes(); !f.reads(id, m, members) {
			small = append(small, m)
			continue
		}
		if row += of(m); spread[m] > 0 { // the part before has some of its rows
			row += of(m)
		}
	}
	if all == 0 {
		return nil
	}
	part := max(1, f.most/(row*each))
	for _, by := range [...]int{(leaf + per - 1) / per, wholePages / each} {
		if by > 0 && by*each*row <= f.most {
			part = (part + by - 1) / by * by
		}
	}
	part = min(part, (rows+each-1)/each)
	bytes := part * each * row
	for _, m := range members {
		if bytes += spread[m] * of(m); slices.Contains(small, m) {
			bytes += min(part*each, wholePages) * of(m)
		}
	}
	if 2*bytes > all {
		return nil
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "each", Val: op.Int(each)}, op.Attr{Name: "per", Val: op.Int(per)},
		op.Attr{Name: "part", Val: op.Int(part)}, op.Attr{Name: "bytes", Val: op.Int(bytes)})
	return &partsLoop{members, withShares(attrs, shares)}
}

// sharing lists the attributes that say how ranks share a node.
var sharing = []string{plan.Shared, plan.SharedRows, plan.Unit, plan.Owner}

// withShares returns attrs and the attributes in from that say how ranks share a node.
func withShares(attrs, from *op.Attrs) *op.Attrs {
	for _, name := range sharing {
		if v, ok := from.Get(name); ok {
			attrs = attrs.With(name, v)
		}
	}
	return attrs
}

// reads reports whether loop id, or a view that it reads, reads member m.
func (f *inParts) reads(id, m ir.ID, members []ir.ID) bool {
	return slices.ContainsFunc(f.g.In(id), func(x ir.ID) bool {
		return x == m || slices.Contains(members, x) && f.g.Nodes[x].Op.Look != nil && f.reads(x, m, members)
	})
}

// wholePages is a number of rows that fill whole pages of 4096 bytes, whatever the length of a row. A
// matrix that only other matrices are made of has so many rows at a time.
const wholePages = 4096

// place returns the node after which loop id is made, which may be id itself. ok is false if failures
// would come in another order. known has the nodes that earlier loops make in parts. later reports
// nodes that only later loops make.
func (f *inParts) place(id ir.ID, members []ir.ID, later func(ir.ID) bool, known map[ir.ID]bool) (at ir.ID, ok bool) {
	first, last := id, ir.ID(0)
	for _, m := range members {
		if f.g.Nodes[m].Op.Reads != nil {
			last = max(last, m)
			if !known[m] {
				first = min(first, m)
			}
		}
	}
	// stops reports whether a node between the first file and node to may fail. It leaves out members and
	// the nodes that except reports.
	stops := func(to ir.ID, except func(ir.ID) bool) bool {
		for x := first + 1; x <= to; x++ {
			if !slices.Contains(members, x) && f.stops.Between(x-1, x) && !except(x) {
				return true
			}
		}
		return false
	}
	none := func(ir.ID) bool { return false }
	if !stops(id-1, none) {
		return id, true
	}
	for _, m := range append(slices.Clone(members), id) {
		for _, x := range f.g.In(m) {
			if !slices.Contains(members, x) && f.g.Nodes[x].Op.Role != op.Constant { // constants are made before it
				last = max(last, x)
			}
		}
	}
	if !ir.MayFail(f.g, id) && !stops(last, none) {
		return last, true
	}
	return id, !stops(id-1, later)
}

// ownedAs adds to owners, of the first nodes of g, those of the other ones, which are made of old node
// id. owner has the owners of old nodes, or is nil (InParts).
func ownedAs(owners, owner []int32, id ir.ID, g *ir.Graph) []int32 {
	for owner != nil && len(owners) < g.Len() {
		owners = append(owners, owner[id])
	}
	return owners
}

// build returns the region with the loops, and the owners of its nodes.
func (f *inParts) build(of *ir.Region, owner []int32) (*ir.Region, []int32) {
	c := nodes.CopyOf(f.g)
	inside := map[ir.ID]bool{}
	for id, x := range f.of {
		inside[id] = true
		for _, m := range x.members {
			inside[m] = true
		}
	}
	var owners []int32
	owned := func(id ir.ID) {
		owners = ownedAs(owners, owner, id, c.G)
	}
	for id := range f.g.All() {
		if !inside[id] && c.To[id] == ir.None {
			c.Node(id)
			owned(id)
		}
		for _, h := range f.at[id] {
			x := f.of[h]
			results := []ir.ID{h}
			if f.g.Type(h).Kind == types.Tuple {
				results = slices.Clone(f.readers[h])
			}
			m := append(slices.Clone(x.members), h)
			if results[0] != h {
				m = append(m, results...)
			}
			r, reads := nodes.RegionOf(f.g, f.table, m, results)
			for _, x := range reads {
				if c.To[x] == ir.None { // a constant
					c.Node(x)
					owned(x)
				}
			}
			o := f.calls(r.Graph, len(reads), m, h)
			row := "inparts"
			if f.g.Nodes[h].Op.Writes != nil {
				row = "inparts.write"
			}
			c.Made(f.table, row, x.attrs, r, nodes.Through(c.To, reads), o, results...)
			owned(h)
		}
	}
	return c.Region(of), owners
}

// calls sets the function calls of the nodes of body b, which are members from node args on. Members
// may come from different functions: a file may be read outside of the function whose loop reads it.
// calls returns an origin for the loop that replaces h, in the calls that all members are in.
func (f *inParts) calls(b *ir.Graph, args int, members []ir.ID, h ir.ID) ir.Origin {
	path := func(id ir.ID) (p []int32) { // the outermost call first
		for c := f.g.Nodes[id].Call; c > 0; c = f.g.Calls[c].Parent {
			p = append(p, c)
		}
		slices.Reverse(p)
		return p
	}
	own, o := path(h), f.g.Origin(h)
	common := len(own)
	for _, m := range members {
		p := path(m)
		for common = min(common, len(p)); common > 0 && p[common-1] != own[common-1]; {
			common--
		}
	}
	if common < len(own) {
		o.Span, o.Call = f.g.Calls[own[common]].Span, f.g.Calls[own[common]].Parent
	}
	inner := map[int32]int32{o.Call: 0}
	for k, m := range members {
		for _, c := range path(m)[common:] {
			if _, ok := inner[c]; !ok {
				call := f.g.Calls[c]
				call.Parent, inner[c] = inner[call.Parent], int32(len(b.Calls))
				b.Calls = append(b.Calls, call)
			}
		}
		b.Nodes[args+k].Call = inner[f.g.Nodes[m].Call]
	}
	return o
}
