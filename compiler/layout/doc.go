// Package layout decides where values lie: which rank owns a task, which rows of a matrix are a rank's
// own, what ranks send each other and when, and which rows of a file are read at a time.
//
//	place.go                  owners of tasks, and exchanges between them
//	spread.go                 where to begin for loops that all ranks run: each makes its own rows
//	rows.go halo.go index.go  which rows of its operands a rank reads: its own, those beside them, those
//	                          that an index names
//	fetch.go loose.go         rows that the run chooses: lists of them, and results of as many rows
//	reduce.go chain.go        states of reductions that ranks merge; sums from panel to panel
//	sparse.go relay.go        sparse matrices by rows; rounds that ranks run in turns
//	sorts.go cost.go          parts of sorts; what messages cost
//	inparts.go again.go       loops over rows that read their files part by part, also in rounds
//
// A plan keeps its bytes whatever the layout is. It would be wrong for a node with an effect to be made
// by all ranks.
package layout
