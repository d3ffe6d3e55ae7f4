// Package pass holds the compiler's passes, one file each. A pass takes a graph to a
// graph with the same outputs bit for bit, or, for the canonical ones, makes the form
// that defines the outputs; which is which, and the order, says pipeline.go above.
//
//	contract.go            products accumulate; run by elaboration, expression by expression
//	clean.go               drop-dead and merge-equal
//	fuse*.go narrow.go     one map of a chain and what it draws; the lower triangle alone
//	cuts.go partition*.go  where matrices are cut, and the operators on their blocks
//	place.go order.go      owners and exchanges; priorities
//
// Nodes that a pass makes keep the origin of those that they replace. The package knows a
// handful of rows by name (slice, lay, zeros, exchange); all else it reads from the rows.
package pass
