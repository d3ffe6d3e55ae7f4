package reduce

// This file defines quantiles: of a sorted list, by keys, and how a run selects them.

import (
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/order"
	"flow/kernels/window"
)

// between is the quantile q of n sorted elements: element h = q (n - 1), and between two elements
// linearly (type 7 of R. Hyndman, Y. Fan, "Sample quantiles in statistical packages", 1996).
func between(n int, q float64, at func(i int) float64) float64 {
	h := q * float64(n-1)
	i := min(int(h), n-1)
	a, rest := at(i), h-float64(i)
	if rest == 0 || i == n-1 {
		return a
	}
	b := at(i + 1)
	if a == b { // infinities too
		return a
	}
	return a + float64(rest*(b-a))
}

// quantilePlace is the last of n sorted elements that is not above their quantile q.
func quantilePlace(n int, q float64) int { return min(int(q*float64(n-1)), n-1) }

// betweenKeys returns the quantile q of n elements of type from, as an e. k is the key at its place,
// and next the key after it. No number has the key of nan: as k it says that a float is nan.
func betweenKeys(from, e types.Elem, n int, q float64, k, next uint64) value.Scalar {
	if from.IsFloat() && k == order.NanKey {
		return define.Number(e, math.NaN())
	}
	at := quantilePlace(n, q)
	return define.Number(e, between(n, q, func(i int) float64 {
		if i == at {
			return order.Keyed(from, k).Float()
		}
		return order.Keyed(from, next).Float()
	}))
}

// refQuantile is the definition of quantile.
func refQuantile(q float64, x []value.Scalar, e types.Elem) value.Scalar {
	s := order.Sorted(x, false)
	if last := s[len(s)-1]; last.Elem.IsFloat() && math.IsNaN(last.F) {
		return define.Number(e, math.NaN())
	}
	return define.Number(e, between(len(s), q, func(i int) float64 { return s[i].Float() + 0 }))
}

// quantileOf is the quantile of a line, by selection in room.
func quantileOf(q float64, line *value.Dense, e types.Elem, room *[]uint64) value.Scalar {
	*room = order.AppendKeys((*room)[:0], line)
	keys := *room
	if line.Elem.IsFloat() && slices.Contains(keys, order.NanKey) {
		return define.Number(e, math.NaN())
	}
	n := len(keys)
	*room = slices.Grow(keys, n) // the keys, and as much beside them
	k, next := order.SelectKeys(keys, quantilePlace(n, q), (*room)[n:2*n])
	return betweenKeys(line.Elem, e, n, q, k, next)
}

// quantileStatistic returns s, a quantile, with the fields that all quantiles share.
func quantileStatistic(s statistic) statistic {
	q := s.fraction
	s.elem, s.nonempty, s.flops, s.least, s.abreast = Averaged, true, 20, 4*window.LeafElements, mostTall
	s.passes = func(a *op.Attrs, x *value.Dense, e types.Elem, _ int, done func(v value.Scalar)) op.Passes {
		n := x.Rows * x.Cols
		return order.Search(x, quantilePlace(n, q(a)), func(k, next uint64) { done(betweenKeys(x.Elem, e, n, q(a), k, next)) })
	}
	s.ref = func(a *op.Attrs, x []value.Scalar, e types.Elem) value.Scalar { return refQuantile(q(a), x, e) }
	s.run = func(a *op.Attrs, line *value.Dense, e types.Elem, room *[]uint64) value.Scalar {
		return quantileOf(q(a), line, e, room)
	}
	s.elements = func(e *op.Elements, rows, cols bool) op.Element {
		return lineElements(e, rows, cols, func(x []loop.Val) loop.Val { return quantileBody(e.B, q(e.Attrs), x) })
	}
	return s
}
