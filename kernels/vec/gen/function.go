package main

// This file is the language in which functions of one number or of two are written, once: straight-line
// code of IEEE operations whose results have the same bits everywhere. It builds bodies of the loop
// form, which function_go.go prints as Go.
//
// A function has no branches but `when`, a region that is skipped where it is not needed, and `repeat`,
// one that is done again as long as it is needed: everything else is computed and selected.

import (
	"maps"
	"math"
	"slices"

	"flow/ir/loop"
	"flow/ir/types"
)

// value is a constant or what an operation computes: a number (f64), a word of 64 bits (i64) or a truth
// (bool).
type value struct {
	elem  types.Elem
	konst bool
	bits  uint64 // of a constant
	at    loop.Val
}

// table is words in memory that functions look up.
type table struct {
	name, doc string
	words     []uint64
}

// function is one function of x, or of x and a second number.
type function struct {
	name, doc string
	body      *loop.Function
	tables    []*table // those of the body

	b      *loop.Builder
	consts map[constant]loop.Val // that are visible
}

type constant struct {
	elem types.Elem
	bits uint64
}

// define writes a function of one number.
func define(name, doc string, body func(f *function, x *value) *value) *function {
	return defined(name, doc, 1, func(f *function, in []*value) *value { return body(f, in[0]) })
}

// define2 writes a function of two.
func define2(name, doc string, body func(f *function, x, y *value) *value) *function {
	return defined(name, doc, 2, func(f *function, in []*value) *value { return body(f, in[0], in[1]) })
}

func defined(name, doc string, n int, body func(f *function, in []*value) *value) *function {
	f := &function{name: name, doc: doc, consts: map[constant]loop.Val{}}
	f.body = loop.NewFunction(name, slices.Repeat([]types.Elem{types.F64}, n), func(b *loop.Builder, v []loop.Val) []loop.Val {
		f.b = b
		return f.refs([]*value{body(f, f.values(v))})
	})
	f.body.Doc = name + " " + doc
	return f
}

// k is a constant number.
func k(c float64) *value {
	return &value{elem: types.F64, konst: true, bits: math.Float64bits(c)}
}

// w is a constant word.
func w(c uint64) *value { return &value{elem: types.I64, konst: true, bits: c} }

// constant is a constant in the body, written where it is first needed.
func (f *function) constant(e types.Elem, bits uint64) loop.Val {
	c := constant{e, bits}
	v, ok := f.consts[c]
	if !ok {
		v = f.b.Const(e, bits)
		f.consts[c] = v
	}
	return v
}

// ref is a value in the body.
func (f *function) ref(v *value) loop.Val {
	if v.konst {
		return f.constant(v.elem, v.bits)
	}
	return v.at
}

// word is the bits of a value.
func (f *function) word(v *value) loop.Val {
	switch {
	case v.konst:
		return f.constant(types.I64, v.bits)
	case v.elem == types.F64:
		return f.b.Op(loop.Bits, v.at)
	}
	return v.at
}

func (f *function) refs(list []*value) []loop.Val {
	out := make([]loop.Val, len(list))
	for k, v := range list {
		out[k] = f.ref(v)
	}
	return out
}

// value and values are values of the body.
func (f *function) value(v loop.Val) *value { return &value{elem: f.b.Type(v), at: v} }

func (f *function) values(list []loop.Val) []*value {
	out := make([]*value, len(list))
	for k, v := range list {
		out[k] = f.value(v)
	}
	return out
}

func (f *function) op(c loop.Code, args ...*value) *value { return f.value(f.b.Op(c, f.refs(args)...)) }

func (f *function) add(a, b *value) *value    { return f.op(loop.Add, a, b) }
func (f *function) sub(a, b *value) *value    { return f.op(loop.Sub, a, b) }
func (f *function) mul(a, b *value) *value    { return f.op(loop.Mul, a, b) }
func (f *function) div(a, b *value) *value    { return f.op(loop.Div, a, b) }
func (f *function) sqrt(a *value) *value      { return f.op(loop.Sqrt, a) }
func (f *function) fma(a, b, c *value) *value { return f.op(loop.FMA, a, b, c) }
func (f *function) round(a *value) *value     { return f.op(loop.Nearest, a) } // to integral, ties to even
func (f *function) floor(a *value) *value     { return f.op(loop.Floor, a) }
func (f *function) plus(a, b *value) *value   { return f.op(loop.Add, a, b) } // of words
func (f *function) minus(a, b *value) *value  { return f.op(loop.Sub, a, b) }
func (f *function) less(a, b *value) *value   { return f.op(loop.Lt, a, b) }
func (f *function) equal(a, b *value) *value  { return f.op(loop.Eq, a, b) }

// fnma is c - a b, fms a b - c, both rounded once.
func (f *function) fnma(a, b, c *value) *value { return f.fma(f.op(loop.Neg, a), b, c) }

func (f *function) fms(a, b, c *value) *value {
	x, y := f.ref(a), f.ref(b)
	return f.fma(f.value(x), f.value(y), f.op(loop.Neg, c))
}

// lesser is a if a < b, else b; greater is a if a > b, else b.
func (f *function) lesser(a, b *value) *value { return f.pick(f.less(a, b), a, b) }

func (f *function) greater(a, b *value) *value {
	x := f.value(f.ref(a))
	return f.pick(f.less(b, x), x, b)
}

// The logic of bits: of words and of numbers, whose result is a number.
func (f *function) and(a, b *value) *value { return f.logic(loop.And, a, b) }
func (f *function) or(a, b *value) *value  { return f.logic(loop.Or, a, b) }
func (f *function) xor(a, b *value) *value { return f.logic(loop.Xor, a, b) }

func (f *function) logic(c loop.Code, a, b *value) *value {
	return f.like(a, f.b.Op(c, f.word(a), f.word(b)))
}

// andNot is b where a has no bits.
func (f *function) andNot(a, b *value) *value {
	return f.like(b, f.b.Op(loop.And, f.b.Op(loop.Not, f.word(a)), f.word(b)))
}

// like is a word as the kind of a.
func (f *function) like(a *value, word loop.Val) *value {
	if a.elem == types.F64 {
		return f.numberOf(f.value(word))
	}
	return f.value(word)
}

func (f *function) shiftLeft(a *value, by uint64) *value  { return f.op(loop.Shl, a, w(by)) }
func (f *function) shiftRight(a *value, by uint64) *value { return f.op(loop.Shr, a, w(by)) }
func (f *function) shiftLeftBy(a, b *value) *value        { return f.op(loop.Shl, a, b) } // 64 and more give 0
func (f *function) shiftRightBy(a, b *value) *value       { return f.op(loop.Shr, a, b) }

// negative is the top bit of a word.
func (f *function) negative(a *value) *value { return f.less(f.value(f.word(a)), w(0)) }

// pick is a where c holds, b elsewhere.
func (f *function) pick(c, a, b *value) *value { return f.op(loop.Select, c, a, b) }

// bitsOf and numberOf are the same bits as another kind.
func (f *function) bitsOf(a *value) *value   { return f.op(loop.Bits, a) }
func (f *function) numberOf(a *value) *value { return f.op(loop.F64Bits, a) }

// lookup is the word in a table at an index, look the number.
func (f *function) lookup(t *table, index *value) *value { return f.lookAs(types.I64, t, index) }
func (f *function) look(t *table, index *value) *value   { return f.lookAs(types.F64, t, index) }

func (f *function) lookAs(e types.Elem, t *table, index *value) *value {
	n := slices.Index(f.tables, t)
	if n < 0 {
		n = f.b.Table(e, t.words)
		f.tables = append(f.tables, t)
	}
	return f.value(f.b.Look(n, f.word(index)))
}

// bin is the number in a table of 16 or 32 at the low bits of index.
func (f *function) bin(t *table, index *value) *value {
	return f.look(t, f.and(index, w(uint64(len(t.words)-1))))
}

// inside is what body returns. Constants that it writes are not visible outside.
func (f *function) inside(body func() []*value) []loop.Val {
	outer := f.consts
	f.consts = maps.Clone(outer)
	defer func() { f.consts = outer }()
	return f.refs(body())
}

// whenAll is what body returns where c holds, and other elsewhere.
func (f *function) whenAll(c *value, other []*value, body func() []*value) []*value {
	cond, out := f.ref(c), f.refs(other)
	var gives []types.Elem
	for _, v := range other {
		gives = append(gives, v.elem)
	}
	return f.values(f.b.If(cond, gives, func() []loop.Val { return f.inside(body) }, func() []loop.Val { return out }))
}

// when is whenAll of one value.
func (f *function) when(c, other *value, body func() *value) *value {
	return f.whenAll(c, []*value{other}, func() []*value { return []*value{body()} })[0]
}

// repeat is what body makes of x, done again as long as the truth that it returns, too, holds.
func (f *function) repeat(x *value, body func(x *value) (next, again *value)) *value {
	rounds := loop.Index{Name: f.b.Name("r"), Range: loop.Range{Kind: loop.Forever, By: 1}}
	return f.value(f.b.For(rounds, []loop.Val{f.ref(x), f.b.Const(types.Bool, 1)}, func(carried []loop.Val) []loop.Val {
		f.b.Break(f.b.Op(loop.Not, carried[1]))
		return f.inside(func() []*value {
			next, again := body(f.value(carried[0]))
			return []*value{next, again}
		})
	})[0])
}

// magic has its unit at 1: adding it rounds a number below 2^51 to an integral one, which is then
// in its low bits.
const magic = 0x1.8p52

// integral is the integral number nearest to a*b, and the word whose low bits it is.
func (f *function) integral(a, b *value) (n, bits *value) {
	t := f.fma(a, b, k(magic))
	return f.sub(t, k(magic)), f.bitsOf(t)
}

// scale is p * 2^n rounded once, for p that is 0 or near 1 and an integral |n| < 2046.
func (f *function) scale(p, n *value) *value { return f.op(loop.Scale, p, n) }

// polynomial is c[0] + c[1] x + ...: even and odd powers apart, which halves the wait.
func (f *function) polynomial(x *value, c []float64) *value {
	if len(c) < 4 {
		return f.horner(x, c)
	}
	return f.polynomialOf(x, f.mul(x, x), c)
}

// polynomialOf is that with z = x^2.
func (f *function) polynomialOf(x, z *value, c []float64) *value {
	var even, odd []float64
	for i, v := range c {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	return f.fma(f.horner(z, odd), x, f.horner(z, even))
}

func (f *function) horner(x *value, c []float64) *value {
	if len(c) == 1 {
		return k(c[0])
	}
	p := f.fma(k(c[len(c)-1]), x, k(c[len(c)-2]))
	for i := len(c) - 3; i >= 0; i-- {
		p = f.fma(p, x, k(c[i]))
	}
	return p
}

// fastTwoSum is a + b rounded and the error, for |a| >= |b| or a = 0 (T. Dekker, 1971).
func (f *function) fastTwoSum(a, b *value) (s, e *value) {
	s = f.add(a, b)
	return s, f.add(f.sub(a, s), b)
}

// twoSum is a + b rounded and the error (D. Knuth, TAOCP 2, 4.2.2).
func (f *function) twoSum(a, b *value) (s, e *value) {
	s = f.add(a, b)
	bb := f.sub(s, a)
	return s, f.add(f.sub(a, f.sub(s, bb)), f.sub(b, bb))
}

// abs clears the sign bit.
func (f *function) abs(x *value) *value { return f.andNot(k(math.Copysign(0, -1)), x) }

// signOf is the sign bit alone.
func (f *function) signOf(x *value) *value { return f.and(x, k(math.Copysign(0, -1))) }

// inf is positive.
var inf = math.Inf(1)

// nan is the one that functions make.
var nan = k(math.NaN())
