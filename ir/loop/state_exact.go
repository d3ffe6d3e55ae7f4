package loop

// This file represents exact sums of numbers and of squares.

import (
	"math"
	"math/big"

	"flow/ir/types"
)

// cascade is an exact sum among the words of a state: levels words from first on, and with deep one
// more for non-finite numbers.
type cascade struct {
	first, levels int
	deep          bool
}

// two returns x + y, rounded, and its error (D. Knuth, TAOCP 2, 4.2.2, theorem B).
func two(b *Builder, x, y Val) (sum, err Val) {
	sum = b.Op(Add, x, y)
	v := b.Op(Sub, sum, x)
	return sum, b.Op(Add, minus(b, x, b.Op(Sub, sum, v)), minus(b, y, v))
}

// minus returns x - y as one multiplication and addition: processors that add and multiply in
// different places do some of a sum's operations in each.
func minus(b *Builder, x, y Val) Val {
	return b.Op(FMA, y, b.Const(types.F64, math.Float64bits(-1)), x)
}

// push adds x to the words from a level on, and to lost what tells that the last word was rounded.
func (c cascade) push(b *Builder, s []Val, level int, x, lost Val) Val {
	last := c.first + c.levels - 1
	for k := c.first + level; k < last; k++ {
		s[k], x = two(b, s[k], x)
	}
	y := s[last]
	s[last] = b.Op(Add, y, x)
	return b.Op(Or, lost, b.Op(Or, unlike(b, minus(b, s[last], y), x), unlike(b, minus(b, s[last], x), y)))
}

// unlike returns bits that are 0, apart from the sign, where x and y are equal. A sum was not
// rounded if it gives either of its operands when the other is taken off: taking off the larger one
// is exact (T. Dekker, "A floating-point technique for extending the available precision", 1971).
// Of numbers that are not finite the first one does not come back.
func unlike(b *Builder, x, y Val) Val { return b.Op(Xor, b.Op(Bits, x), b.Op(Bits, y)) }

// add adds a contribution.
func (c cascade) add(b *Builder, s []Val, x, lost Val) Val {
	if c.deep {
		finite := b.Op(Lt, b.Op(Abs, x), b.Const(types.F64, math.Float64bits(math.Inf(1))))
		zero := b.Const(types.F64, 0)
		special := c.first + c.levels
		s[special] = b.Op(Add, s[special], b.Op(Select, finite, zero, x))
		x = b.Op(Select, finite, x, zero)
	}
	return c.push(b, s, 0, x, lost)
}

func (c cascade) merge(b *Builder, s, t []Val, lost Val) Val {
	for k := range c.levels {
		lost = c.push(b, s, k, t[c.first+k], lost)
	}
	if c.deep {
		s[c.first+c.levels] = b.Op(Add, s[c.first+c.levels], t[c.first+c.levels])
	}
	return lost
}

// exactly returns the sum of the words of states.
func (c cascade) exactly(states [][]Word) exactSum {
	x := exactSum{sum: new(big.Float).SetPrec(exactBits)}
	for _, s := range states {
		c.addTo(&x, s, 1, 0)
	}
	return x
}

// exactState returns the state of a class of exact sums, or nil.
func exactState(c Class, e types.Elem, levels int) *State {
	sums, squares, counts := false, false, false
	switch {
	case e == types.Bool || c == Sum && e == types.I64:
		return nil
	case c == Sum:
		sums = true
	case c == Mean:
		sums, counts = true, true
	case c == Norm:
		squares = true
	case c == Var || c == Stddev:
		sums, squares, counts = true, true, true
	default:
		return nil
	}
	st := &State{}
	word := func(e types.Elem) int {
		st.Types, st.Empty = append(st.Types, e), append(st.Empty, 0)
		return len(st.Types) - 1
	}
	place := func(levels int) cascade {
		x := cascade{len(st.Types), levels, levels > FastLevels+1}
		for range levels {
			word(types.F64)
		}
		if x.deep {
			word(types.F64)
		}
		return x
	}
	var sum, square cascade
	if sums {
		sum = place(levels)
	}
	if squares {
		square = place(levels + 1)
	}
	st.Lost = word(types.I64)
	count := -1
	if counts {
		count = word(types.I64)
	}
	st.sum, st.squares, st.count = sum, square, count
	st.add = func(b *Builder, s, in []Val) []Val {
		s = append([]Val{}, s...)
		lost := s[st.Lost]
		for _, x := range parts(b, in[0]) {
			if sums {
				lost = sum.add(b, s, x, lost)
			}
			if squares {
				h := b.Op(Mul, x, x)
				lost = square.add(b, s, h, lost)
				if e != types.F32 { // the square of an f32 is exact
					lost = square.push(b, s, 1, restOfSquare(b, x, h, square.deep), lost)
				}
			}
		}
		s[st.Lost] = lost
		if counts {
			s[count] = b.Op(Add, s[count], b.Const(types.I64, 1))
		}
		return s
	}
	st.merge = func(b *Builder, s, t []Val) []Val {
		s = append([]Val{}, s...)
		lost := b.Op(Or, s[st.Lost], t[st.Lost])
		if sums {
			lost = sum.merge(b, s, t, lost)
		}
		if squares {
			lost = square.merge(b, s, t, lost)
		}
		s[st.Lost] = lost
		if counts {
			s[count] = b.Op(Add, s[count], t[count])
		}
		return s
	}
	st.end = func(b *Builder, s []Val) Val {
		b.Check(Uncertain, b.Op(Eq, b.Op(Shl, s[st.Lost], b.Const(types.I64, 1)), b.Const(types.I64, 0)))
		switch c {
		case Sum:
			if levels > FastLevels {
				// a sum of 0 is +0
				return b.Op(Add, roundThree(b, s[0], s[1], s[2]), b.Const(types.F64, 0))
			}
			return roundTwo(b, c.Gives(e), s[0], s[1])
		case Mean:
			total := b.Op(Add, s[0], s[1])
			if levels > FastLevels {
				total = roundThree(b, s[0], s[1], s[2])
			}
			return b.to(c.Gives(e), b.Op(Div, total, b.to(types.F64, s[count])))
		}
		if square.deep { // its words hold no nan and no infinity
			special := s[square.first+square.levels]
			b.Check(Uncertain, b.Op(Eq, special, b.Const(types.F64, 0)))
		}
		return b.to(e, b.Op(Sqrt, roundThree(b, s[0], s[1], s[2])))
	}
	if c == Var || c == Stddev {
		st.end = nil
	}
	return st
}

// parts returns f64 numbers whose exact sum is x.
func parts(b *Builder, x Val) []Val {
	if b.Type(x) != types.I64 {
		return []Val{b.to(types.F64, x)}
	}
	half := b.Const(types.I64, 32)
	high := b.to(types.F64, b.Op(Sar, x, half))
	low := b.to(types.F64, b.Op(And, x, b.Const(types.I64, math.MaxUint32)))
	return []Val{b.Op(Mul, high, b.Const(types.F64, math.Float64bits(1<<32))), low}
}

// restOfSquare returns x*x - h for the rounded square h, 0 if h is not finite.
func restOfSquare(b *Builder, x, h Val, deep bool) Val {
	rest := b.Op(FMA, x, x, b.Op(Neg, h))
	if !deep { // nan is noticed
		return rest
	}
	finite := b.Op(Lt, h, b.Const(types.F64, math.Float64bits(math.Inf(1))))
	return b.Op(Select, finite, rest, b.Const(types.F64, 0))
}

// roundTwo returns s + t rounded once to e. For f32 the f64 sum is rounded to odd first (S. Boldo &
// G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
func roundTwo(b *Builder, e types.Elem, s, t Val) Val {
	if e == types.F64 {
		return b.Op(Add, s, t)
	}
	s, t = two(b, s, t)
	zero, one := b.Const(types.I64, 0), b.Const(types.I64, 1)
	bits := b.Op(Bits, s)
	even := b.Op(Eq, b.Op(And, bits, one), zero)
	rest := b.Op(Ne, t, b.Const(types.F64, 0))
	alike := b.Op(Le, zero, b.Op(Xor, bits, b.Op(Bits, t)))
	by := b.Op(Select, alike, one, b.Const(types.I64, math.MaxUint64))
	by = b.Op(Select, b.Op(And, even, rest), by, zero)
	return b.to(e, b.Op(F64Bits, b.Op(Add, bits, by)))
}

// roundThree returns the f64 nearest to s + t + u.
func roundThree(b *Builder, s, t, u Val) Val {
	s, _, _, fine := threeOf(b, s, t, u)
	b.Check(Uncertain, fine)
	return s
}

// threeOf returns three other words with the same sum. Where fine holds the first is the f64 nearest
// to it: after renormalisation s is the rounded sum unless t is exactly half a unit in its last
// place; such a t is a power of two, and u decides.
func threeOf(b *Builder, s, t, u Val) (x, y, z, fine Val) {
	t, u = two(b, t, u)
	s, t = two(b, s, t)
	t, u = two(b, t, u)
	follow := b.Op(Eq, b.Op(Add, s, t), s)
	fraction := b.Op(And, b.Op(Bits, t), b.Const(types.I64, 1<<52-1))
	sure := b.Op(Or, b.Op(Eq, u, b.Const(types.F64, 0)), b.Op(Ne, fraction, b.Const(types.I64, 0)))
	return s, t, u, b.Op(And, follow, sure)
}

// Adder takes numbers into an exact sum.
type Adder interface{ Add(x float64) }

// Words returns the words of the state that add up to its exact sum, or to that of the squares: n
// words from first on. n is 0 if the class does not need that sum.
func (s *State) Words(squares bool) (first, n int) {
	c := s.sum
	if squares {
		c = s.squares
	}
	if n = c.levels; c.deep {
		n++
	}
	return c.first, n
}

// Count returns the number of the word that counts contributions, or -1.
func (s *State) Count() int { return s.count }

func (c cascade) addTo(sum Adder, words []Word, places, i int) {
	n := c.levels
	if c.deep {
		n++
	}
	for k := c.first; k < c.first+n; k++ {
		sum.Add(toF64(words[k*places+i]))
	}
}

// Rounded returns the sum of state i of places, rounded once to f64. ok is false if the state is not
// that of a sum, if the sum is not finite, or if the rounding is in doubt.
func (s *State) Rounded(words []Word, places, i int) (sum float64, n int64, ok bool) {
	c := s.sum
	if c.levels == 0 || s.squares.levels > 0 {
		return 0, 0, false
	}
	word := func(k int) float64 { return toF64(words[k*places+i]) }
	// The words behind the first one are added from the last. The error of each addition is below 2^-53
	// of the magnitudes added so far, and there are fewer than 2^4.
	var rest, size float64
	for k := c.first + c.levels - 1; k > c.first; k-- {
		x := word(k)
		rest, size = rest+x, size+math.Abs(x)
	}
	slack := 0.0
	if c.levels > FastLevels {
		slack = size * 0x1p-48
	}
	sum = word(c.first) + (rest - slack) + 0 // a sum of 0 is +0
	ok = sum == word(c.first)+(rest+slack) && sum-sum == 0 && !(c.deep && word(c.first+c.levels) != 0)
	if s.count >= 0 {
		n = int64(words[s.count*places+i])
	}
	return sum, n, ok
}
