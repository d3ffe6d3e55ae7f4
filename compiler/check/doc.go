// Package check finds mistakes that need no values: unbound names, names bound twice, names used
// above their binding, recursive functions. Elaboration finds them too, but only in what it
// elaborates. This package also checks functions that are never called, branches that are not taken
// and loops without rounds.
package check
