// Package plan is the compiler's product and the runtimes' input: a graph in which
// every node is one task, with the rank that owns it, a priority, and how often its
// result is read. compiler and runtime never import each other; they meet here, in a
// value with a text form, so that a plan can be written by hand to test a runtime
// and printed to test the compiler.
//
// cost.go predicts the seconds of every task from Rates, summary.go what a run of the
// whole plan will do. Predictions steer order and reports, never what is computed, and
// take no part in the plan's hash.
//
// Start reading at Plan, then Plan.Exchange: the one row that plans know by name.
package plan
