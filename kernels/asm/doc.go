// Package asm is what the generators of assembly (kernels/vec/gen, kernels/blas/gen) have in
// common: their command line, and writing what avo has built as a file of assembly and one of Go
// declarations. It knows no kernel.
package asm
