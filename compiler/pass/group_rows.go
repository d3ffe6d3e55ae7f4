package pass

import (
	"maps"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
)

// RowBlocks makes one task of reductions of rows and what is made of their results row by row:
//
//	%1 = rowmax(%0);  %2 = map(%0, %1) { exp(a - b) };  %3 = rowsum(%2);  %4 = map(%2, %3) { a / b }
//	->  %4 = byrows(%0) { the same }
//
// The task runs them block of rows by block of rows. What is between them stays in a cache, and a
// matrix that several of them read comes from memory once. Bits stay: no element depends on how
// many rows are made at a time.
//
// Reductions of columns, too, may end such a task of narrow rows: an element is added where it is
// made. A reduction of columns that reads a column beside a matrix is such a task even without
// other members. Vectors along rows of few columns would be half empty, and rows side by side would
// repeat the column.
//
// It comes after Partition and takes what that left whole: tasks on blocks are near one another in
// time already. Three kinds stay outside: small matrices of wide rows, which stay in a cache anyway;
// rows of some tens of columns, for which the loop is no faster; rows so long that one would not stay
// in a cache. Operators that may fail stay outside, so that the first failure in program order is the
// one that is told; rows at computed positions may join (group_picks.go). Groups whose matrices rows
// and columns make have been found before (group_outer.go).
func RowBlocks(g *ir.Graph, table *op.Table, sizes nodes.Sizes) *ir.Graph {
	if g.Len() > mostByRows {
		return g
	}
	return rowBlocksOf(g, table, sizes, ofRows)
}

// rowsKind says which groups of rows are made.
type rowsKind uint8

const (
	ofRows  rowsKind = iota
	ofKeys           // they end with reductions by key, and may fail: see Keys
	ofOuter          // their matrices are made of rows and columns: see group_outer.go
)

// rowBlocksOf makes the tasks of a kind.
func rowBlocksOf(g *ir.Graph, table *op.Table, sizes nodes.Sizes, kind rowsKind) *ir.Graph {
	b := &rowBlocks{g: g, table: table, ranks: sizes.Loops, kind: kind, block: sizes.Filled().Block, group: make([]int32, g.Len()), reads: make([]map[int32]bool, g.Len()), begun: map[ir.ID]int32{}}
	for i := range g.Nodes {
		b.group[i] = -1
		if b.join(ir.ID(i)); b.group[i] < 0 {
			b.reads[i] = b.needs(ir.ID(i))
		}
	}
	if !b.choose() {
		return g
	}
	if kind == ofOuter {
		if turned := b.columnsTurned(); turned != g {
			return rowBlocksOf(turned, table, sizes, kind)
		}
	}
	return b.build()
}

const (
	// A matrix is worth blocks of rows if it has leastByRows blocks of Sizes.Block: 4 MiB of f64,
	// more than a second-level cache.
	leastByRows = 8
	// rowBlock is the part of such a block that a block of rows is: 128 KiB, so that what goes in,
	// what comes out and what is between lie in a second-level cache.
	rowBlock = 4
	// Rows of at most fewByRows columns are lanes; of those of manyByRows and more, what a
	// reduction costs beside its elements is small. On a Zen 3, between them the operators one
	// after the other are as fast or faster.
	fewByRows  = 16
	manyByRows = 128
	// Rows of at most orderedByRows columns whose median or the like is wanted are lanes: the network that
	// puts so many elements in order is written out (define.Unrolled), and takes a twentieth of a sort of
	// the row.
	orderedByRows = 64
	// A product with at most fewProducts multiplications a row runs in lanes, together with the
	// operators around it: a kernel of tiles would spend most of its time in loads and stores. A product
	// without other members runs in lanes up to loneProducts, and below eight columns.
	fewProducts, loneProducts = 100, 36
	// Such a product has at least block / leastFew rows, and a matrix of narrow rows as many elements:
	// operators on 10,000 rows of four columns take three times as long one after the other.
	leastFew = 4
	// mostByRows is the most nodes of a graph that is looked at: those with more are tasks on
	// blocks.
	mostByRows = 1 << 16
)

type rowBlocks struct {
	g     *ir.Graph
	table *op.Table
	block int
	ranks bool // share the rows: what is of all rows and has no state stays outside
	kind  rowsKind
	stops nodes.Stops
	// readBy has the readers of every node where a group was asked whether it spares.
	readBy [][]ir.ID
	group  []int32          // of each node; -1: none
	reads  []map[int32]bool // of each node in no group: the groups that it reads something of, through others in none
	all    []rowGroup
	// begun holds the groups that began with a reduction by these codes, or of elements that are made of
	// this row.
	begun map[ir.ID]int32
}

// rowGroup is nodes that may run by blocks of rows together.
type rowGroup struct {
	members []ir.ID
	rows    int
	cols    int            // of the widest matrix
	after   map[int32]bool // groups that it reads something of, through nodes in none
	reuses  bool           // a reduction's result meets a matrix in it
	follows bool           // a column is made of a column in it
	keyed   bool           // a reduction by key takes what is made in it
	few     bool           // a product of few terms a row is made in it
	ordered bool           // see fewOrdered
	picked  bool           // rows are taken by positions in it
	reduced bool           // rows are reduced in it
	columns bool           // columns are reduced in it
	beside  bool           // a column is read beside a matrix whose columns are reduced
	panel   int            // of such reductions; 0: order does not count
	fails   int32          // how many members may fail
	first   ir.ID          // the first of them
	told    ir.ID          // the last of them
	chosen  bool
}

// rowwise reports a node each row of whose results follows from the same row of its operands,
// besides reductions of all elements, and that cannot fail; rows and cols are the shape of what it
// goes over.
func (b *rowBlocks) rowwise(id ir.ID) (rows, cols int, ok bool) {
	g := b.g
	n, t := &g.Nodes[id], g.Type(id)
	if nodes.Sent(g, id) || n.Draws() && (b.kind == ofKeys || b.kind == ofRows && n.Op.Role != op.Reduces) {
		return 0, 0, false
	}
	switch {
	case n.Op.Control == op.Part:
		return b.rowwise(g.In(id)[0])
	case b.kind == ofOuter:
		return b.outer(id)
	case n.Op.Role == op.Reduces:
		for _, d := range nodes.PipeFolds(b.table, n) {
			if d != nil && (d.Fold == op.FoldAll && (b.ranks && !merges(d) || d.Class == loop.NoClass && (!d.Places || b.kind == ofRows)) || d.Fold == op.FoldCols && !b.columnwise(d)) {
				return 0, 0, false
			}
		}
		t = nodes.PipeSpace(n)
	case n.Op.Role == op.Maps, nodes.ElementwiseOperator(n):
	case (n.Op.Fold == op.FoldRows || b.columnwise(n.Op)) && n.Region == nil && n.Attrs == nil && len(g.In(id)) == 1, fewOrdered(g, id):
		t = g.Type(g.In(id)[0])
	case b.kind == ofKeys:
		return b.toKeys(id)
	case b.picks(id):
		return b.along(id)
	case fewTerms(g, id, b.block):
		return b.along(id)
	default:
		return 0, 0, false
	}
	ok = t.IsDense() && t.Known() && t.Elem != types.Str && t.Rows > 1 && t.Cols > 0 && t.Cols <= longestOf(t.Rows) && b.readable(id) && (b.kind == ofKeys && b.written(id) || b.kind != ofKeys && !ir.MayFail(g, id))
	return t.Rows, t.Cols, ok
}

// fewOrdered reports whether node id is a statistic of narrow rows that no chain ends with: a product,
// a quantile, or how many elements differ. Lanes make those of several rows at a time.
func fewOrdered(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	if n.Op.Shard.Kind != op.ShardRows || n.Op.Fold != op.NoFold || n.Op.Elements == nil || n.Region != nil {
		return false
	}
	x, most := g.Type(g.In(id)[0]), orderedByRows
	if n.Op.Cost(nodes.SigOf(g, id), g.Type(id)).Flops <= float64(x.Count()) { // a kernel multiplies longer rows faster
		most = fewByRows
	}
	return x.Known() && x.Cols > 1 && x.Cols <= most
}

// fewTerms reports whether node id is a product of a tall matrix with narrow rows and a small matrix.
// Its inner size and its columns are 2 to fewByRows.
func fewTerms(g *ir.Graph, id ir.ID, block int) bool {
	n, t := &g.Nodes[id], g.Type(id)
	return n.Op.Role == op.Multiplies && n.Region == nil && t.Known() && t.Rows >= block/leastFew && min(t.Cols, g.Type(g.In(id)[0]).Cols) > 1 &&
		max(t.Cols, g.Type(g.In(id)[0]).Cols) <= fewByRows && products(g, id) <= fewProducts
}

// products returns the number of multiplications that make a row of product id.
func products(g *ir.Graph, id ir.ID) int {
	t := g.Type(id)
	return int(g.Nodes[id].Op.Cost(nodes.SigOf(g, id), t).Flops) / 2 / t.Rows
}

// readable reports a node whose operands are matrices of known sizes, none of them read transposed.
func (b *rowBlocks) readable(id ir.ID) bool {
	g := b.g
	n := &g.Nodes[id]
	for k, x := range g.In(id) {
		if xt := g.Type(x); xt.IsMatrix() && (!xt.IsDense() || !xt.Known() || xt.Elem == types.Str) {
			return false
		}
		if n.Region != nil && op.Mode(n.Attrs.Ints("modes")[k]) == op.Trans {
			return false
		}
	}
	return true
}

// join puts a node into the group of an operand, or into one of its own.
func (b *rowBlocks) join(id ir.ID) {
	g := b.g
	rows, cols, ok := b.rowwise(id)
	if !ok || b.picks(id) {
		return // it joins its first reader
	}
	part := g.Nodes[id].Op.Control == op.Part
	for _, wide := range []bool{true, false} { // rather with rows than with columns that follow from none
		for _, x := range g.In(id) {
			if at := b.group[x]; at >= 0 && b.all[at].cols > 1 == wide && (part || g.Type(x).Rows == rows) && b.into(id, at, rows, cols) {
				b.takePicks(id, at)
				return
			}
		}
	}
	if part || b.kind == ofOuter && slices.ContainsFunc(g.In(id), b.stored) {
		return
	}
	of := b.beginsWith(id)
	if at, ok := b.begun[of]; ok && b.into(id, at, rows, cols) {
		return
	}
	r := rowGroup{members: []ir.ID{id}, rows: rows, cols: cols, after: b.needs(id)}
	if b.enter(id, &r) {
		b.group[id] = int32(len(b.all))
		if of != ir.None {
			b.begun[of] = b.group[id]
		}
		b.all = append(b.all, r)
		b.takePicks(id, b.group[id])
	}
}

// reducesRows reports a graph with reductions of rows.
func reducesRows(g *ir.Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n ir.Node) bool { return n.Op.Fold == op.FoldRows })
}

// into puts a node into a group, if it may join it.
func (b *rowBlocks) into(id ir.ID, at int32, rows, cols int) bool {
	g, r := b.g, &b.all[at]
	part := g.Nodes[id].Op.Control == op.Part
	if r.rows != rows || !part && !b.fits(id, at) || !b.enter(id, r) {
		return false
	}
	r.members = append(r.members, id)
	r.cols = max(r.cols, cols)
	for _, y := range g.In(id) {
		if own := !part && b.group[y] == at && g.Type(y).Cols == 1; cols > 1 {
			r.reuses = r.reuses || own
		} else {
			r.follows = r.follows || own
		}
	}
	b.group[id] = at
	maps.Copy(r.after, b.needs(id))
	delete(r.after, at)
	return true
}

// needs is the groups that node id reads something of, through nodes in none.
func (b *rowBlocks) needs(id ir.ID) map[int32]bool {
	out := map[int32]bool{}
	for _, x := range b.g.In(id) {
		maps.Copy(out, b.through(x))
	}
	return out
}

// through is the groups that a reader of x reads something of.
func (b *rowBlocks) through(x ir.ID) map[int32]bool {
	if at := b.group[x]; at >= 0 {
		return map[int32]bool{at: true}
	}
	return b.reads[x]
}

// fits reports that node id may join a group: nothing that it reads from elsewhere waits for the
// group.
func (b *rowBlocks) fits(id ir.ID, at int32) bool {
	seen := map[int32]bool{}
	for _, x := range b.g.In(id) {
		if b.kind == ofOuter && !b.madeIn(x, at) {
			return false
		}
		if b.group[x] == at {
			if !b.byRow(x) {
				return false // it is there when the group is done
			}
			continue
		}
		for h := range b.through(x) {
			if b.waits(h, at, seen) {
				return false
			}
		}
	}
	return true
}

// byRow reports a result, or several, that a group has row by row: not that of a reduction of all
// elements, of columns, or by key.
func (b *rowBlocks) byRow(x ir.ID) bool {
	return !b.g.Type(x).IsScalar() && b.g.Nodes[x].Op.Keyed == nil && !b.ofColumns(x)
}

// waits reports that group h is group at or needs something of it. The groups in seen do not.
func (b *rowBlocks) waits(h, at int32, seen map[int32]bool) bool {
	if h == at {
		return true
	}
	if seen[h] {
		return false
	}
	seen[h] = true
	for k := range b.all[h].after {
		if b.waits(k, at, seen) {
			return true
		}
	}
	return false
}

// choose decides which groups are worth it.
func (b *rowBlocks) choose() bool {
	any := false
	for k := range b.all {
		r := &b.all[k]
		if b.kind == ofOuter {
			r.chosen = r.rows*r.cols >= leastByRows*b.block && b.spares(r)
		} else if b.kind == ofKeys {
			r.chosen = r.keyed && r.rows >= b.block/leastKeyed && r.cols <= keyedColumns
		} else {
			b.part(r)
			r.chosen = r.picked && (r.reduced || r.columns) && r.rows*r.cols >= leastByRows*b.block || (r.reuses || r.beside) && (r.cols <= fewByRows && r.rows*r.cols >= b.block/leastFew || r.cols >= manyByRows && r.rows*r.cols >= leastByRows*b.block) || b.drawn(r) || r.few && r.cols <= fewByRows && !b.lone(r) ||
				r.ordered && r.rows*r.cols >= b.block
		}
		any = any || r.chosen
	}
	return any
}

// part takes columns out of a group whose lanes are columns if they follow from no row of it. Each
// row's number would be made again for each of the row's vectors; stored, it takes next to nothing.
func (b *rowBlocks) part(r *rowGroup) {
	if !r.reuses || r.cols < manyByRows {
		return
	}
	own := func(x ir.ID) bool { return b.group[x] >= 0 && &b.all[b.group[x]] == r }
	r.members = slices.DeleteFunc(r.members, func(id ir.ID) bool {
		_, cols, _ := b.rowwise(id)
		alone := cols == 1 && !slices.ContainsFunc(b.g.In(id), own)
		if alone {
			b.group[id] = -1
		}
		return alone
	})
	r.reuses = slices.ContainsFunc(r.members, func(id ir.ID) bool {
		_, cols, _ := b.rowwise(id)
		return cols > 1 && slices.ContainsFunc(b.g.In(id), func(x ir.ID) bool { return own(x) && b.g.Type(x).Cols == 1 })
	})
}

// drawn reports short rows that are drawn and reduced to columns. Such rows need no memory.
func (b *rowBlocks) drawn(r *rowGroup) bool {
	draws := slices.ContainsFunc(r.members, func(id ir.ID) bool { return b.g.Nodes[id].Draws() })
	return draws && r.follows && r.cols > 1 && r.cols <= fewByRows && r.rows*r.cols >= leastByRows*b.block
}

// build copies the graph with each chosen group as one node, at the place of its last member or
// where it is first read. A group stays apart if what it reads may fail, and would come before what may
// fail earlier in the program.
func (b *rowBlocks) build() *ir.Graph {
	outside := make([]bool, b.g.Len())
	for i := range b.g.Nodes {
		for _, x := range b.g.In(ir.ID(i)) {
			outside[x] = outside[x] || b.group[x] != b.group[i]
		}
	}
	b.stops = nodes.StopsOf(b.g)
	for slices.ContainsFunc(b.all, func(r rowGroup) bool { return r.chosen }) {
		m := &rowBuilding{rowBlocks: b, Copying: nodes.CopyOf(b.g), outside: outside}
		m.To = slices.Repeat([]ir.ID{ir.None}, b.g.Len())
		for id := range b.g.All() {
			if r := m.chosen(id); r == nil || r.members[len(r.members)-1] == id {
				m.emit(id)
			}
		}
		if m.early == nil {
			return m.Copying.G
		}
		m.early.chosen = false
	}
	return b.g
}

type rowBuilding struct {
	*rowBlocks
	*nodes.Copying
	outside []bool    // a node outside of its group reads it
	told    int32     // how many nodes that may fail have been copied
	in      *rowGroup // the one whose operands are copied
	early   *rowGroup // one that has made a node come too early
}

// tell counts the nodes that may fail, in the order of the new graph. id is the last of them.
func (m *rowBuilding) tell(id ir.ID, fail int32) {
	if m.told += fail; fail > 0 && m.told != m.stops[id] && m.early == nil {
		m.early = m.in
	}
}

func (m *rowBuilding) chosen(id ir.ID) *rowGroup {
	if at := m.group[id]; at >= 0 && m.all[at].chosen {
		return &m.all[at]
	}
	return nil
}

// emit adds node id, or its group, after all that it reads.
func (m *rowBuilding) emit(id ir.ID) {
	if m.To[id] != ir.None || m.early != nil {
		return
	}
	if r := m.chosen(id); r != nil {
		m.emitGroup(r)
		return
	}
	for _, x := range m.Old.In(id) {
		m.emit(x)
	}
	before := int32(0)
	if id > 0 {
		before = m.stops[id-1]
	}
	if m.tell(id, m.stops[id]-before); m.early == nil {
		m.Node(id)
	}
}

// emitGroup adds the node of a group.
func (m *rowBuilding) emitGroup(r *rowGroup) {
	var results []ir.ID
	for _, x := range r.members {
		if m.outside[x] {
			results = append(results, x)
		}
	}
	region, reads := nodes.RegionOf(m.Old, m.table, r.members, results)
	around := m.in
	m.in = r
	for _, y := range reads {
		m.emit(y)
	}
	m.tell(r.told, r.fails)
	if m.in = around; m.early != nil {
		return
	}
	block := max(1, m.block/rowBlock/r.cols)
	if m.kind == ofOuter {
		block = leastOuter / 2
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(r.rows)}, op.Attr{Name: "cols", Val: op.Int(r.cols)},
		op.Attr{Name: "block", Val: op.Int(min(r.rows, block))})
	if m.kind == ofOuter || r.ordered && r.cols > fewByRows {
		attrs = attrs.With("lanes", op.Bool(true))
	}
	if r.panel > 0 {
		attrs = attrs.With("panel", op.Int(r.panel))
	}
	last := r.members[len(r.members)-1]
	if r.fails > 0 {
		last = r.told
	}
	for _, x := range r.members {
		m.To[x] = 0 // unread nodes have been made, too
	}
	m.Made(m.table, "byrows", attrs, region, nodes.Through(m.To, reads), m.Old.Origin(last), results...)
}
