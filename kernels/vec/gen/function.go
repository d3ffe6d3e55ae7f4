package main

// This file is the language in which functions of one number or of two are written, once, for every
// machine: straight-line code on lanes, of IEEE operations whose results are the same bits
// everywhere. function_loop.go makes it bodies of loops, function_go.go makes it Go.
//
// A function has no branches but `when`, a region that is skipped where no lane needs it, and
// `repeat`, one that is done again as long as a lane needs it: everything else is computed and
// selected.

import (
	"math"
	"slices"
)

// kind is what a value is.
type kind uint8

const (
	number kind = iota // a float64
	word               // 64 bits
	truth
)

// value is what a step computes.
type value struct {
	kind  kind
	konst bool
	bits  uint64 // of a constant
	of    *value // the same lanes, seen as another kind
	id    int
}

// root is the value whose lanes v are.
func (v *value) root() *value {
	for v.of != nil {
		v = v.of
	}
	return v
}

// code is the operation of a step.
type code uint8

const (
	opAdd code = iota
	opSub
	opMul
	opDiv
	opSqrt
	opFMA     // a*b + c
	opFNMA    // c - a*b
	opFMS     // a*b - c
	opLesser  // a if a < b, else b
	opGreater // a if a > b, else b
	opRound   // to the nearest integral number, ties to even
	opFloor   // to the greatest integral number that is not above
	opAnd
	opAndNot // of the second with the first turned
	opOr
	opXor
	opPlus  // of words
	opMinus // of words
	opShiftLeft
	opShiftRight
	opShiftLeftBy // by another word; 64 and more give 0
	opShiftRightBy
	opLess
	opEqual
	opNegative // the top bit of a word
	opSelect   // of truth, then, else
	opScale    // a * 2^b, rounded once; c is b as opScale's other form has it: see scale
	opLookup   // the word, or the number, of a table at the index
	opBin      // the same of a table of 16 or 32 numbers, at the low bits of the index
	opView
	opWhen
	opAssign
	opEnd
	opRepeat
	opAgain // ends a repeat that is done again where the truth holds in some lane
)

// step is one operation. By is the distance of a shift, or the table.
type step struct {
	op    code
	dst   *value
	args  []*value
	by    uint64
	table *table
}

// table is words in memory that functions look up.
type table struct {
	name, doc string
	words     []uint64
}

// function is one function of x, or of x and second.
type function struct {
	name      string
	doc       string
	steps     []step
	x, second *value
	y         *value
	ids       int

	once map[*value]bool   // see usedOnce
	text map[*value]string // of the values that are written where they are used
}

// define writes a function of one number.
func define(name, doc string, body func(f *function, x *value) *value) *function {
	f := &function{name: name, doc: doc}
	f.x = f.fresh(number)
	f.y = body(f, f.x)
	f.prune()
	return f
}

// define2 writes a function of two.
func define2(name, doc string, body func(f *function, x, y *value) *value) *function {
	f := &function{name: name, doc: doc}
	f.x, f.second = f.fresh(number), f.fresh(number)
	f.y = body(f, f.x, f.second)
	f.prune()
	return f
}

// prune leaves out steps that make what nobody reads. In a repeat what comes later may be read
// earlier, so there it does nothing.
func (f *function) prune() {
	read, lanes := map[*value]bool{}, map[*value]bool{}
	mark := func(v *value) { read[v], lanes[v.root()] = true, true }
	mark(f.y)
	var kept []step
	for k := len(f.steps) - 1; k >= 0; k-- {
		s := f.steps[k]
		switch s.op {
		case opRepeat, opAgain:
			return
		case opAssign:
			if !lanes[s.dst.root()] {
				continue
			}
		case opWhen, opEnd:
		default:
			if !read[s.dst] && !(s.op != opView && lanes[s.dst]) {
				continue
			}
		}
		for _, a := range s.args {
			mark(a)
		}
		kept = append(kept, s)
	}
	slices.Reverse(kept)
	f.steps = kept
}

func (f *function) fresh(k kind) *value {
	f.ids++
	return &value{kind: k, id: f.ids}
}

func (f *function) do(op code, k kind, args ...*value) *value {
	v := f.fresh(k)
	f.steps = append(f.steps, step{op: op, dst: v, args: args})
	return v
}

// k is a constant number.
func k(c float64) *value { return &value{konst: true, bits: math.Float64bits(c)} }

// w is a constant word.
func w(c uint64) *value { return &value{kind: word, konst: true, bits: c} }

func (f *function) add(a, b *value) *value     { return f.do(opAdd, number, a, b) }
func (f *function) sub(a, b *value) *value     { return f.do(opSub, number, a, b) }
func (f *function) mul(a, b *value) *value     { return f.do(opMul, number, a, b) }
func (f *function) div(a, b *value) *value     { return f.do(opDiv, number, a, b) }
func (f *function) sqrt(a *value) *value       { return f.do(opSqrt, number, a) }
func (f *function) fma(a, b, c *value) *value  { return f.do(opFMA, number, a, b, c) }
func (f *function) fnma(a, b, c *value) *value { return f.do(opFNMA, number, a, b, c) }
func (f *function) fms(a, b, c *value) *value  { return f.do(opFMS, number, a, b, c) }
func (f *function) round(a *value) *value      { return f.do(opRound, number, a) }
func (f *function) floor(a *value) *value      { return f.do(opFloor, number, a) }
func (f *function) lesser(a, b *value) *value  { return f.do(opLesser, number, a, b) }

func (f *function) greater(a, b *value) *value { return f.do(opGreater, number, a, b) }

func (f *function) and(a, b *value) *value    { return f.do(opAnd, a.kind, a, b) }
func (f *function) andNot(a, b *value) *value { return f.do(opAndNot, b.kind, a, b) }
func (f *function) or(a, b *value) *value     { return f.do(opOr, a.kind, a, b) }
func (f *function) xor(a, b *value) *value    { return f.do(opXor, a.kind, a, b) }
func (f *function) plus(a, b *value) *value   { return f.do(opPlus, word, a, b) }
func (f *function) minus(a, b *value) *value  { return f.do(opMinus, word, a, b) }

func (f *function) shiftLeft(a *value, by uint64) *value  { return f.shift(opShiftLeft, a, by) }
func (f *function) shiftRight(a *value, by uint64) *value { return f.shift(opShiftRight, a, by) }
func (f *function) shift(op code, a *value, by uint64) *value {
	v := f.do(op, word, a)
	f.steps[len(f.steps)-1].by = by
	return v
}
func (f *function) shiftLeftBy(a, b *value) *value  { return f.do(opShiftLeftBy, word, a, b) }
func (f *function) shiftRightBy(a, b *value) *value { return f.do(opShiftRightBy, word, a, b) }

func (f *function) less(a, b *value) *value  { return f.do(opLess, truth, a, b) }
func (f *function) equal(a, b *value) *value { return f.do(opEqual, truth, a, b) }

func (f *function) negative(a *value) *value { return f.do(opNegative, truth, a) }

// pick is a where c holds, b elsewhere.
func (f *function) pick(c, a, b *value) *value { return f.do(opSelect, a.kind, c, a, b) }

// bitsOf and numberOf see the same lanes as another kind.
func (f *function) bitsOf(a *value) *value   { return f.view(a, word) }
func (f *function) numberOf(a *value) *value { return f.view(a, number) }
func (f *function) view(a *value, k kind) *value {
	v := f.do(opView, k, a)
	v.of = a
	return v
}

func (f *function) lookup(t *table, index *value) *value { return f.lookAs(word, t, index) }

// look is the number in a table at an index.
func (f *function) look(t *table, index *value) *value { return f.lookAs(number, t, index) }

func (f *function) lookAs(k kind, t *table, index *value) *value {
	v := f.do(opLookup, k, index)
	f.steps[len(f.steps)-1].table = t
	return v
}

// bin is the number in a table of 16 or 32 at the low bits of index.
func (f *function) bin(t *table, index *value) *value {
	v := f.do(opBin, number, index)
	f.steps[len(f.steps)-1].table = t
	return v
}

// when runs body where c holds for some lane. What body assigns changes in those lanes alone.
func (f *function) when(c *value, body func(assign func(dst, v *value))) {
	f.steps = append(f.steps, step{op: opWhen, args: []*value{c}})
	body(func(dst, v *value) {
		f.steps = append(f.steps, step{op: opAssign, dst: dst, args: []*value{c, v}})
	})
	f.steps = append(f.steps, step{op: opEnd, args: []*value{c}})
}

// repeat runs body once, and again as long as what it returns holds in some lane. What body assigns
// changes in the lanes of c alone.
func (f *function) repeat(c *value, body func(assign func(dst, v *value)) (again *value)) {
	f.steps = append(f.steps, step{op: opRepeat})
	again := body(func(dst, v *value) {
		f.steps = append(f.steps, step{op: opAssign, dst: dst, args: []*value{c, v}})
	})
	f.steps = append(f.steps, step{op: opAgain, args: []*value{again}})
}

// magic has its unit at 1: adding it rounds a number below 2^51 to an integral one, which is then
// in its low bits.
const magic = 0x1.8p52

// integral is the integral number nearest to a*b, and the word whose low bits it is.
func (f *function) integral(a, b *value) (n, bits *value) {
	t := f.fma(a, b, k(magic))
	return f.sub(t, k(magic)), f.bitsOf(t)
}

// scale is p * 2^n with one rounding, for n and its bits of integral; |n| < 2046. Two factors,
// because 2^n may be none: the first product is exact for p near 1.
func (f *function) scale(p, n, bits *value) *value { return f.do(opScale, number, p, n, bits) }

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
