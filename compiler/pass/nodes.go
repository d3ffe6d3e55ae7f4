package pass

// This file answers what several passes ask of a node, and copies graphs with changes.

import (
	"fmt"
	"slices"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
)

// cutting is where one matrix is cut.
type cutting struct{ rc, cc []int }

// single reports a matrix that is not cut.
func (c cutting) single() bool { return len(c.rc) <= 2 && len(c.cc) <= 2 }

// box is a window (sr, sc, rows, cols) of an input at (dr, dc) of a result.
type box struct{ sr, sc, rows, cols, dr, dc int }

// boxesOf returns a moving operator as boxes: slice, lay, cbind and rbind. Others (reverse,
// reshape) move single elements and stay whole.
func boxesOf(g *ir.Graph, id ir.ID) ([]box, []ir.ID, bool) {
	n := &g.Nodes[id]
	in := g.In(id)
	switch n.Op.Role {
	case op.Slices:
		a := n.Attrs.Ints("at")
		return []box{{int(a[0]), int(a[1]), int(a[2]), int(a[3]), 0, 0}}, in, true
	case op.Lays:
		l := n.Attrs.Ints("boxes")
		out := make([]box, len(in))
		for k := range out {
			b := l[6*k:]
			out[k] = box{int(b[0]), int(b[1]), int(b[2]), int(b[3]), int(b[4]), int(b[5])}
		}
		return out, in, true
	case op.Beside, op.Below:
		var out []box
		at := 0
		for _, x := range in {
			t := g.Type(x)
			if !t.IsDense() || !t.Known() || t.Elem != g.Type(id).Elem {
				return nil, nil, false
			}
			if n.Op.Role == op.Beside {
				out = append(out, box{0, 0, t.Rows, t.Cols, 0, at})
				at += t.Cols
			} else {
				out = append(out, box{0, 0, t.Rows, t.Cols, at, 0})
				at += t.Rows
			}
		}
		return out, in, true
	}
	return nil, nil, false
}

// stores is the name of the elements themselves in the attribute fold of a pipe.
const stores = "store"

// againFlops is how many operations an element may cost to be computed again: about what memory
// takes to store and read 16 bytes.
const againFlops = 24

// isNumber reports a scalar that is an integer, a float or a bool.
func isNumber(t types.Type) bool { return t.IsScalar() && t.Elem.Size() > 0 }

// hinted reports a loop whose schedule, grain or place the program states. It stays a loop of its own.
func hinted(n *ir.Node) bool {
	return n.Attrs.Str("schedule") != "" || n.Attrs.Int("grain") != 0 || n.Attrs.Str(ir.PlaceAttr) != ""
}

// narrowProduct reports a product of type t with few columns, or one that is added to a matrix.
func narrowProduct(n *ir.Node, t types.Type) bool {
	return (n.Op.Role == op.Multiplies || n.Op.Role == op.MultipliesOnto) && n.Region == nil && !n.Attrs.Bool("ta") && t.Cols <= fewProductCols && t.Elem.IsFloat()
}

// fewProductCols is the most columns of a product whose left factor is worth being no matrix in memory.
const fewProductCols = 16

// without returns r without the unread arguments for which keep is false.
func without(r *ir.Region, keep []bool) *ir.Region {
	stays := slices.Repeat([]bool{true}, r.Graph.Len())
	for k, a := range r.Args {
		stays[a] = keep[k]
	}
	return (&ir.Region{Graph: r.Graph, Args: kept(r.Args, keep), Yields: r.Yields}).Compact(stays)
}

// sigOf returns what the row of node id is asked about.
func sigOf(g *ir.Graph, id ir.ID) *op.Sig { return sigInto(new(op.Sig), g, id) }

// sigInto is sigOf in the memory of s, which is overwritten.
func sigInto(s *op.Sig, g *ir.Graph, id ir.ID) *op.Sig {
	n := &g.Nodes[id]
	*s = op.Sig{Def: n.Op, Attrs: n.Attrs, In: g.Types(s.In[:0], g.In(id)...)}
	return s
}

// dividable reports whether ranks can share a value: a dense matrix of known shape that is not empty.
func dividable(t types.Type) bool { return t.IsDense() && t.Known() && t.Count() > 0 }

// madeAnywhere reports a constant, or a matrix of zeros or the like, that each reader makes. What is
// read of a file, or of a session, is on rank 0 or costs more than a message.
func madeAnywhere(g *ir.Graph, id ir.ID) bool {
	n := &g.Nodes[id]
	if sent(g, id) || n.Op.Shard.Kind != op.ShardGenerate {
		return n.Op.Role == op.Constant
	}
	return len(g.In(id)) == 0 && !g.Effects(id) && n.Op.Reads == nil && !n.Op.Root && n.Op.Cost(sigOf(g, id), g.Type(id)).Flops == 0
}

// spaceIn returns the type of the index space of node id of g. A pipe or a reduction of all elements
// or of columns has the space of the elements that it reduces, any other node that of its result.
func spaceIn(g *ir.Graph, id ir.ID) types.Type {
	switch n, t := &g.Nodes[id], g.Type(id); {
	case n.Op.Role == op.Reduces:
		return pipeSpace(n)
	case n.Op.Control == op.Part:
		return spaceIn(g, g.In(id)[0])
	case (!t.IsDense() || n.Op.Fold == op.FoldCols) && len(g.In(id)) > 0:
		return g.Type(g.In(id)[0])
	default:
		return t
	}
}

// pipeSpace returns the type of what a pipe reduces.
func pipeSpace(n *ir.Node) types.Type {
	y := n.Region.Graph.Type(n.Region.Yields[0])
	return types.DenseOf(y.Elem, n.Attrs.Int("rows"), n.Attrs.Int("cols"))
}

// pipeFolds returns the reductions of a pipe; nil is its elements.
func pipeFolds(table *op.Table, n *ir.Node) []*op.Def {
	var out []*op.Def
	for _, name := range strings.Fields(n.Attrs.Str("fold")) {
		if name == stores {
			out = append(out, nil)
		} else {
			out = append(out, table.Must(name))
		}
	}
	return out
}

// elementwise reports an operator, or a chain of them, whose row i comes from row i of its operands.
func elementwise(n *ir.Node) bool {
	return n.Op.Laws.Has(op.Elementwise) || n.Op.Role == op.Maps || n.Op.Role == op.Reduces
}

// aligned reports an operator that takes, from row i of its input, row i of its result: columns whose
// place only the run knows, or the diagonal. Its kernel can make a rank's own rows alone.
func aligned(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Role != op.Windows && n.Op.Shard.Kind != op.ShardDiagonal || !dividable(t) {
		return false
	}
	from := g.Type(g.In(id)[0])
	return dividable(from) && t.Rows == from.Rows && (n.Op.Role == op.Windows || from.Rows == from.Cols)
}

// stepped reports a view of every k-th row of a matrix, k > 1, in ascending order and with all columns.
func stepped(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.RowSpan == nil || !dividable(t) || !plan.MayView(g, id) {
		return false
	}
	r, from := n.Op.RowSpan(sigOf(g, id), t), g.Type(g.In(id)[0])
	return dividable(from) && r.By > 1 && r.Per == 1 && !r.Rest && t.Cols == from.Cols
}

// Partitioned is a graph of tasks and the place of each in its matrix.
type Partitioned struct {
	Graph *ir.Graph
	Block []Block // of every node; placement reads them
	// Unshared lists files that only rank 0 may read.
	Unshared []string
}

// Block is a task's place in the block grid of its matrix: the coordinates of its result and the
// number of blocks along each side. All are 0 for scalars and whole matrices.
type Block struct{ Row, Col, Rows, Cols int32 }

// lone reports a channel array of one element, which is like any other value.
func lone(g *ir.Graph, grid int) bool {
	return !slices.ContainsFunc(g.Grids[grid].Dims, func(n int) bool { return n != 1 })
}

// mostRight is the most elements of a right factor that each rank has as a whole: 2 MiB of f64, which
// stay in a cache. Two products of 6000 x 500 by 500 x 500 take 0.65 of the time that blocks take, and
// send a fiftieth of the bytes.
const mostRight = 1 << 18

// turnedProduct reports a product t(a) @ b of floats that has no more elements than a right factor that
// each rank has as a whole (mostRight), and no more rows and columns than terms.
func turnedProduct(g *ir.Graph, id ir.ID) bool {
	n, in, t := &g.Nodes[id], g.In(id), g.Type(id)
	return len(in) == 2 && n.Attrs.Bool("ta") && !n.Attrs.Bool("tb") && t.Elem.IsFloat() && dividable(g.Type(in[0])) && dividable(g.Type(in[1])) &&
		t.Count() <= mostRight && max(t.Rows, t.Cols) <= g.Type(in[0]).Rows
}

// typeOf is the type that a row gives inputs for which it was made.
func typeOf(d *op.Def, attrs *op.Attrs, in ...types.Type) types.Type {
	t, err := d.Type(&op.Sig{Def: d, In: in, Attrs: attrs})
	if err != nil {
		panic(fmt.Sprintf("BUG: %s of %v: %v", d.Name, in, err))
	}
	return t
}

// foldedParts returns the attribute fold and the type of a pipe over a part of the index space. The
// pipe gives states of the reductions for which state holds, and results of the others.
func foldedParts(table *op.Table, folds []*op.Def, space types.Type, state func(d *op.Def) bool) (names string, t types.Type) {
	list, ts := make([]string, len(folds)), make([]types.Type, len(folds))
	for k, d := range folds {
		if list[k], ts[k] = stores, space; d == nil {
			continue
		}
		if state(d) {
			d = table.Must(d.Shard.Partial)
		}
		list[k], ts[k] = d.Name, typeOf(d, nil, space)
	}
	return strings.Join(list, " "), tupleOf(ts)
}

// shardOf returns how an operator is cut: as its row says, except that cbind and rbind, which are
// defined on whole values, put boxes side by side.
func shardOf(d *op.Def) op.ShardKind {
	if d.Role == op.Beside || d.Role == op.Below {
		return op.ShardMove
	}
	return d.Shard.Kind
}

// laidGrid returns the grid that the inputs of a lay make in its result.
func laidGrid(ws []box, t types.Type) (cutting, bool) {
	return cells(ws, t, func(w box) (int, int) { return w.dr, w.dc })
}

// storedPart returns the pipe whose elements node id selects.
func storedPart(g *ir.Graph, id ir.ID) (pipe ir.ID, ok bool) {
	n := &g.Nodes[id]
	if n.Op.Control != op.Part || n.Attrs.Int("at") != 0 {
		return 0, false
	}
	pipe = g.In(id)[0]
	p := &g.Nodes[pipe]
	return pipe, p.Op.Role == op.Reduces && strings.HasPrefix(p.Attrs.Str("fold"), stores+" ")
}

// cells returns the grid of a matrix of type t in which each box is one cell.
func cells(ws []box, t types.Type, at func(box) (int, int)) (cutting, bool) {
	rc, cc := []int{0, t.Rows}, []int{0, t.Cols}
	for _, w := range ws {
		r, c := at(w)
		rc, cc = append(rc, r, r+w.rows), append(cc, c, c+w.cols)
	}
	slices.Sort(rc)
	slices.Sort(cc)
	rc, cc = slices.Compact(rc), slices.Compact(cc)
	if (len(rc)-1)*(len(cc)-1) > 4*len(ws)+16 {
		return cutting{}, false
	}
	for _, w := range ws {
		r, c := at(w)
		i, okR := slices.BinarySearch(rc, r)
		j, okC := slices.BinarySearch(cc, c)
		if !okR || !okC || i+1 >= len(rc) || j+1 >= len(cc) || rc[i+1] != r+w.rows || cc[j+1] != c+w.cols {
			return cutting{}, false
		}
	}
	return cutting{rc, cc}, true
}

// flops returns the operations of a node; 0 if its row has no cost.
func flops(g *ir.Graph, id ir.ID) float64 {
	if d := g.Nodes[id].Op; d.Cost != nil {
		return d.Cost(sigOf(g, id), g.Type(id)).Flops
	}
	return 0
}

// branches reports a branch, which takes one of its regions by a value of the run.
func branches(n *ir.Node) bool { return n.Op.Control == op.Select }

// rankGrid returns the P x Q grid of ranks nearest to square, P <= Q.
func rankGrid(ranks int) (p, q int) {
	for p = 1; (p+1)*(p+1) <= ranks; p++ {
	}
	for ; ranks%p != 0; p-- {
	}
	return p, ranks / p
}

// blockOf returns the position of a piece: that of the tile it is sent to, if it is.
func (p *Partitioned) blockOf(id ir.ID) Block {
	if grid, _, at, sent := p.Graph.Dest(id); sent {
		dims := p.Graph.Grids[grid].Dims
		b := Block{Row: at[0], Rows: int32(dims[0]), Cols: 1}
		if len(dims) > 1 {
			b.Col, b.Cols = at[len(at)-1], int32(dims[len(dims)-1])
		}
		return b
	}
	return p.Block[id]
}

// ownerOf returns the rank that makes block b of a matrix with such a place, on a grid of gp by gq ranks.
func ownerOf(b Block, place ir.Placement, gp, gq, ranks int) int {
	row, col, rows, cols := int(b.Row), int(b.Col), int(b.Rows), int(b.Cols)
	switch {
	case rows == 0 || place == ir.OneRank:
		return 0
	case cols == 1 || place == ir.ByRows:
		return row * ranks / rows
	case rows == 1 || place == ir.ByCols:
		return col * ranks / cols
	case row >= rows-rows%gp || col >= cols-cols%gq: // left over: of 7 columns one of two ranks would get 4
		return (row + col) % ranks
	}
	return row%gp*gq + col%gq
}

// copying is a copy of a graph in progress. Nodes are copied in order; to maps old nodes to new ones.
type copying struct {
	old, g *ir.Graph
	to     []ir.ID
}

// copyOf begins a copy of g. The copy has the tables of g and no nodes.
func copyOf(g *ir.Graph) *copying {
	c := &copying{old: g, g: ir.New(), to: slices.Repeat([]ir.ID{ir.None}, g.Len())}
	c.g.CopyTables(g)
	return c
}

// changed returns a copy of g. write makes the nodes for which is reports true; the others are
// copied. It returns g itself if there is no such node.
func changed(g *ir.Graph, is func(id ir.ID) bool, write func(c *copying, id ir.ID)) *ir.Graph {
	var c *copying
	for id := range g.All() {
		switch own := is(id); {
		case own && c == nil:
			c = copyOf(g)
			for k := range id {
				c.node(k)
			}
			fallthrough
		case own:
			write(c, id)
		case c != nil:
			c.node(id)
		}
	}
	if c == nil {
		return g
	}
	return c.g
}

// in returns the new inputs of an old node.
func (c *copying) in(id ir.ID) []ir.ID { return through(c.to, c.old.In(id)) }

// node copies an old node. What it reads must have been made.
func (c *copying) node(id ir.ID) {
	in := c.in(id)
	if slices.Contains(in, ir.None) {
		panic(fmt.Sprintf("BUG: %%%d is copied before what it reads, in\n%s", id, c.old))
	}
	c.to[id] = c.g.CopyNode(c.old, id, in...)
}

// made adds a node with a region that gives these old nodes: one value, or several as its parts.
func (c *copying) made(table *op.Table, row string, attrs *op.Attrs, r *ir.Region, in []ir.ID, o ir.Origin, results ...ir.ID) {
	id := c.g.Add(table.Must(row), attrs, tupleOf(c.old.Types(nil, results...)), o, in...)
	c.g.Nodes[id].Region = r
	for k, x := range results {
		if c.to[x] = id; len(results) > 1 {
			part := op.MakeAttrs(op.Attr{Name: "at", Val: op.Int(k)})
			c.to[x] = c.g.Add(table.Must("part"), part, c.old.Type(x), c.old.Origin(x), id)
		}
	}
}

// tupleOf returns the type of a node with results of types ts.
func tupleOf(ts []types.Type) types.Type {
	if len(ts) == 1 {
		return ts[0]
	}
	return types.TupleOf(ts...)
}

// region returns r with the copy as its graph.
func (c *copying) region(r *ir.Region) *ir.Region {
	return &ir.Region{Graph: c.g, Args: through(c.to, r.Args), Yields: through(c.to, r.Yields)}
}

// through returns places[x] for each x of ids.
func through[T any](places []T, ids []ir.ID) []T {
	out := make([]T, len(ids))
	for i, x := range ids {
		out[i] = places[x]
	}
	return out
}

// kept lists those of ids for which keep is true.
func kept(ids []ir.ID, keep []bool) (out []ir.ID) {
	for i, x := range ids {
		if keep[i] {
			out = append(out, x)
		}
	}
	return out
}

// eachRegion returns the list of regions that f makes of the regions of list r.
func eachRegion(r *ir.Region, f func(r *ir.Region) *ir.Region) *ir.Region {
	var first *ir.Region
	next := &first
	for ; r != nil; r = r.Next {
		x := f(r)
		*next, next = x, &x.Next
	}
	return first
}

// setOf returns a list of nodes as a set.
func setOf(ids []ir.ID) map[ir.ID]bool {
	set := make(map[ir.ID]bool, len(ids))
	for _, x := range ids {
		set[x] = true
	}
	return set
}
