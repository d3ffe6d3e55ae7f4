package launch

// This file runs narrow rows side by side. Vectors along rows of few columns would not be full, and a
// row costs some 15 cycles beside them. So several rows are passed as one where matrices lie in one
// piece. An operand that is read in row 0, for each row of the space, is repeated as often.

import (
	"flow/ir/loop"
	"flow/ir/types"
)

const (
	// leastJoined is the number of points of a window from which it pays to repeat rows.
	leastJoined = 1 << 11
	// joinedWidth is about how many columns joined rows have.
	joinedWidth = 128
)

// joins returns how many rows of a window are passed as one; 0: the window is run as it is. States of
// reduced results have no rows that could be joined.
func (w *Worker) joins(r0, r1, l0, l1 int) int {
	l := w.run.loop
	if l.across == 0 || len(w.run.reduced) > 0 || w.run.made.layout&lanesFirst != 0 {
		return 0
	}
	piece := l0 == 0 && l1 > 1 && l1 < FewColumns && (r1-r0)*l1 >= leastJoined
	w.matrices(func(k int, e types.Elem, a []uint64) {
		piece = piece && (l.across>>k&1 != 0 || a[1] == uint64(l1*e.Size()))
	})
	if !piece {
		return 0
	}
	return (joinedWidth/l1 + 8) &^ 7 // whole lines of a cache, and no part of a vector is left over
}

// matrices calls f for each matrix, with its number and its words.
func (w *Worker) matrices(f func(k int, e types.Elem, words []uint64)) {
	n := w.run.loop.nest
	for k := range len(n.Params) + len(n.Results) {
		words := w.args[firstOperand+wordsOfOperand*k:][:wordsOfOperand]
		switch {
		case k >= len(n.Params):
			f(k, n.Results[k-len(n.Params)].Elem, words)
		case n.Params[k].Kind == loop.DenseParam:
			f(k, n.Params[k].Elem, words)
		}
	}
}
