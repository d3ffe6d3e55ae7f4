// Package eval is the reference evaluator: it evaluates a graph one node at a time,
// in order, in one goroutine, by the operators' definitions (op.Def.Ref), sharing no
// code with kernels and runtimes. It is slow and obviously right; every engine is
// compared with it, byte for byte.
package eval
