package launch

// This file says which elements of a reduced result a window contributes to.

import "flow/ir/loop"

// extent is which elements of a reduced result a window contributes to.
type extent uint8

const (
	anywhere extent = iota // all of them, maybe
	oneEach                // row i of it in row i of the window
	oneInAll               // the same in all windows
)

// perRow reports a result with a row for each row of the space: it has one also where there are no lanes.
func (r *Run) perRow() bool { return len(r.loop.byRow) > 0 }

// rowResult is a result of which row i of the space makes row i + offset.
type rowResult struct{ result, offset int }

// rowResults are those of a nest.
func rowResults(n *loop.Nest) (list []rowResult) {
	for k, res := range n.Results {
		if res.Class == loop.NoClass {
			continue
		}
		if e, offset, some := extentOf(n, k); some && e == oneEach {
			list = append(list, rowResult{k, int(offset)})
		}
	}
	return list
}

// extentOf says which elements of result k a window contributes to; some is false where no
// statement contributes.
func extentOf(n *loop.Nest, k int) (all extent, offset int64, some bool) {
	loop.EachStmt(&n.Body, func(s *loop.Stmt) {
		if s.Code != loop.Reduce || s.Mem.N != k {
			return
		}
		e, by := extentOfOne(n, s)
		if some && (e != all || by != offset) {
			e = anywhere
		}
		all, offset, some = e, by, true
	})
	return all, offset, some
}

// extentOfOne is that of one statement, and its offset.
func extentOfOne(n *loop.Nest, s *loop.Stmt) (extent, int64) {
	row, col := s.At[0], s.At[1]
	varies := func(s loop.Sym) bool { return s.Kind == loop.IndexSym || s.Kind == loop.ValSym }
	if !row.Any(varies) && !col.Any(varies) {
		return oneInAll, 0
	}
	byKey := len(col.Terms) == 1 && col.Terms[0].Sym.Kind == loop.ValSym
	if (col.Known() || byKey) && len(n.Space) == 2 && row.Plus(loop.Of(loop.IndexSym, n.Space[0].Name).Times(-1)).Known() {
		return oneEach, row.Const
	}
	return anywhere, 0
}
