package loop

// This file offers reductions whose contributions are written one by one, for callers that know
// their number.

import (
	"fmt"
	"math"
	"slices"

	"flow/ir/types"
)

// state returns the description of the words that carry the contributions.
func (t *Terms) state() *State { return StateOf(t.class, t.elem, t.levels) }

// TermsOf returns a reduction of contributions of e. It returns nil if a few values cannot carry it, or
// if their order counts, as that of a product of floats does. Exact sums have this many levels, 2
// or 3 (f32: 2). Bits lost beyond them fail the check Uncertain. The indices of an extreme's
// contributions ascend.
func TermsOf(c Class, e types.Elem, levels int) *Terms {
	if e == types.F32 {
		levels = FastLevels
	}
	s := StateOf(c, e, levels)
	if s == nil || s.end == nil || !c.Free(e) {
		return nil
	}
	return &Terms{class: c, elem: e, levels: levels, watched: true}
}

// Empty returns the types and the words of the state before the first contribution.
func (t *Terms) Empty() (elems []types.Elem, words []Word) {
	state := t.state()
	for k, e := range state.Types {
		if k != state.Lost || t.watched {
			elems, words = append(elems, e), append(words, state.Empty[k])
		}
	}
	if t.bounded {
		elems, words = append(elems, types.F64), append(words, 0)
	}
	return elems, words
}

// Begin returns the state before the first contribution.
func (t *Terms) Begin(b *Builder) (out []Val) {
	elems, words := t.Empty()
	for k, e := range elems {
		out = append(out, b.Const(e, words[k]))
	}
	return out
}

// String returns the reduction as in the text of a nest.
func (t *Terms) String() string {
	s := fmt.Sprintf("%s %v %d", t.class.Info().Name, t.elem, t.levels)
	if t.bounded {
		s += " bounded"
	}
	if t.watched {
		s += " watched"
	}
	return s
}

// MergeTerms is at least as many contributions as the states of eight lanes add to the last word of a
// bounded sum when they merge.
const MergeTerms = 32

// merges reports whether states merge.
func (t *Terms) merges() bool {
	state := t.state()
	return !state.Ordered && !slices.ContainsFunc(state.Types, func(e types.Elem) bool { return e != types.F64 && e != types.I64 })
}

// Merge returns the function that merges two states.
func (t *Terms) Merge() *Function {
	elems, _ := t.Empty()
	n := len(elems)
	return NewFunction("merge", slices.Concat(elems, elems), func(b *Builder, v []Val) []Val {
		if s := slices.Clone(v[:n]); t.bounded {
			return t.mergeBounded(b, s, v[n:])
		}
		return t.state().merge(b, v[:n], v[n:])
	})
}

// mergeBounded adds the words of u to those of s.
func (t *Terms) mergeBounded(b *Builder, s, u []Val) []Val {
	state := t.state()
	last, most := state.sum.levels-1, len(s)-1
	for k := range last {
		t.pushBounded(b, s, k, u[k])
	}
	size := b.Op(Add, s[most], u[most]) // at least that of u's last word
	t.pushBounded(b, s, last, u[last])
	s[most] = size
	if t.watched {
		s[state.Lost] = b.Op(Or, s[state.Lost], u[state.Lost])
	}
	return s
}

// sums reports an exact sum of f64. Its state starts with the words of the sum, then the lost bits
// and, for a mean, the count.
func (t *Terms) sums() bool {
	return (t.class == Sum || t.class == Mean) && t.elem == types.F64
}

// First returns the state after the first contribution. Words that are still 0 are NoVal: no loop
// carries such a state.
func (t *Terms) First(b *Builder, in []Val) []Val {
	state := t.state()
	if t.some = true; t.extreme() {
		return []Val{b.to(state.Types[0], in[0]), in[1]}
	}
	if !t.sums() {
		return state.add(b, t.Begin(b), in)
	}
	s := make([]Val, len(state.Types))
	for k := range s {
		s[k] = NoVal
	}
	s[0] = in[0]
	if t.class == Mean {
		s[len(s)-1] = b.Const(types.I64, 1)
	}
	return s
}

// Balanced returns the state after n contributions to a least or greatest float, as a tree, since
// in a chain each operation on floats waits for the one before it. It returns nil for other
// reductions.
func (t *Terms) Balanced(b *Builder, n int, in func(k int) []Val) []Val {
	s := t.state()
	if s.word == nil {
		return nil
	}
	var tree func(k, n int) Val
	tree = func(k, n int) Val {
		if n == 1 {
			return s.word(b, in(k))
		}
		return b.Op(s.op, tree(k, n/2), tree(k+n/2, n-n/2))
	}
	return s.merge(b, t.Begin(b), []Val{tree(0, n)})
}

// Add returns the state after one more contribution.
func (t *Terms) Add(b *Builder, s, in []Val) []Val {
	state := t.state()
	switch {
	case t.bounded:
		return t.addBounded(b, s, b.to(types.F64, in[0]))
	case t.extreme():
		return t.later(b, s, in)
	case !t.sums() || s[state.Lost] != NoVal:
		return state.add(b, s, in)
	}
	for k := range state.Lost {
		if s[k] == NoVal { // the error is the word
			out := append([]Val{}, s...)
			x := in[0]
			for i := range k {
				out[i], x = two(b, out[i], x)
			}
			out[k] = x
			if t.class == Mean {
				out[len(out)-1] = b.Op(Add, s[len(s)-1], b.Const(types.I64, 1))
			}
			return out
		}
	}
	// A last word that is not finite would not be noticed from here on.
	last := s[state.Lost-1]
	out := state.add(b, t.whole(b, s), in)
	out[state.Lost] = b.Op(Or, out[state.Lost], b.Op(Bits, b.Op(Sub, last, last)))
	return out
}

// extreme reports the index of an extreme.
func (t *Terms) extreme() bool { return t.class == ArgLeast || t.class == ArgGreatest }

// later returns the state of an extreme after a contribution with a greater index: the best value so
// far stays unless the new one is ahead of it, and a NaN stays always.
func (t *Terms) later(b *Builder, s, in []Val) []Val {
	x, best := b.to(t.state().Types[0], in[0]), s[0]
	low, high := best, x
	if t.class == ArgGreatest {
		low, high = x, best
	}
	stays := b.Op(Le, low, high)
	if t.elem.IsFloat() {
		stays = b.Op(Or, stays, b.Op(Ne, best, best))
	}
	if !t.some {
		stays = b.Op(And, stays, b.Op(Le, b.Const(types.I64, 0), s[1]))
	}
	return []Val{b.Op(Select, stays, best, x), b.Op(Select, stays, s[1], in[1])}
}

// whole replaces NoVal in a state.
func (t *Terms) whole(b *Builder, s []Val) []Val {
	s = append([]Val{}, s...)
	for k, v := range s {
		if v == NoVal {
			s[k] = b.Const(t.state().Types[k], 0)
		}
	}
	return s
}

// End returns the result.
func (t *Terms) End(b *Builder, s []Val) Val { return t.state().end(b, t.whole(b, s)) }

// watchedBelow bounds the contributions of a sum that notices lost bits. A bounded sum of more does
// not. The words of a sum without lost bits are exact, but a bound alone cannot show that. The
// difference matters if the sum is half way between two floats. Of n numbers of similar size that is
// one sum in n. Masks make many contributions zero. The sum of the others is then often zero, or too
// small for the bound. So sums under a mask notice lost bits for every n.
const watchedBelow = 1024

// Bounded makes a sum of floats one that may lose bits and still be sure of its rounding: see
// EndBounded. n is the number of contributions, or -1 where the run tells it. masked is the result
// of Builder.Masked for one of them. Bounded reports whether it did.
func (t *Terms) Bounded(n int64, masked bool) bool {
	if t.bounded = t.class == Sum && t.elem.IsFloat(); t.bounded {
		// Sums of f32 have no errors, unless their numbers are far apart.
		t.watched = t.elem != types.F32 && (n < watchedBelow || masked)
	}
	return t.bounded
}

// addBounded adds x.
func (t *Terms) addBounded(b *Builder, s []Val, x Val) []Val {
	s = append([]Val{}, s...)
	t.pushBounded(b, s, 0, x)
	return s
}

// pushBounded adds x to the words of s from a level on.
func (t *Terms) pushBounded(b *Builder, s []Val, level int, x Val) {
	state := t.state()
	last := state.sum.levels - 1
	for k := level; k < last; k++ {
		s[k], x = two(b, s[k], x)
	}
	y := s[last]
	s[last] = b.Op(Add, y, x)
	if t.watched {
		lost := b.Op(Or, unlike(b, b.Op(Sub, s[last], y), x), unlike(b, b.Op(Sub, s[last], x), y))
		s[state.Lost] = b.Op(Or, s[state.Lost], lost)
	}
	most := len(s) - 1
	s[most] = b.Op(Add, s[most], b.Op(Abs, x))
}

// LeftOut returns bounded state s, noting that a contribution of a magnitude below least is not in it
// where c holds. It adds 2^60 least to the sum of magnitudes, so that the bound of EndBounded is larger
// than the contribution.
func (t *Terms) LeftOut(b *Builder, s []Val, c Val, least float64) []Val {
	state := t.state()
	s = append([]Val{}, s...)
	float := func(x float64) Val { return b.Const(types.F64, math.Float64bits(x)) }
	most := len(s) - 1
	s[most] = b.Op(Add, s[most], b.Op(Select, c, float(0x1p60*least), float(0)))
	if t.watched {
		s[state.Lost] = b.Op(Or, s[state.Lost], b.Op(Bits, b.Op(Select, c, float(1), float(0))))
	}
	return s
}

// EndBounded returns the result of n contributions, an f64. All that the words are not sure of is
// the sum of the errors that the last one took. Their magnitudes add up to m, so that this sum is
// wrong by at most n u m, u = 2^-53 (N. Higham, Accuracy and Stability of Numerical Algorithms, 2002,
// section 4.2), and m is at least the magnitude of the last word. The result is sure where the sum
// less a bound and the sum with it are rounded alike. The bound is twice n u m, for m is rounded
// itself, and 8 u m more for the rounding of the word less the bound. Where n u m underflows,
// numbers are so small that nothing was rounded. Numbers that are not finite have no bound.
func (t *Terms) EndBounded(b *Builder, s []Val, n Val) Val {
	state := t.state()
	float := func(x float64) Val { return b.Const(types.F64, math.Float64bits(x)) }
	part := b.Op(Add, b.Op(Mul, n, float(0x1p-52)), float(0x1p-50))
	m := s[len(s)-1]
	bound := b.Op(Mul, m, part)
	var exact Val
	if t.watched {
		exact = b.Op(Eq, b.Op(Shl, s[state.Lost], b.Const(types.I64, 1)), b.Const(types.I64, 0))
	}
	e := t.class.Gives(t.elem)
	if state.sum.levels == FastLevels {
		low := roundTwo(b, e, s[0], b.Op(Sub, s[1], bound))
		sure := b.Op(Eq, low, roundTwo(b, e, s[0], b.Op(Add, s[1], bound)))
		if !t.watched {
			b.Check(Uncertain, sure)
			return low
		}
		b.Check(Uncertain, b.Op(Or, exact, sure))
		return roundTwo(b, e, s[0], s[1])
	}
	if !t.watched {
		exact = b.Op(Eq, m, b.Const(types.F64, 0))
	}
	x, y, z, fine := threeOf(b, s[0], s[1], s[2])
	exact = b.Op(And, exact, fine)
	bound = b.Op(Add, bound, b.Op(Add, b.Op(Abs, z), b.Op(Mul, b.Op(Abs, y), float(0x1p-50))))
	low, high := b.Op(Add, x, b.Op(Sub, y, bound)), b.Op(Add, x, b.Op(Add, y, bound))
	b.Check(Uncertain, b.Op(Or, exact, b.Op(Eq, low, high)))
	return b.Op(Add, b.Op(Select, exact, x, low), b.Const(types.F64, 0)) // a sum of 0 is +0
}
