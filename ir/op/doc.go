// Package op is the schema of the operator table. The rows are in package kernels beside their
// code; the compiler and the runtimes get them as an argument (a *Table).
//
// Everything about an operator is read from its row: name lookup, checking, folding, fusion,
// placement, cost, manual. A new operator is one row and its loop. If it needs a second place, this
// schema is wrong.
package op
