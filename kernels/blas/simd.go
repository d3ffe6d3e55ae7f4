package blas

// This file defines the two sets in machine code.

import "flow/kernels/vec/machine"

// simd is a set in machine code.
type simd struct {
	name string
	d    driver[float64]
	s    driver[float32]
}

// newAVX512 needs AVX-512 F, DQ and VL.
func newAVX512() *simd {
	return &simd{
		name: "avx512",
		d:    driver[float64]{kernels: machine.TilesF64, on: machine.AVX512, mr: 8, lanes: 8, nr: 24, lead: 3, group: 4, maxDepth: 384, maxArea: 200 * 256, maxOrder: 384},
		s:    driver[float32]{kernels: machine.TilesF32, on: machine.AVX512, mr: 8, lanes: 16, nr: 48, lead: 3, group: 8, maxDepth: 768, maxArea: 430 * 256, maxOrder: 576},
	}
}

// newAVX2 needs AVX2 and FMA3.
func newAVX2() *simd {
	return &simd{
		name: "avx2",
		d:    driver[float64]{kernels: machine.TilesF64, on: machine.AVX2, mr: 4, lanes: 4, nr: 12, lead: 8, group: 4, maxDepth: 384, maxArea: 200 * 256, maxOrder: 384},
		s:    driver[float32]{kernels: machine.TilesF32, on: machine.AVX2, mr: 4, lanes: 8, nr: 24, lead: 8, group: 8, maxDepth: 768, maxArea: 400 * 256, maxOrder: 384},
	}
}

// set returns the set, which reads s as long as it is in use.
func (s *simd) set() *Set { return &Set{s.name, true, s.d.asKernels(), s.s.asKernels()} }

func (d *driver[T]) asKernels() Kernels[T] {
	return Kernels[T]{
		Gemm: func(ws *Workspace, tb, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			d.gemmAll(ws, tb, sub, false, m, n, k, operand[T]{a, lda, 1}, b, ldb, c, ldc)
		},
		GemmTN: func(ws *Workspace, sub bool, m, n, k int, a []T, lda int, b []T, ldb int, c []T, ldc int) {
			d.gemmAll(ws, false, sub, false, m, n, k, operand[T]{a, 1, lda}, b, ldb, c, ldc)
		},
		Syrk: func(ws *Workspace, sub bool, n, k int, a []T, lda int, c []T, ldc int) {
			d.gemmAll(ws, true, sub, true, n, n, k, operand[T]{a, lda, 1}, a, lda, c, ldc)
		},
		Trsm: d.trsmAll, Potrf: d.potrfAll, Tall: d.tallAll, Pack: d.packAll, GemmPacked: d.gemmPacked,
	}
}
