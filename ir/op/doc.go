// Package op is the schema of the operator table: what a row must say of an
// operator. It holds no rows; those are in package kernels, beside their code, and
// reach the compiler and the runtimes as an argument (a *Table).
//
// Everything that other rooms want to know of an operator is read from its row:
// name lookup, checking, folding, fusion, placement, cost, manual. So a new
// operator is one row and its loop; if a second place had to change, the schema
// here is what is wrong.
package op
