package layout

// This file finds which nodes a loop takes into its body (InParts), and which rows of them it reads.

import (
	"slices"

	"flow/compiler/nodes"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
)

// members returns the nodes that loop id takes into its body, in ascending order: reads of files,
// windows, and what is made of them row by row. It returns none if there are no files. Row i of the
// loop may read several rows of a member through windows; spread is how far these are apart, by member.
func (f *inParts) members(id ir.ID, rows int) (members []ir.ID, spread map[ir.ID]int) {
	wanted, spoiled := map[ir.ID]bool{}, map[ir.ID]bool{}
	down := map[ir.ID][2]int{id: {}} // the first and the last of these rows, less i
	reads := func(r ir.ID, rows int) {
		n, by := &f.g.Nodes[r], down[r]
		if n.Op.Look != nil {
			at := n.Op.RowsRead(n.Attrs).From
			by = [2]int{by[0] + at, by[1] + at}
		}
		for x, is := range f.aligned(r, rows) {
			wanted[x] = wanted[x] || is
			spoiled[x] = spoiled[x] || !is
			if was, ok := down[x]; ok {
				down[x] = [2]int{min(was[0], by[0]), max(was[1], by[1])}
			} else {
				down[x] = by
			}
		}
	}
	reads(id, rows)
	files := false
	spread = map[ir.ID]int{}
	for x := id - 1; x >= 0; x-- {
		n := &f.g.Nodes[x]
		if !wanted[x] || spoiled[x] || f.whole[x] || nodes.Sent(f.g, x) || !f.makes(x) {
			continue
		}
		if !slices.ContainsFunc(f.readers[x], func(r ir.ID) bool { return r == id || slices.Contains(members, r) }) {
			continue
		}
		t := f.g.Type(x)
		spread[x] = down[x][1] - down[x][0]
		if spread[x]*(t.Bytes()/t.Rows) > f.most {
			continue
		}
		members, files = append(members, x), files || n.Op.Reads != nil
		if n.Op.Reads == nil {
			reads(x, t.Rows)
		}
	}
	if !files {
		return nil, nil
	}
	slices.Reverse(members)
	// what is made of no file need not be in the loop
	made := map[ir.ID]bool{}
	members = slices.DeleteFunc(members, func(x ir.ID) bool {
		made[x] = f.g.Nodes[x].Op.Reads != nil || slices.ContainsFunc(f.g.In(x), func(y ir.ID) bool { return made[y] })
		return !made[x]
	})
	return members, spread
}

// makes reports whether a loop may make node id in parts.
func (f *inParts) makes(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	switch {
	case !t.IsDense() || !t.Known() || t.Cols == 0:
		return false
	case n.Op.Reads != nil:
		return readInParts(n)
	case n.Op.Look != nil:
		return f.fixed(id)
	case !n.Op.Laws.Has(op.Pure) || n.Op.Accum > 0 || n.Op.Loop == nil || n.Op.Loop.RowsEach == nil || ir.MayFail(f.g, id):
		return false
	}
	c := f.call(id)
	if c == nil {
		return false
	}
	each, per := n.Op.Loop.RowsEach(c)
	count, _ := n.Op.Loop.Space(c)
	return each == 1 && per == 1 && count == t.Rows
}

// aligned reports for each input of node id whether the node reads it row by row: as many rows as its
// own, consecutive rows (fixed), or rows at positions (picks).
func (f *inParts) aligned(id ir.ID, rows int) map[ir.ID]bool {
	n, in := &f.g.Nodes[id], f.g.In(id)
	var reads []rowReads
	fixed := f.fixed(id) || f.picks(id)
	if d := n.Op; n.Region == nil && (d.Writes != nil || d.Fold != op.NoFold && len(in) == 1 || stated(d) || n.Attrs.Int("panel") > 0) {
		reads = slices.Repeat([]rowReads{f.s.ownRows(rows)}, len(in))
	} else if !fixed {
		reads = f.s.readsOf(f.g, id, rows)
	}
	own, out := f.s.windows(rows), map[ir.ID]bool{}
	for k, x := range in {
		is := fixed && k == 0
		if !fixed {
			r := &reads[k]
			is = f.g.Type(x).IsDense() && f.g.Type(x).Rows == rows && !r.whole && !r.turned && r.by == 0 && len(r.at) == 0 && slices.EqualFunc(r.rows, own, slices.Equal)
		}
		if was, ok := out[x]; ok {
			is = is && was
		}
		out[x] = is
	}
	return out
}

// fixed reports whether node id reads so many consecutive rows of a matrix: a window, or an element.
// Windows of matrices that ranks share come from exchanges, which take whole matrices.
func (f *inParts) fixed(id ir.ID) bool {
	n, t := &f.g.Nodes[id], f.g.Type(id)
	if n.Op.RowsRead == nil || !t.IsScalar() && !(t.IsDense() && t.Known()) {
		return false
	}
	from := f.g.In(id)[0]
	r, of := n.Op.RowsRead(n.Attrs), f.g.Type(from)
	return r.EndArg == 0 && !r.All && of.IsDense() && of.Known() &&
		(f.g.Nodes[from].Attrs.Int(plan.Shared) == 0 || len(f.readers[id]) == 0 || n.Op.Look != nil && t.Rows == of.Rows)
}

// fewRows is the most rows at listed positions that a loop over all rows takes. It looks for them in
// each part, unless they are in order.
const fewRows = 1024

// picks reports whether node id takes rows at listed positions of a matrix that no ranks share: those
// that a condition chooses, which are in order, or a few.
func (f *inParts) picks(id ir.ID) bool {
	n, in := &f.g.Nodes[id], f.g.In(id)
	if n.Op.Numbers != 1 || len(in) != 2 || n.Attrs.Int(plan.Shared) > 0 || f.g.Nodes[in[0]].Attrs.Int(plan.Shared) > 0 {
		return false
	}
	x, at := f.g.Type(in[0]), f.g.Type(in[1])
	return x.IsDense() && x.Known() && at.IsDense() && (f.g.Nodes[in[1]].Op.Chooses || at.Known() && at.Rows <= fewRows)
}
