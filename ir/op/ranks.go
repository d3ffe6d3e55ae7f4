package op

import "flow/ir/types"

// This file defines how ranks share rows of the table whose results do not follow row by row from their
// operands: running reductions, selections, reductions of tall matrices, and orders.

// RowsRead is consecutive rows of input 0. The first one is From, or what input FromArg says. They are
// Count rows, or end Count rows behind what input EndArg says. An input 0 is none. Negative rows that
// inputs say count from the end. All: they are all rows.
type RowsRead struct {
	From, FromArg, Count, EndArg int
	All                          bool
}

// Ints is r as an attribute of a call: four numbers.
func (r RowsRead) Ints() []int { return []int{r.From, r.FromArg, r.Count, r.EndArg} }

// Scan is how ranks share the rows of a running reduction. Each rank makes a window of rows (WindowOf).
// No window is empty.
type Scan struct {
	// End names the row that makes the last row of each window. From names the row that makes the
	// windows from these last rows.
	//
	// End(x, before..) returns one row for each of `ranks` windows of x, in units of `by` rows. Row r
	// is the running value at the end of window r. If Joins, it reduces this window alone; otherwise
	// it continues row r - 1 of before. With the attribute `turn`, only row turn - 1 is made.
	//
	// From(x, ends..) returns the result. If Joins, window r continues the reduction of rows 0..r-1 of
	// the one input ends. Otherwise it continues row r - 1 of input r.
	End, From string
	// Joins reports whether the steps with elements of this type associate.
	Joins func(e types.Elem) bool
}

// Selection is how ranks share a row that needs only elements at some places of sorted lists, such as
// a median. A list holds all elements of input 0, or one of its columns. Ranks copy the keys near the
// places (row select.near) and count these by digits (row select.count) until they identify the keys
// at the places.
type Selection struct {
	// Columns: each column is a list.
	Columns bool
	// Places returns the places in a list of n elements, n > 0. There are as many for every n.
	Places func(a *Attrs, n int) []int
	// At names the row that makes a column of the places and of n, of the number of rows, where only the
	// run tells this. It has the attributes of the call, and two more: cols, the columns of input 0, and
	// elem, its element type. It fails as the call does if there are no rows.
	At string
	// Of names the row that makes the result from the keys, list after list. It has the attributes of
	// the call, and two more: n, the length of a list, and elem, the element type of input 0. Without n
	// its second input is the result of At.
	Of string
}

// Folding is how ranks share a row that reduces a tall input 0 block by block. Row By makes a state of
// each block of rows. It has the inputs of the call, all of the same shape. Row Again makes a state of
// each block of states, and is repeated as long as its type rule takes them. "": there is none. Both
// have a RowSpan, and the attribute `of`, the word of the call. Row Of makes the result of the states.
// It has the attributes of the call, and with Again two more: n, the number of rows of input 0, and
// elem, its element type.
type Folding struct {
	By, Again, Of string
	// Vectors makes vectors from what the folds keep. nil: the result follows from the states.
	Vectors *Unfolding
	// Wide is how ranks share the call if not input 0 but its transpose is tall: they fold the
	// transpose. Rows By and Of then have the attribute `turned`. Row Of has to fail for elements that
	// By does not take, since ranks have the elements in another order than a message names them.
	// nil: they do not.
	Wide *Folding
}

// Unfolding is how ranks make the vectors of a folded matrix, one element for each row of it. Rows By
// and Again of the Folding get the attribute `vectors`. They then return, behind the columns of the
// states, what undoes the fold.
//
// Row Top takes the last states. Its result is needed on all ranks, and its last rows are the vectors
// of the stacked states. Row By(folded, vectors) returns the vectors of a folded matrix with `rows`
// rows, from the vectors of its states. Row Heads(vectors) returns a row for each block of By of the
// Folding.
//
// Row Of of the Folding gets the results of Top and Heads, and before them, if Long, the vectors. With
// the attribute `turned` it gets the result of Top twice, because the signs follow from these vectors.
type Unfolding struct {
	Top, By, Heads string
	// Long: row Of returns a row for each row of input 0.
	Long bool
	// Turned: the result of the call is the transpose of what row Of returns.
	Turned bool
}

// Ordering is how ranks share a row that orders the rows of input 0 by their elements in column `by`,
// descending if `desc`. Both are attributes of the call.
type Ordering struct {
	// Own names the row that orders a rank's own rows. Of names the row that merges such rows of all ranks
	// to a rank's window of the result. Both are "" of a row that is a Part.
	Own, Of string
	// Pairs: the result is numbers of rows. Own makes pairs of integers, a key and the number of a row,
	// ordered by the keys.
	Pairs bool
	// Part names the row that makes some rows of the result and leaves the others as they are in memory.
	// Its attribute `spans` has RowsRead.Ints of each reader, whose inputs are numbers of its own inputs.
	// "": none.
	Part string
	// Places names the Part that makes the numbers of the rows that this Part makes. "": none.
	Places string
}
