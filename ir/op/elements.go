package op

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// This file defines how a row that is not elementwise writes the elements of its result into a
// loop.

// Elements is a call of such a row in a loop body. A size that only the run knows is Unknown in the
// types, and a form of the loop's values in Rows and Cols of a Source.
type Elements struct {
	B     *loop.Builder
	Attrs *Attrs
	Out   types.Type
	// All reports that the loop reads every element of the result. A row that may fail can then check each
	// element where it is read, instead of all of them before the first.
	All bool
	In  []Source
	// Index returns operand k, an i64, as the first of size adjacent subscripts on an axis of
	// length n. Negative ones count from the end; one out of range fails.
	Index func(k, size int, n loop.Lin) loop.Lin
	// Window returns the first subscript of the slice from operand lo to operand hi, i64 both, on
	// an axis of length n, and how many there are. through includes hi. What is out of range fails.
	Window func(lo, hi int, through bool, n loop.Lin) (from, size loop.Lin)
	// Size takes the size of a result that only the run knows. A row that does not call it has no
	// loop for such a result.
	Size func(rows, cols loop.Lin)
	// Agree demands two equal lengths.
	Agree func(n, m loop.Lin)
	// Chain returns from + a b over the pairs of n terms, in order. Floats use a chain of fused
	// multiply-adds.
	Chain func(from loop.Val, n loop.Lin, pair func(k loop.Lin) (a, b loop.Val)) loop.Val
	// Below returns then's value where a is below b, and other's elsewhere. Only one of them is
	// evaluated.
	Below func(a, b loop.Lin, then, other func() loop.Val) loop.Val
	// Pick returns an element of a result that is listed row by row.
	Pick func(list []loop.Val, i, j loop.Lin) loop.Val
	// Held returns a result whose elements are listed row by row. They exist: no reader computes
	// them again.
	Held func(list []loop.Val) Element
	// Laid returns a matrix of the result's size in memory of the point. write stores all its
	// elements.
	Laid func(write func(store func(i, j loop.Lin, v loop.Val))) Element
	// Rounds writes a loop over 0..n with carried values and returns the last ones.
	Rounds func(n int, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val
	// Number returns a linear form as an i64.
	Number func(l loop.Lin) loop.Val
	// Fold reduces the contributions of the points (i, j) of a rows x cols space, in this
	// order, to an element of type out.
	Fold func(c loop.Class, out types.Elem, rows, cols loop.Lin, f func(i, j loop.Lin) []loop.Val) loop.Val
}

// Source is an operand.
type Source struct {
	Type types.Type
	Rows loop.Lin // its size
	Cols loop.Lin
	// At returns an element of a matrix, or the scalar.
	At func(i, j loop.Lin) loop.Val
}

// Element returns element (i, j) of a result. A scalar has one.
type Element func(i, j loop.Lin) loop.Val

// Keyed is how a loop reduces by key.
type Keyed struct {
	// Panel is how many rows make a chain of a class whose order counts. The chains are added in a
	// balanced tree. It is NoOrder where order does not count, and OneChain where all rows are one.
	Panel func(a *Attrs) int
	// Stacked says that the result is the panels, one below the other, which are not added.
	Stacked bool
	// Write writes what a row of the inputs contributes. A key that is none fails.
	Write func(e *Elements) KeyedRow
}

// What Keyed.Panel returns instead of a number of rows.
const (
	NoOrder  = 0
	OneChain = -1
)

// KeyedRow is what a row of the inputs contributes: Terms[j] to element Key*len(Terms) + j of the
// result, counted row by row.
type KeyedRow struct {
	Class loop.Class
	Key   loop.Val // an i64 in range
	Terms [][]loop.Val
}

// Draw describes how a loop computes an element of a constructor from its row and column alone.
type Draw struct {
	// Words returns what elements depend on. Element (0, 0) is that of row r and column c of the
	// constructor.
	Words func(a *Attrs, r, c int) DrawWords
	// Number writes the element of type e from its state. given(k) is argument k, word 3 + k of DrawWords.
	Number func(b *loop.Builder, e types.Elem, state loop.Val, given func(k int) loop.Val) loop.Val
}

// DrawWords describes all elements of a constructor. Word 0 is the state of element (0, 0). Words 1 and
// 2 are how much the state grows from row to row and from column to column; sums and products wrap.
// Words 3 and 4 are arguments of Draw.Number.
type DrawWords [5]int64

// Element writes element (i, j), of type e. word(k) is word k of DrawWords.
func (d *Draw) Element(b *loop.Builder, e types.Elem, i, j loop.Lin, word func(k int) loop.Val) loop.Val {
	state := word(0)
	for k, at := range [...]loop.Lin{i, j} {
		if !at.Known() || at.Const != 0 {
			state = b.Op(loop.Add, state, b.Op(loop.Mul, b.Number(at), word(1+k)))
		}
	}
	return d.Number(b, e, state, func(k int) loop.Val { return word(3 + k) })
}

// Words returns the words of a drawn operand for an index space whose element (0, 0) is element (row,
// col) of the operand.
func (o *Operand) Words(row, col int) DrawWords {
	if at := o.Attrs.Ints("at"); len(at) >= 2 {
		row, col = row+int(at[0]), col+int(at[1])
	}
	return o.Gen.Draw.Words(o.Attrs, row, col)
}

// Origin returns the row and column of a chain's first element in its constructors. The attributes are
// those of the chain.
func Origin(a *Attrs) (row, col int) {
	if at := a.Ints("origin"); len(at) == 2 {
		return int(at[0]), int(at[1])
	}
	return 0, 0
}

// InOneRow returns the words of a matrix of so many columns whose rows follow on one another in one
// row. ok is false if the state does not grow by the same number between rows.
func (w DrawWords) InOneRow(cols int) (flat DrawWords, ok bool) {
	if cols == 1 {
		w[2] = w[1]
	}
	return w, w[1] == int64(cols)*w[2]
}

// From returns the words from row i and column j on.
func (w DrawWords) From(i, j int) DrawWords {
	w[0] += int64(i)*w[1] + int64(j)*w[2]
	return w
}
