package vec

// This file chooses the machine for this CPU.

import "unsafe"

// HaveChain reports that this CPU runs chains.
var HaveChain = haveAVX2

// ChainF64 runs the links, of which the last is LinkEnd, on n elements, a multiple of 64. Sums go to state, which is that
// of CascadeF64: zero at the start. The caller sees to it that every operand is that long.
func ChainF64(code []Link, n int, state *Terms) {
	if n == 0 {
		return
	}
	c := (*uint64)(unsafe.Pointer(&code[0]))
	if haveAVX512 {
		chainF64AVX512(c, 8*n, &state[0])
	} else {
		chainF64AVX2(c, 8*n, &state[0])
	}
}

// ChainF32 is the same on n float32, a multiple of 128, without sums.
func ChainF32(code []Link, n int) {
	if n == 0 {
		return
	}
	c := (*uint64)(unsafe.Pointer(&code[0]))
	if haveAVX512 {
		chainF32AVX512(c, 4*n, nil)
	} else {
		chainF32AVX2(c, 4*n, nil)
	}
}

// The machine adds what it finds in the accumulator one round later: these links bring the last round in.
var (
	flushSum     = []Link{{Op: LinkSum}, {Op: LinkEnd}}
	flushSquares = []Link{{Op: LinkSquares}, {Op: LinkEnd}}
)

// ChainSum ends the sum that LinkSum, or LinkSquares, has in state: it is that of state[:n], if ok.
func ChainSum(state *Terms, squares bool) (n int, ok bool) {
	flush := flushSum
	if squares {
		flush = flushSquares
	}
	ChainF64(flush, ChainBytes/8, state)
	c := plan(squares)
	n = c.lanes * c.chains * c.levels
	return n, state.exact(n, c.lanes)
}

// Fence orders streaming stores before what follows.
func Fence() {
	if haveAVX2 {
		fenceAVX2()
	}
}
