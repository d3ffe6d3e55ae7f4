// Package reduce defines the reductions of dense matrices: of all elements, of each row and of each
// column.
//
//	whole.go     sum, mean, norm, count, any, all, min, max, var, stddev: reductions with an accumulator,
//	             whose partial results merge exactly
//	reduce.go    their rows, and the hidden ones for blocks (.part, .join, .done)
//	axis.go      the same of each row and each column; extreme.go: extremes of rows and their places,
//	             and identical; accumulators.go: what blocks of elements are added to (package state)
//	fold.go      the list of reductions for an engine that reduces what it makes, by lists, too
//	product.go   prod
//	list.go      quantile, median, nunique, argmin, argmax: statistics of a list in one piece;
//	             quantile.go: how they are chosen; elements.go: inside loops
//
// Sums are exact and rounded once, counts and integers wrap, extremes are chosen: so no result
// depends on how the elements are cut into blocks. The package knows no engine and no loops of
// chains.
package reduce
