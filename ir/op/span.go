package op

import (
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// This file computes ranges of integers.

// farIndex is beyond every matrix size. Values beyond it are not followed.
const farIndex = 1 << 45

// Span returns the range of an elementwise row of two integers in ranges. ok is false unless the
// row is a sum, difference or product in a loop, and for numbers beyond farIndex.
func (d *Def) Span(of [2][2]int64) (r [2]int64, ok bool) {
	b := loop.New()
	for _, x := range of {
		if x[0] < -farIndex || x[1] > farIndex {
			return r, false
		}
		b.Const(types.I64, 0)
	}
	d.Body(b, types.I64, []loop.Val{0, 1})
	if len(b.Nest.Body.Stmts) != 3 {
		return r, false
	}
	x, y := of[0], of[1]
	switch s := &b.Nest.Body.Stmts[2]; {
	case !slices.Equal(s.Args, []loop.Val{0, 1}):
		return r, false
	case s.Code == loop.Add:
		return [2]int64{x[0] + y[0], x[1] + y[1]}, true
	case s.Code == loop.Sub:
		return [2]int64{x[0] - y[1], x[1] - y[0]}, true
	case s.Code == loop.Mul && max(x[1], -x[0], y[1], -y[0]) < 1<<22:
		p := []int64{x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]}
		return [2]int64{slices.Min(p), slices.Max(p)}, true
	}
	return r, false
}

// Until returns how many times step must be added to input j of a comparison before it holds. Input j
// begins at from, and the other input is bound. ok is false if d is no elementwise comparison of two
// integers, if it never holds, and for numbers beyond farIndex.
func (d *Def) Until(j int, from, step, bound int64) (times int64, ok bool) {
	b := loop.New()
	d.Body(b, types.Bool, []loop.Val{b.Const(types.I64, 0), b.Const(types.I64, 0)})
	if len(b.Nest.Body.Stmts) != 3 || max(from, -from, bound, -bound, step, -step) > farIndex || step == 0 {
		return 0, false
	}
	s := &b.Nest.Body.Stmts[2]
	rises := len(s.Args) == 2 && s.Args[1] == loop.Val(j) // it holds for large numbers
	if step < 0 {
		from, step, bound, rises = -from, -step, -bound, !rises
	}
	left := bound - from
	switch {
	case s.Code == loop.Eq:
		return left / step, left >= 0 && left%step == 0
	case s.Code == loop.Lt:
		left++
	case s.Code != loop.Le:
		return 0, false
	}
	return max(0, (left+step-1)/step), rises
}

// Either reports an elementwise row that is the disjunction of its two inputs.
func (d *Def) Either() bool {
	b := loop.New()
	d.Body(b, types.Bool, []loop.Val{b.Const(types.Bool, 0), b.Const(types.Bool, 0)})
	return len(b.Nest.Body.Stmts) == 3 && b.Nest.Body.Stmts[2].Code == loop.Or
}
