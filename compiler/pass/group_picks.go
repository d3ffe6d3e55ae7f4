package pass

import (
	"slices"

	"flow/ir"
	"flow/ir/op"
)

// This file puts rows at computed positions into tasks over rows that reduce them:
//
//	%3 = pick.rows(%0, %1);  %4 = pick.rows(%0, %2);  %5 = pipe(%3, %4) {fold="rowsum", ..} { a * b }
//	->  %5 = byrows(%0, %1, %2) { the same }
//
// The loop reads each row in place and stores none. It checks the positions.

// picks reports whether node id takes rows at positions that the run computes, and its group may read
// them in place. If ranks share rows, it may not: ranks send such rows, so they are stored.
func (b *rowBlocks) picks(id ir.ID) bool {
	d := b.g.Nodes[id].Op
	return b.kind == ofRows && !b.ranks && d.Numbers == 1 && d.Along != nil && d.Elements != nil && d.Laws.Has(op.Pure)
}

// takePicks puts nodes that take rows for node id into its group, and those that take their positions.
// It would be wrong if a node before id read these rows: a reader of that node may belong to the
// group.
func (b *rowBlocks) takePicks(id ir.ID, at int32) {
	for k, x := range b.g.In(id) {
		if b.group[x] >= 0 || !b.picks(x) || b.picks(id) && k == 0 {
			continue // a pick may take any row of its table, so the table is no member
		}
		if b.readBy == nil {
			b.readBy = readersOf(b.g)
		}
		if rows, cols, ok := b.rowwise(x); ok && b.readBy[x][0] == id && b.into(x, at, rows, cols) {
			slices.Sort(b.all[at].members)
			b.takePicks(x, at)
		}
	}
}

// mixed reports whether a group with node id would read a matrix both row by row and by positions. The
// task has one argument for a matrix, so such a group cannot be made.
func (b *rowBlocks) mixed(id ir.ID, r *rowGroup) bool {
	if !r.picked && !b.picks(id) {
		return false
	}
	for _, m := range append([]ir.ID{id}, r.members...) {
		for _, pair := range [][2]ir.ID{{id, m}, {m, id}} {
			by := b.g.In(pair[1])
			if b.picks(pair[1]) {
				by = by[1:]
			}
			if b.picks(pair[0]) && slices.Contains(by, b.g.In(pair[0])[0]) {
				return true
			}
		}
	}
	return false
}
