package vec

// This file chooses the machine for this CPU.

import (
	"unsafe"
)

// HaveChain reports that this CPU runs chains.
var HaveChain = haveAVX2

// ChainF64 runs the links, of which the last is LinkEnd, on n elements, a multiple of 64. The caller sees to it that every
// operand is that long.
func ChainF64(code []Link, n int) {
	if n == 0 {
		return
	}
	c := (*uint64)(unsafe.Pointer(&code[0]))
	switch {
	case !haveAVX512:
		chainF64AVX2(c, 8*n)
	default:
		chainF64AVX512(c, 8*n)
	}
}

// Fence orders streaming stores before what follows.
func Fence() {
	if haveAVX2 {
		fenceAVX2()
	}
}
