// Package amd64 makes machine code for loops: it encodes the vector, mask and scalar instructions that
// loops use, for AVX2 with FMA and for AVX-512 (F, CD, BW, DQ, VL).
//
// The instructions are rows of one table (forms.go): opcode, prefix and operand pattern as the manuals
// have them (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; AMD64
// Architecture Programmer's Manual, volume 4). encode.go writes the VEX or EVEX form of a row, gpr.go the
// scalar instructions, asm.go holds a piece of code with its labels and constants.
//
// Invariants: Encode picks the VEX form where one exists and the operands allow it, since it is
// shorter. Wrong operands are bugs of the caller and panic. Encoding allocates nothing but the buffer.
//
// A test assembles every row with many operands by the Go toolchain and compares the bytes.
//
// The package runs nothing and builds on every machine; package code makes the bytes executable.
package amd64
