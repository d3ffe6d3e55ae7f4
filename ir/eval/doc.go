// Package eval is the reference evaluator: it evaluates a graph one node at a time,
// in order, in one goroutine, by the operators' definitions (op.Def.Ref), sharing no
// code with kernels and runtimes. It is slow and obviously right; every engine is
// compared with it, byte for byte.
//
// Run is all there is. Values are kept to the end and nothing is reused, so it needs
// the memory of every intermediate result. Effects (emit, assert) go to the op.Env that the
// caller gives. The package knows no operator by name.
package eval
