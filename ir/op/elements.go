package op

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// This file defines how a row that is not elementwise writes the elements of its result into a loop.

// Elements is a call of such a row in the body of a loop. Sizes are known, but for those of matrices that come from outside the loop.
type Elements struct {
	B     *loop.Builder
	Attrs *Attrs
	Out   types.Type
	In    []Source
	// Index is operand k, an i64, as the first of size neighbouring subscripts on an axis of length n: negative ones count from
	// the end, and what is out of range fails.
	Index func(k, size int, n loop.Lin) loop.Lin
	// Chain is from + a b for the pairs of n terms, in order: of floats a chain of fused multiply-adds.
	Chain func(from loop.Val, n int, pair func(k loop.Lin) (a, b loop.Val)) loop.Val
	// Below is what then gives where the form a is below b, and what other gives elsewhere: only one of both is evaluated.
	Below func(a, b loop.Lin, then, other func() loop.Val) loop.Val
	// Pick is one of the elements of a result that are listed row after row.
	Pick func(list []loop.Val, i, j loop.Lin) loop.Val
	// Laid is a matrix of the size of the result in memory of the point: write stores all its elements.
	Laid func(write func(store func(i, j loop.Lin, v loop.Val))) Element
	// Rounds is a loop over 0..n with carried values, whose last ones it gives.
	Rounds func(n int, state []loop.Val, body func(i loop.Lin, state []loop.Val) []loop.Val) []loop.Val
	// Number is a linear form as an i64.
	Number func(l loop.Lin) loop.Val
	// Fold reduces the contributions of the points (i, j) of a rows x cols space, in this order, to an element of type out.
	Fold func(c loop.Class, out types.Elem, rows, cols int, f func(i, j loop.Lin) []loop.Val) loop.Val
}

// Source is an operand.
type Source struct {
	Type types.Type
	Rows loop.Lin // its size
	Cols loop.Lin
	// At is an element of a matrix, or the scalar.
	At func(i, j loop.Lin) loop.Val
}

// Element gives element (i, j) of a result, in which scalars have one.
type Element func(i, j loop.Lin) loop.Val
