// Package window runs kernels as loops over parts of their results. A chunk of such a loop is the
// kernel itself, on a window of the result and on the parts of the operands that it needs (Loop),
// or a function that makes any rectangle of the result (RectLoop).
//
// The windows (Of) follow from the shape alone, so no byte of a result depends on who runs which.
// The package knows no operator.
package window
