package vec

// This file finds out whether PassSqrtBoth gives the processor's roots; gen/pass_roots.go says which could be other ones, and why no more.

import (
	"math"
	"math/bits"
	"sync"
	"unsafe"
)

// PassRoot is the operation for roots in a program that divides, too, and does little else: PassSqrtBoth where that is as good as PassSqrt.
var PassRoot = sync.OnceValue(func() uint64 {
	if haveAVX512 && rootsHold() {
		return PassSqrtBoth
	}
	return PassSqrt
})

// nearMiddles are the numbers from 1 to 4 whose roots are nearest to the middle of two numbers: x = (M^2 - j) 2^-106 for the
// odd M of 54 bits and the j of that size, other than 0, of which x has no more than 53 bits.
func nearMiddles(most int64) (x []float64) {
	for j := -(most-1)/8*8 + 1 - 8; j <= most; j += 8 { // M^2 is 1 modulo 8, so j is
		if j < -most {
			continue
		}
		// m^2 = j modulo 2^(k+1), bit by bit from modulo 8 on: of m and m + 2^(k-1) one is it
		m := uint64(1)
		for k := 3; k < 56; k++ {
			if (m*m-uint64(j))>>k&1 != 0 {
				m += 1 << (k - 1)
			}
		}
		for _, m := range []uint64{m, -m} {
			m = m&(1<<53-1) | 1<<53
			hi, lo := bits.Mul64(m, m)
			lo, borrow := bits.Sub64(lo, uint64(j), 0)
			hi, _ = bits.Sub64(hi, uint64(j>>63), borrow)
			length := 64 + bits.Len64(hi) // 107 for x < 2, else 108
			if lo<<(64-(length-53))>>(64-(length-53)) != 0 {
				continue // only x of 53 bits
			}
			x = append(x, math.Ldexp(float64(hi<<(64-(length-53))|lo>>(length-53)), length-53-106))
		}
	}
	return x
}

// rootsHold reports that PassSqrtBoth rounds as it should where it might not.
func rootsHold() bool {
	var lanes [PassRows]float64
	at := PassOperand{Base: unsafe.Pointer(&lanes[0]), At: PassHere}
	code := []PassStep{{Op: PassLoad, Arg: [3]PassOperand{at}}, {Op: PassSqrtBoth}, {Op: PassStore, Arg: [3]PassOperand{at}}, {Op: PassEnd}}
	for _, v := range nearMiddles(256) { // up to 127 the proof does not reach
		var s PassState
		s.Start()
		Fill(lanes[:], v)
		Pass(code, &s, 1)
		for _, root := range lanes {
			if root != math.Sqrt(v) {
				return false
			}
		}
	}
	return true
}
