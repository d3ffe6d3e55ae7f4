// Package pass defines the compiler's passes, one file each. A pass keeps the outputs of a graph
// bit for bit, or, if it is canonical, makes the form that defines them. pipeline.go in package
// compiler says which is which, and the order.
//
//	contract.go               products accumulate; run by elaboration, expression by expression
//	clean.go carried.go       drop-dead and merge-equal; unneeded carried values
//	hoist.go                  loop invariants
//	panels.go groups.go       products as trees of panels; products with a matrix of codes
//	represent.go              the storage form of sparse products
//	fuse*.go                  maps, map-reduces, several results a pass, what stands around a parfor
//	group.go                  chains, slices and borders as one loop
//	cuts.go partition*.go     where matrices are cut, and operators on blocks; whole.go: what stays whole
//	row_blocks.go             row by row programs, a block of rows at a time
//	epilogues.go              chains, and map-reduces, on a product while it is in a cache; products on rows just made
//	narrow.go                 only the lower triangle
//	keep.go                   invariants that are stored when first computed
//	rounds.go keys.go         one task for a small loop; one task for reductions by key
//	spread*.go                rows that ranks share
//	place.go order.go         owners and exchanges; priorities
//	stops.go                  where nodes that may fail cannot move
//	region.go carry.go        passes inside loops; blocks as carried values
//	copying.go                how graphs are copied with changes
//
// New nodes keep the origin of those that they replace. The package names only rows that passes
// make (map, pipe, map.product, panels.along, byrows, nest, slice, lay, exchange ...) or fold. It reads
// everything else from the rows. A pipe is a map-reduce: a chain of elementwise operators that ends
// in reductions.
package pass
