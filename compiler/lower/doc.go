// Package lower elaborates a checked program into the graph. It interprets plan-time values
// (integers, shapes, channel arrays, functions), and its side effect is nodes. Params are bound and
// input headers read first, so shapes are numbers. Functions are templates instantiated per call,
// and `for` is unrolled. Program order versions channel arrays, so nodes are made in topological
// order.
//
// The package knows operators only through its table. tiles.go has the words that are forms of the
// language rather than operators (tiles, untile); unbuilt.go has the words without a row.
package lower
