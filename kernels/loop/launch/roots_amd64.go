//go:build linux

package launch

// This file tries roots by multiply-adds on this processor.

import (
	"math"
	"math/bits"
	"sync"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
)

// rootsHold reports that roots by multiply-adds round as they should where they might not. Package
// amd64 says which could be other ones than the processor's, and why no more.
var rootsHold = sync.OnceValue(func() bool {
	x := hardRoots(256) // up to 127 the proof does not reach
	y, err := rootsByProducts(x)
	for k, v := range x {
		if err != nil || y[k] != math.Sqrt(v) {
			return false
		}
	}
	return true
})

// rootsByProducts returns the roots of x as code with roots by multiply-adds makes them.
func rootsByProducts(x []float64) ([]float64, error) {
	b := loop.New()
	in := loop.Mem{Kind: loop.ParamMem, N: b.Param(loop.DenseParam, types.F64)}
	n := loop.Num(int64(len(x)))
	i := loop.Of(loop.IndexSym, b.Index("i", loop.Range{Kind: loop.Steps, To: n, By: 1}))
	root := b.Op(loop.Sqrt, b.Load(in, loop.Num(0), i))
	b.Store(loop.Mem{Kind: loop.ResultMem, N: b.Result(types.F64, loop.Num(1), n)}, loop.Num(0), i, root)
	l := New(b.Nest)
	code, err := machineCodeOf(l.nest, 0, loop.FastLevels, func() bool { return true })
	if err != nil {
		return nil, err
	}
	from, to := value.New(types.F64, 1, len(x)), value.New(types.F64, 1, len(x))
	copy(from.F64, x)
	r := &Run{loop: l}
	r.operand(from)
	r.operand(to)
	room, err := code.ScratchFor(r.args)
	if err != nil {
		return nil, err
	}
	w := code.worker()
	w.run = r
	copy(w.args[firstOperand:], r.args)
	w.scratch(room)
	_, err = w.points1(0, 1, 0, len(x), nil)
	return to.F64, err
}

// hardRoots are the numbers of 1 <= x < 4 whose roots are nearest to the middle between two
// numbers: x - m^2 is at most most units of 2^-106 for a middle m, and so the root's distance from
// m at most most 2^-107 / x of it. (Roots of other numbers are these by powers of two.) With m = k
// 2^-53 those are the odd k for which k^2 plus that difference is a multiple of 2^54, which are
// found bit by bit.
func hardRoots(most int) (x []float64) {
	const low = 1<<54 - 1
	for d := -most; d <= most; d++ {
		square := -uint64(d) // k^2 but for a multiple of 2^54
		if square%8 != 1 {   // that of no odd number
			continue
		}
		root := uint64(1)
		for i := 3; i < 54; i++ {
			if (root*root-square)>>i&1 != 0 {
				root += 1 << (i - 1)
			}
		}
		for _, k := range []uint64{root & low, -root & low, (root + 1<<53) & low, (1<<53 - root) & low} {
			if k < 1<<53 {
				continue
			}
			high, below := bits.Mul64(k, k)
			below, carry := bits.Add64(below, uint64(d), 0)
			high += uint64(int64(d)>>63) + carry
			if v := high<<10 | below>>54; v < 1<<53 || v < 1<<54 && v%2 == 0 {
				x = append(x, math.Ldexp(float64(v), -52))
			}
		}
	}
	return x
}
