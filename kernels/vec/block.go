package vec

// This file holds what works on blocks of a matrix.

import (
	"unsafe"

	"flow/kernels/vec/machine"
)

// Transpose writes dst[i*ld+j] = src[j*lds+i] for i < rows, j < cols: src is cols x rows. With AVX-512,
// elements of 8 bytes are transposed in registers, in blocks of 8 x 8.
func Transpose[T Element](dst []T, ld int, src []T, lds, rows, cols int) {
	r, c := rows&^7, cols&^7
	if !haveAVX512 || unsafe.Sizeof(*new(T)) != 8 || r == 0 || c == 0 {
		transpose(dst, ld, src, lds, rows, cols)
		return
	}
	_, _ = dst[(rows-1)*ld+cols-1], src[(cols-1)*lds+rows-1]
	for j := 0; j < c; j += 8 {
		args := struct {
			dst     *T
			dstStep int
			src     *T
			srcStep int
			rounds  int
		}{&dst[j], 8 * ld, &src[j*lds], 8 * lds, r / 8}
		machine.Transpose.Call(machine.AVX512, unsafe.Pointer(&args))
	}
	if r < rows {
		transpose(dst[r*ld:], ld, src[r:], lds, rows-r, cols)
	}
	if c < cols {
		transpose(dst[c:], ld, src[c*lds:], lds, r, cols-c)
	}
}

// transpose is Transpose in plain Go. It reads eight source rows at a time, so that both sides move whole
// cache lines. Larger squares evict themselves if rows are a power of two apart.
func transpose[T Element](dst []T, ld int, src []T, lds, rows, cols int) {
	j := 0
	for ; j+8 <= cols; j += 8 {
		s0, s1, s2, s3 := src[j*lds:][:rows], src[(j+1)*lds:][:rows], src[(j+2)*lds:][:rows], src[(j+3)*lds:][:rows]
		s4, s5, s6, s7 := src[(j+4)*lds:][:rows], src[(j+5)*lds:][:rows], src[(j+6)*lds:][:rows], src[(j+7)*lds:][:rows]
		for i := range s0 {
			d := (*[8]T)(dst[i*ld+j:])
			d[0], d[1], d[2], d[3] = s0[i], s1[i], s2[i], s3[i]
			d[4], d[5], d[6], d[7] = s4[i], s5[i], s6[i], s7[i]
		}
	}
	for ; j < cols; j++ {
		for i, v := range src[j*lds:][:rows] {
			dst[i*ld+j] = v
		}
	}
}
