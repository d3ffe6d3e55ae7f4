package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Fuse that weighs recomputation against storing.

// againFlops is how many operations an element may cost to be computed again: about what memory
// takes to store and read 16 bytes.
const againFlops = 24

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
