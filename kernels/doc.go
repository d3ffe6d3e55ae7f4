// Package kernels is the operator table: every row with its code, one file a family.
//
//	elementwise*.go  arithmetic, functions, comparison, selection, conversion, fmt
//	fused*.go        map, the chain that fusion makes, and the batch executor that runs it and every elementwise row; fused_links.go: what the
//	                 chain machine does of it; nest_*.go: the same as a loop (package launch), once there is work enough
//	pipe*.go         the reductions that read a chain, in its pass; byrows.go: what is done row by row, by blocks of rows
//	nest_row.go      nest: chains and the operators that move elements between them as one loop, whose borders are loops of their own (nest_space.go)
//	parfor*.go       parfor: its body as a nest (nest_*.go), compiled or, where there is little work, interpreted; rows by phases (nest_phase*.go); what no nest computes an
//	                 operator at a time; inner*.go, lanes*.go: the one pass that a loop of package vec runs
//	control.go       the rows that are no operators: iterate, select, part; loop.go: windows and passes of loops
//	reduce*.go       sum, mean, norm ... of a matrix, of its rows, of its columns; partial results that merge exactly
//	construct*.go    zeros, rand, seq ...: every block from its place alone; nrow, ncol, auto_tile, eps
//	linalg*.go       @, potrf, trsm ... on a kernel set of package blas; linalg_tall.go: products as loops, linalg_pipe.go: inside a pipe
//	linalg_map.go    chains of elementwise operators on products that are not stored; linalg_strips.go: strip of rows by strip of rows
//	move*.go         t, slice, cbind ...; move_index.go, move_cut.go: subscripts that only the run knows
//	inout*.go        read, emit, assert
//	stats*.go        var, stddev, cut like sum; quantile, nunique, argmin ... of a whole list (order*.go: keys, their
//	                 sort on one worker and on several, and the search for one of them)
//	cumulative.go    cumsum ... down columns and along rows; scan_nest.go: as loops
//	reorder.go       sort, argsort, take, unique
//	fourier.go       fft, ifft; fourier_plan.go: by factors, or as a convolution
//	encode.go        bin (bin_nest.go: as loops), recode, ctable (encode_weights.go: with weights, cropped); onehot.go: onehot, and sums and counts by code without it
//	outer.go         outer of any elementwise operator, kron; sample.go: sample
//	covariance.go    cov, cor, trace; decompose.go: eigenvalues and singular values (package spectrum)
//	sparse*.go       what takes or makes sparse matrices: forms, maps, moves, products, reductions, generators, semirings; sparse_cut.go: how their
//	                 loops are cut; sparse_estimate.go: where results are not zero
//	resolve.go       how every row takes matrices whose size only the run tells
//
// A row says all that the rest of the system wants to know of its operator (package op). Its Ref is the definition,
// slow and obvious; its Kernel must give the same bits, and so must every way of cutting the operator into blocks
// that the row's Shard allows; rows_test.go checks both for every row of the table.
//
// The one exception to "same bits" is the payload of a NaN that comes from two different NaNs.
//
// Start reading with table.go. Hot loops are in packages vec, exact and blas, which know no operators.
package kernels
