// Package schedule computes the chunks in which the iterations of a loop are handed to workers:
// every published self-scheduling technique as a pure calculator, the claiming of chunks by
// concurrent workers, and the ideal that results are measured against.
//
// Start at Techniques (table.go): one row a technique, with its formula in the file of the same
// name. A row makes a Calculator of one of three kinds (calculator.go). A Claimer (claimer.go)
// hands its chunks to the workers of one process; runtimes that span processes drive the same
// calculators with counters of their own. Simulate and the bounds of ideal.go say how good a
// schedule was and could have been.
//
// The package does not know what an iteration does: a loop is a number of iterations, with or
// without measured costs.
package schedule
