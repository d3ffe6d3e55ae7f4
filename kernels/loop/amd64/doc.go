// Package amd64 makes machine code for loops.
//
// Compile lowers a nest of the loop form to a program of virtual registers (lower.go, select.go, memory.go),
// assigns registers by linear scan (allocate.go), and writes the program as AVX-512 code (emit.go). The
// points along one index of the space are the lanes of vectors; what a lane does not take part in is
// masked. The code returns after a number of rounds and can be entered again (resume.go).
//
// Instructions are encoded by one table (forms.go): opcode, prefix and operand pattern as the manuals
// have them (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; AMD64
// Architecture Programmer's Manual, volume 4). encode.go writes the VEX or EVEX form of a row, gpr.go the
// scalar instructions, asm.go holds a piece of code with its labels and constants.
//
// Invariants: the bytes that code stores are those of loop.Nest.Eval, all nans being one. Encode picks
// the VEX form where one exists and the operands allow it, since it is shorter. Wrong operands are
// bugs of the caller and panic. Encoding allocates nothing but the buffer.
//
// Tests assemble every row with many operands by the Go toolchain and compare the bytes, and run random
// nests beside the evaluator.
//
// The package runs nothing and builds on every machine; package code makes the bytes executable.
package amd64
