// Package ir defines the representation that all parts of Flow share: the compiler's output after
// each pass, the input of the reference evaluator, and what a plan executes.
//
// A Graph is a list of nodes in topological order. A node has an operator, input edges, attributes
// and an origin. It has one output, so node i defines edge i, and one ID names both. An operator
// with several results yields a tuple and projections of it. Loops, branches and fused pipelines
// are nodes with a Region: a graph that reads only its arguments, so it can be fused and sent
// without scope analysis.
//
// Print and Parse are inverse, so tests of passes and runtimes are written as text. Verify checks
// every invariant; the pass driver calls it after each pass.
//
// Start at graph.go. The package knows the operator schema (ir/op) and no operator, and neither the
// language nor a runtime.
package ir
