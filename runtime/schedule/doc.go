// Package schedule computes the chunks in which the iterations of a loop are handed to workers: every published
// self-scheduling technique as a pure calculator, the claiming of chunks by concurrent workers on top of it, and what
// the result is measured against, the ideal.
//
// Start reading at Techniques (table.go), the list of what there is: one row a technique, its formula in the file of the
// same name. A row makes a Calculator, which is of one of three kinds (calculator.go). A Claimer (claimer.go) hands its chunks to the workers of
// one process; runtimes that span processes drive the same calculators with counters of their own. Simulate and the bounds of ideal.go
// say how good a schedule was and how good it could have been.
//
// The package refuses to know what an iteration does: a loop is a number of iterations, with or without measured costs.
package schedule
