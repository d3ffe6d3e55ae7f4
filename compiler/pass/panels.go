package pass

import (
	"math/bits"

	"flow/ir"
	"flow/ir/op"
)

// FoldPanels makes a product over a long inner size one operator again, which Contraction wrote as
// a tree of sums of panels:
//
//	add(matmul(slice %0, slice %1) {ta}, matmul(slice %0, slice %1) {ta})   ->   matmul.panels(%0, %1) {ta, panel=32768}
//
// The row means the same tree, bit for bit. Its loop shares the panels among the workers, so the
// operands stay whole and nothing is copied. A result of more than mostPanelSum elements keeps the
// tree: its panels are enough work to be cut into tiles. So does a product whose operands are cut
// for another reader, or because they are large, since they would have to be assembled; a matrix of
// codes is not built, however large it is.
func FoldPanels(g *ir.Graph, table *op.Table, sizes Sizes) *ir.Graph {
	sizes = sizes.filled()
	f := &panelFolding{g: g, mm: table.Infix("@"), plus: table.Infix("+"), panel: sizes.Panel}
	found := f.find()
	row := table.Must("matmul.panels")
	for len(found) > 0 {
		out := g.Clone() // the program's definition must not change
		// by unique attributes: contraction makes such rows for matrices of open sizes
		made := map[*op.Attrs]panelSum{}
		for _, p := range found {
			attrs := p.attrs.With("panel", op.Int(f.panel))
			out.Replace(p.root, row, attrs, p.a, p.b)
			made[attrs] = p
		}
		out = DropDead(out)
		whole := wholes(out, sizes.Block, preferredCuts(out), false, sizes.Rows)
		if whole == nil {
			return out
		}
		codes := unbuilt(out, func(n *ir.Node) bool { _, ok := made[n.Attrs]; return ok })
		// A remaining tree may cut the operands of another.
		kept := found[:0:0]
		for i := range out.Nodes {
			p, ok := made[out.Nodes[i].Attrs]
			if in := out.In(ir.ID(i)); ok && (whole[in[0]] || codes[in[0]]) && whole[in[1]] {
				kept = append(kept, p)
			}
		}
		if len(kept) == len(found) {
			return out
		}
		found = kept
	}
	return g
}

// mostPanelSum bounds the result of a folded product: each panel has one in memory.
const mostPanelSum = 1 << 16

type panelFolding struct {
	g        *ir.Graph
	mm, plus *op.Def
	panel    int
	uses     []int32
}

// panelSum is a product that was cut into panels: the last node of its tree, and its operands.
type panelSum struct {
	root  ir.ID
	attrs *op.Attrs
	a, b  ir.ID
}

// find returns the products in the order of their roots.
func (f *panelFolding) find() (found []panelSum) {
	f.uses = f.g.Uses()
	for i := range f.g.Nodes {
		id := ir.ID(i)
		t := f.g.Type(id)
		if f.g.Nodes[i].Op != f.plus || !t.IsDense() || !t.Known() || t.Count() > mostPanelSum {
			continue
		}
		if p, ok := f.sum(id); ok {
			found = append(found, p)
		}
	}
	return found
}

// sum returns the product of root and the tree below it. The tree of a product over k terms depends
// on k alone, so its first panel determines all others.
func (f *panelFolding) sum(root ir.ID) (p panelSum, ok bool) {
	first := root
	for f.g.Nodes[first].Op == f.plus {
		first = f.g.In(first)[0]
	}
	n := &f.g.Nodes[first]
	if n.Op != f.mm {
		return p, false
	}
	in := f.g.In(first)
	for _, x := range in {
		if f.g.Nodes[x].Op.Role != op.Slices {
			return p, false
		}
	}
	p = panelSum{root, n.Attrs, f.g.In(in[0])[0], f.g.In(in[1])[0]}
	k := f.inner(p.a, n.Attrs.Bool("ta"))
	if k <= f.panel || k != f.inner(p.b, !n.Attrs.Bool("tb")) {
		return p, false
	}
	return p, f.matches(root, root, p, k, 0, (k+f.panel-1)/f.panel)
}

// inner returns the size of x along rows or columns, -1 unless it is a dense matrix of known shape.
func (f *panelFolding) inner(x ir.ID, rows bool) int {
	switch t := f.g.Type(x); {
	case !t.IsDense() || !t.Known():
		return -1
	case rows:
		return t.Rows
	default:
		return t.Cols
	}
}

// matches reports whether id is the sum of panels lo..hi-1 of p and everything below the root has
// one reader.
func (f *panelFolding) matches(root, id ir.ID, p panelSum, k, lo, hi int) bool {
	n, in := &f.g.Nodes[id], f.g.In(id)
	if id != root && f.uses[id] != 1 || !sameSend(f.g, id, root) {
		return false
	}
	if hi-lo > 1 {
		// pairs, pairs of pairs ...: the left part is the largest power of two below all
		mid := lo + 1<<(bits.Len(uint(hi-lo-1))-1)
		return n.Op == f.plus && f.matches(root, in[0], p, k, lo, mid) && f.matches(root, in[1], p, k, mid, hi)
	}
	from, to := lo*f.panel, min(hi*f.panel, k)
	ta, tb := n.Attrs.Bool("ta"), n.Attrs.Bool("tb")
	return n.Op == f.mm && ta == p.attrs.Bool("ta") && tb == p.attrs.Bool("tb") &&
		f.window(in[0], p.a, ta, from, to) && f.window(in[1], p.b, !tb, from, to)
}

// window reports whether x is rows (or columns) from..to-1 of the matrix of.
func (f *panelFolding) window(x, of ir.ID, rows bool, from, to int) bool {
	if f.g.Nodes[x].Op.Role != op.Slices || f.g.In(x)[0] != of {
		return false
	}
	t, at := f.g.Type(of), f.g.Nodes[x].Attrs.Ints("at")
	want := [...]int{0, from, t.Rows, to - from}
	if rows {
		want = [...]int{from, 0, to - from, t.Cols}
	}
	for i, v := range want {
		if int(at[i]) != v {
			return false
		}
	}
	return true
}
