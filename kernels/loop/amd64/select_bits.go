package amd64

// This file selects instructions for counts of bits and the high halves of products, which are
// sequences.

import (
	"math"

	"flow/ir/loop"
	"flow/ir/types"
)

// words writes expressions on vectors of 64-bit words.
type words struct{ *lowering }

func (w words) of(v virt) operand { return operand{elem: types.I64, v: v} }

func (w words) constant(x loop.Word) operand { return operand{elem: types.I64, konst: true, word: x} }

func (w words) op(op Op, a, b operand) operand { return w.of(w.binary(op, types.I64, a, b, 0)) }

// right is a >> n, without sign.
func (w words) right(a operand, n uint8) operand {
	return w.of(w.emit(step{Inst: Inst{Op: VPSRLQ, Len: w.length, Imm: n}, b: w.vector(a), dst: w.fresh(vectorClass)}))
}

// ones counts the bits of every lane that are set: pairs, fours and bytes side by side, then the bytes.
func (w words) ones(x operand) virt {
	const pairs, fours, bytes = 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f
	x = w.op(VPSUBQ, x, w.op(VPANDQ, w.right(x, 1), w.constant(pairs)))
	x = w.op(VPADDQ, w.op(VPANDQ, x, w.constant(fours)), w.op(VPANDQ, w.right(x, 2), w.constant(fours)))
	x = w.op(VPANDQ, w.op(VPADDQ, x, w.right(x, 4)), w.constant(bytes))
	zero := w.of(w.vector(w.constant(0)))
	return w.binary(VPSADBW, types.I64, x, zero, 0)
}

// trailingZeros is 64 less the leading zeros of the bits below the lowest that is set.
func (w words) trailingZeros(x operand) virt {
	below := w.op(VPSUBQ, x, w.constant(1))
	x = w.op(VPANDNQ, x, below)
	return w.binary(VPSUBQ, types.I64, w.constant(64), w.of(w.unary(VPLZCNTQ, types.I64, x, 0)), 0)
}

// mulHigh is the upper half of a product, of halves of 32 bits as one multiplies on paper.
func (w words) mulHigh(a, b operand, signed bool) virt {
	a, b = w.of(w.vector(a)), w.of(w.vector(b))
	ah, bh := w.right(a, 32), w.right(b, 32)
	low := w.op(VPMULUDQ, a, b)
	t := w.op(VPADDQ, w.op(VPMULUDQ, ah, b), w.right(low, 32))
	u := w.op(VPADDQ, w.op(VPMULUDQ, a, bh), w.op(VPANDQ, t, w.constant(math.MaxUint32)))
	high := w.op(VPADDQ, w.op(VPADDQ, w.op(VPMULUDQ, ah, bh), w.right(t, 32)), w.right(u, 32))
	if !signed {
		return high.v
	}
	// A negative operand counts as itself plus 2^64.
	minus := func(x operand) operand {
		return w.of(w.emit(step{Inst: Inst{Op: VPSRAQ, Len: w.length, Imm: 63}, b: x.v, dst: w.fresh(vectorClass)}))
	}
	high = w.op(VPSUBQ, high, w.op(VPANDQ, minus(a), b))
	return w.binary(VPSUBQ, types.I64, high, w.op(VPANDQ, minus(b), a), 0)
}
