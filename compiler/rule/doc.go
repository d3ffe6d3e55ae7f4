// Package rule is the table of rewrite rules: algebra on the graph, written in the text of the IR.
//
//	sub(a, neg(b)) -> add(a, b)
//	slice(Elementwise(..)!){at=p} -> Elementwise(slice(..){at=cut(p, ..)})
//
// An exact rule keeps every bit (all NaNs are equal, -0 and 0 differ). It can be switched off; the
// pass simplify runs the rest. A canonical rule changes rounding, so it is part of what a program
// means: elaboration applies it while it reads an expression, before the reference evaluator, and
// it cannot be switched off.
//
//	rule.go                           what a row is
//	table.go exact_*.go canonical.go  the table: one row a rule, with the nearby rewrite
//	                                  that is wrong and an example before and after
//	pattern.go                        the text of patterns and replacements
//	condition.go                      the words that conditions and attributes may use
//	match.go build.go                 a pattern against a graph; a replacement into it
//	set.go simplify.go                rules by the operator at their root; a whole graph
//	chain.go                          the order of A @ B @ C @ v
//
// The package knows rows by their laws and by the names in its rules. A rule that names a missing
// row is left out (tests use small tables).
package rule
