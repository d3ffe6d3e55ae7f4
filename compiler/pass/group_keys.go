package pass

import (
	"slices"

	"flow/compiler/layout"
	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// Keys makes one task of reductions by key and what makes their rows:
//
//	%2 = map(%0, %1) { i64(a * b) };  %3 = onehot.counts(%2) {k=256}
//	->  %3 = byrows(%0, %1) { the same }
//
// A row is counted, or added to the sums of its key, where it is made: codes and what is computed of
// narrow matrices are not stored, and what several of them read comes from memory once. Bits stay:
// counts do not depend on the order of the rows, and sums have their rows in order, panel by panel.
//
// Operators may fail where nothing else that may lies between the first of them and the last of a task,
// and where all that may fail belong to one call: the loop says that something failed, and the
// operators run one after the other tell what came first. It would be wrong across a send: one `<-` is
// one task. It is pointless for few rows, and slow for tables that are large beside the rows, for wide
// rows and for products of many operations a row, which have kernels of their own.
func Keys(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	if g.Len() > mostByRows || !reducesByKey(g) {
		return g
	}
	sizes = sizes.Filled()
	return rowBlocksOf(prepared(g, table, sizes.Block/leastKeyed), table, sizes, ofKeys)
}

// prepared does in two steps what a loop over rows does not do in one: what depends on a whole operand
// comes before the loop.
func prepared(g *ir.Graph, table *op.Table, least int) *ir.Graph {
	return nodes.Changed(g, func(id ir.ID) bool {
		t := g.Type(id)
		return g.Nodes[id].Op.Prepare != nil && !nodes.Sent(g, id) && t.IsDense() && t.Known() && t.Rows >= least
	}, func(c *nodes.Copying, id ir.ID) { prepare(c, table, id) })
}

// prepare writes node id, whose operator has op.Def.Prepare, in two steps.
func prepare(c *nodes.Copying, table *op.Table, id ir.ID) {
	g, n, in := c.Old, &c.Old.Nodes[id], c.In(id)
	p := n.Op.Prepare
	by := table.Must(p.By)
	in[p.Input] = c.G.Add(by, n.Attrs, nodes.TypeOf(by, n.Attrs, g.Type(g.In(id)[p.Input])), g.Origin(id), in[p.Input])
	c.To[id] = c.G.Add(table.Must(p.Then), n.Attrs, g.Type(id), g.Origin(id), in...)
}

// PrepareOnce writes operators in two steps in the bodies of parfors:
//
//	%3 = bin(%1, %2)   ->   %3 = bin.edges(%2);  %4 = bin.within(%1, %3)
//
// The operand of the first step has at least leastPrepared elements and is the same at all points, so
// the kernel of the parfor makes that step once. It would be pointless for an operand that each point
// makes.
func PrepareOnce(g *ir.Graph, table *op.Table) *ir.Graph {
	if !slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Role == op.Points }) {
		return g
	}
	g = g.Clone()
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op.Role != op.Points {
			continue
		}
		r, b := n.Region, n.Region.Graph
		varies, c := make([]bool, b.Len()), nodes.CopyOf(b)
		for _, x := range r.Args[:len(n.Attrs.Ints("by"))] {
			varies[x] = true
		}
		long := func(x ir.ID) bool { return b.Type(x).Known() && b.Type(x).Count() >= leastPrepared }
		for id, body := range b.All() {
			in := b.In(id)
			varies[id] = varies[id] || slices.ContainsFunc(in, func(x ir.ID) bool { return varies[x] })
			if p := body.Op.Prepare; p != nil && !varies[in[p.Input]] && long(in[p.Input]) {
				prepare(c, table, id)
			} else {
				c.Node(id)
			}
		}
		n.Region = c.Region(r)
	}
	return g
}

const (
	// leastPrepared is the least number of elements of an operand that bodies prepare. With fewer, a loop
	// compares with each of them.
	leastPrepared = 16
	// leastKeyed is the part of a block from which on rows pay: 128 KiB of f64 a column.
	leastKeyed = 4
	// mostKeyed is the most elements that a reduction by key has in all its tables.
	mostKeyed = 1 << 20
	// keyedColumns is the most columns of what a task reads or makes: its rows are lanes.
	keyedColumns = 31
	// keyedFlops is the most operations on a row of an operator that is no chain.
	keyedFlops = 1024
)

// reducesByKey reports a graph with reductions by key.
func reducesByKey(g *ir.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Keyed != nil })
}

// toKeys is rowwise of what is in groups with reductions by key alone.
func (b *rowBlocks) toKeys(id ir.ID) (rows, cols int, ok bool) {
	switch n := &b.g.Nodes[id]; {
	case n.Region != nil:
		return 0, 0, false
	case n.Op.Keyed != nil:
		return b.byKey(id)
	case n.Op.Along != nil && n.Op.Elements != nil && n.Op.Accum == 0:
		return b.along(id)
	}
	return 0, 0, false
}

// along is rowwise of an operator that reads some operands by rows and the others as a whole.
func (b *rowBlocks) along(id ir.ID) (rows, cols int, ok bool) {
	g := b.g
	n, t := &g.Nodes[id], g.Type(id)
	if len(n.Op.Along(n.Attrs)) == 0 || !t.IsDense() || !t.Known() || t.Rows <= 1 || t.Elem == types.Str {
		return 0, 0, false
	}
	cols = t.Cols
	for k, x := range g.In(id) {
		in := g.Type(x)
		if in.IsMatrix() && (!in.IsDense() || !in.Known() || in.Elem == types.Str) || in.Elem.Size() == 0 {
			return 0, 0, false
		}
		own := layout.AlongRow(n, k)
		if b.picks(id) && !own {
			continue // of any number of rows: see mixed
		}
		if own != (in.IsDense() && in.Rows == t.Rows) {
			return 0, 0, false
		}
		if own {
			cols = max(cols, in.Cols)
		}
	}
	return t.Rows, cols, nodes.Flops(g, id) <= keyedFlops*float64(t.Rows)
}

// byKey is rowwise of a reduction by key, of few columns into a table that is small beside a panel.
func (b *rowBlocks) byKey(id ir.ID) (rows, cols int, ok bool) {
	g := b.g
	n, t := &g.Nodes[id], g.Type(id)
	panel := n.Op.Keyed.Panel(n.Attrs)
	rows = g.Type(g.In(id)[0]).Rows
	if panel == op.OneChain || rows <= 1 || !t.IsDense() || !t.Known() || t.Count() == 0 {
		return 0, 0, false
	}
	for _, x := range g.In(id) {
		in := g.Type(x)
		if !in.IsDense() || !in.Known() || in.Rows != rows || in.Cols > keyedColumns {
			return 0, 0, false
		}
		cols = max(cols, in.Cols)
	}
	tables := 1
	if panel != op.NoOrder {
		tables = (rows + panel - 1) / panel
		ok = t.Count() <= panel/2 && tables <= mostKeyed/t.Count()
	} else {
		ok = t.Count() <= rows/2 && t.Count() <= mostKeyed
	}
	return rows, cols, ok
}

// enter adds what a group has to know of a new last member, or reports that it cannot be one.
func (b *rowBlocks) enter(id ir.ID, r *rowGroup) bool {
	ordered := r.ordered || fewOrdered(b.g, id)
	rows, cols, _ := b.rowwise(id)
	columns := r.columns || b.ofColumns(id)
	if ordered && max(cols, r.cols) > orderedByRows || columns && max(cols, r.cols) > fewByRows {
		return false
	}
	if b.mixed(id, r) {
		return false
	}
	fails, first, told := r.fails, r.first, r.told
	if ir.MayFail(b.g, id) {
		if fails == 0 {
			first = id
			told = id
		} else if b.g.Origin(told).Call != b.g.Origin(id).Call {
			return false
		}
		fails, first, told = fails+1, min(first, id), max(told, id)
	}
	if fails > 0 {
		if b.stops == nil {
			b.stops = nodes.StopsOf(b.g)
		}
		if b.stops[max(told, id)]-b.stops[first] != fails-1 {
			return false
		}
	}
	panel := r.panel
	if k := b.g.Nodes[id].Op.Keyed; k != nil {
		if p := k.Panel(b.g.Nodes[id].Attrs); p != op.NoOrder {
			if panel > 0 && panel != p {
				return false
			}
			panel = p
		}
		r.keyed = true
	}
	r.fails, r.first, r.told, r.panel, r.few = fails, first, told, panel, r.few || fewTerms(b.g, id, b.block)
	r.ordered, r.columns, r.picked = ordered, columns, r.picked || b.picks(id)
	r.reduced = r.reduced || b.reduces(id)
	r.beside = r.beside || cols > 1 && b.ofColumns(id) && slices.ContainsFunc(b.g.In(id), func(x ir.ID) bool {
		t := b.g.Type(x)
		return t.IsDense() && t.Rows == rows && t.Cols == 1
	})
	return true
}

// reduces reports a reduction of rows, or a chain that ends in some.
func (b *rowBlocks) reduces(id ir.ID) bool {
	n := &b.g.Nodes[id]
	return n.Op.Fold == op.FoldRows || n.Op.Role == op.Reduces &&
		slices.ContainsFunc(nodes.PipeFolds(b.table, n), func(d *op.Def) bool { return d != nil && d.Fold == op.FoldRows })
}

// columnwise reports a reduction of columns that a loop over rows computes beside what it makes.
func (b *rowBlocks) columnwise(d *op.Def) bool {
	return d.Fold == op.FoldCols && d.Class != loop.NoClass && (!b.ranks || merges(d)) && b.kind != ofOuter
}

// merges reports a reduction whose state loops compute for the rows of a rank, and ranks merge.
func merges(d *op.Def) bool { return d.Class != loop.NoClass && d.Shard.Partial != "" }

// ofColumns reports whether node x is a reduction of columns, or a pipe that has some.
func (b *rowBlocks) ofColumns(x ir.ID) bool {
	n := &b.g.Nodes[x]
	folds := []*op.Def{n.Op}
	switch {
	case n.Op.Control == op.Part:
		x = b.g.In(x)[0]
		if folds = nil; b.g.Nodes[x].Op.Role == op.Reduces {
			folds = nodes.PipeFolds(b.table, &b.g.Nodes[x])[n.Attrs.Int("at"):][:1]
		}
	case n.Op.Role == op.Reduces:
		folds = nodes.PipeFolds(b.table, n)
	}
	return slices.ContainsFunc(folds, func(d *op.Def) bool { return d != nil && d.Fold == op.FoldCols })
}

// lone reports whether r is a single product that a kernel of tiles computes faster.
func (b *rowBlocks) lone(r *rowGroup) bool {
	id := r.members[0]
	return len(r.members) == 1 && (b.g.Type(id).Cols >= 8 || products(b.g, id) > loneProducts)
}
