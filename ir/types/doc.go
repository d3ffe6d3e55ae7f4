// Package types says what an edge of the graph may carry: element types, shapes,
// channel kinds. A Type is a small comparable value, because a tiled program has
// a million edges; only records, frames, tuples and streams point at more.
package types
