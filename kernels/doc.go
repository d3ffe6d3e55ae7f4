// Package kernels is the operator table, and the engine of chains and loops with the families of
// rows that run on it.
//
//	pipe*.go         map and pipe, the chains that fusion makes and the reductions that read them in
//	                 their pass; every elementwise row and every reduction alone (pipe.go).
//	                 They are loops, interpreted while there is little work (nest_*.go, package
//	                 launch); reductions are in the loop of the chain (pipe_fold.go), by columns in a
//	                 loop over them (pipe_columns*.go), else block by block
//	byrows*.go       reductions of rows and what is made of their results as a loop over rows:
//	                 wide ones by phases, of narrow ones the lanes are rows, which may end with
//	                 reductions by key
//	nest_row.go      nest: chains and the operators that move elements between them as one loop,
//	                 whose borders are loops of their own (package nest, space.go)
//	parfor*.go       parfor: its body as a nest (package nest; nest_*.go run it), compiled or,
//	                 where there is little work, interpreted; by phases, or nests with calls of
//	                 operators without a form between them, on blocks of points (nest_blocks.go); an
//	                 operator at a time what no nest computes
//	linalg_product.go  chains, and reductions of rows behind them, on products of package linalg
//	                 that are not stored: strip of rows by strip of rows
//
// Families that need no engine are packages of their own: elementwise (arithmetic, functions,
// comparison, fmt), linalg (@, potrf, eigvals), construct (zeros, rand, sample), move (t, slice,
// subscripts), reduce (sum, rowmax, var, quantile), order (sort, take, unique), scan (cumsum),
// encode (bin, onehot, ctable), sparse, fourier, inout (read, emit, pictures). What rows of all
// families share is below them: views of matrices in dense, type rules and costs in define, loops
// over windows in window.
//
// A row says all that the rest of the system wants to know of its operator (package op). Its Ref is the
// definition, slow and obvious; its Kernel must give the same bits, and so must every way of cutting
// the operator into blocks that the row's Shard allows; rows_test.go checks both for every row of the
// table. Hidden rows that stand for a whole operator together, as those of ranks do, have their kernels
// as definitions (define.ByKernel): tests compare all of them with the definition of the operator.
//
// The one exception to "same bits" is the payload of a NaN that comes from two different NaNs.
//
// Start reading with table.go. Hot loops are in packages vec, exact and blas, which know no
// operators.
package kernels
