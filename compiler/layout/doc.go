// Package layout decides where values are: which rank owns a task, which rows of a matrix a rank makes,
// what ranks send each other and when, and which rows of a file are in memory at a time.
//
//	place.go                  owners of tasks, and exchanges between them
//	spread.go                 loops that all ranks run, each for its own rows: where to begin
//	rows.go halo.go index.go  which rows of its operands a rank reads: its own, neighbours, rows by index
//	ramps.go                  subscripts as functions of an index
//	fetch.go loose.go         rows that only the run knows: rows by number, and chosen rows
//	reduce.go chain.go        states of reductions that ranks merge; sums from panel to panel
//	apart.go                  whole nodes of a region, each on one rank
//	sparse.go relay.go        sparse matrices by rows; rounds that ranks run in turns
//	sorts.go cost.go          parts of sorts, elements by their order; the cost of messages
//	inparts.go inparts_members.go again.go
//	                          loops over rows that read their files part by part, also in rounds
//
// The layout changes no byte of a result. It would be wrong for a node with an effect to run on all
// ranks.
package layout
