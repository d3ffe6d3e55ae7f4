// Package pass holds the compiler's passes, one file each. A pass takes a graph to a
// graph with the same outputs bit for bit, or, for the canonical ones, makes the form
// that defines the outputs; which is which, and the order, says pipeline.go above.
//
//	contract.go               products accumulate; run by elaboration, expression by expression
//	clean.go carried.go       drop-dead and merge-equal; carried values that come to nothing
//	hoist.go                  what is the same in all rounds of a loop
//	panels.go groups.go       one operator of a product's panels; products with a matrix of codes
//	rowfold.go represent.go   reductions of products that are not built; the form of sparse products
//	fuse*.go products.go      one map of a chain and what it draws, one pass of several readers; products inside of pipes
//	fuse_loops*.go draw.go    chains and constructors that the lanes of a parfor compute
//	cuts.go partition*.go     where matrices are cut, and the operators on their blocks; whole.go: what is left in one piece
//	row_blocks.go             what is done row by row, a block of rows at a time
//	epilogues.go              chains that run on a product while a cache has it
//	narrow.go                 the lower triangle alone
//	place.go order.go         owners and exchanges; priorities
//	stops.go                  over what no node that may fail can be moved
//	region.go carry.go        passes inside of loops; what loops carry, in blocks
//
// Nodes that a pass makes keep the origin of those that they replace. The package knows a
// few rows by name, those that passes make (map, pipe, map.product, byrows, nest, slice, lay, exchange ...) or fold; all else
// it reads from the rows.
package pass
