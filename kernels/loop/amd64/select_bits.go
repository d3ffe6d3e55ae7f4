package amd64

// This file selects instructions for the upper half of a product, which are a sequence.

import (
	"math"

	"flow/ir/types"
)

// words writes expressions on vectors of 64-bit words.
type words struct{ *lowering }

func (w words) of(v virt) operand { return operand{elem: types.I64, v: v} }

func (w words) op(op Op, a, b operand) operand { return w.of(w.binary(op, types.I64, a, b)) }

// right is a >> n, without sign.
func (w words) right(a operand, n uint8) operand {
	return w.of(w.emit(step{Inst: Inst{Op: VPSRLQ, Len: w.length, Imm: n}, b: w.vector(a), dst: w.fresh(vectorClass)}))
}

// upperHalf is that of a product, of halves of 32 bits as one multiplies on paper.
func (w words) upperHalf(a, b operand) virt {
	a, b = w.of(w.vector(a)), w.of(w.vector(b))
	ah, bh := w.right(a, 32), w.right(b, 32)
	low := w.op(VPMULUDQ, a, b)
	t := w.op(VPADDQ, w.op(VPMULUDQ, ah, b), w.right(low, 32))
	u := w.op(VPADDQ, w.op(VPMULUDQ, a, bh), w.op(VPANDQ, t, operand{elem: types.I64, konst: true, word: math.MaxUint32}))
	high := w.op(VPADDQ, w.op(VPADDQ, w.op(VPMULUDQ, ah, bh), w.right(t, 32)), w.right(u, 32))
	return high.v
}
