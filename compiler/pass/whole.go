package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// This file decides which large matrices are not cut: those that only loops make and read. A loop
// shares the whole among the workers under any technique, so tasks on blocks would gain nothing.

// wholes returns the nodes whose results stay whole, as a set; nil for none. Matrices whose
// elements correspond in place (operands and results of elementwise operators and transposes) are
// one family, because blocks of one are made of blocks of the others. A family is cut if one of it
// is
//
//   - the operand or result of a product that is no loop, unless it is a line of a small matrix, of a
//     factorisation or another operator that works by tiles; a matrix times a few columns is a loop on
//     one rank, which goes by blocks only where the matrix is cut,
//   - read in tiles (slices that make a grid), or assembled from tiles. It stays whole if ranks share
//     rows, because columns of a table make a grid too,
//   - larger than mostWhole: of blocks only the live ones are in memory.
//
// preferred holds the layouts that readers in tiles prefer. With loops, only families stay whole of
// which one is the result of a loop over an index space, or of an iterate.
func wholes(g *ir.Graph, least int, preferred map[ir.ID]cutting, loops, rows bool) []bool {
	w := &families{g: g, rows: rows, loops: loops, least: least, parent: make([]int32, g.Len()), cut: make([]bool, g.Len())}
	any := false
	var large []ir.ID
	for i := range g.Nodes {
		w.parent[i] = int32(i)
		t := g.Type(ir.ID(i))
		any = any || t.IsDense() && t.Known() && t.Count() > least/2 // a block of few columns is a power of two of rows
		if t.IsDense() && t.Known() && t.Rows > 0 && t.Cols > mostWhole/8/t.Rows {
			large = append(large, ir.ID(i))
		}
	}
	if !any {
		return nil
	}
	for id := range preferred {
		if !rows {
			w.mark(id)
		}
	}
	for _, id := range large {
		w.mark(id)
	}
	for i := range g.Nodes {
		w.node(ir.ID(i))
	}
	for _, id := range w.thin {
		if in := g.In(id); slices.ContainsFunc(in, func(x ir.ID) bool { return w.cut[w.find(int32(x))] }) {
			w.markAll(id)
		}
	}
	made := map[int32]bool{} // roots of the families that have a member made by a loop
	for id, n := range g.All() {
		if n.Op.Role == op.Points || n.Op.Control == op.Part && g.Nodes[g.In(id)[0]].Op.Control == op.Iterate {
			made[w.find(int32(id))] = true
		}
	}
	whole := make([]bool, g.Len())
	for i := range whole {
		t, of := g.Type(ir.ID(i)), w.find(int32(i))
		whole[i] = t.IsDense() && !w.cut[of] && (!loops || made[of])
	}
	return whole
}

// mostWhole is the size in bytes of f64 from which on a matrix is cut although loops could process
// it. It does not depend on the machine's memory, so that a program has one plan everywhere.
const mostWhole = 2 << 30

// families are sets of nodes, as trees.
type families struct {
	g      *ir.Graph
	parent []int32
	cut    []bool // of the roots
	rows   bool   // Sizes.Rows
	loops  bool   // see wholes
	least  int    // Sizes.Block
	// thin are products of a large matrix and one or a few columns: loops over the rows of the
	// matrix or of its transpose, or blocks if the matrix is in blocks for other reasons.
	thin []ir.ID
	// of the current node, reused: a quarter of the allocations of compiling a million tasks
	sig op.Sig
}

// fewColumns reports a product out that has few columns beside those of its left factor, which is not
// tall. A tall one is read by rows even where other readers have it in blocks: it may be a matrix of
// codes, which is never built.
func fewColumns(out, left types.Type) bool { return out.Cols <= left.Cols/8 && out.Rows < 8*left.Cols }

// lineBlocks is up to how many blocks of elements a matrix has that a product with one row or column
// reads whole: one worker reads them in some 50 us, and others would have to wait for blocks.
const lineBlocks = 4

// most is the most elements of a matrix in list.
func (w *families) most(list []ir.ID) (n int) {
	for _, x := range list {
		n = max(n, w.g.Type(x).Count())
	}
	return n
}

func (w *families) find(i int32) int32 {
	for w.parent[i] != i {
		w.parent[i] = w.parent[w.parent[i]]
		i = w.parent[i]
	}
	return i
}

func (w *families) join(a, b ir.ID) {
	x, y := w.find(int32(a)), w.find(int32(b))
	if x != y {
		w.parent[y] = x
		w.cut[x] = w.cut[x] || w.cut[y]
	}
}

func (w *families) mark(id ir.ID) { w.cut[w.find(int32(id))] = true }

// markAll marks a node and what it reads.
func (w *families) markAll(id ir.ID) {
	w.mark(id)
	for _, x := range w.g.In(id) {
		w.mark(x)
	}
}

// node joins and marks what one operator implies for its operands and its result.
func (w *families) node(id ir.ID) {
	n, in := &w.g.Nodes[id], w.g.In(id)
	t := w.g.Type(id)
	if pipe, ok := storedPart(w.g, id); ok { // aligned, as a map is
		modes := w.g.Nodes[pipe].Attrs.Ints("modes")
		for k, x := range w.g.In(pipe) {
			if m := op.Mode(modes[k]); m == op.Full || m == op.Trans {
				w.join(id, x)
			}
		}
		return
	}
	switch shardOf(n.Op) {
	case op.ShardContract, op.ShardTriangle, op.ShardDiagonal:
		if w.rows && (rowProduct(w.g, id) || turnedProduct(w.g, id) || aligned(w.g, id)) {
			if len(in) == 3 {
				w.join(id, in[0])
			}
			return
		}
		if w.rows && n.Op.Shard.Kind == op.ShardTriangle {
			w.join(id, in[0])
			return
		}
		loop := n.Op.Loop != nil
		takes := loop && n.Op.Loop.Takes != nil && n.Op.Loop.Takes(sigInto(&w.sig, w.g, id), t)
		if takes && len(in) == 3 { // accumulates into a matrix with the result's layout
			w.join(id, in[0])
		}
		lines := loop && !w.loops
		switch {
		case takes && !(lines && !n.Attrs.Bool("ta") && fewColumns(t, w.g.Type(in[len(in)-2]))):
		case (t.Rows == 1 || t.Cols == 1) && w.most(in) <= lineBlocks*w.least:
		case takes, lines && t.Cols == 1:
			w.thin = append(w.thin, id)
		default:
			w.markAll(id)
		}
	case op.ShardMove:
		if boxes, _, ok := boxesOf(w.g, id); ok && n.Op.Role == op.Lays {
			if grid, ok := laidGrid(boxes, t); ok && !grid.single() && !w.rows {
				w.mark(id)
			}
		}
	case op.ShardAligned, op.ShardTranspose:
		for _, x := range in {
			if xt := w.g.Type(x); sameShape(xt, t) || xt.Rows == t.Cols && xt.Cols == t.Rows && t.Count() > 1 {
				w.join(id, x)
			}
		}
	}
}

// rowProduct reports a product that ranks can share by rows: of few elements in the right factor, alone
// or beside those of the result.
func rowProduct(g *ir.Graph, id ir.ID) bool {
	n, in := &g.Nodes[id], g.In(id)
	if n.Op.Role != op.Multiplies && n.Op.Role != op.MultipliesOnto || n.Attrs.Bool("ta") {
		return false
	}
	a, b := g.Type(in[len(in)-2]), g.Type(in[len(in)-1])
	return dividable(a) && dividable(b) && (b.Count() <= mostRight && a.Rows >= b.Rows || a.Rows >= mostInner*a.Cols)
}

// mostInner is how many rows a left factor has at least for each term of a product with a right factor
// of any size. Each rank gets the right factor, which is then at most so small a part of the result. A
// result in blocks would be brought together where something reads whole rows of it, as distances of
// points are read.
const mostInner = 16

// InParts makes loops over rows out of core, which read files part by part:
//
//	%0 = read() {path};  %1 = pipe(%0, %2) {fold="colsum", ..}
//	->  %1 = inparts(%2) {rows, part, ..} { %0 = read() {path};  %1 = pipe(%0, %2) {..} }
//
// A loop takes the files that it reads row by row, also through views of columns and through chains
// that nothing else reads. Each of several loops reads the file again. A file stays whole if another
// node reads it, because it would be in memory anyway.
//
// Reading a file may fail, and its first loop then fails in its place. So it would be wrong to move the
// read past another node that may fail. owner has the owner of each node of g, or is nil if nodes have
// none. InParts returns the new graph and its owners, or g and owner if there is no such loop.
func InParts(g *ir.Graph, owner []int32, table *op.Table, sizes Sizes) (*ir.Graph, []int32) {
	isRead := func(n ir.Node) bool { return readInParts(&n) }
	if !slices.ContainsFunc(g.Nodes, isRead) {
		return g, owner
	}
	f := &inParts{g: g, table: table, most: sizes.filled().Part, readers: make([][]ir.ID, g.Len()), whole: make([]bool, g.Len()), stops: stopsOf(g)}
	f.s = &spreader{table: table, ranks: trialRanks, from: 1, unit: map[int]op.Val{}, touches: map[edge]float64{}, estimators: map[*ir.Graph]*ir.Estimator{}}
	for id := range g.All() {
		for _, x := range g.In(id) {
			f.readers[x] = append(f.readers[x], id)
		}
	}
	for f.again = true; f.again; {
		f.again = false
		f.find()
	}
	if len(f.at) == 0 {
		return g, owner
	}
	return f.build(owner)
}

// trialRanks is a number of ranks. An operand is read row by row if each of so many ranks would read
// only its own rows of it.
const trialRanks = 7

// readInParts reports whether a node reads a dense matrix from a file whose rows can be read alone.
func readInParts(n *ir.Node) bool {
	return n.Op.Reads != nil && n.Op.Parts != nil && n.Op.Loop != nil && !n.Attrs.Bool("sparse") && n.Op.Parts(n.Attrs)
}

// inParts finds and makes the loops of InParts.
type inParts struct {
	g       *ir.Graph
	table   *op.Table
	s       *spreader
	most    int // bytes of a part
	readers [][]ir.ID
	whole   []bool // nodes that must stay out of these loops
	again   bool   // whole has changed, so find must run again
	stops   stops
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
		f.again, f.whole[id] = f.again || !f.whole[id], true
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
	known := map[ir.ID]bool{} // files that a loop before has read
	for i, x := range found {
		if x == nil {
			continue
		}
		id := ir.ID(i)
		place, ok := f.place(id, x.members, known)
		if !ok {
			f.stay(x.members...)
			continue
		}
		f.of[id], f.at[place] = x, append(f.at[place], id)
		for _, m := range x.members {
			known[m] = true
		}
	}
	for _, x := range f.of {
		for _, m := range x.members {
			for _, r := range f.readers[m] {
				if of := f.of[r]; of != nil && slices.Contains(of.members, m) || known[r] {
					continue
				}
				f.stay(m)
			}
		}
	}
}

// aligned returns for each input of node id whether the node reads it row by row. Operands read so have
// so many rows.
func (f *inParts) aligned(id ir.ID, rows int) map[ir.ID]bool {
	n, in := &f.g.Nodes[id], f.g.In(id)
	var reads []rowReads
	if d := n.Op; n.Region == nil && (d.Role == op.Slices || d.Fold != op.NoFold && len(in) == 1 || stated(d)) {
		reads = slices.Repeat([]rowReads{f.s.ownRows(rows)}, len(in))
	} else {
		reads = f.s.readsOf(f.g, id, rows)
	}
	own, out := f.s.windows(rows), map[ir.ID]bool{}
	for k, x := range in {
		r := &reads[k]
		is := f.g.Type(x).IsDense() && f.g.Type(x).Rows == rows && !r.whole && !r.turned && r.by == 0 && len(r.at) == 0 && slices.EqualFunc(r.rows, own, slices.Equal)
		if was, ok := out[x]; ok {
			is = is && was
		}
		out[x] = is
	}
	return out
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
	if l == nil || l.RowsEach == nil || !n.Op.Laws.Has(op.Pure) || n.Op.Reads != nil || sent(f.g, id) || f.whole[id] || n.Attrs.Int("keep") > 0 {
		return nil
	}
	rows := 0
	for _, x := range f.g.In(id) {
		if t := f.g.Type(x); t.IsDense() && t.Known() {
			rows = max(rows, t.Rows)
		}
	}
	c := f.call(id)
	if rows < trialRanks || c == nil {
		return nil
	}
	each, per := l.RowsEach(c)
	if each == 0 || per == 0 {
		return nil
	}
	units := (rows + each - 1) / each
	count, leaf := l.Space(c)
	if count != units*per {
		return nil
	}
	members := f.members(id, rows)
	row, all := 0, 0 // bytes
	for _, m := range members {
		if f.g.Nodes[m].Op.Look == nil {
			t := f.g.Type(m)
			row, all = row+t.Bytes()/rows, all+t.Bytes()
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
	if 2*part*each > rows {
		return nil
	}
	attrs := op.MakeAttrs(op.Attr{Name: "rows", Val: op.Int(rows)}, op.Attr{Name: "each", Val: op.Int(each)}, op.Attr{Name: "per", Val: op.Int(per)},
		op.Attr{Name: "part", Val: op.Int(part)}, op.Attr{Name: "bytes", Val: op.Int(part * each * row)})
	for _, name := range []string{plan.Shared, plan.SharedRows, plan.Unit, plan.Owner} {
		if v, ok := n.Attrs.Get(name); ok {
			attrs = attrs.With(name, v)
		}
	}
	return &partsLoop{members, attrs}
}

// wholePages is a number of rows that fill whole pages of 4096 bytes, whatever the length of a row.
const wholePages = 4096

// members returns the nodes that loop id takes into its body, in ascending order: reads of files, views
// of columns, and chains on them. All have so many rows. It returns none if there are no files.
func (f *inParts) members(id ir.ID, rows int) []ir.ID {
	wanted, spoiled := map[ir.ID]bool{}, map[ir.ID]bool{}
	reads := func(r ir.ID) {
		for x, is := range f.aligned(r, rows) {
			wanted[x] = wanted[x] || is
			spoiled[x] = spoiled[x] || !is
		}
	}
	reads(id)
	var members []ir.ID
	files := false
	for x := id - 1; x >= 0; x-- {
		n := &f.g.Nodes[x]
		if !wanted[x] || spoiled[x] || f.whole[x] || sent(f.g, x) || !f.makes(x) {
			continue
		}
		inside := func(r ir.ID) bool { return r == id || slices.Contains(members, r) }
		column := n.Op.Role == op.Slices
		if n.Op.Reads == nil && !column && slices.ContainsFunc(f.readers[x], func(r ir.ID) bool { return !inside(r) }) || !slices.ContainsFunc(f.readers[x], inside) {
			continue
		}
		members, files = append(members, x), files || n.Op.Reads != nil
		if n.Op.Reads == nil {
			reads(x)
		}
	}
	if !files {
		return nil
	}
	slices.Reverse(members)
	// chains that read no file need not be in the loop
	made := map[ir.ID]bool{}
	members = slices.DeleteFunc(members, func(x ir.ID) bool {
		made[x] = f.g.Nodes[x].Op.Reads != nil || slices.ContainsFunc(f.g.In(x), func(y ir.ID) bool { return made[y] })
		return !made[x]
	})
	return members
}

// makes reports whether a loop may make node id in parts.
func (f *inParts) makes(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	switch {
	case !t.IsDense() || !t.Known() || t.Cols == 0:
		return false
	case n.Op.Reads != nil:
		return readInParts(n)
	case n.Op.Role == op.Slices:
		return f.g.Type(f.g.In(id)[0]).Rows == t.Rows && n.Op.Look != nil
	case !elementwise(n) || n.Op.Role == op.Reduces || n.Op.Loop == nil || n.Op.Loop.RowsEach == nil || ir.MayFail(f.g, id):
		return false
	}
	c := f.call(id)
	if c == nil {
		return false
	}
	each, per := n.Op.Loop.RowsEach(c)
	return each == 1 && per == 1
}
