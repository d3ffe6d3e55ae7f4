// Package state holds what a reduction has so far, in Go: a state has many places, and each takes
// contributions. The interpreter of loops, reductions of blocks and what workers of machine code add up
// all use these states, so that a class of reductions has one definition of its state in Go. Machine
// code has states of its own (ir/loop, State), which may lose bits. These lose none.
package state
