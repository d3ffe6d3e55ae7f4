package state

import (
	"math"
	"testing"

	"flow/ir/loop"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/dense"
	"flow/kernels/exact"
)

// TestStates: a state gives the same result whether a place takes its lanes one by one, all at once, in
// two states that merge, or by the accumulators of a state.
func TestStates(t *testing.T) {
	const n, half = 9, 4
	var x, y dense.Slab
	for k := range n {
		x.F64 = append(x.F64, math.Ldexp(float64(k%4)-1.5, 60*(k%3)))
		y.I64 = append(y.I64, int64(k))
	}
	tail, tailY := dense.Slab{F64: x.F64[half:]}, dense.Slab{I64: y.I64[half:]}
	for _, class := range []loop.Class{loop.Sum, loop.Mean, loop.Norm, loop.Var, loop.Least, loop.Greatest, loop.ArgLeast} {
		begin := func() State {
			s := New(class, types.F64)
			s.Reset(2)
			return s
		}
		result := func(s State) uint64 {
			r := dense.Slab{F64: make([]float64, 1), I64: make([]int64, 1)}
			s.Result(&r, 0, 1)
			return math.Float64bits(r.F64[0]) + uint64(r.I64[0])
		}
		whole := begin()
		whole.All(0, &x, &y, n)
		want := result(whole)

		single := begin()
		single.Add(make([]int, n), &x, &y)
		if got := result(single); got != want {
			t.Errorf("%v, lane by lane: %x, want %x", class, got, want)
		}
		first, last := begin(), begin()
		first.All(0, &x, &y, half)
		last.All(0, &tail, &tailY, n-half)
		if s, ok := last.(Accumulating); ok && class != loop.Mean && class != loop.Var {
			acc := value.New(types.I64, 1, exact.Words)
			if _, one := s.(Joining); one {
				acc = value.New(types.F64, 1, 1)
			}
			s.Put(acc, 0)
			again := begin()
			again.All(0, &x, &y, half)
			if first, is := again.(Placing); is { // integers order as the values do
				front := value.New(types.I64, 1, 2)
				first.Put(front, 0)
				again = New(class, types.I64)
				again.Reset(2)
				again.(Placing).Take(0, front)
			}
			again.(Accumulating).Take(0, acc)
			if got := result(again); got != want {
				t.Errorf("%v, by an accumulator: %x, want %x", class, got, want)
			}
		}
		first.Merge(last)
		if got := result(first); got != want {
			t.Errorf("%v, merged: %x, want %x", class, got, want)
		}
	}
}

// The integers of accumulators order as the values of argmin and argmax do: equal zeros, a nan ahead.
func TestKeysOfPlaces(t *testing.T) {
	values := []float64{math.Inf(-1), -math.MaxFloat64, -1, -5e-324, math.Copysign(0, -1), 0, 5e-324, 1, math.MaxFloat64, math.Inf(1), math.NaN()}
	for _, greatest := range []bool{false, true} {
		s := &arg[float64]{greatest: greatest, best: values}
		keys := &arg[int64]{greatest: greatest}
		for i, v := range values {
			for j, w := range values {
				if got, want := keys.ahead(s.key(i), s.key(j)), s.ahead(v, w); got != want {
					t.Errorf("greatest %v: %v ahead of %v: %v, want %v", greatest, v, w, got, want)
				}
			}
		}
	}
}
