package exact

// This file sums columns in a pass over many rows, at four additions an element.
//
// Every lane begins with a bias B = 1.5 * 2^k and takes an element v as s' = s + v, rounded. As long as s and s' are in
// [2^k, 2^(k+1)), the step is a multiple of the unit u = 2^(k-52) and what is left of v, r = v - (s' - s), is exact (T. Dekker
// 1971: the exponent of s is not below that of v) and at most u/2. So the sum of the steps is an integer times u, and only the
// sum of the r is rounded. That is the first level of the bins of J. Demmel and H. Nguyen, "Fast reproducible floating-point
// summation", ARITH 2013, with a second level that is not exact but bounded: after m elements the r of a lane are at most
// m u/2, the errors of adding them at most m^2/2 * 2^-53 u/2. Where the rounding of the whole cannot depend on that it is the
// rounding of the exact sum; where it can, or a lane left the range, the caller sums exactly.

import (
	"math"

	"flow/kernels/vec"
)

// The least and greatest exponent of a bias: nothing that Column does with numbers below overflows or is subnormal.
const (
	leastBias    = -800
	greatestBias = 1000
)

// Column is a sum of one column. Begin, add by the pass machine (or Add), Round. The state is the caller's: the machine is
// fastest where it begins with a cache line.
type Column struct {
	State *vec.ColumnState
	exp   int
}

// The vectors of a state.
const (
	stateSum  = 0 // two
	stateLow  = 2 // two
	stateOut  = 4
	stateSome = 5
	stateBias = 6
)

// lanes is n vectors of the state.
func (c *Column) lanes(v, n int) []float64 {
	return c.State[v*vec.PassLanes() : (v+n)*vec.PassLanes()]
}

// Begin empties the column, for elements whose sums in a lane stay below 2^(exp-1) in magnitude.
func (c *Column) Begin(exp int) {
	c.exp = min(max(exp, leastBias), greatestBias)
	*c.State = vec.ColumnState{}
	bias := math.Ldexp(1.5, c.exp)
	for _, v := range [][]float64{c.lanes(stateSum, 2), c.lanes(stateBias, 1)} {
		vec.Fill(v, bias)
	}
}

// Exponent is an argument of Begin for n elements of a lane of which none is above greatest in magnitude.
func Exponent(greatest float64, n int) int {
	_, e := math.Frexp(greatest)
	_, m := math.Frexp(float64(n))
	return e + m + 1
}

// Add adds the elements of x, which are twice PassLanes: what the pass machine does with two vectors.
func (c *Column) Add(x []float64) {
	sum, low, out, some := c.lanes(stateSum, 2), c.lanes(stateLow, 2), c.lanes(stateOut, 1), c.lanes(stateSome, 1)
	bias := math.Float64bits(c.State[stateBias*vec.PassLanes()])
	or := func(to []float64, k int, b uint64) {
		k %= len(to)
		to[k] = math.Float64frombits(math.Float64bits(to[k]) | b)
	}
	for k, v := range x {
		next := sum[k] + v
		r := v - (next - sum[k])
		sum[k] = next
		low[k] += r
		or(some, k, math.Float64bits(r))
		or(out, k, math.Float64bits(next)^bias)
	}
}

// InRange reports that no lane left the range of the bias, and that nothing infinite and no NaN was added.
func (c *Column) InRange() bool {
	var out uint64
	for _, v := range c.lanes(stateOut, 1) {
		out |= math.Float64bits(v)
	}
	return out>>fracBits == 0
}

// Round is the float64 nearest to the exact sum, if ok. n is at least the number of elements that each lane was given.
func (c *Column) Round(n int) (sum float64, ok bool) {
	if !c.InRange() {
		return 0, false
	}
	var high int64 // times 2^(exp-52): in one binade bits count units
	var some uint64
	low := 0.0
	bias := math.Float64bits(c.State[stateBias*vec.PassLanes()])
	for _, v := range c.lanes(stateSum, 2) {
		high += int64(math.Float64bits(v) - bias)
	}
	for _, v := range c.lanes(stateSome, 1) {
		some |= math.Float64bits(v) << 1
	}
	for _, v := range c.lanes(stateLow, 2) {
		low += v
	}
	unit := math.Float64frombits(uint64(c.exp-fracBits+1023) << fracBits)
	top := float64(high)
	rest := float64(high-int64(top)) * unit
	if some == 0 { // every step was the whole element
		return top*unit + rest, true
	}
	rest, e1 := twoSum(rest, low)
	s, e := twoSum(top*unit, rest)
	e += e1
	m := float64(n)
	// The errors of the low sums, of which there are at most 16; of adding these; of e + e1 and of the sums below. Twice of each.
	slack := (16*m*m+512*m)*unit*0x1p-54 + math.Abs(e)*0x1p-51
	return s, s+(e+slack) == s && s+(e-slack) == s
}
