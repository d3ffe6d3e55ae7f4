// Package elementwise has the rows that compute each element of the result from the elements at its
// place: arithmetic, functions, comparison, logic, selection, conversion, fmt; and outer, which pairs
// the elements of two vectors by such a row.
//
// A row is a definition on scalars, loops over vectors (package vec) and a body in the loop form.
// Its kernel is a one-step program of the engine in package kernels, which adds it, so that an
// operator alone and the same operator in a chain cannot differ in a bit.
package elementwise
