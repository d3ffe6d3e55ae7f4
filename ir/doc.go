// Package ir is the one representation that everything meets in: what a program
// means (the compiler's output, pass after pass), what the reference evaluator
// evaluates, and what a plan executes.
//
// A Graph is a list of nodes in topological order: an operator, the edges it
// reads, attributes, where it came from. A node has one output, so node i defines
// edge i and both are named by one ID (an operator with several results yields a
// tuple, and projections of it). Loops, branches and fused pipelines are nodes with
// a Region: a graph of its own that sees nothing but its arguments, which is what
// makes it fusable and shippable without scope analysis.
//
// The text form (Print, Parse) round-trips, so a test of a pass or of a runtime is
// written as text. Verify checks every invariant; the pass driver calls it after
// each pass.
//
// Start reading at graph.go. The package knows the operator schema (ir/op) and no
// operator; it knows neither the language nor any runtime.
package ir
