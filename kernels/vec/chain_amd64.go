package vec

// This file chooses the machine for this CPU.

import (
	"math"
	"unsafe"
)

// HaveChain reports that this CPU runs chains.
var HaveChain = haveAVX2

// lastPlain is the last of the links that every machine has.
const lastPlain = LinkSubFromMulSame

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
	case nearAtEnd(code):
		chainNearAVX512(c, 8*n, (*float64)(code[len(code)-2].Base))
	default:
		chainF64AVX512(c, 8*n)
	}
}

// nearAtEnd reports plain links, and perhaps reductions that are no sums, that end with LinkNearSum.
func nearAtEnd(code []Link) bool {
	n := len(code) - 2
	if n < 0 || code[n].Op != LinkNearSum {
		return false
	}
	for _, l := range code[:n] {
		if l.Op > lastPlain && (l.Op < LinkLeast || l.Op > LinkZeros) {
			return false
		}
	}
	return true
}

// ChainF32 is the same on n float32, a multiple of 128, without reductions.
func ChainF32(code []Link, n int) {
	if n == 0 {
		return
	}
	c := (*uint64)(unsafe.Pointer(&code[0]))
	if haveAVX512 {
		chainF32AVX512(c, 4*n)
	} else {
		chainF32AVX2(c, 4*n)
	}
}

// flush brings in what a sum has found in the accumulator in the last round: the machine adds it one round later.
func flush(link uint64, state *Terms) {
	code := [...]Link{{Op: link, Base: unsafe.Pointer(state)}, {Op: LinkEnd}}
	ChainF64(code[:], ChainBytes/8)
}

// ChainSum ends the sum that LinkSum, or LinkSquares, has in state: it is that of state[:n], if ok.
func ChainSum(state *Terms, squares bool) (n int, ok bool) {
	link := uint64(LinkSum)
	if squares {
		link = LinkSquares
	}
	flush(link, state)
	c := plan(squares)
	n = c.lanes * c.chains * c.levels
	return n, state.exact(n, c.lanes)
}

// A near cascade expects elements of magnitude 2^e and less. Its sums begin with 1.5 * 2^(e+nearRoom). That they stay in
// that binade is seen to; that sums of errors stay in theirs follows: an error is at most half of the last bit of a sum,
// and a lane takes at most NearCount/16 of them, of vectors of AVX2.
const (
	nearRoom = 14
	nearDrop = 53 - nearRoom // from the exponent of a sum to that of the sum of its errors
	// The sums must be finite and normal.
	nearLow, nearHigh = -900, 900
)

// NearCount is the most elements that a near cascade takes.
const NearCount = 1 << 16

// Near prepares t for LinkNearSum on at most NearCount elements whose magnitude is about 2^e, or less.
func (t *Terms) Near(e int) {
	*t = Terms{}
	c := plan(false)
	n := c.lanes * c.chains
	for l := range c.levels {
		Fill(t[l*n:][:n], nearBase(e, l))
	}
	Fill(t[t.strays(c)+c.lanes:][:c.lanes], nearBase(e, 0))
}

func nearBase(e, level int) float64 {
	return math.Ldexp(1.5, min(max(e, nearLow), nearHigh)+nearRoom-level*nearDrop)
}

// strays is where the bits are in which sums have differed from their beginning: see gen/near.go.
func (t *Terms) strays(c cascade) int { return c.lanes * (c.chains*c.levels + 1 + ChainBytes/64) }

// ChainNearSum ends the sum that LinkNearSum has in state, which was prepared by Near(e): it is that of state[:n], if ok. Else elements
// were too large for e, or had bits too small for it, or were not finite.
func ChainNearSum(state *Terms, e int) (n int, ok bool) {
	flush(LinkNearSum, state)
	c := plan(false)
	level := c.lanes * c.chains
	if !state.exact(c.levels*level, c.lanes) {
		return 0, false
	}
	var stray uint64
	for _, v := range state[state.strays(c):][:c.lanes] {
		stray |= math.Float64bits(v)
	}
	// A sum less what it began with is exact, for both are of one binade, and at most 2^51 units of its last place. So four of them can be
	// added without rounding.
	quarter := level / 4
	for l := range c.levels {
		base := nearBase(e, l)
		s := state[l*level:][:level]
		for k := range quarter {
			state[l*quarter+k] = (s[k] - base) + (s[k+quarter] - base) + (s[k+2*quarter] - base) + (s[k+3*quarter] - base)
		}
	}
	return c.levels * quarter, stray>>52 == 0
}

// Fence orders streaming stores before what follows.
func Fence() {
	if haveAVX2 {
		fenceAVX2()
	}
}
