package loop

// This file represents exact sums of numbers of about one known size, at half the cost of a
// cascade.
//
// Both sums of such a state begin in the middle of a binade, with 1.5 times a power of two, so high
// that they stay in it. Then no number is larger than the sum that it is added to, and three
// operations give the sum and its error exactly (T. Dekker, "A floating-point technique for
// extending the available precision", 1971, theorem 4.7), where a cascade takes six. A sum that
// leaves its binade has another exponent at some step, which the state notes.

import (
	"math"

	"flow/ir/types"
)

// NearLevels asks StateOf for states of numbers of about one size. Classes that have none get
// cascades of FastLevels.
const NearLevels = 1

// The words of such a state. The first two are where the sums begin until it is opened.
const (
	nearSum  = iota
	nearRest // of the errors of the sum
	nearLost // the bits of errors that did not fit
	nearStep // the bits in which a sum differed from the one before it
)

const (
	// nearRoom is from the exponent of the numbers to that of the sum.
	nearRoom = 14
	// nearDrop is from the exponent of the sum to that of the sum of its errors. An error is at most
	// half a unit in the last place of the sum, so that NearCount of them stay in their binade.
	nearDrop = 53 - nearRoom
	// nearMost bounds the exponents of the numbers: the sums must be finite and normal.
	nearMost = 900
)

// NearCount is the most numbers of a window whose states have at least four lanes.
const NearCount = 1 << 15

// nearState is the state of sums of numbers of about one size, or nil.
func nearState(c Class, e types.Elem) *State {
	if c != Sum || !e.IsFloat() {
		return nil
	}
	st := exactState(c, e, FastLevels)
	st.Types = append(st.Types, types.I64)
	st.Empty = append(st.Empty, 0)
	st.near = true
	st.add = func(b *Builder, s, in []Val) []Val {
		x := b.to(types.F64, in[0])
		sum := b.Op(Add, s[nearSum], x)
		x = b.Op(Sub, x, b.Op(Sub, sum, s[nearSum]))
		rest := b.Op(Add, s[nearRest], x)
		got := b.Op(Sub, rest, s[nearRest])
		differ := func(all, x, y Val) Val { return b.Op(Or, all, b.Op(Xor, b.Op(Bits, x), b.Op(Bits, y))) }
		return []Val{sum, rest, differ(s[nearLost], x, got), differ(s[nearStep], sum, s[nearSum])}
	}
	// merge is that of opened states.
	merge := st.merge
	st.merge = func(b *Builder, s, t []Val) []Val {
		return append(merge(b, s[:nearStep], t[:nearStep]), s[nearStep])
	}
	return st
}

// Near reports a state of numbers of about one size. Its first words are those of From until it is
// opened, which comes before it is merged or read.
func (s *State) Near() bool { return s.near }

// From returns word k before the first contribution, of numbers whose magnitude is about 2^e or
// less.
func (s *State) From(k, e int) Word {
	e = min(max(e, -nearMost), nearMost) + nearRoom
	switch {
	case !s.near || k >= nearLost:
		return s.Empty[k]
	case k == nearRest:
		e -= nearDrop
	}
	return math.Float64bits(math.Ldexp(1.5, e))
}

// Open returns the function of a state and of the words it began with that gives the state of a
// cascade with the same sum. A sum less what it began with is exact, as both are of one binade.
func (s *State) Open() *Function {
	params := append(append([]types.Elem{}, s.Types...), s.Types...)
	return functionOf("open", params, func(b *Builder, v []Val) []Val {
		from := v[len(s.Types):]
		exponent := b.Const(types.I64, 52)
		lost := b.Op(Or, v[nearLost], b.Op(Shr, v[nearStep], exponent))
		return []Val{b.Op(Sub, v[nearSum], from[nearSum]), b.Op(Sub, v[nearRest], from[nearRest]), lost, b.Const(types.I64, 0)}
	})
}
