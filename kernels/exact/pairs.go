package exact

// This file sums many columns at once whose elements come in any order, as those of a sparse matrix
// do: a column is a pair of floats, not an accumulator of hundreds of bytes.

import "flow/kernels/vec"

// Pair is an exact sum as S + T, as pair makes it.
type Pair struct{ S, T float64 }

// AddScattered adds x[k] to the pair p[at[k]] for every k. Where an error was lost, or a number is
// not finite, it sets lost of that column, whose pair says nothing from then on.
func AddScattered[T vec.Float](p []Pair, lost []bool, at []int32, x []T) {
	x = x[:len(at)]
	for k, j := range at {
		c := &p[j]
		s, e := twoSum(c.S, float64(x[k]))
		t, f := twoSum(c.T, e)
		if c.S, c.T = s, t; f != 0 { // of a NaN too
			lost[j] = true
		}
	}
}

// Merge adds o, and reports that nothing was lost.
func (p *Pair) Merge(o Pair) bool {
	var e, f, g float64
	p.S, e = twoSum(p.S, o.S)
	p.T, f = twoSum(p.T, e)
	p.T, g = twoSum(p.T, o.T)
	return f == 0 && g == 0
}

// Round is the float64 nearest to the sum, ties to even.
func (p *Pair) Round() float64 { return p.S + p.T }

// Round32 is the float32 nearest to it.
func (p *Pair) Round32() float32 {
	if p.T == 0 {
		return float32(p.S)
	}
	var s Sum
	s.Add(p.S)
	s.Add(p.T)
	return s.Round32()
}
