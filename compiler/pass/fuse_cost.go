package pass

import (
	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
)

// This file is the part of Fuse that weighs: what to compute again rather than store, and
// what a body computes more cheaply.

// againFlops is how many operations an element may cost to compute again: about what
// memory takes for the 16 bytes of storing it and reading it once.
const againFlops = 24

// recomputed is the reductions that each compute the chain they read: those of chains that
// nobody but reductions reads.
func (f *fusion) recomputed() map[ir.ID]bool {
	g := f.g
	readers := map[ir.ID][]ir.ID{}
	for i := range g.Nodes {
		id := ir.ID(i)
		for k, x := range g.In(id) {
			if f.uses[x] > 1 && f.fusable(x) && f.head[x] == x && (k == 0 || g.In(id)[k-1] != x) {
				readers[x] = append(readers[x], id)
			}
		}
	}
	if len(readers) == 0 {
		return nil
	}
	members := map[ir.ID][]ir.ID{}
	for i, x := range f.head {
		if f.fusable(ir.ID(i)) && len(readers[x]) > 0 {
			members[x] = append(members[x], ir.ID(i))
		}
	}
	var out map[ir.ID]bool
	for x, list := range readers {
		if !f.cheaper(x, members[x], list) {
			continue
		}
		if out == nil {
			out = map[ir.ID]bool{}
		}
		for _, r := range list {
			out[r] = true
		}
	}
	return out
}

// cheaper reports that the readers of the chain of members with the head x, all of them
// reductions, had better each compute it.
func (f *fusion) cheaper(x ir.ID, members, readers []ir.ID) bool {
	g := f.g
	for _, r := range readers {
		if !f.folds(r) || !sameSend(g, x, r) {
			return false
		}
	}
	n := float64(g.Type(x).Count())
	if n <= 1 || len(readers) != int(f.uses[x]) {
		return false
	}
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
		if f.square(id) {
			flops += n
		} else if c := g.Nodes[id].Op.Cost; c != nil {
			flops += c(sig, g.Type(id)).Flops
		}
	}
	times := float64(len(readers))
	store := 2 * float64(g.Type(x).Bytes()) // a store reads the line first
	return flops*(times-1) <= againFlops*n && times*read <= read+store+times*float64(g.Type(x).Bytes())
}

// square reports x ^ 2 of floats, which is x * x in every bit by the definition of `^`.
func (f *fusion) square(id ir.ID) bool {
	g := f.g
	if g.Nodes[id].Op.Name != "pow" {
		return false
	}
	in := g.In(id)
	if c := &g.Nodes[in[1]]; c.Op.Name != "const" || c.Attrs.Str("elem") != "" {
		return false
	} else if v, ok := c.Attrs.Get("value"); !ok || (v.Kind != op.IntVal || v.I != 2) && (v.Kind != op.FloatVal || v.F != 2) {
		return false
	}
	e := g.Type(id).Elem
	return e.IsFloat() && g.Type(in[0]).Elem == e && g.Type(in[0]).IsDense()
}

// reads is the inputs that a member of a group reads: not the exponent of a square.
func (f *fusion) reads(id ir.ID) []ir.ID {
	in := f.g.In(id)
	if f.square(id) {
		return in[:1]
	}
	return in
}
