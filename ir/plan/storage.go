package plan

import (
	"math/bits"
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// This file says which values of a plan share memory. The engine allocates by it, and the prediction
// of memory follows it.

// The runtime lends memory in classes of sizes, multiples of SizeAlign.
const (
	SizeAlign = 64
	// SizeClasses is the number of classes. The last ends at 2^48 bytes.
	SizeClasses = coarseClasses + 16*(48-fineSizes)
	// fineSizes is the power of two from which each power has 16 classes, since unused bytes of
	// a class count against the machine's memory. Below it there are four, so that more memory
	// is reused.
	fineSizes     = 26
	coarseClasses = 4 + 4*(fineSizes-8)
)

// SizeClass returns the class of n > 0 bytes and its size: multiples of 64 up to 256, then four
// steps a power of two, and 16 from 64 MiB on.
func SizeClass(n int) (class, size int) {
	if n <= 4*SizeAlign {
		class = (n - 1) / SizeAlign
		return class, (class + 1) * SizeAlign
	}
	k := bits.Len(uint(n - 1)) // 2^(k-1) < n <= 2^k, k >= 9
	if k > fineSizes {
		step := 1 << (k - 5)
		q := (n - 1<<(k-1) + step - 1) / step
		return coarseClasses + (k-fineSizes-1)*16 + q - 1, 1<<(k-1) + q*step
	}
	step := 1 << (k - 3)
	q := (n - 1<<(k-1) + step - 1) / step
	return 4 + (k-9)*4 + q - 1, 1<<(k-1) + q*step
}

// MayView reports whether the result of node id should be a view of its first input instead of a copy.
// A view keeps the whole memory of its input alive. A small part is therefore copied.
func MayView(g *ir.Graph, id ir.ID) bool {
	n, t := &g.Nodes[id], g.Type(id)
	if n.Op.Look == nil || !t.Sized() || g.Asks(id) || n.Op.RowSpan != nil && n.Attrs.Int(Shared) > 0 || n.Attrs.Int(Owner) > 0 { // other rows are sent
		return false
	}
	if len(g.In(id)) == 0 { // a view of memory that is not the engine's and stays
		return true
	}
	x := g.In(id)[0]
	for len(g.In(x)) > 0 && MayView(g, x) {
		x = g.In(x)[0]
	}
	from := g.Type(x)
	return from.Sized() && t.Bytes() > 0 && 4*t.Bytes() >= from.Bytes()
}

// TakesOver reports whether a result of node id may be made in the memory of input j, if the node is
// the last reader of j and both have one type. A transposed operand of a square map is read elsewhere
// than written, so its memory is not taken. Neither are operands that tell which element has no value,
// nor operands of loops that read them at other places than their own.
func TakesOver(g *ir.Graph, id ir.ID, j int) bool {
	n := &g.Nodes[id]
	if a := n.Op.Accum; a > 0 {
		return j == a-1
	}
	if n.Op.Role == op.Points || n.Op.Role == op.Grouped {
		return g.Type(id).IsDense() && g.Type(id).Equal(g.Type(g.In(id)[j])) && readsOwnPlace(n, j) && !ir.MayFail(g, id)
	}
	if !n.Op.Alias {
		return false
	}
	if n.Region == nil {
		return !fails(g, id)
	}
	for k := range n.Region.Graph.Nodes {
		if fails(n.Region.Graph, ir.ID(k)) {
			return false
		}
	}
	return readsFull(n, j)
}

// readsFull reports whether a chain reads input j where it writes.
func readsFull(n *ir.Node, j int) bool {
	modes := n.Attrs.Ints("held")
	if modes == nil {
		modes = n.Attrs.Ints("modes")
	}
	return modes == nil || op.Mode(modes[j]) == op.Full
}

// readsOwnPlace reports whether the loop n, a parfor or a group, has read an element of input j when it
// writes the element of its result at the same place, and reads it for no other element. It is told of
// bodies of elementwise operators. An exact sum in a body is made again if it was too narrow, and an
// inner loop may read after the element was written.
func readsOwnPlace(n *ir.Node, j int) bool {
	if n.Op.Role == op.Grouped {
		return groupOwnPlace(n.Region, n.Region.Args[j])
	}
	r, by, lo := n.Region, n.Attrs.Ints("by"), n.Attrs.Ints("lo")
	for d := range by {
		if by[d] != 1 || lo == nil || lo[d] != 0 {
			return false
		}
	}
	index, x := r.Args[:len(by)], r.Args[len(by)+j]
	if len(by) == 0 || n.Attrs.Bool("pairs") || !r.Graph.Type(r.Yields[0]).IsScalar() {
		return false
	}
	for i := range r.Graph.Nodes {
		m, in := &r.Graph.Nodes[i], r.Graph.In(ir.ID(i))
		switch {
		case m.Op.Role == op.Picks && in[0] == x: // of one index, x has one column
			if in[1] != index[0] || len(index) == 2 && in[2] != index[1] {
				return false
			}
		case slices.Contains(in, x):
			return false
		case m.Op.Role == op.Argument || m.Op.Role == op.Constant || m.Op.Role == op.Picks:
		case m.Region != nil || !m.Op.Laws.Has(op.Elementwise|op.Pure):
			return false
		}
	}
	return true
}

// groupOwnPlace is readsOwnPlace for argument x of a group. What is computed of x element by element
// stands for x: the loop computes it where it is read.
func groupOwnPlace(r *ir.Region, x ir.ID) bool {
	of := make([]bool, r.Graph.Len())
	of[x] = true
	for i := range r.Graph.Nodes {
		m, in := &r.Graph.Nodes[i], r.Graph.In(ir.ID(i))
		k := slices.IndexFunc(in, func(y ir.ID) bool { return of[y] })
		if k < 0 {
			continue
		}
		for ; k < len(in); k++ {
			if !of[in[k]] {
				continue
			}
			switch {
			case m.Op.Role == op.Maps && readsFull(m, k):
			case m.Op.Role == op.Points && readsOwnPlace(m, k):
			case m.Region == nil && m.Op.Laws.Has(op.Elementwise|op.Pure):
			default:
				return false
			}
		}
		if t, from := r.Graph.Type(ir.ID(i)), r.Graph.Type(x); t.Rows != from.Rows || t.Cols != from.Cols {
			return false
		}
		of[i] = true
	}
	return len(r.Yields) == 1
}

// TakesColumn reports whether input k of a map or an elementwise node id may be a view of a column of x
// while the result takes the memory of x. The kernel copies the rows of such a column before it writes
// them.
func TakesColumn(g *ir.Graph, id ir.ID, k int, x ir.ID) bool {
	n, y := &g.Nodes[id], g.In(id)[k]
	from, t := g.Type(x), g.Type(y)
	return n.Op.Alias && (n.Op.Role == op.Maps || n.Op.Laws.Has(op.Elementwise)) && len(g.In(y)) > 0 &&
		g.Nodes[y].Op.Look != nil && g.Nodes[y].Op.Laws.Has(op.View) && !g.Asks(y) &&
		from.IsDense() && t.IsDense() && from.Known() && t.Cols == 1 && from.Cols > 1 && t.Rows == from.Rows
}

// fails reports an elementwise operator that has no value for some operands.
func fails(g *ir.Graph, id ir.ID) bool {
	in := g.In(id)
	return len(in) > 0 && g.Nodes[id].Op.Fails(g.Type(in[0]).Elem, g.Type(id).Elem)
}
