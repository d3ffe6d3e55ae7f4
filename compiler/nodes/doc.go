// Package nodes is what the passes of the compiler stand on: how a graph is copied with changes, how a
// pass runs inside regions, what of a node several passes ask, and where matrices are cut.
//
//	nodes.go                  copies of graphs; what several passes ask of a node
//	region.go                 passes inside loops and branches; regions made of nodes
//	boxes.go access.go        where a matrix is cut, and which blocks of its operands an operator reads
//	partitioned.go sizes.go   a graph of tasks with their places; the sizes of blocks
package nodes
