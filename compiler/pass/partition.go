package pass

// This file defines Partition, which rewrites nodes on large matrices as nodes on blocks. The row
// of each operator says how it is cut (op.Shard); cuts.go decides where.

import (
	"context"
	"fmt"
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// Partition cuts large matrices into blocks and every operator on them into operators on blocks:
//
//	%3 = add(%1, %2) : f64[512,512]   ->   %7 = add(%3, %5) : f64[256,512] ..
//	slice of lay of blocks            ->   the block itself where the cuts agree
//
// Bits stay: a block of a constructor follows from its place, contractions are chains over
// ascending k however k is cut, sums are exact. A node that sends to a channel is one task of any
// size (one `<-` is one task), and so is an operator whose row says ShardWhole.
func Partition(ctx context.Context, g *ir.Graph, table *op.Table, sizes nodes.Sizes, limit int) (*nodes.Partitioned, error) {
	p := &partitioner{limit: limit, old: g, g: ir.New(), table: table, one: make([]ir.ID, g.Len()), parts: map[ir.ID]*parts{}, several: map[ir.ID]*parts{}}
	p.g.CopyTables(g)
	p.g.Grow(g.Len() + g.Len()/8)
	p.block = make([]nodes.Block, 0, g.Len()+g.Len()/8)
	err := caught(func() {
		p.cuts = chooseCuts(g, table, sizes, limit)
		for i := range g.Nodes {
			if err := ctx.Err(); err != nil {
				panic(stop{err})
			}
			id := ir.ID(i)
			if p.from = id; nodes.Sent(p.old, id) || !p.known(id) || !p.inBlocks(id) {
				p.uncut(id)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return &nodes.Partitioned{Graph: p.g, Block: p.block}, nil
}

// Tiled reports a graph with channel arrays of several elements.
func Tiled(g *ir.Graph) bool {
	for i := range g.Nodes {
		if grid, _, _, sent := g.Dest(ir.ID(i)); sent && !nodes.Lone(g, grid) {
			return true
		}
	}
	return false
}

// parts is a value cut into blocks: block (i, j) has rows rc[i]..rc[i+1] and columns
// cc[j]..cc[j+1].
type parts struct {
	rc, cc []int
	ids    []ir.ID
}

func (p *parts) at(i, j int) ir.ID { return p.ids[i*(len(p.cc)-1)+j] }
func (p *parts) single() bool      { return len(p.ids) == 1 }

type partitioner struct {
	old   *ir.Graph
	g     *ir.Graph
	table *op.Table
	cuts  *cuts
	one   []ir.ID          // the new node of each whole old node; ir.None for those in parts
	parts map[ir.ID]*parts // of old nodes in several
	// several holds the blocks of old pipes with several results, which part nodes select.
	several map[ir.ID]*parts
	block   []nodes.Block
	in      []ir.ID // scratch of uncut
	from    ir.ID   // the old node being cut
	limit   int
}

// TooMany is the error of a program whose matrices have more blocks than allowed tasks.
type TooMany struct {
	At    ir.Origin // of what was to be cut
	Of    types.Type
	Limit int
}

func (e *TooMany) Error() string { return fmt.Sprintf("more than %d tasks", e.Limit) }

// stop unwinds with an error from deep in a product of 10^9 block products.
type stop struct{ err error }

// caught returns the error of a stop in f.
func caught(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	f()
	return nil
}

// grid returns room for the blocks of a matrix, or stops if there are too many tasks: a list of
// 10^11 would not fit in memory.
func (p *partitioner) grid(rows, cols int) []ir.ID {
	if rows*cols > p.limit-p.g.Len() {
		panic(stop{&TooMany{p.old.Origin(p.from), p.old.Type(p.from), p.limit}})
	}
	return make([]ir.ID, 0, rows*cols)
}

// add makes a node with the origin of the old one.
func (p *partitioner) add(d *op.Def, attrs *op.Attrs, t types.Type, b nodes.Block, in ...ir.ID) ir.ID {
	if p.g.Len() >= p.limit {
		panic(stop{&TooMany{p.old.Origin(p.from), p.old.Type(p.from), p.limit}})
	}
	o := p.old.Origin(p.from)
	id := p.g.Add(d, attrs, t, o, in...)
	p.block = append(p.block, b)
	return id
}

// typed makes a node whose type comes from its row. It stops the pass if the row refuses the inputs: a
// file may have changed.
func (p *partitioner) typed(d *op.Def, attrs *op.Attrs, b nodes.Block, in ...ir.ID) ir.ID {
	t, err := d.Type(&op.Sig{Def: d, In: p.g.Types(nil, in...), Attrs: attrs})
	if err != nil {
		panic(stop{err})
	}
	return p.add(d, attrs, t, b, in...)
}

// known reports whether a node's result and inputs have known sizes. Others stay whole, because
// cuts are numbers.
func (p *partitioner) known(id ir.ID) bool {
	unknown := func(x ir.ID) bool { t := p.old.Type(x); return t.IsMatrix() && !t.Known() }
	return !unknown(id) && !slices.ContainsFunc(p.old.In(id), unknown)
}

// uncut copies node id, on whole inputs.
func (p *partitioner) uncut(id ir.ID) {
	p.in = p.in[:0]
	for _, x := range p.old.In(id) {
		p.in = append(p.in, p.whole(x))
	}
	p.one[id] = p.g.CopyNode(p.old, id, p.in...)
	p.block = append(p.block, nodes.Block{})
}

// inBlocks makes the blocks of node id by the rule of its row. It returns false if the node stays
// whole.
func (p *partitioner) inBlocks(id ir.ID) bool {
	n, t, cut := &p.old.Nodes[id], p.old.Type(id), p.cuts.of(id)
	switch kind := nodes.ShardOf(n.Op); {
	case n.Op.Role == op.Reduces:
		p.pipe(id, n, t)
	case n.Op.Control == op.Part && p.several[p.old.In(id)[0]] != nil:
		p.part(id, n, t)
	case kind == op.ShardReduce || (kind == op.ShardRows || kind == op.ShardCols) && t.IsDense():
		return p.reduce(id, n, t, cut)
	case kind == op.ShardMove:
		if boxes, in, ok := nodes.BoxesOf(p.old, id); ok {
			p.move(id, t, cut, boxes, in)
		} else if x := p.parts[p.old.In(id)[0]]; x != nil && n.Op.Role == op.PicksAt {
			at := n.Attrs.Ints("at")
			i, j := first(x.rc, int(at[0])), first(x.cc, int(at[1]))
			attrs := n.Attrs.With("at", op.Ints(int(at[0])-x.rc[i], int(at[1])-x.cc[j]))
			p.one[id] = p.add(n.Op, attrs, p.old.Type(id), nodes.Block{}, x.at(i, j))
		} else {
			return false
		}
	case kind == op.ShardContract:
		return p.contract(id, n, t, cut)
	case cut.Single():
		return false
	case kind == op.ShardGenerate:
		p.blocks(id, cut, func(i, j int, b nodes.Block) ir.ID {
			at := op.Ints(cut.RC[i], cut.CC[j], cut.RC[i+1]-cut.RC[i], cut.CC[j+1]-cut.CC[j])
			return p.typed(n.Op, n.Attrs.With("at", at), b)
		})
	case kind == op.ShardAligned:
		at, draws := p.operands(id, t, cut, nil), n.Draws()
		p.blocks(id, cut, func(i, j int, b nodes.Block) ir.ID {
			attrs := n.Attrs
			if draws {
				attrs = attrs.With("origin", op.Ints(cut.RC[i], cut.CC[j]))
			}
			out := p.add(n.Op, attrs, types.DenseOf(t.Elem, cut.RC[i+1]-cut.RC[i], cut.CC[j+1]-cut.CC[j]), b, at(i, j, 0)...)
			p.g.Nodes[out].Region = n.Region
			return out
		})
	case kind == op.ShardDiagonal || kind == op.ShardTranspose:
		at := p.operands(id, t, cut, nil)
		p.blocks(id, cut, func(i, j int, b nodes.Block) ir.ID { return p.typed(n.Op, n.Attrs, b, at(i, j, 0)...) })
	case kind == op.ShardTriangle:
		p.triangle(id, n, t, cut)
	default:
		return false
	}
	return true
}

// blocks fills a result block by block.
func (p *partitioner) blocks(id ir.ID, c nodes.Cutting, f func(i, j int, b nodes.Block) ir.ID) {
	out := p.each(c, f)
	if out.single() {
		p.one[id] = out.ids[0]
		return
	}
	p.one[id] = ir.None
	p.parts[id] = out
}

// each returns the blocks that f makes of a matrix with cuts c.
func (p *partitioner) each(c nodes.Cutting, f func(i, j int, b nodes.Block) ir.ID) *parts {
	rows, cols := len(c.RC)-1, len(c.CC)-1
	out := &parts{c.RC, c.CC, p.grid(rows, cols)}
	for i := range rows {
		for j := range cols {
			out.ids = append(out.ids, f(i, j, nodes.Block{Row: int32(i), Col: int32(j), Rows: int32(rows), Cols: int32(cols)}))
		}
	}
	return out
}

// get returns an old value's parts.
func (p *partitioner) get(id ir.ID) *parts {
	if x := p.parts[id]; x != nil {
		return x
	}
	t := p.old.Type(id)
	return &parts{[]int{0, t.Rows}, []int{0, t.Cols}, []ir.ID{p.one[id]}}
}

// whole returns an old value in one piece.
func (p *partitioner) whole(id ir.ID) ir.ID {
	if p.one[id] != ir.None {
		return p.one[id]
	}
	t := p.old.Type(id)
	return p.recut(id, []int{0, t.Rows}, []int{0, t.Cols}).ids[0]
}

// triangle cuts an operator that keeps a triangle of a square matrix, on square cuts.
func (p *partitioner) triangle(id ir.ID, n *ir.Node, t types.Type, c nodes.Cutting) {
	x := p.recut(p.old.In(id)[0], c.RC, c.CC)
	p.blocks(id, c, func(i, j int, b nodes.Block) ir.ID {
		switch {
		case i == j:
			return p.typed(n.Op, n.Attrs, b, x.at(i, i))
		case (j > i) == n.Op.Shard.Upper:
			return x.at(i, j)
		}
		return p.zeros(t.Elem, c.RC[i+1]-c.RC[i], c.CC[j+1]-c.CC[j], b)
	})
}

// What follows moves elements: recutting, slices and assemblies, as windows of blocks in blocks.

// recut returns an old value with other cuts. Blocks whose cuts agree are reused; others are
// assembled from those that they overlap, once for all readers.
func (p *partitioner) recut(id ir.ID, rc, cc []int) *parts {
	x := p.get(id)
	if slices.Equal(x.rc, rc) && slices.Equal(x.cc, cc) {
		return x
	}
	key := recutKey{id, hashInts(rc), hashInts(cc)}
	if y := p.cuts.done[key]; y != nil && slices.Equal(y.rc, rc) && slices.Equal(y.cc, cc) {
		return y
	}
	out := p.each(nodes.Cutting{RC: rc, CC: cc}, func(i, j int, b nodes.Block) ir.ID {
		src := []piece{{x, 0, 0, rc[i], cc[j], rc[i+1] - rc[i], cc[j+1] - cc[j]}}
		return p.lay(p.old.Type(id), src, rc[i+1]-rc[i], cc[j+1]-cc[j], b)
	})
	p.cuts.done[key] = out
	return out
}

// piece is a window of a value in a result: window (sr, sc, rows, cols) of x at (r, c).
type piece struct {
	x          *parts
	r, c       int
	sr, sc     int
	rows, cols int
}

// blocks appends the blocks of x that the window overlaps to in. For each it appends to boxes the part
// that the window has and its place in the result.
func (s piece) blocks(in []ir.ID, boxes []nodes.Box) ([]ir.ID, []nodes.Box) {
	for i := first(s.x.rc, s.sr); i < len(s.x.rc)-1 && s.x.rc[i] < s.sr+s.rows; i++ {
		for j := first(s.x.cc, s.sc); j < len(s.x.cc)-1 && s.x.cc[j] < s.sc+s.cols; j++ {
			r0, r1 := max(s.x.rc[i], s.sr), min(s.x.rc[i+1], s.sr+s.rows)
			c0, c1 := max(s.x.cc[j], s.sc), min(s.x.cc[j+1], s.sc+s.cols)
			if r0 < r1 && c0 < c1 {
				in = append(in, s.x.at(i, j))
				boxes = append(boxes, nodes.Box{SR: r0 - s.x.rc[i], SC: c0 - s.x.cc[j], Rows: r1 - r0, Cols: c1 - c0, DR: s.r + r0 - s.sr, DC: s.c + c0 - s.sc})
			}
		}
	}
	return in, boxes
}

// lay makes one block of rows x cols from windows of values in parts.
func (p *partitioner) lay(t types.Type, src []piece, rows, cols int, b nodes.Block) ir.ID {
	var in []ir.ID
	var boxes []nodes.Box
	for _, s := range src {
		in, boxes = s.blocks(in, boxes)
	}
	out := types.DenseOf(t.Elem, rows, cols)
	switch {
	case len(in) == 0:
		return p.zeros(t.Elem, rows, cols, b)
	case len(in) > 1 || boxes[0].DR > 0 || boxes[0].DC > 0 || boxes[0].Rows < rows || boxes[0].Cols < cols:
		return p.add(p.table.Must("lay"), nodes.LayAttrs(out, boxes), out, b, in...)
	case p.g.Type(in[0]) == out:
		return in[0]
	}
	return p.add(p.table.Must("slice"), boxes[0].Attrs(), out, b, in[0])
}

// zeros returns a block of zeros of any element type.
func (p *partitioner) zeros(e types.Elem, rows, cols int, b nodes.Block) ir.ID {
	x := p.add(p.table.Must("zeros"), op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(rows)}, op.Attr{Name: "m", Val: op.Int(cols)}), types.DenseOf(types.F64, rows, cols), b)
	if e == types.F64 {
		return x
	}
	return p.add(p.table.Must(e.String()), nil, types.DenseOf(e, rows, cols), b, x)
}

// first returns the block that contains position x.
func first(cuts []int, x int) int {
	i, ok := slices.BinarySearch(cuts, x)
	if ok {
		return i
	}
	return max(i-1, 0)
}

// move puts pieces of the inputs into the result's blocks.
func (p *partitioner) move(id ir.ID, t types.Type, c nodes.Cutting, boxes []nodes.Box, in []ir.ID) {
	// The boxes that touch each block: an untile has as many boxes as blocks.
	cols := len(c.CC) - 1
	touch := make([][]int32, (len(c.RC)-1)*cols)
	for k, x := range boxes {
		for i := first(c.RC, x.DR); i < len(c.RC)-1 && c.RC[i] < x.DR+x.Rows; i++ {
			for j := first(c.CC, x.DC); j < cols && c.CC[j] < x.DC+x.Cols; j++ {
				touch[i*cols+j] = append(touch[i*cols+j], int32(k))
			}
		}
	}
	p.blocks(id, c, func(i, j int, b nodes.Block) ir.ID {
		r0, r1, c0, c1 := c.RC[i], c.RC[i+1], c.CC[j], c.CC[j+1]
		var src []piece
		for _, k := range touch[i*cols+j] {
			x := boxes[k]
			a0, a1 := max(x.DR, r0), min(x.DR+x.Rows, r1)
			b0, b1 := max(x.DC, c0), min(x.DC+x.Cols, c1)
			if a0 >= a1 || b0 >= b1 {
				continue
			}
			src = append(src, piece{p.get(in[k]), a0 - r0, b0 - c0, x.SR + a0 - x.DR, x.SC + b0 - x.DC, a1 - a0, b1 - b0})
		}
		return p.lay(t, src, r1-r0, c1-c0, b)
	})
}
