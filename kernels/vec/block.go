package vec

// This file holds what works on blocks of a matrix.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// TransposeF64 is Transpose, eight by eight in registers where the CPU can.
func TransposeF64(dst []float64, ld int, src []float64, lds, rows, cols int) {
	r, c := rows&^7, cols&^7
	if !haveAVX512 || r == 0 || c == 0 {
		Transpose(dst, ld, src, lds, rows, cols)
		return
	}
	_, _ = dst[(rows-1)*ld+cols-1], src[(cols-1)*lds+rows-1]
	for j := 0; j < c; j += 8 {
		args := struct {
			dst     *float64
			dstStep int
			src     *float64
			srcStep int
			rounds  int
		}{&dst[j], 8 * ld, &src[j*lds], 8 * lds, r / 8}
		machine.Transpose.Call(machine.AVX512, unsafe.Pointer(&args))
	}
	if r < rows {
		Transpose(dst[r*ld:], ld, src[r:], lds, rows-r, cols)
	}
	if c < cols {
		Transpose(dst[c:], ld, src[c*lds:], lds, r, cols-c)
	}
}
