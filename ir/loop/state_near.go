package loop

// This file represents exact sums of numbers of about one known size, at half the cost of a
// cascade.
//
// A state has some sums: each adds the errors of the one before it. They begin with 1.5 times a power of
// two, in the middle of a binade, so high that they stay in it. Then no number is larger than the sum that
// it is added to. So three operations give the sum and its error exactly (T. Dekker, "A floating-point
// technique for extending the available precision", 1971, theorem 4.7), where a cascade takes six. A sum
// that leaves its binade has another exponent at some step. The state notes that.

import (
	"math"

	"flow/ir/types"
)

// NearLevels asks StateOf for states of numbers of about one size, which take numbers from 2^-24 to 8
// times that size. NearLevels-1 asks for sums of three words, which take 2^-53 to 2^13 times. Classes
// that have no such state get cascades of FastLevels. Below the sums a state has two more words: the
// bits of errors that did not fit, at Lost, and those in which the first sum differed from the one
// before it.
const NearLevels = -FastLevels

const (
	// nearRoom is from the exponent of the numbers to that of the sum, wideRoom that of three words.
	nearRoom, wideRoom = 14, 24
	// nearDrop is from the exponent of a sum to that of the sum of its errors. An error is at most
	// half a unit in the last place of the sum, so that NearCount/4 of them stay in their binade.
	nearDrop = 39
	// nearMost bounds the exponents of the numbers: the sums must be finite and normal.
	nearMost = 900
)

// NearCount is the most numbers of a window whose states have at least four lanes.
const NearCount = 1 << 15

// nearState is the state of sums of so many words of numbers of about one size, or nil.
func nearState(c Class, e types.Elem, levels int) *State {
	if c != Sum || !e.IsFloat() {
		return nil
	}
	st := exactState(c, e, levels)
	st.Types = append(st.Types, types.I64)
	st.Empty = append(st.Empty, 0)
	st.near = true
	st.add = func(b *Builder, s, in []Val) []Val {
		differ := func(all, x, y Val) Val { return b.Op(Or, all, b.Op(Xor, b.Op(Bits, x), b.Op(Bits, y))) }
		x := b.to(types.F64, in[0])
		var next []Val
		for k, was := range s[:levels-1] {
			next = append(next, b.Op(Add, was, x))
			x = minus(b, x, b.Op(Sub, next[k], was))
		}
		last := s[levels-1]
		rest := b.Op(Add, last, x)
		got := minus(b, rest, last)
		return append(next, rest, differ(s[levels], x, got), differ(s[levels+1], next[0], s[0]))
	}
	// merge is that of opened states.
	merge := st.merge
	st.merge = func(b *Builder, s, t []Val) []Val {
		return append(merge(b, s[:levels+1], t[:levels+1]), s[levels+1])
	}
	return st
}

// Near reports a state of numbers of about one size. Its first words are those of From until it is
// opened, which comes before it is merged or read.
func (s *State) Near() bool { return s.near }

// From returns word k before the first contribution, of numbers whose magnitude is about 2^e or
// less.
func (s *State) From(k, e int) Word {
	if !s.near || k >= s.Lost {
		return s.Empty[k]
	}
	room := nearRoom
	if s.Lost > FastLevels {
		room = wideRoom
	}
	return math.Float64bits(math.Ldexp(1.5, min(max(e, -nearMost), nearMost)+room-k*nearDrop))
}

// Open returns the function of a state and of the words it began with that gives the state of a
// cascade with the same sum. A sum less what it began with is exact, as both are of one binade.
func (s *State) Open() *Function {
	params := append(append([]types.Elem{}, s.Types...), s.Types...)
	return NewFunction("open", params, func(b *Builder, v []Val) []Val {
		from := v[len(s.Types):]
		var out []Val
		for k := range s.Lost {
			out = append(out, b.Op(Sub, v[k], from[k]))
		}
		steps := b.Op(Shr, v[s.Lost+1], b.Const(types.I64, 52))
		return append(out, b.Op(Or, v[s.Lost], steps), b.Const(types.I64, 0))
	})
}
