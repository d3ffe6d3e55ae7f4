package loop

// This file offers reductions whose contributions are written one by one, for callers that know
// their number.

import (
	"math"

	"flow/ir/types"
)

// Terms is a reduction as values that a loop may carry.
type Terms struct {
	s     *State
	signs bool // the sign of the lost bits tells whether a contribution was negative
}

// TermsOf returns a reduction of contributions of e, or nil if a few values cannot carry it. Exact
// sums have this many levels, 2 or 3 (f32: 2). Bits lost beyond them fail the check Uncertain.
func TermsOf(c Class, e types.Elem, levels int) *Terms {
	if e == types.F32 {
		levels = FastLevels
	}
	s := StateOf(c, e, levels)
	if s == nil || s.end == nil {
		return nil
	}
	return &Terms{s: s}
}

// Begin returns the state before the first contribution.
func (t *Terms) Begin(b *Builder) []Val {
	var out []Val
	for k, e := range t.s.Types {
		out = append(out, b.Const(e, t.s.Empty[k]))
	}
	return out
}

// sums reports an exact sum of f64. Its state starts with the words of the sum, then the lost bits
// and, for a mean, the count.
func (t *Terms) sums() bool {
	return (t.s.class == Sum || t.s.class == Mean) && t.s.elem == types.F64
}

// First returns the state after the first contribution. Words that are still 0 are NoVal: no loop
// carries such a state.
func (t *Terms) First(b *Builder, in []Val) []Val {
	if !t.sums() {
		return t.s.add(b, t.Begin(b), in)
	}
	s := make([]Val, len(t.s.Types))
	for k := range s {
		s[k] = NoVal
	}
	s[0] = in[0]
	if t.s.class == Mean {
		s[len(s)-1] = b.Const(types.I64, 1)
	}
	return s
}

// Add returns the state after one more contribution.
func (t *Terms) Add(b *Builder, s, in []Val) []Val {
	if !t.sums() || s[t.s.Lost] != NoVal {
		s = t.s.add(b, s, in)
		if t.signs {
			sign := b.Op(And, b.Op(Bits, in[0]), b.Const(types.I64, 1<<63))
			s[t.s.Lost] = b.Op(Or, s[t.s.Lost], sign)
		}
		return s
	}
	for k := range t.s.Lost {
		if s[k] == NoVal { // the error is the word
			out := append([]Val{}, s...)
			x := in[0]
			for i := range k {
				out[i], x = two(b, out[i], x)
			}
			out[k] = x
			if t.s.class == Mean {
				out[len(out)-1] = b.Op(Add, s[len(s)-1], b.Const(types.I64, 1))
			}
			return out
		}
	}
	return t.s.add(b, t.whole(b, s), in)
}

// whole replaces NoVal in a state.
func (t *Terms) whole(b *Builder, s []Val) []Val {
	s = append([]Val{}, s...)
	for k, v := range s {
		if v == NoVal {
			s[k] = b.Const(t.s.Types[k], 0)
		}
	}
	return s
}

// End returns the result.
func (t *Terms) End(b *Builder, s []Val) Val { return t.s.end(b, t.whole(b, s)) }

// Bounded makes a sum of f64 in two words one that may lose bits and still be sure of its rounding:
// see EndBounded. It reports whether it did.
func (t *Terms) Bounded() bool {
	t.signs = t.s.class == Sum && t.s.elem == types.F64 && len(t.s.Types) == FastLevels+1
	return t.signs
}

// EndBounded returns the result of n contributions, an f64. If none was negative, the first word
// never shrank. Each of its errors is then at most u times its last value, u = 2^-53, the second
// word at most n u times that, and what the second one lost at most (n u)^2 (N. Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, section 4.2). The result is sure where the sum less this
// bound and the sum with it are rounded alike. The bound is doubled, for it is computed with errors
// itself, and has a part for those of the differences below.
func (t *Terms) EndBounded(b *Builder, s []Val, n Val) Val {
	float := func(x float64) Val { return b.Const(types.F64, math.Float64bits(x)) }
	sum, rest, lost := s[0], s[1], s[t.s.Lost]
	bound := b.Op(Mul, b.Op(Mul, b.Op(Mul, n, n), float(0x1p-105)), sum)
	bound = b.Op(Add, b.Op(Add, bound, b.Op(Mul, b.Op(Abs, rest), float(0x1p-51))), float(0x1p-1000))
	low, high := b.Op(Add, sum, b.Op(Sub, rest, bound)), b.Op(Add, sum, b.Op(Add, rest, bound))
	sure := b.Op(And, b.Op(Le, b.Const(types.I64, 0), lost), b.Op(Eq, low, high))
	exact := b.Op(Eq, b.Op(Shl, lost, b.Const(types.I64, 1)), b.Const(types.I64, 0))
	b.Check(Uncertain, b.Op(Or, exact, sure))
	return b.Op(Add, sum, rest)
}
