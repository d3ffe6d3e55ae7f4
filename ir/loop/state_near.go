package loop

// This file represents exact sums of numbers of about one known size, at half the cost of a
// cascade.
//
// A state has some sums: each adds the errors of the one before it. They begin with 1.5 times a power
// of two, in the middle of a binade, so high that they stay in it. Then no number is larger than the
// sum that it is added to. So three operations give the sum and its error exactly (T. Dekker, "A
// floating-point technique for extending the available precision", 1971, theorem 4.7), where a cascade
// takes six. A sum that leaves its binade has another exponent at some step. The state notes that.

import (
	"math"
	"slices"

	"flow/ir/types"
)

// NearLevels asks StateOf for states of numbers of about one size, which take numbers from 2^-24 to 8
// times that size. NearLevels-1 asks for sums of three words, which take 2^-53 to 2^13 times. Classes
// that have no such state get cascades of FastLevels. Below the sums a state has two more words: the
// bits of errors that did not fit, at Lost, and those in which the first sum differed from the one
// before it.
const NearLevels = -FastLevels

// BoundLevels asks StateOf for states of two sums and, at Lost, the bits in which the first sum
// differed from the one before it. Such a state does not notice which bits it loses. Nearest has a
// bound for them. Only sums and means of f64 have such states. Other classes and types get cascades of
// FastLevels.
const BoundLevels = -1

const (
	// nearRoom is the distance from the exponent of the numbers to that of the sum. wideRoom is that for
	// sums of three words, and boundRoom that for sums with a bound.
	nearRoom, wideRoom, boundRoom = 14, 24, 20
	// nearDrop is from the exponent of a sum to that of the sum of its errors. An error is at most
	// half a unit in the last place of the sum, so that NearCount/4 of them stay in their binade.
	nearDrop = 39
	// nearMost bounds the exponents of the numbers: the sums must be finite and normal.
	nearMost = 900
)

// NearCount is the most numbers of a window whose states have at least four lanes.
const NearCount = 1 << 15

// NearMost is the most numbers of a state with a bound: as many errors stay in the binade of their sum.
const NearMost = NearCount / 4

// nearState is the state of sums of numbers of about one size, or nil.
func nearState(c Class, e types.Elem, levels int) *State {
	bound := levels == BoundLevels && e == types.F64
	switch {
	case bound && (c == Sum || c == Mean):
		levels = FastLevels
	case c == Sum && e.IsFloat() && levels <= NearLevels:
		levels = -levels
	default:
		return nil
	}
	st := exactState(Sum, e, levels)
	if !bound {
		st.Types, st.Empty = append(st.Types, types.I64), append(st.Empty, 0)
	}
	st.near, st.bound = true, bound
	steps := len(st.Types) - 1
	st.add = func(b *Builder, s, in []Val) []Val {
		x, out := b.to(types.F64, in[0]), append([]Val{}, s...)
		for k, was := range s[:levels-1] {
			out[k] = b.Op(Add, was, x)
			x = minus(b, x, b.Op(Sub, out[k], was))
		}
		last := s[levels-1]
		out[levels-1] = b.Op(Add, last, x)
		if !bound {
			out[st.Lost] = differ(b, s[st.Lost], x, minus(b, out[levels-1], last))
		}
		out[steps] = differ(b, s[steps], out[0], s[0])
		return out
	}
	// merge is that of opened states without a bound.
	merge := st.merge
	st.merge = func(b *Builder, s, t []Val) []Val {
		return append(merge(b, s[:levels+1], t[:levels+1]), s[levels+1:]...)
	}
	return st
}

// differ adds the bits in which x and y differ to all.
func differ(b *Builder, all, x, y Val) Val { return b.Op(Or, all, unlike(b, x, y)) }

// Near reports whether s is a state of numbers of about one size. Its first words begin with those of
// From. Open comes before it is read, and before it is merged if it has no bound.
func (s *State) Near() bool { return s.near }

// From returns word k before the first contribution, of numbers whose magnitude is about 2^e or
// less.
func (s *State) From(k, e int) Word {
	if !s.near || k >= s.Lost {
		return s.Empty[k]
	}
	room := nearRoom
	switch {
	case s.bound:
		room = boundRoom
	case s.Lost > FastLevels:
		room = wideRoom
	}
	return math.Float64bits(math.Ldexp(1.5, min(max(e, -nearMost), nearMost)+room-k*nearDrop))
}

// Join returns the function that joins two states with a bound. Its operands are both states and the
// words that they began with, and its result is the state of the numbers of both. The difference of a
// sum and of what it began with is exact, because both are of one binade. Adding it to another sum of
// the binade is exact, too, as long as the result stays there. The function notes the bits in which
// each sum steps, which tell whether it does.
func (s *State) Join() *Function {
	n := len(s.Types)
	return NewFunction("join", slices.Concat(s.Types, s.Types, s.Types), func(b *Builder, v []Val) []Val {
		out, t, from := append([]Val{}, v[:n]...), v[n:2*n], v[2*n:]
		out[s.Lost] = b.Op(Or, v[s.Lost], t[s.Lost])
		for k := range s.Lost {
			out[k] = b.Op(Add, v[k], b.Op(Sub, t[k], from[k]))
			out[s.Lost] = differ(b, out[s.Lost], out[k], v[k])
		}
		return out
	})
}

// Open returns the function of a state and of the words it began with that gives the state of a
// cascade with the same sum. A sum less what it began with is exact, as both are of one binade.
func (s *State) Open() *Function {
	n := len(s.Types)
	return NewFunction("open", slices.Concat(s.Types, s.Types), func(b *Builder, v []Val) []Val {
		out, from := append([]Val{}, v[:n]...), v[n:]
		for k := range s.Lost {
			out[k] = b.Op(Sub, v[k], from[k])
		}
		if out[n-1] = b.Op(Shr, v[n-1], b.Const(types.I64, 52)); s.Lost < n-1 {
			out[s.Lost], out[n-1] = b.Op(Or, v[s.Lost], out[n-1]), b.Const(types.I64, 0)
		}
		return out
	})
}

// Nearest writes the sums or means of opened states with a bound, each rounded once, to every stride-th
// element of out. words has word k of all states before word k + 1. Each state has n numbers, whose
// size is 2^e. Nearest appends the places to doubts that may hold another float, and returns doubts.
//
// In its binade the second sum loses at most half a unit with each number, 2^-54 of the power of two
// that it began in. The slack is three times as much, since the sum of rest and slack is rounded, too.
func (s *State) Nearest(out []float64, stride int, words []Word, n, e int, doubts []int) []int {
	places := len(words) / len(s.Types)
	sums, rests, steps := words[:places], words[places:][:places], words[s.Lost*places:][:places]
	slack := float64(n) * toF64(s.From(1, e)) * 0x1p-52
	for i, w := range sums {
		sum, rest := toF64(w), toF64(rests[i])
		x := sum + (rest + slack)
		if x != sum+(rest-slack) || steps[i] != 0 {
			doubts = append(doubts, i)
		}
		if s.class == Mean {
			x /= float64(n)
		}
		out[i*stride] = x
	}
	return doubts
}

// Bound reports whether Nearest reads the state: whether it was asked for by BoundLevels.
func (s *State) Bound() bool { return s.bound }
