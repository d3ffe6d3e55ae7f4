// Package lower elaborates a checked program into the graph: an interpreter over
// plan-time values (integers, shapes, channel arrays, functions) whose side effect
// is nodes. Params are bound and input headers read first, so every shape is a
// number here; functions are templates instantiated per call; `for` is unrolled;
// the channel arrays are versioned by program order, so the order in which nodes
// come out is a topological order for free.
//
// It knows operators only through the table it is given. The few words that are
// not operators but forms of the language on channel arrays and graphs (tiles,
// untile) are in tiles.go; unbuilt.go has the words that no row answers to yet.
package lower
