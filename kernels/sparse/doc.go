// Package sparse defines the rows that take or make sparse matrices. A row of the family takes the
// calls of a dense row (op.Def.For) that have a sparse argument, and has one representation of its
// result, which follows from the operator and from which arguments are sparse, never from the data.
// The representations are in the table of lang/spec.md, section "Sparse matrices".
//
//	rows.go       the table of the rows
//	convert.go    sparse, dense, nnz; sparse.go: what rows share
//	map*.go       elementwise operators; merge.go: lists of columns
//	move.go       joins and diag; pick.go: slices and choices; transpose.go
//	product*.go   @ by rows (fold.go, gustavson.go) and by columns
//	reduce*.go    reductions; columns.go: of columns
//	fold.go       folds over the entries of rows: products, ring.go (semiring, rowfold); extreme.go: of patterns
//	generate.go   rand_graph, sparse forms of rand and eye
//	ranks.go      operators with which ranks share rows
//	cut.go        how loops over rows of uneven length are cut
//	estimate.go   how many elements of a result are not zero
//
// A sparse matrix stores exactly the elements that are not zero (value.CSR): a zero that comes up
// in a result is left out, and a negative zero is a zero.
package sparse
