// Package vec holds the hot loops over slices: what an elementwise operator does to a few hundred
// elements at a time. It knows neither operators nor channels nor shapes.
//
// Every loop takes slices of one length (dst decides it; shorter inputs panic); dst may be the same
// slice as an input and must not overlap one otherwise. Bools are bytes 0 and 1. Results in float32
// are the float64 function rounded once; for + - * / and square root that is what the float32
// instruction gives (double rounding is innocuous there: S. Figueroa, "When is double rounding
// innocuous?", 1995).
//
// The functions of functions_gen.go (exp, log, sin, pow, mod ...) are written once, in
// gen/functions_*.go, and come out as Go and as bodies of loops (ir/loop), with the same bits. Each
// says how far it may be from the exact value: see Functions and Functions2. Compiled loops run the
// bodies; the Go is for little work and is what they are compared with.
//
// Loops that processors run as vectors are in package machine, which makes machine code of them when
// they are first called: sums without rounding errors, extremes, searches, rows of sparse matrices.
package vec

// Float is the element types of real arithmetic.
type Float interface{ float32 | float64 }

// Number is the element types of arithmetic.
type Number interface{ Float | int64 }

// Element is every element type.
type Element interface{ Number | uint8 }
