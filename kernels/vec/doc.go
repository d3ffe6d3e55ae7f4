// Package vec holds the hot loops over slices: what an elementwise operator does to a few hundred elements at a time.
// It knows neither operators nor channels nor shapes.
//
// Every loop takes slices of one length (dst decides it; shorter inputs panic); dst may be the same slice as an input
// and must not overlap one otherwise. Bools are bytes 0 and 1. Results in float32 are the float64 function rounded
// once; for + - * / and square root that is what the float32 instruction gives (double rounding is innocuous there:
// S. Figueroa, "When is double rounding innocuous?", 1995).
//
// The functions of functions_gen.go (exp, log, sin, pow, mod ...) are written once, in gen/functions_*.go, and come out
// as Go and as links of the chain machine, with the same bits. Each says how far it may be from the exact value: see
// Functions and Functions2.
//
// The chain machine of gen/ runs small programs, so that what is between two loops stays in registers (chain.go), over
// slices, or over 8 x 8 blocks of matrices (block_amd64.go). Other processors do not have it; callers run the loops one
// after the other then, with the same bits. Sums of forces are a loop of their own for AVX-512 (forces.go).
package vec

// Float is the element types of real arithmetic.
type Float interface{ float32 | float64 }

// Number is the element types of arithmetic.
type Number interface{ Float | int64 }

// Element is every element type.
type Element interface{ Number | uint8 }
