// Package exact adds float64 numbers without rounding: a Sum holds the exact real value of all that
// was added, so that the one rounding at the end gives the same bits whatever the order and the
// grouping were. Reductions over blocks, threads and ranks rest on that.
//
// The representation is the small superaccumulator of R. Neal, "Fast exact summation using small
// and large superaccumulators" (arXiv:1505.05571, 2015): a fixed-point number of 68 overlapping
// 32-bit limbs over the whole exponent range. Before it stand faster ways that are exact, or notice
// that they are not: error-free cascades of two or three floats (short.go; long slices use their
// vector form in package vec), and for data too wide for those, bins that gather what goes to each limb
// (bins.go). Columns of a sparse matrix are summed as pairs of floats (short.go).
//
// Invariants: equal sums have equal words; Round is correct to the last bit, ties to even, for all
// finite data, also where partial sums would overflow; no function allocates. Start reading with
// sum.go.
//
// The package knows neither operators nor matrices.
package exact
