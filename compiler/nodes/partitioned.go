package nodes

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// This file defines graphs of tasks on blocks, and which rank owns a block.

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

// DropDead drops blocks that no effect needs and that cannot fail, in place, and updates the table
// of places. An unread block that may fail is computed, because in the definition its matrix fails
// with it.
func (p *Partitioned) DropDead() *Partitioned {
	keep := Alive(p.Graph, func(id ir.ID) bool { return p.Graph.Required(id) || ir.MayFail(p.Graph, id) })
	if keep == nil {
		return p
	}
	// In place: the graph is the partitioner's own and may fill most of the memory.
	Sweep(p.Graph, keep)
	blocks := p.Block[:0]
	for i, k := range keep {
		if k {
			blocks = append(blocks, p.Block[i])
		}
	}
	p.Block = blocks
	return p
}

// Cut reports whether a matrix is in several blocks. If so, most is the operator on blocks with the
// most operations.
func (p *Partitioned) Cut() (most ir.Node, cut bool) {
	work := -1.0
	for i, b := range p.Block {
		n := &p.Graph.Nodes[i]
		if b.Rows < 2 && b.Cols < 2 || n.Op.Cost == nil {
			continue
		}
		w := 0.0
		if n.Op.Shard.Kind != op.ShardGenerate { // a constructor takes any form, so it is no reason for blocks
			w = n.Op.Cost(SigOf(p.Graph, ir.ID(i)), p.Graph.Type(ir.ID(i))).Flops
		}
		if w > work {
			most, work = *n, w
		}
	}
	return most, work >= 0
}

// BlockOf returns the place of node id: that of the tile to which it is sent, if it is sent.
func (p *Partitioned) BlockOf(id ir.ID) Block {
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

// Lone reports whether channel array grid has one element. It is then like any other value.
func Lone(g *ir.Graph, grid int) bool {
	return !slices.ContainsFunc(g.Grids[grid].Dims, func(n int) bool { return n != 1 })
}

// RankGrid returns the P x Q grid of ranks nearest to square, P <= Q.
func RankGrid(ranks int) (p, q int) {
	for p = 1; (p+1)*(p+1) <= ranks; p++ {
	}
	for ; ranks%p != 0; p-- {
	}
	return p, ranks / p
}

// OwnerOf returns the rank that computes block b of a matrix with this placement. The ranks are a grid
// of gp by gq.
func OwnerOf(b Block, place ir.Placement, gp, gq, ranks int) int {
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

// Alive returns which nodes the required ones need, and these. It returns nil if all nodes are.
func Alive(g *ir.Graph, required func(ir.ID) bool) []bool {
	if keep := g.Needed(required); slices.Contains(keep, false) {
		return keep
	}
	return nil
}

// Sweep drops the nodes of g that are not kept, in place.
func Sweep(g *ir.Graph, keep []bool) {
	live := make([]int32, len(keep))
	for i, k := range keep {
		if k {
			live[i] = 1
		}
	}
	g.Sweep(0, live, make([]ir.ID, len(keep)))
}
