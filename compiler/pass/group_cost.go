package pass

import (
	"fmt"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Fuse that weighs recomputation against storing.

// againFlops is how many operations an element may cost to be computed again: about what memory
// takes to store and read 16 bytes.
const againFlops = 24

const (
	// wideColumns is from how many columns on a pass over columns takes groups of them, all
	// rows of one group before the next: as in package kernels, where the sums of all columns
	// would fill a second-level cache.
	wideColumns = 4 << 10
	// exactFlops is the operations of adding an element exactly. Extremes and counts cost one.
	exactFlops = 4
)

// Apart is a reduction that Fuse kept apart from storing what it reduces.
type Apart struct {
	Stored ir.Origin // of the chain whose elements are stored
	// of the stored value: a function may be called with matrices of several sizes
	Type      types.Type
	Reduction ir.Origin
	Why       string // a clause without a full stop
}

// whyApart is the only reason: see reducedApart.
var whyApart = fmt.Sprintf("to sum the columns of a matrix of %d columns or more while storing it costs more than to read it again", wideColumns)

// reducedApart reports a reduction r of the columns of a stored matrix that should read it
// afterwards: an exact sum of wide rows. A pass for both would write short pieces of rows, about a
// page each, which costs as much as reading again saves, while the sums keep the processors busy.
// Extremes and counts are cheap and join. RATIONALE has the figures.
func reducedApart(g *ir.Graph, r ir.ID, stored types.Type) bool {
	n := &g.Nodes[r]
	if n.Op.Fold != op.FoldCols || n.Op.Cost == nil || stored.Cols < wideColumns {
		return false
	}
	w := n.Op.Cost(&op.Sig{Def: n.Op, In: []types.Type{stored}}, g.Type(r))
	return w.Flops >= exactFlops*float64(stored.Count())
}

// cheaper reports whether a chain of members with head x should be computed in each of two passes
// over its operands rather than stored.
func (f *fusion) cheaper(x ir.ID, members []ir.ID) bool {
	g := f.g
	n := float64(g.Type(x).Count())
	var flops, read float64
	seen := map[ir.ID]bool{}
	for _, id := range members {
		sig := &op.Sig{Def: g.Nodes[id].Op, In: make([]types.Type, 0, 3)}
		for _, y := range g.In(id) {
			sig.In = append(sig.In, g.Type(y))
			if !seen[y] && f.head[y] != x {
				seen[y] = true
				read += float64(g.Type(y).Bytes())
			}
		}
		if c := g.Nodes[id].Op.Cost; c != nil {
			flops += c(sig, g.Type(id)).Flops
		}
	}
	store := 2 * float64(g.Type(x).Bytes()) // a store reads the line first
	return flops <= againFlops*n && read <= store+float64(g.Type(x).Bytes())
}
