package vec

// This file holds what works on blocks of a matrix.

// TransposeF64 is Transpose, eight by eight in registers where the CPU can.
func TransposeF64(dst []float64, ld int, src []float64, lds, rows, cols int) {
	r, c := rows&^7, cols&^7
	if !haveAVX512 || r == 0 || c == 0 {
		Transpose(dst, ld, src, lds, rows, cols)
		return
	}
	_, _ = dst[(rows-1)*ld+cols-1], src[(cols-1)*lds+rows-1]
	for j := 0; j < c; j += 8 {
		transposeF64AVX512(&dst[j], 8*ld, &src[j*lds], 8*lds, r/8)
	}
	if r < rows {
		Transpose(dst[r*ld:], ld, src[r:], lds, rows-r, cols)
	}
	if c < cols {
		Transpose(dst[c:], ld, src[c*lds:], lds, r, cols-c)
	}
}
