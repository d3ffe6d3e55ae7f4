package blas

// This file defines the two sets in assembly: which kernel stands where in the drivers.

// simd is a set in assembly.
type simd struct {
	name string
	d    driver[float64]
	s    driver[float32]
}

// newAVX512 needs AVX-512 F and DQ.
func newAVX512() *simd {
	return &simd{
		name: "avx512",
		d: driver[float64]{
			mr: 8, lanes: 8, nr: 24, round: 4, lead: 3,
			gemm: [2][3]gemmKernel[float64]{
				{gemmAVX512F64Add1, gemmAVX512F64Add2, gemmAVX512F64Add3},
				{gemmAVX512F64Sub1, gemmAVX512F64Sub2, gemmAVX512F64Sub3},
			},
			edge: [2][3]edgeKernel[float64]{
				{gemmAVX512F64Add1Edge, gemmAVX512F64Add2Edge, gemmAVX512F64Add3Edge},
				{gemmAVX512F64Sub1Edge, gemmAVX512F64Sub2Edge, gemmAVX512F64Sub3Edge},
			},
			solve: [3]solveKernel[float64]{solveAVX512F64By1, solveAVX512F64By2, solveAVX512F64By3},
			narrow: [mostNarrow][]narrowKernel[float64]{
				{narrowAVX512F64R1V1, narrowAVX512F64R1V2, narrowAVX512F64R1V3, narrowAVX512F64R1V4, narrowAVX512F64R1V5, narrowAVX512F64R1V6, narrowAVX512F64R1V7, narrowAVX512F64R1V8},
				{narrowAVX512F64R2V1, narrowAVX512F64R2V2, narrowAVX512F64R2V3, narrowAVX512F64R2V4},
				{narrowAVX512F64R3V1, narrowAVX512F64R3V2, narrowAVX512F64R3V3},
				{narrowAVX512F64R4V1, narrowAVX512F64R4V2, narrowAVX512F64R4V3},
			},
			packing: [2][2]packingKernel[float64]{
				{gemmAVX512F64AddTurn, gemmAVX512F64AddCopy},
				{gemmAVX512F64SubTurn, gemmAVX512F64SubCopy},
			},
			potf: potfAVX512F64,
			dot:  dotF64By8,
			in:   transposeF64In, out: transposeF64Out, group: 4, copyRows: copyRows192,
			maxDepth: 384, maxArea: 200 * 256, maxOrder: 384,
		},
		s: driver[float32]{
			mr: 8, lanes: 16, nr: 48, round: 4, lead: 3,
			gemm: [2][3]gemmKernel[float32]{
				{gemmAVX512F32Add1, gemmAVX512F32Add2, gemmAVX512F32Add3},
				{gemmAVX512F32Sub1, gemmAVX512F32Sub2, gemmAVX512F32Sub3},
			},
			edge: [2][3]edgeKernel[float32]{
				{gemmAVX512F32Add1Edge, gemmAVX512F32Add2Edge, gemmAVX512F32Add3Edge},
				{gemmAVX512F32Sub1Edge, gemmAVX512F32Sub2Edge, gemmAVX512F32Sub3Edge},
			},
			solve: [3]solveKernel[float32]{solveAVX512F32By1, solveAVX512F32By2, solveAVX512F32By3},
			narrow: [mostNarrow][]narrowKernel[float32]{
				{narrowAVX512F32R1V1, narrowAVX512F32R1V2, narrowAVX512F32R1V3, narrowAVX512F32R1V4, narrowAVX512F32R1V5, narrowAVX512F32R1V6, narrowAVX512F32R1V7, narrowAVX512F32R1V8},
				{narrowAVX512F32R2V1, narrowAVX512F32R2V2, narrowAVX512F32R2V3, narrowAVX512F32R2V4},
				{narrowAVX512F32R3V1, narrowAVX512F32R3V2, narrowAVX512F32R3V3},
				{narrowAVX512F32R4V1, narrowAVX512F32R4V2, narrowAVX512F32R4V3},
			},
			packing: [2][2]packingKernel[float32]{
				{gemmAVX512F32AddTurn, gemmAVX512F32AddCopy},
				{gemmAVX512F32SubTurn, gemmAVX512F32SubCopy},
			},
			potf: potfAVX512F32,
			dot:  dotF32By8,
			in:   transposeF32In, out: transposeF32Out, group: 8, copyRows: copyRows192,
			maxDepth: 768, maxArea: 430 * 256, maxOrder: 576,
		},
	}
}

// newAVX2 needs AVX2 and FMA3.
func newAVX2() *simd {
	return &simd{
		name: "avx2",
		d: driver[float64]{
			mr: 4, lanes: 4, nr: 12, round: 4, lead: 8,
			gemm: [2][3]gemmKernel[float64]{
				{gemmAVX2F64Add1, gemmAVX2F64Add2, gemmAVX2F64Add3},
				{gemmAVX2F64Sub1, gemmAVX2F64Sub2, gemmAVX2F64Sub3},
			},
			edge: [2][3]edgeKernel[float64]{
				{gemmAVX2F64Add1Edge, gemmAVX2F64Add2Edge, gemmAVX2F64Add3Edge},
				{gemmAVX2F64Sub1Edge, gemmAVX2F64Sub2Edge, gemmAVX2F64Sub3Edge},
			},
			solve: [3]solveKernel[float64]{solveAVX2F64By1, solveAVX2F64By2, solveAVX2F64By3},
			narrow: [mostNarrow][]narrowKernel[float64]{
				{narrowAVX2F64R1V1, narrowAVX2F64R1V2, narrowAVX2F64R1V3, narrowAVX2F64R1V4, narrowAVX2F64R1V5, narrowAVX2F64R1V6, narrowAVX2F64R1V7, narrowAVX2F64R1V8},
				{narrowAVX2F64R2V1, narrowAVX2F64R2V2, narrowAVX2F64R2V3, narrowAVX2F64R2V4},
				{narrowAVX2F64R3V1, narrowAVX2F64R3V2, narrowAVX2F64R3V3},
				{narrowAVX2F64R4V1, narrowAVX2F64R4V2, narrowAVX2F64R4V3},
			},
			potf: potfAVX2F64,
			dot:  dotF64By8,
			in:   transposeF64In, out: transposeF64Out, group: 4, copyRows: copyRows96,
			maxDepth: 384, maxArea: 200 * 256, maxOrder: 384,
		},
		s: driver[float32]{
			mr: 4, lanes: 8, nr: 24, round: 4, lead: 8,
			gemm: [2][3]gemmKernel[float32]{
				{gemmAVX2F32Add1, gemmAVX2F32Add2, gemmAVX2F32Add3},
				{gemmAVX2F32Sub1, gemmAVX2F32Sub2, gemmAVX2F32Sub3},
			},
			edge: [2][3]edgeKernel[float32]{
				{gemmAVX2F32Add1Edge, gemmAVX2F32Add2Edge, gemmAVX2F32Add3Edge},
				{gemmAVX2F32Sub1Edge, gemmAVX2F32Sub2Edge, gemmAVX2F32Sub3Edge},
			},
			solve: [3]solveKernel[float32]{solveAVX2F32By1, solveAVX2F32By2, solveAVX2F32By3},
			narrow: [mostNarrow][]narrowKernel[float32]{
				{narrowAVX2F32R1V1, narrowAVX2F32R1V2, narrowAVX2F32R1V3, narrowAVX2F32R1V4, narrowAVX2F32R1V5, narrowAVX2F32R1V6, narrowAVX2F32R1V7, narrowAVX2F32R1V8},
				{narrowAVX2F32R2V1, narrowAVX2F32R2V2, narrowAVX2F32R2V3, narrowAVX2F32R2V4},
				{narrowAVX2F32R3V1, narrowAVX2F32R3V2, narrowAVX2F32R3V3},
				{narrowAVX2F32R4V1, narrowAVX2F32R4V2, narrowAVX2F32R4V3},
			},
			potf: potfAVX2F32,
			dot:  dotF32By8,
			in:   transposeF32In, out: transposeF32Out, group: 8, copyRows: copyRows96,
			maxDepth: 768, maxArea: 400 * 256, maxOrder: 384,
		},
	}
}

// set returns the set, which reads s as long as it is in use.
func (s *simd) set() *Set { return &Set{s.name, true, s.d.kernels(), s.s.kernels()} }

func (d *driver[T]) kernels() Kernels[T] {
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
