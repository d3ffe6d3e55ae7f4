// Package pass defines the compiler's passes, one file each. A pass keeps the outputs of a graph
// bit for bit, or, if it is canonical, makes the form that defines them. pipeline.go in package
// compiler says which is which, and the order.
//
//	contract.go               products accumulate, run by elaboration, expression by expression; products
//	                          as trees of panels
//	clean.go carried.go       drop-dead and merge-equal; unneeded carried values
//	hoist.go                  loop invariants
//	groups.go                 products with a matrix of codes
//	segments.go               the rows of groups, for parfors that take them by masks
//	entries.go                chains at the entries of sparse matrices, and what reduces them; the storage
//	                          form of sparse products
//	group*.go whole_rows.go   how loops are formed: group.go is where to begin
//	cuts.go partition*.go     where matrices are cut, and operators on blocks; whole.go: what stays whole
//	epilogues.go              chains, and map-reduces, on a product while it is in a cache; products on rows
//	                          just made
//	narrow.go                 only the lower triangle
//	rounds.go lines.go        one task for a small loop; one element a row of a matrix that a round changes
//	order.go                  priorities, and invariants stored when first computed
//	carried.go                blocks as carried values
//
// Package nodes has properties and copies of nodes. Package layout decides which rank has which rows.
//
// New nodes keep the origin of those that they replace. The package names only rows that passes
// make (map, pipe, map.product, panels.along, byrows, nest, slice, lay, exchange ...) or fold. It reads
// everything else from the rows. A pipe is a map-reduce: a chain of elementwise operators that ends
// in reductions.
package pass
