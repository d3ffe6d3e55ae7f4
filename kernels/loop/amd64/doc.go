// Package amd64 makes machine code for loops.
//
// Compile lowers a nest of the loop form to a program of virtual registers (lower.go, select.go,
// memory.go), assigns registers by linear scan (allocate.go), and writes the program as machine
// code (emit.go). The program is one of AVX-512; for AVX2 it is rewritten before registers are
// assigned (legal.go). The points along one index of the space are the lanes of vectors; what a
// lane does not take part in is masked. The code returns after a number of rounds and can be
// entered again (resume.go).
//
// The schedule follows from a cost model that reads the body (schedule.go): how many vectors are
// lowered together, which index the lanes are and lanes of 32 bits (lanes.go), lanes of 8 bits for
// bools (bytes.go), squares and rows that are turned in registers (square.go). Lanes that lie apart
// by the same distance are moved one by one (apart.go), and those of a subscript with bounds mostly
// lie side by side (subscripts.go). Constants, operands that are one element and addresses of rows
// are made before the loops (invariant.go). hoist.go moves other invariants out of loops,
// quotient.go divides by them, and root.go makes roots by multiply-adds. resume.go limits the
// rounds of a call; the caller computes the number of rounds from what is left.
//
// Inner loops are in loops.go, their shared indices in counters.go. An instruction that is the only
// reader of a load takes its operand from memory (inplace.go). Small matrices of a body are in
// scratch memory (locals.go). All lanes hold the one point of a nest without indices, whose
// branches jump (point.go); rounds of its inner loops are lanes if none depends on another
// (along.go). A reduced result leaves the code as states, which the caller merges (reduce.go);
// loop.State says what their words mean. Operations without a vector instruction are done lane by
// lane (lanewise.go). These files share three that call none of them: the types of programs,
// targets and registers (program.go), the state of a lowering (state.go), and steps on whole
// vectors (vector.go).
//
// Instructions are encoded by one table (forms.go): opcode, prefix and operand pattern as the
// manuals have them (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; AMD64
// Architecture Programmer's Manual, volume 4). encode.go writes the VEX or EVEX form of a row,
// gpr.go the scalar instructions, asm.go holds a piece of code with its labels and constants.
//
// Invariants: the bytes that code stores are those of loop.Nest.Eval, all nans being one. Encode
// picks the VEX form where one exists and the operands allow it, since it is shorter. Wrong
// operands are bugs of the caller and panic. Encoding allocates nothing but the buffer.
//
// Tests assemble every row with many operands by the Go toolchain and compare the bytes, and run
// random nests beside the evaluator.
//
// The package runs nothing and builds on every machine; package code makes the bytes executable.
package amd64
