package pass

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
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
func wholes(g *ir.Graph, least int, preferred map[ir.ID]nodes.Cutting, loops, rows bool) []bool {
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
	if pipe, ok := nodes.StoredPart(w.g, id); ok { // aligned, as a map is
		modes := w.g.Nodes[pipe].Attrs.Ints("modes")
		for k, x := range w.g.In(pipe) {
			if m := op.Mode(modes[k]); m == op.Full || m == op.Trans {
				w.join(id, x)
			}
		}
		return
	}
	switch nodes.ShardOf(n.Op) {
	case op.ShardContract, op.ShardTriangle, op.ShardDiagonal:
		if w.rows && (rowProduct(w.g, id) || nodes.TurnedProduct(w.g, id) || nodes.Aligned(w.g, id)) {
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
		takes := loop && n.Op.Loop.Takes != nil && n.Op.Loop.Takes(nodes.SigInto(&w.sig, w.g, id), t)
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
		if boxes, _, ok := nodes.BoxesOf(w.g, id); ok && n.Op.Role == op.Lays {
			if grid, ok := nodes.LaidGrid(boxes, t); ok && !grid.Single() && !w.rows {
				w.mark(id)
			}
		}
	case op.ShardAligned, op.ShardTranspose:
		for _, x := range in {
			if xt := w.g.Type(x); nodes.SameShape(xt, t) || xt.Rows == t.Cols && xt.Cols == t.Rows && t.Count() > 1 {
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
	return nodes.Dividable(a) && nodes.Dividable(b) && (b.Count() <= nodes.MostRight && a.Rows >= b.Rows || a.Rows >= mostInner*a.Cols)
}

// mostInner is how many rows a left factor has at least for each term of a product with a right factor
// of any size. Each rank gets the right factor, which is then at most so small a part of the result. A
// result in blocks would be brought together where something reads whole rows of it, as distances of
// points are read.
const mostInner = 16
