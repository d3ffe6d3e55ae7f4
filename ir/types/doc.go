// Package types defines what an edge of the graph may carry: element types, shapes, channel kinds.
// A Type is a small comparable value, because a tiled program has a million edges; only records,
// frames, tuples and streams point at more.
//
// elem.go is the table of element types: a new one is a row there. String and Parse are inverse, in
// printed IR and in messages.
//
// Start at Type. The package knows no values and no operators.
package types
