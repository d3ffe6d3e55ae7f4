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

func (s *simd) Name() string { return s.name }
func (s *simd) Chain() bool  { return true }

func (s *simd) GemmF64(ws *Workspace, tb, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	s.d.gemmAll(ws, tb, sub, false, m, n, k, operand[float64]{a, lda, 1}, b, ldb, c, ldc)
}

func (s *simd) GemmF32(ws *Workspace, tb, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	s.s.gemmAll(ws, tb, sub, false, m, n, k, operand[float32]{a, lda, 1}, b, ldb, c, ldc)
}

func (s *simd) GemmTNF64(ws *Workspace, sub bool, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	s.d.gemmAll(ws, false, sub, false, m, n, k, operand[float64]{a, 1, lda}, b, ldb, c, ldc)
}

func (s *simd) GemmTNF32(ws *Workspace, sub bool, m, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	s.s.gemmAll(ws, false, sub, false, m, n, k, operand[float32]{a, 1, lda}, b, ldb, c, ldc)
}

func (s *simd) SyrkF64(ws *Workspace, sub bool, n, k int, a []float64, lda int, c []float64, ldc int) {
	s.d.gemmAll(ws, true, sub, true, n, n, k, operand[float64]{a, lda, 1}, a, lda, c, ldc)
}

func (s *simd) SyrkF32(ws *Workspace, sub bool, n, k int, a []float32, lda int, c []float32, ldc int) {
	s.s.gemmAll(ws, true, sub, true, n, n, k, operand[float32]{a, lda, 1}, a, lda, c, ldc)
}

func (s *simd) TrsmF64(ws *Workspace, m, n int, l []float64, ldl int, b []float64, ldb int) {
	s.d.trsmAll(ws, m, n, l, ldl, b, ldb)
}

func (s *simd) TrsmF32(ws *Workspace, m, n int, l []float32, ldl int, b []float32, ldb int) {
	s.s.trsmAll(ws, m, n, l, ldl, b, ldb)
}

func (s *simd) PotrfF64(ws *Workspace, n int, a []float64, lda int) int {
	return s.d.potrfAll(ws, n, a, lda)
}

func (s *simd) PotrfF32(ws *Workspace, n int, a []float32, lda int) int {
	return s.s.potrfAll(ws, n, a, lda)
}

func (s *simd) TallF64(ws *Workspace, lower bool, i0, i1, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	s.d.tallAll(ws, lower, i0, i1, n, k, a, lda, b, ldb, c, ldc)
}

func (s *simd) TallF32(ws *Workspace, lower bool, i0, i1, n, k int, a []float32, lda int, b []float32, ldb int, c []float32, ldc int) {
	s.s.tallAll(ws, lower, i0, i1, n, k, a, lda, b, ldb, c, ldc)
}
