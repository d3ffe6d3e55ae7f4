// Package eval is the reference evaluator. It evaluates a graph one node at a time, in order, in
// one goroutine, by the operators' definitions (op.Def.Ref), and shares no code with kernels and
// runtimes. It is slow and obviously right; every engine is compared with it, byte for byte.
//
// Run is the only entry point. It keeps every value to the end. Effects (emit, assert) go to the
// caller's op.Env. The package knows no operator by name.
package eval
