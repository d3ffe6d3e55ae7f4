// Package nodes has what the packages layout and pass share: copies of graphs with changes, runs of a
// pass inside regions, properties of nodes, and the cuts of matrices. It rewrites no program by itself.
//
//	nodes.go                  copies of graphs; properties of nodes
//	region.go                 passes inside loops and branches; regions made of nodes
//	boxes.go access.go        where a matrix is cut, and how operators read their operands
//	partitioned.go sizes.go   a graph of tasks on blocks, and the owners of blocks; sizes
package nodes
