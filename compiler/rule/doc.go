// Package rule holds the table of rewrite rules: algebra on the graph, written in the
// text of the IR.
//
//	sub(a, neg(b)) -> add(a, b)
//	slice(Elementwise(..)!){at=p} -> Elementwise(slice(..){at=cut(p, ..)})
//
// A rule is exact or canonical. An exact one keeps every bit (all nans are one value,
// -0 and 0 are two), so it can be switched off, and the pass simplify runs all that
// are not. A canonical one changes how results are rounded, so it is part of what a
// program means: elaboration applies it while it reads an expression, before the
// reference evaluator sees anything, and nobody can switch it off.
//
//	rule.go exact_*.go canonical.go   the table: one row a rule, with the nearby rewrite
//	                                  that is wrong and an example before and after
//	pattern.go                        the text of patterns and replacements
//	condition.go                      the words that conditions and attributes may use
//	match.go build.go                 a pattern against a graph; a replacement into it
//	set.go simplify.go                rules by the operator at their root; a whole graph
//	chain.go                          the order of A @ B @ C @ v
//
// The package knows rows by the names that its rules use and by their laws; a rule
// that names a row which the table lacks is left out (tests use small tables).
package rule
