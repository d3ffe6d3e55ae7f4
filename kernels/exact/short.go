package exact

// This file sums short slices without an accumulator, where it can prove that nothing
// was lost.
//
// Two error-free additions (D. Knuth, TAOCP 2, 4.2.2, theorem B) run in cascade: s takes the
// elements, t takes the rounding errors of s. The rounding errors of t are not kept, but watched:
// while all of them are zero, the real sum is s + t exactly, so that the float64 s + t is its
// correct rounding. An error that is not zero, a NaN (which is what overflow leaves behind) or an
// infinity sends the slice to the accumulator.

import (
	"math"

	"flow/kernels/vec"
)

// cascade is the longest slice that is summed here (of squares: half of it): longer ones go to
// vector cascades or to the bins, at the price of some 200 ns for the accumulator.
const cascade = 256

// TwoSum is a + b as the rounded sum and its exact error.
func TwoSum(a, b float64) (s, e float64) {
	s = a + b
	v := s - a
	return s, (a - (s - v)) + (b - v)
}

// inexact is not 0 if f is neither zero; it collects by or.
func inexact(f float64) uint64 { return math.Float64bits(f) << 1 }

// pair sums x as s + t, exactly if ok.
func pair(x []float64) (s, t float64, ok bool) {
	var e, f float64
	var bad uint64
	for _, v := range x {
		s, e = TwoSum(s, v)
		t, f = TwoSum(t, e)
		bad |= inexact(f)
	}
	return s, t, bad == 0 && s-s == 0
}

// triple sums the squares of x as s + t + u, exactly (in the sense of Square) if ok: the low halves
// of squares are as long as the high ones, so that two levels would hardly ever do.
func triple(x []float64) (s, t, u float64, ok bool) {
	var e, f, g float64
	var bad uint64
	for _, v := range x {
		h, l := Square(v)
		s, e = TwoSum(s, h)
		t, f = TwoSum(t, e)
		u, g = TwoSum(u, f)
		bad |= inexact(g)
		t, f = TwoSum(t, l)
		u, g = TwoSum(u, f)
		bad |= inexact(g)
	}
	return s, t, u, bad == 0 && s-s == 0
}

// round3 is the float64 nearest to s + t + u, if ok. With the three made to follow on one another,
// s is the sum's rounding unless t is just half a unit in its last place, when u decides; such a t
// is a power of two.
func round3(s, t, u float64) (sum float64, ok bool) {
	t, u = TwoSum(t, u)
	s, t = TwoSum(s, t)
	t, u = TwoSum(t, u)
	if s+t != s {
		return 0, false
	}
	return s, u == 0 || math.Float64bits(t)&fracMask != 0
}

// Of is the float64 nearest to the exact sum of x, or of its squares as AddSquares takes them.
func Of(x []float64, squares bool) float64 {
	if p, ok := PartsOf(x, squares); ok {
		if v, ok := p.Round(); ok {
			return v
		}
	}
	if len(x) <= cascade {
		if v, ok := bounded(x, squares); ok {
			return v
		}
	}
	var a Sum
	if squares {
		a.AddSquares(x)
	} else {
		a.AddSlice(x)
	}
	return a.Round()
}

// bounded is Of, if ok. What a cascade of two words loses is added with plain rounding, and with a
// bound of the error of that: n additions err by less than n 2^-53 of the magnitudes. So numbers of
// any size have a sum here, unless they cancel or the sum lies next to the middle between two floats.
func bounded(x []float64, squares bool) (sum float64, ok bool) {
	var s, t, lost, size float64
	add := func(v float64) {
		t, v = TwoSum(t, v)
		lost, size = lost+v, size+math.Abs(v)
	}
	for _, v := range x {
		h, l := v, 0.0
		if squares {
			h, l = Square(v)
		}
		s, h = TwoSum(s, h)
		if add(h); squares {
			add(l)
		}
	}
	rest := t + lost
	slack := size*float64(len(x))*0x1p-50 + math.Abs(rest)*0x1p-51
	sum = s + (rest - slack) + 0 // a sum of 0 is +0
	return sum, sum == s+(rest+slack) && sum-sum == 0
}

// PartsOf returns the exact sum of a short x, or of its squares as AddSquares takes them. ok is false
// if x is too long, or the sum does not fit into Parts.
func PartsOf(x []float64, squares bool) (p Parts, ok bool) {
	switch t := &p.Term; {
	case !squares && len(x) <= cascade:
		t[0], t[1], ok = pair(x)
	case squares && len(x) <= cascade/2:
		t[0], t[1], t[2], ok = triple(x)
	}
	return p, ok
}

// Many columns whose elements come in any order, as those of a sparse matrix do, are summed at once: a
// column is a pair of floats, not an accumulator of hundreds of bytes.

// Pair is an exact sum S + T, as pair makes it. The pair is Lost, for good, once an error does not fit
// into T or a number is not finite. It then has no meaning.
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

// Triple is a sum of squares as the unevaluated sum of three floats. The zero Triple is 0.
type Triple struct{ S, T, U float64 }

// AddSquaresScattered adds the square of x[k], as Square has it, to the sum p[at[k]] for every k.
func AddSquaresScattered(p []Triple, at []int32, x []float64) {
	x = x[:len(at)]
	for k, j := range at {
		c := &p[j]
		h, l := Square(x[k])
		c.add(h, l)
	}
}

// add adds h, and l, which is at most half of the last bit of h. The sum is then Lost if three floats
// do not hold it.
func (p *Triple) add(h, l float64) {
	s, e := TwoSum(p.S, h)
	t, f := TwoSum(p.T, e)
	u, g := TwoSum(p.U, f)
	t, f = TwoSum(t, l)
	u, i := TwoSum(u, f)
	if p.S, p.T, p.U = s, t, u; g != 0 || i != 0 { // of a NaN too
		p.S = math.NaN()
	}
}

// Lost reports whether the sum is not known, or not finite.
func (p *Triple) Lost() bool { return p.S-p.S != 0 }

// Merge adds the sum o. The sum is Lost if o is.
func (p *Triple) Merge(o Triple) {
	p.add(o.S, o.T)
	p.add(o.U, 0)
}
