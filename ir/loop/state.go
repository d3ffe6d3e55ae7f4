package loop

// This file represents a reduction by a few words, so that targets need to know no class: how a
// contribution changes them, how two states merge, and which result they stand for.
//
// An exact sum is a cascade: every word takes the rounding error of the one before (T. Ogita, S.
// Rump & S. Oishi, "Accurate sum and dot product", 2005), and the error of the last word is
// watched. As long as it is 0, the words add up to the exact sum.

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"flow/ir/types"
	"flow/ir/value"
)

const (
	// FastLevels is the number of words of a cascade for numbers of similar size.
	FastLevels = 2
	// DeepLevels suffices for numbers whose exponents are within some 600 of each other.
	DeepLevels = 12
)

// Levels lists the numbers of words of cascades, in the order in which they are tried. A cascade of 3
// suffices for exponents within some 90 of each other, one of 5 within some 200.
var Levels = []int{FastLevels, 3, 5, 8, DeepLevels}

// Uncertain is the site of checks that a state holds the exact result. Where one fails, the point
// has not failed: it must be evaluated by the definition.
const Uncertain = 1 << 30

// State describes the words that carry the contributions to one element of a result. All words are
// f64 or i64.
type State struct {
	Types []types.Elem
	Empty []Word // before the first contribution
	// Lost is the word that is nonzero (apart from its sign) if the state lost bits; -1: it
	// never does.
	Lost int
	// Ordered: contributions must come in order, and states do not merge.
	Ordered bool

	near   bool // see Near
	bound  bool // see Nearest
	class  Class
	elem   types.Elem                     // of the first value of a contribution
	levels int                            // of exact sums
	op     Code                           // of one word: it merges two
	word   func(b *Builder, in []Val) Val // of one contribution to a least or greatest float; nil: of no other
	add    func(b *Builder, s, in []Val) []Val
	merge  func(b *Builder, s, t []Val) []Val
	end    func(b *Builder, s []Val) Val

	sum, squares cascade
	count        int // the word that counts contributions, or -1

	adds, merges made
}

// made is a function that is made when it is first needed.
type made struct {
	once sync.Once
	f    *Function
}

func (m *made) make(f func() *Function) *Function {
	m.once.Do(func() { m.f = f() })
	return m.f
}

// states holds the state of each stateKey. A state does not change once it is here.
var states sync.Map

type stateKey struct {
	class  Class
	elem   types.Elem
	levels int
}

// StateOf returns the state of a class for contributions of e, with this many levels for exact
// sums.
func StateOf(c Class, e types.Elem, levels int) *State {
	key := stateKey{c, e, levels}
	if s, ok := states.Load(key); ok {
		return s.(*State)
	}
	var s *State
	if levels < 0 {
		s, levels = nearState(c, e, levels), FastLevels
	}
	if s == nil {
		s = exactState(c, e, levels)
	}
	if s == nil {
		s = plainState(c, e)
	}
	if s != nil {
		s.class, s.elem, s.levels = c, e, levels
	}
	first, _ := states.LoadOrStore(key, s)
	return first.(*State)
}

// Add returns the function of a state and a contribution that gives the next state. Its name tells
// it from those of other classes, as texts of nests have names alone.
func (s *State) Add() *Function {
	return s.adds.make(func() *Function {
		name, n := fmt.Sprintf("%s_%v_%d", s.class.Info().Name, s.elem, len(s.Types)), len(s.Types)
		if s.near {
			name += "_near" // a cascade may have as many words
			if s.bound {
				name += "est"
			}
		}
		return NewFunction(name, slices.Concat(s.Types, s.contribution()), func(b *Builder, v []Val) []Val { return s.add(b, v[:n], v[n:]) })
	})
}

// Merge returns the function that merges two states.
func (s *State) Merge() *Function {
	return s.merges.make(func() *Function {
		n := len(s.Types)
		return NewFunction("merge", slices.Concat(s.Types, s.Types), func(b *Builder, v []Val) []Val { return s.merge(b, v[:n], v[n:]) })
	})
}

// Exact reports whether the words lost nothing.
func (s *State) Exact(words []Word) bool { return s.Lost < 0 || words[s.Lost]<<1 == 0 }

// Finish returns the result of several exact states of one element, as the class defines it.
func (s *State) Finish(states [][]Word) Word {
	if s.Lost >= 0 {
		n := 0
		for _, w := range states {
			if s.count >= 0 {
				n += int(w[s.count])
			}
		}
		return s.class.ofSums(s.elem, n, func(squares bool) exactSum {
			if squares {
				return s.squares.exactly(states)
			}
			return s.sum.exactly(states)
		})
	}
	words := states[0]
	for _, w := range states[1:] {
		words = s.Merge().Eval(slices.Concat(words, w)...)
	}
	return s.Result(words)
}

func (s *State) contribution() []types.Elem {
	list := []types.Elem{s.elem, s.elem}[:s.class.Info().Args]
	if s.class == ArgLeast || s.class == ArgGreatest {
		list[1] = types.I64
	}
	return list
}

// plainState returns the state of a class without rounding, or of an ordered one.
func plainState(c Class, e types.Elem) *State {
	one := func(word types.Elem, empty Word, op Code) *State {
		step := func(b *Builder, s, in []Val) []Val { return []Val{b.Op(op, s[0], b.to(word, in[0]))} }
		return &State{Types: []types.Elem{word}, Empty: []Word{empty}, Lost: -1, op: op, add: step, merge: step}
	}
	wide := types.F64
	if !e.IsFloat() {
		wide = types.I64
	}
	var s *State
	switch {
	case (c == Least || c == Greatest) && e.IsFloat():
		s = leastState(e, c == Least)
	case c == Sum && e == types.I64, c == Count:
		s = one(types.I64, 0, Add)
	case c == Product:
		s = one(types.I64, 1, Mul)
	case c == Any, c == Greatest && e == types.Bool:
		s = one(types.I64, 0, Or)
	case c == All, c == Least && e == types.Bool:
		s = one(types.I64, 1, And)
	case c == Least:
		s = one(types.I64, extreme(e, 1), Min)
	case c == Greatest:
		s = one(types.I64, extreme(e, -1), Max)
	case c == ArgLeast || c == ArgGreatest:
		s = argState(e, wide, c == ArgLeast)
	case c == Chain && e == types.I64:
		s = one(types.I64, 0, Add)
		s.add = func(b *Builder, s, in []Val) []Val { return []Val{b.Op(Add, s[0], b.Op(Mul, in[0], in[1]))} }
	case c == Chain:
		s = &State{Types: []types.Elem{types.F64}, Empty: []Word{0}, Lost: -1, Ordered: true}
		s.add = func(b *Builder, s, in []Val) []Val {
			return []Val{b.to(types.F64, b.Op(FMA, in[0], in[1], b.to(e, s[0])))}
		}
	default:
		return nil
	}
	if s.end == nil {
		s.end = func(b *Builder, s []Val) Val { return b.to(c.Gives(e), s[0]) }
	}
	return s
}

// leastState carries the least float, or the greatest as the least of the negated: Min of two floats
// takes fewer instructions than Max on processors that leave nans and zeros to the program.
func leastState(e types.Elem, least bool) *State {
	sign := func(b *Builder, x Val) Val {
		if least {
			return x
		}
		return b.Op(Neg, x)
	}
	s := extremeState(types.F64, Min)
	step := s.add
	word := func(b *Builder, in []Val) Val { return sign(b, b.to(types.F64, in[0])) }
	s.word = word
	s.add = func(b *Builder, s, in []Val) []Val { return step(b, s, []Val{word(b, in)}) }
	s.end = func(b *Builder, s []Val) Val { return b.to(e, sign(b, s[0])) }
	return s
}

// extremeState returns the state of a least (op Min) or greatest (op Max) float of type word.
func extremeState(word types.Elem, op Code) *State {
	sign := 1
	if op == Max {
		sign = -1
	}
	step := func(b *Builder, s, t []Val) []Val { return []Val{b.Op(op, s[0], t[0])} }
	return &State{Types: []types.Elem{word}, Empty: []Word{extreme(word, sign)}, Lost: -1, op: op, add: step, merge: step}
}

// Direct returns a state d of the same least or greatest float, whose word is the float itself, and the
// function from its word to that of s. Targets use it because vectors have more lanes of f32 than of
// f64, and because Max needs no change of sign. Both are nil for other reductions.
func (s *State) Direct() (d *State, word *Function) {
	op := Min
	switch {
	case !s.elem.IsFloat() || s.class != Least && s.class != Greatest:
		return nil, nil
	case s.class == Greatest:
		op = Max
	}
	d = extremeState(s.elem, op)
	d.class, d.elem = s.class, s.elem
	return d, NewFunction("word", d.Types, func(b *Builder, v []Val) []Val {
		x := b.to(types.F64, v[0])
		if op == Max {
			x = b.Op(Neg, x)
		}
		return []Val{x}
	})
}

// Result returns the result of one state that loses nothing.
func (s *State) Result(words []Word) Word {
	switch {
	case len(s.Types) > 1: // the index of an extreme
		return words[1]
	case s.Types[0] == types.F64:
		return fromFloat(s.elem, s.number(words[0]))
	}
	return words[0]
}

// number returns the value of a float state of one word. An extreme that is a NaN is the canonical NaN.
func (s *State) number(w Word) float64 {
	x := toF64(w)
	switch {
	case s.class != Least && s.class != Greatest:
		return x
	case x != x:
		return math.NaN()
	case s.class == Greatest:
		return -x
	}
	return x
}

// Results stores the results of states from..to-1 in out, from element at of its memory on, step
// elements apart. words holds the first words of all places, then their second words. It is for classes
// whose states lose nothing.
func (s *State) Results(out *value.Dense, at, step int, words []Word, places, from, to int) {
	words = words[(len(s.Types)-1)*places:][from:to] // of two words the second is the index of an extreme
	switch {
	case out.Elem == types.F64:
		for k, w := range words {
			out.F64[at+k*step] = s.number(w)
		}
	case out.Elem == types.F32:
		for k, w := range words {
			out.F32[at+k*step] = float32(s.number(w))
		}
	case out.Elem == types.Bool:
		for k, w := range words {
			out.Bool[at+k*step] = uint8(w)
		}
	default:
		for k, w := range words {
			out.I64[at+k*step] = int64(w)
		}
	}
}

// to converts a value to another element type if needed.
func (b *Builder) to(e types.Elem, v Val) Val {
	if b.Type(v) == e {
		return v
	}
	return b.Op(map[types.Elem]Code{types.F64: ToF64, types.F32: ToF32, types.I64: ToI64, types.Bool: ToBool}[e], v)
}

// argState carries the best value and its index, -1 before the first. A NaN precedes every number;
// of equals the least index wins.
func argState(e, wide types.Elem, least bool) *State {
	choose := func(b *Builder, s, in []Val, some Val) []Val {
		in = []Val{b.to(wide, in[0]), in[1]}
		x, y := in[0], s[0]
		if !least {
			x, y = y, x
		}
		ahead, level := b.Op(Lt, x, y), b.Op(Eq, x, y)
		if e.IsFloat() {
			nan, was := b.Op(Ne, in[0], in[0]), b.Op(Ne, s[0], s[0])
			ahead = b.Op(Or, ahead, b.Op(And, nan, b.Op(Not, was)))
			level = b.Op(Or, level, b.Op(And, nan, was))
		}
		lower := b.Op(And, level, b.Op(Lt, in[1], s[1]))
		none := b.Op(Lt, s[1], b.Const(types.I64, 0))
		take := b.Op(Or, b.Op(Or, ahead, lower), none)
		if some != NoVal {
			take = b.Op(And, take, some)
		}
		return []Val{b.Op(Select, take, in[0], s[0]), b.Op(Select, take, in[1], s[1])}
	}
	return &State{
		Types: []types.Elem{wide, types.I64}, Empty: []Word{0, math.MaxUint64}, Lost: -1,
		add: func(b *Builder, s, in []Val) []Val { return choose(b, s, in, NoVal) },
		merge: func(b *Builder, s, t []Val) []Val {
			return choose(b, s, t, b.Op(Le, b.Const(types.I64, 0), t[1]))
		},
		end: func(_ *Builder, s []Val) Val { return s[1] },
	}
}

// MergeAll merges states of places with others. Their words are matrices, one after the other.
func (s *State) MergeAll(words, with []Word, places int) {
	if len(s.Types) > 1 {
		merge := s.Merge()
		args := make([]Word, 2*len(s.Types))
		for i := range places {
			for k := range s.Types {
				args[k], args[len(s.Types)+k] = words[k*places+i], with[k*places+i]
			}
			for k, w := range merge.Eval(args...) {
				words[k*places+i] = w
			}
		}
		return
	}
	for i, w := range with[:places] {
		words[i] = s.op.Eval(s.Types[0], words[i], w)
	}
}
