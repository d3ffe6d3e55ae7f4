// Package plan is the compiler's product and the runtimes' input: a graph in which every node is
// one task, with its owner, its priority and the number of its readers. Compiler and runtime never
// import each other. A plan has a text form: tests of a runtime write it by hand, tests of the
// compiler print it.
//
// cost.go predicts the seconds of every task from Rates, summary.go the run of a whole plan.
// Predictions affect order and reports, never results, and are not in the plan's hash.
//
// Start at Plan, then Plan.Exchange, the only row that plans know by name.
package plan
