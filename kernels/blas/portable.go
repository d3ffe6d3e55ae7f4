package blas

// This file defines the set in plain Go: the chain as written in the package comment, blocked only
// as far as registers go. It is what the machine code is compared with, and what runs on CPUs without
// it.

import (
	"math"
	"unsafe"
)

// portable is the set in plain Go.
func portable() *Set { return &Set{"portable", true, plain[float64](), plain[float32]()} }

func plain[T element]() Kernels[T] {
	return Kernels[T]{Gemm: plainGemm[T], GemmTN: plainGemmTN[T], Syrk: plainSyrk[T], Trsm: plainTrsm[T], Potrf: plainPotrf[T]}.WithTall()
}

// dots continues the chains of c[0:n] with ±x·y_j, y_j being row j of y and x as long as k.
// Four chains at a time, because one alone waits for the latency of each FMA.
func dots[T element](sub bool, n, k int, x []T, y []T, ldy int, c []T) {
	x, c = x[:k], c[:n]
	sign := T(1)
	if sub {
		sign = -1 // -x*y is exact in the sign, so it may go on either factor
	}
	j := 0
	for ; j+4 <= n; j += 4 {
		y0, y1 := y[j*ldy:][:k], y[(j+1)*ldy:][:k]
		y2, y3 := y[(j+2)*ldy:][:k], y[(j+3)*ldy:][:k]
		c0, c1, c2, c3 := c[j], c[j+1], c[j+2], c[j+3]
		for p, v := range x {
			v *= sign
			if unsafe.Sizeof(v) == 4 {
				c0, c1 = fma32(v, y0[p], c0), fma32(v, y1[p], c1)
				c2, c3 = fma32(v, y2[p], c2), fma32(v, y3[p], c3)
				continue
			}
			// fma is one node too large to be inlined, and a call costs three times the instruction.
			x := float64(v)
			c0 = T(math.FMA(x, float64(y0[p]), float64(c0)))
			c1 = T(math.FMA(x, float64(y1[p]), float64(c1)))
			c2 = T(math.FMA(x, float64(y2[p]), float64(c2)))
			c3 = T(math.FMA(x, float64(y3[p]), float64(c3)))
		}
		c[j], c[j+1], c[j+2], c[j+3] = c0, c1, c2, c3
	}
	for ; j < n; j++ {
		s := c[j]
		for p, v := range y[j*ldy:][:k] {
			s = fma(sign*x[p], v, s)
		}
		c[j] = s
	}
}

// Axpy continues the chains of c, at least as long as y, with one step: c = fma(x, y, c), element
// by element.
func Axpy[T float32 | float64](x T, y, c []T) {
	c = c[:len(y)]
	if unsafe.Sizeof(x) == 4 {
		for j, v := range y {
			c[j] = fma32(x, v, c[j])
		}
		return
	}
	for j, v := range y {
		c[j] = T(math.FMA(float64(x), float64(v), float64(c[j])))
	}
}

func plainGemm[T element](_ *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if n == 0 || k == 0 {
		return
	}
	for i := range m {
		if tb {
			dots(sub, n, k, a[i*lda:], b, ldb, c[i*ldc:])
			continue
		}
		for p := range k {
			v := a[i*lda+p]
			if sub {
				v = -v
			}
			Axpy(v, b[p*ldb:][:n], c[i*ldc:])
		}
	}
}

func plainGemmTN[T element](_ *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
	if n == 0 {
		return
	}
	for p := range k {
		for i := range m {
			v := a[p*lda+i]
			if sub {
				v = -v
			}
			Axpy(v, b[p*ldb:][:n], c[i*ldc:])
		}
	}
}

func plainSyrk[T element](_ *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
	if k == 0 {
		return
	}
	for i := range n {
		dots(sub, i+1, k, a[i*lda:], a, lda, c[i*ldc:])
	}
}

// column replaces element j of rows 0..m-1 of b by (b[i][j] - b[i]·row) / pivot, with j steps in
// each chain. Four rows at a time give dots four chains.
func column[T element](m, j int, row []T, pivot T, b []T, ldb int) {
	var s [4]T
	for i := 0; i < m; i += len(s) {
		h := min(len(s), m-i)
		for r := range h {
			s[r] = b[(i+r)*ldb+j]
		}
		dots(true, h, j, row, b[i*ldb:], ldb, s[:])
		for r := range h {
			b[(i+r)*ldb+j] = s[r] / pivot
		}
	}
}

func plainTrsm[T element](_ *Workspace, m, n int, l []T, ldl int, b []T, ldb int) {
	for j := range n {
		column(m, j, l[j*ldl:], l[j*ldl+j], b, ldb)
	}
}

func plainPotrf[T element](_ *Workspace, n int, a []T, lda int) (minor int) {
	for j := range n {
		row := a[j*lda:]
		dots(true, 1, j, row, row, lda, row[j:])
		if !(row[j] > 0) {
			return j + 1
		}
		row[j] = T(math.Sqrt(float64(row[j]))) // rounds once in f32 too: 53 >= 2*24+2
		clear(row[j+1 : n])
		if j+1 < n {
			column(n-j-1, j, row, row[j], a[(j+1)*lda:], lda)
		}
	}
	return 0
}

// fma returns x*y + z, rounded once.
func fma[T element](x, y, z T) T {
	if unsafe.Sizeof(x) == 8 {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	return fma32(x, y, z)
}

// fma32 returns x*y + z, rounded once to float32.
//
// The product of two 24-bit significands is exact in 53 bits. The sum is not always, and rounding
// it to float64 and then to float32 would round twice: wrong where the first rounding lands on the
// middle of two float32 values. So the sum is rounded to odd: where it is inexact and its last bit
// is even, it moves one step towards the exact value. An odd last bit is never a middle, and 53 >=
// 24+2 bits are enough for the second rounding to be the right one, subnormal results included
// (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008).
//
// T is float32.
func fma32[T element](x, y, z T) T {
	p := float64(x) * float64(y)
	c := float64(z)
	s := p + c
	bits := math.Float64bits(s)
	if bits&1 != 0 {
		return T(s) // already odd, or NaN
	}
	// The error of the sum, exactly (Knuth's TwoSum). Infinities give NaN here and are kept as they
	// are.
	t := s - p
	e := (p - (s - t)) + (c - t)
	switch {
	case e == 0 || e != e:
		return T(s)
	case (e > 0) == (s > 0):
		bits++ // the exact value lies further from zero
	default:
		bits--
	}
	return T(math.Float64frombits(bits))
}

// FMA returns x*y + z, rounded once: a step of the chains that every product is made of.
func FMA[T float32 | float64](x, y, z T) T { return fma(x, y, z) }
