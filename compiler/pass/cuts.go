package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file decides where matrices are cut. The cuts depend on the program and its shapes alone.
// They change how a result is computed and never its bits.

type cuts struct {
	by        map[ir.ID]nodes.Cutting
	preferred map[ir.ID]nodes.Cutting // of readers in tiles
	tiled     map[ir.ID]bool          // map-reduces that store what others need in blocks
	g         *ir.Graph
	sizes     nodes.Sizes
	limit     int   // of tasks
	at        ir.ID // the node whose cuts are being chosen
	done      map[recutKey]*parts
	whole     []bool // nodes that are not cut; nil: none
}

type recutKey struct {
	id     ir.ID
	rc, cc uint64
}

func hashInts(l []int) uint64 {
	h := uint64(len(l))
	for _, x := range l {
		h = (h ^ uint64(x)) * 1099511628211 // the prime of FNV-1a
		h ^= h >> 29
	}
	return h
}

// of returns where node id's result is cut.
func (c *cuts) of(id ir.ID) nodes.Cutting {
	if x, ok := c.by[id]; ok {
		return x
	}
	t := c.g.Type(id)
	return nodes.Cutting{RC: []int{0, t.Rows}, CC: []int{0, t.Cols}}
}

// chooseCuts decides for every large matrix: by readers that want tiles (backwards, through
// operators that keep the place of elements), else by its inputs (forwards), else by its shape.
func chooseCuts(g *ir.Graph, table *op.Table, sizes nodes.Sizes, limit int) *cuts {
	preferred := preferredCuts(g)
	c := &cuts{sizes: sizes.Filled(), limit: max(limit, leastLimit), by: map[ir.ID]nodes.Cutting{}, preferred: preferred, tiled: map[ir.ID]bool{}, g: g, done: map[recutKey]*parts{}}
	var whole []bool
	if sizes.Whole || sizes.Loops {
		whole = wholes(g, c.sizes.Block, preferred, !sizes.Whole, sizes.Rows)
	}
	c.whole = whole
	for i := range g.Nodes {
		if pipe, ok := nodes.StoredPart(g, ir.ID(i)); ok && whole != nil && !whole[i] {
			c.tiled[pipe] = true
		}
	}
	for id := range g.All() {
		t := g.Type(id)
		if !t.IsDense() || !t.Known() || t.Rows == 0 || t.Cols == 0 || whole != nil && whole[id] || nodes.Sent(g, id) {
			continue
		}
		c.at = id
		if x, ok := c.choose(id, t, preferred, table); ok {
			c.by[id] = x
		}
	}
	return c
}

// preferredCuts returns the preferred layout of matrices that are read in tiles.
func preferredCuts(g *ir.Graph) map[ir.ID]nodes.Cutting {
	preferred := map[ir.ID]nodes.Cutting{}
	windows, whole := map[ir.ID][]nodes.Box{}, make([]bool, g.Len())
	for id, n := range g.All() {
		if n.Op.Role == op.Slices {
			if boxes, in, ok := nodes.BoxesOf(g, id); ok {
				windows[in[0]] = append(windows[in[0]], boxes[0])
				continue
			}
		}
		for _, x := range g.In(id) {
			whole[x] = true
		}
	}
	for x := range windows {
		if whole[x] {
			windows[x] = slices.DeleteFunc(windows[x], func(w nodes.Box) bool { return isLine(w, g.Type(x)) })
		}
	}
	for i := g.Len() - 1; i >= 0; i-- {
		id := ir.ID(i)
		t := g.Type(id)
		if w, ok := windowGrid(windows[id], t); ok {
			preferred[id] = w
		}
		w, ok := preferred[id]
		if !ok {
			continue
		}
		if x, stored := nodes.StoredPart(g, id); stored {
			prefer(preferred, x, w)
			continue
		}
		if kind := g.Nodes[i].Op.Shard.Kind; (kind == op.ShardAligned || kind == op.ShardTranspose) && g.Nodes[i].Region == nil {
			for k, a := range nodes.Accesses(g, id, t) {
				if a.Full() {
					prefer(preferred, g.In(id)[k], a.Onto(w, w))
				}
			}
		}
	}
	return preferred
}

// isLine reports a window of a few columns with all rows of a matrix of type t, such as a column of a
// table. It makes no cut if another node reads the whole matrix. Otherwise each column is one piece,
// and a loop over columns uses every byte of a cache line.
func isLine(w nodes.Box, t types.Type) bool { return w.Cols < fewInLine && w.Rows == t.Rows }

// fewInLine is the number of columns from which on a window counts as a tile.
const fewInLine = 8

func prefer(preferred map[ir.ID]nodes.Cutting, id ir.ID, w nodes.Cutting) {
	if _, ok := preferred[id]; !ok {
		preferred[id] = w
	}
}

func (c *cuts) choose(id ir.ID, t types.Type, preferred map[ir.ID]nodes.Cutting, table *op.Table) (nodes.Cutting, bool) {
	g := c.g
	n := &g.Nodes[id]
	kind := nodes.ShardOf(n.Op)
	if n.Op.Role == op.Reduces {
		return resultCut(c.pipe(id, table), table.Must(n.Attrs.Str("fold")), t)
	}
	if from := g.In(id); n.Op.Control == op.Part && g.Nodes[from[0]].Op.Role == op.Reduces {
		return resultCut(c.pipe(from[0], table), nodes.PipeFolds(table, &g.Nodes[from[0]])[n.Attrs.Int("at")], t)
	}
	if kind == op.ShardWhole || kind == op.ShardReduce || kind == op.ShardSink {
		return nodes.Cutting{}, false
	}
	in := g.In(id)
	if kind == op.ShardTriangle || kind == op.ShardDiagonal {
		return c.square(id, t, preferred)
	}
	if w, ok := preferred[id]; ok {
		return w, true
	}
	switch kind {
	case op.ShardMove:
		if w, ok, decided := c.moved(id, t, table); decided {
			return w, ok
		}
	case op.ShardAligned, op.ShardTranspose:
		if w, ok := c.follows(id, t); ok {
			return w, true
		}
	case op.ShardRows, op.ShardCols:
		w, ok := c.follows(id, g.Type(in[0]))
		if kind == op.ShardRows {
			return nodes.Cutting{RC: w.RC, CC: []int{0, t.Cols}}, ok
		}
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: w.CC}, ok
	case op.ShardContract:
		w, ok := c.follows(id, t) // its accumulator
		if ok {
			return w, true
		}
		w = c.byShape(t, table)
		rows, cols := t.Rows <= w.RC[1], t.Cols <= w.CC[1]
		for k, a := range nodes.Accesses(g, id, t) {
			x := a.Onto(nodes.Cutting{RC: []int{0}, CC: []int{0}}, c.of(in[k]))
			if len(x.RC) > 2 || rows && len(x.RC) > 1 {
				w.RC = x.RC
			}
			if len(x.CC) > 2 || cols && len(x.CC) > 1 {
				w.CC = x.CC
			}
		}
		return w, true
	}
	return c.byShape(t, table), true
}

// follows returns the cuts of an index space of type t: those of the first operand that is cut and
// has an element for each of its points.
func (c *cuts) follows(id ir.ID, t types.Type) (nodes.Cutting, bool) {
	for k, a := range nodes.Accesses(c.g, id, t) {
		if w, ok := c.by[c.g.In(id)[k]]; ok && a.Full() {
			return a.Onto(w, w), true
		}
	}
	return nodes.Cutting{}, false
}

// moved returns the cuts of operators that move elements, if they follow from where the elements
// come from.
func (c *cuts) moved(id ir.ID, t types.Type, table *op.Table) (w nodes.Cutting, ok, decided bool) {
	boxes, _, ok := nodes.BoxesOf(c.g, id)
	if !ok {
		return nodes.Cutting{}, false, true
	}
	role := c.g.Nodes[id].Op.Role
	if w, ok := nodes.LaidGrid(boxes, t); ok && role == op.Lays {
		return w, true, true
	}
	// A panel of a tall matrix that is already a block: cut again, it would be copied piece by
	// piece.
	if role == op.Slices && t.Cols <= autoTile(table, t) && c.isBlock(c.g.In(id)[0], boxes[0]) {
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: []int{0, t.Cols}}, true, true
	}
	return nodes.Cutting{}, false, false
}

// square cuts operators along the diagonal of a square matrix, with equal cuts of rows and columns
// so that the diagonal meets only diagonal blocks. Other matrices (diag of a column, which makes a
// matrix) stay whole.
func (c *cuts) square(id ir.ID, t types.Type, preferred map[ir.ID]nodes.Cutting) (nodes.Cutting, bool) {
	in := c.g.In(id)[0]
	if x := c.g.Type(in); x.Rows != x.Cols {
		return nodes.Cutting{}, false
	}
	w, ok := preferred[id]
	if !ok {
		w, ok = c.by[in]
	}
	if t.Cols == 1 {
		return nodes.Cutting{RC: w.RC, CC: []int{0, 1}}, ok
	}
	return nodes.Cutting{RC: w.RC, CC: w.RC}, ok
}

// byShape returns the default cuts: square tiles of the default edge; for a narrow matrix blocks of
// whole rows, a power of two of them, so that long summed dimensions are cut where panels are. More
// cuts than allowed tasks stop the pass, since their list might not fit in memory.
func (c *cuts) byShape(t types.Type, table *op.Table) nodes.Cutting {
	e := autoTile(table, t)
	if t.Rows <= 2*e && t.Cols <= 2*e && t.Count() <= 2*c.sizes.Block {
		return nodes.Cutting{RC: []int{0, t.Rows}, CC: []int{0, t.Cols}}
	}
	h, w := e, e
	if t.Cols < e {
		w = t.Cols
		for h = 1; h*2*max(w, 1) <= c.sizes.Block; h *= 2 {
		}
	} else if t.Rows < e {
		h = t.Rows
		for w = 1; w*2*max(h, 1) <= c.sizes.Block; w *= 2 {
		}
	}
	if rows, cols := t.Rows/h, t.Cols/w; rows > c.limit || cols > c.limit || rows*cols > c.limit {
		panic(stop{&TooMany{c.g.Origin(c.at), t, c.limit}})
	}
	return nodes.Cutting{RC: every(t.Rows, h), CC: every(t.Cols, w)}
}

// leastLimit is the number of cuts that a matrix may have whatever the limit of tasks: one that
// stays whole has cuts too.
const leastLimit = 1 << 21

func every(n, step int) []int {
	out := []int{0}
	for x := step; x < n; x += step {
		out = append(out, x)
	}
	return append(out, n)
}

// windowGrid returns the grid that windows of a value make, if they are tiles of one: at least
// three, each exactly one cell.
func windowGrid(ws []nodes.Box, t types.Type) (nodes.Cutting, bool) {
	if len(ws) < 3 || !t.IsDense() || !t.Known() {
		return nodes.Cutting{}, false
	}
	return nodes.Cells(ws, t, func(w nodes.Box) (int, int) { return w.SR, w.SC })
}

// isBlock reports whether a window of node id's result is one of its blocks.
func (c *cuts) isBlock(id ir.ID, w nodes.Box) bool {
	x, ok := c.by[id]
	if !ok || x.Single() {
		return false
	}
	i, okR := slices.BinarySearch(x.RC, w.SR)
	j, okC := slices.BinarySearch(x.CC, w.SC)
	return okR && okC && i+1 < len(x.RC) && j+1 < len(x.CC) && x.RC[i+1] == w.SR+w.Rows && x.CC[j+1] == w.SC+w.Cols
}

// autoTile returns the default tile edge for a shape, from the table's own function.
func autoTile(table *op.Table, t types.Type) int {
	v, err := table.Must("auto_tile").Shape([]types.Type{t})
	if err != nil {
		return 256
	}
	return max(1, int(v.(value.Scalar).I))
}
