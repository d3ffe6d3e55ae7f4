package exact

// This file sums many columns at once whose elements come in any order, as those of a sparse matrix
// do: a column is a pair of floats, not an accumulator of hundreds of bytes.

import (
	"math"

	"flow/kernels/vec"
)

// Pair is an exact sum S + T, as pair makes it. The pair is Lost, for good, once an error does not fit into
// T or a number is not finite. It then has no meaning.
type Pair struct{ S, T float64 }

// Lost reports whether the sum is not known.
func (p *Pair) Lost() bool { return p.S != p.S }

// AddScattered adds x[k] to the pair p[at[k]] for every k.
func AddScattered[T vec.Float](p []Pair, at []int32, x []T) {
	x = x[:len(at)]
	for k, j := range at {
		c := &p[j]
		s, e := TwoSum(c.S, float64(x[k]))
		t, f := TwoSum(c.T, e)
		if c.S, c.T = s, t; f != 0 { // of a NaN too
			c.S = math.NaN()
		}
	}
}

// Merge adds the sum o. The sum is Lost if o is.
func (p *Pair) Merge(o Pair) {
	var e, f, g float64
	p.S, e = TwoSum(p.S, o.S)
	p.T, f = TwoSum(p.T, e)
	p.T, g = TwoSum(p.T, o.T)
	if f != 0 || g != 0 {
		p.S = math.NaN()
	}
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
