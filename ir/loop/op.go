package loop

// This file defines the scalar operations, one row each: the word in the text, the element types of
// operands and result, and the meaning on words.

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"

	"flow/ir/types"
)

// Code is the kind of a statement: a scalar operation of the table below, or one of these.
type Code uint8

// The statements that are not scalar operations.
const (
	Const   Code = iota // Dst = the word Imm
	IndexOf             // Dst = the index with the name Imm, as i64
	Load                // Dst = Mem at At
	Store               // Mem at At = Args[0]
	Reduce              // contributes Args to the result Mem at At
	Look                // Dst = word Args[0] of the table Mem
	Check               // fails at site Imm, with the values Args[1:], unless Args[0]
	Break               // leaves the innermost For if Args[0]
	For                 // Dst.. = an inner loop with carried values
	If                  // Dst.. = the yields of one of two blocks
	Apply               // Dst.. = function Func of Args
	firstOp
)

// Rare is the Imm of an If whose second block hardly ever runs. Estimates of work leave that block out.
const Rare = 1

// The scalar operations, as Codes of statements.
const (
	Add Code = firstOp + iota
	Sub
	Mul
	Div
	FMA // a*b + c, rounded once
	Neg
	Abs
	Sqrt
	Min // nan wins, -0 is below 0
	Max
	Nearest // to the nearest integral number, ties to even
	Floor
	Ceil
	Scale    // a * 2^b, rounded once; b is integral, or infinite if a is no nan, or nan
	IDiv     // rounded towards minus infinity; the divisor is not 0
	Mod      // a - (a // b) b; the divisor is not 0
	MulHighU // the upper half of the product of words without sign
	Shl      // by 64 and more: 0
	Shr      // logical
	Sar      // arithmetic
	And
	Or
	Xor
	Not
	Lt
	Le
	Eq
	Ne
	Select
	ToF64
	ToF32
	ToI64 // towards zero; the number is in range
	ToBool
	Bits    // the bits of a float as i64, of a nan those of any nan; of f32 the upper half is 0
	F64Bits // the f64 with these bits
	lastOp
)

// Word is an element in 64 bits: f64 and i64 as they are, f32 in the low half, bool as 0 or 1.
type Word = uint64

// Operation is a row of the table of scalar operations.
type Operation struct {
	Name string
	// Args is the number of operands.
	Args int
	// On lists the element types of the operands. All operands have the same type, except that
	// Select takes a bool and two operands of any type.
	On []types.Elem
	// Gives is the element type of the result. NoElem: that of the first operand.
	Gives types.Elem
	// eval defines the operation for a first operand of e.
	eval func(e types.Elem, a []Word) Word
}

var (
	floats  = []types.Elem{types.F64, types.F32}
	numbers = []types.Elem{types.F64, types.F32, types.I64}
	all     = []types.Elem{types.F64, types.F32, types.I64, types.Bool}
	ints    = []types.Elem{types.I64}
	logic   = []types.Elem{types.I64, types.Bool}
	doubles = []types.Elem{types.F64}
)

// operations is the table, by Code - Add.
var operations = [lastOp - firstOp]Operation{
	Add - firstOp: {Name: "add", Args: 2, On: numbers, eval: on2(func(a, b float64) float64 { return a + b }, func(a, b float32) float32 { return a + b }, func(a, b int64) int64 { return a + b })},
	Sub - firstOp: {Name: "sub", Args: 2, On: numbers, eval: on2(func(a, b float64) float64 { return a - b }, func(a, b float32) float32 { return a - b }, func(a, b int64) int64 { return a - b })},
	Mul - firstOp: {Name: "mul", Args: 2, On: numbers, eval: on2(func(a, b float64) float64 { return a * b }, func(a, b float32) float32 { return a * b }, func(a, b int64) int64 { return a * b })},
	Div - firstOp: {Name: "div", Args: 2, On: floats, eval: on2(func(a, b float64) float64 { return a / b }, func(a, b float32) float32 { return a / b }, nil)},
	FMA - firstOp: {Name: "fma", Args: 3, On: floats, eval: func(e types.Elem, a []Word) Word {
		if e == types.F32 {
			return fromF32(FMA32(toF32(a[0]), toF32(a[1]), toF32(a[2])))
		}
		return math.Float64bits(math.FMA(toF64(a[0]), toF64(a[1]), toF64(a[2])))
	}},
	Neg - firstOp:     {Name: "neg", Args: 1, On: numbers, eval: on1(func(a float64) float64 { return -a }, func(a int64) int64 { return -a })},
	Abs - firstOp:     {Name: "abs", Args: 1, On: numbers, eval: on1(math.Abs, func(a int64) int64 { return max(a, -a) })},
	Sqrt - firstOp:    {Name: "sqrt", Args: 1, On: floats, eval: on1(math.Sqrt, nil)},
	Min - firstOp:     {Name: "min", Args: 2, On: numbers, eval: on2(lesser[float64], lesser[float32], lesser[int64])},
	Max - firstOp:     {Name: "max", Args: 2, On: numbers, eval: on2(greater[float64], greater[float32], greater[int64])},
	Nearest - firstOp: {Name: "nearest", Args: 1, On: floats, eval: on1(math.RoundToEven, nil)},
	Floor - firstOp:   {Name: "floor", Args: 1, On: floats, eval: on1(math.Floor, nil)},
	Ceil - firstOp:    {Name: "ceil", Args: 1, On: floats, eval: on1(math.Ceil, nil)},
	Scale - firstOp: {Name: "scale", Args: 2, On: doubles, eval: func(_ types.Elem, a []Word) Word {
		return math.Float64bits(ldexp(toF64(a[0]), toF64(a[1])))
	}},
	IDiv - firstOp: {Name: "idiv", Args: 2, On: ints, eval: onInts(func(a, b int64) int64 {
		q := a / b
		if q*b != a && (a < 0) != (b < 0) {
			q--
		}
		return q
	})},
	Mod - firstOp: {Name: "mod", Args: 2, On: ints, eval: onInts(func(a, b int64) int64 {
		r := a % b
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return r
	})},
	MulHighU - firstOp: {Name: "mulhighu", Args: 2, On: ints, eval: func(_ types.Elem, a []Word) Word {
		h, _ := bits.Mul64(a[0], a[1])
		return h
	}},
	Shl - firstOp: {Name: "shl", Args: 2, On: ints, eval: func(_ types.Elem, a []Word) Word { return a[0] << a[1] }},
	Shr - firstOp: {Name: "shr", Args: 2, On: ints, eval: func(_ types.Elem, a []Word) Word { return a[0] >> a[1] }},
	Sar - firstOp: {Name: "sar", Args: 2, On: ints, eval: func(_ types.Elem, a []Word) Word { return uint64(int64(a[0]) >> a[1]) }},
	And - firstOp: {Name: "and", Args: 2, On: logic, eval: func(_ types.Elem, a []Word) Word { return a[0] & a[1] }},
	Or - firstOp:  {Name: "or", Args: 2, On: logic, eval: func(_ types.Elem, a []Word) Word { return a[0] | a[1] }},
	Xor - firstOp: {Name: "xor", Args: 2, On: logic, eval: func(_ types.Elem, a []Word) Word { return a[0] ^ a[1] }},
	Not - firstOp: {Name: "not", Args: 1, On: logic, eval: func(e types.Elem, a []Word) Word {
		if e == types.Bool {
			return a[0] ^ 1
		}
		return ^a[0]
	}},
	Lt - firstOp: {Name: "lt", Args: 2, On: all, Gives: types.Bool, eval: compare(func(c int) bool { return c < 0 })},
	Le - firstOp: {Name: "le", Args: 2, On: all, Gives: types.Bool, eval: compare(func(c int) bool { return c <= 0 })},
	Eq - firstOp: {Name: "eq", Args: 2, On: all, Gives: types.Bool, eval: equal},
	Ne - firstOp: {Name: "ne", Args: 2, On: all, Gives: types.Bool, eval: func(e types.Elem, a []Word) Word { return equal(e, a) ^ 1 }},
	Select - firstOp: {Name: "select", Args: 3, On: []types.Elem{types.Bool}, eval: func(_ types.Elem, a []Word) Word {
		if a[0] != 0 {
			return a[1]
		}
		return a[2]
	}},
	ToF64 - firstOp: {Name: "to_f64", Args: 1, On: []types.Elem{types.F32, types.I64, types.Bool}, Gives: types.F64, eval: func(e types.Elem, a []Word) Word {
		if e == types.F32 {
			return math.Float64bits(float64(toF32(a[0])))
		}
		return math.Float64bits(float64(int64(a[0])))
	}},
	ToF32 - firstOp: {Name: "to_f32", Args: 1, On: []types.Elem{types.F64, types.I64, types.Bool}, Gives: types.F32, eval: func(e types.Elem, a []Word) Word {
		if e == types.F64 {
			return fromF32(float32(toF64(a[0])))
		}
		return fromF32(float32(int64(a[0])))
	}},
	ToI64 - firstOp: {Name: "to_i64", Args: 1, On: []types.Elem{types.F64, types.F32, types.Bool}, Gives: types.I64, eval: func(e types.Elem, a []Word) Word {
		if e == types.Bool {
			return a[0]
		}
		if !ToI64.Defined(e, a...) {
			panic("BUG: a number out of range is converted to i64")
		}
		return uint64(int64(toFloat(e, a[0])))
	}},
	ToBool - firstOp: {Name: "to_bool", Args: 1, On: numbers, Gives: types.Bool, eval: func(e types.Elem, a []Word) Word {
		if e == types.I64 {
			return truth(a[0] != 0)
		}
		return truth(toFloat(e, a[0]) != 0)
	}},
	Bits - firstOp:    {Name: "bits", Args: 1, On: floats, Gives: types.I64, eval: func(_ types.Elem, a []Word) Word { return a[0] }},
	F64Bits - firstOp: {Name: "f64_bits", Args: 1, On: ints, Gives: types.F64, eval: func(_ types.Elem, a []Word) Word { return a[0] }},
}

// IsOp reports whether c is a scalar operation.
func (c Code) IsOp() bool { return c >= firstOp && c < lastOp }

// Operation returns the row of a scalar operation.
func (c Code) Operation() *Operation { return &operations[c-firstOp] }

// Eval evaluates a scalar operation with a first operand of e.
func (c Code) Eval(e types.Elem, args ...Word) Word { return c.Operation().eval(e, args) }

// opNamed returns the scalar operation of a word.
func opNamed(name string) (Code, bool) {
	for i := range operations {
		if operations[i].Name == name {
			return firstOp + Code(i), true
		}
	}
	return 0, false
}

func toF64(w Word) float64   { return math.Float64frombits(w) }
func toF32(w Word) float32   { return math.Float32frombits(uint32(w)) }
func fromF32(x float32) Word { return Word(math.Float32bits(x)) }

// Defined reports whether the integer operation has a value for these words, operands of type e.
func (c Code) Defined(e types.Elem, a ...Word) bool {
	switch {
	case c == ToI64 && e.IsFloat():
		x := toFloat(e, a[0])
		return x >= -1<<63 && x < 1<<63
	case c == IDiv || c == Mod:
		return a[1] != 0
	}
	return true
}

// toFloat widens a float word of e.
func toFloat(e types.Elem, w Word) float64 {
	if e == types.F32 {
		return float64(toF32(w))
	}
	return toF64(w)
}

// fromFloat returns x, rounded to e if that is narrower.
func fromFloat(e types.Elem, x float64) Word {
	if e == types.F32 {
		return fromF32(float32(x))
	}
	return math.Float64bits(x)
}

func truth(b bool) Word {
	if b {
		return 1
	}
	return 0
}

// on1 makes an operation of one operand. The f64 function also serves f32: the functions here are
// exact, or correctly rounded in f32 after rounding in f64 (S. Figueroa, 1995, for the square
// root).
func on1(f func(float64) float64, i func(int64) int64) func(types.Elem, []Word) Word {
	return func(e types.Elem, a []Word) Word {
		if e == types.I64 {
			return uint64(i(int64(a[0])))
		}
		return fromFloat(e, f(toFloat(e, a[0])))
	}
}

func on2(f func(a, b float64) float64, g func(a, b float32) float32, i func(a, b int64) int64) func(types.Elem, []Word) Word {
	return func(e types.Elem, a []Word) Word {
		switch e {
		case types.F64:
			return math.Float64bits(f(toF64(a[0]), toF64(a[1])))
		case types.F32:
			return fromF32(g(toF32(a[0]), toF32(a[1])))
		}
		return uint64(i(int64(a[0]), int64(a[1])))
	}
}

// lesser is the language's minimum: nan wins, -0 is below 0. The built-in min agrees.
func lesser[T float64 | float32 | int64](a, b T) T { return min(a, b) }

// greater is the language's maximum.
func greater[T float64 | float32 | int64](a, b T) T { return max(a, b) }

func onInts(f func(a, b int64) int64) func(types.Elem, []Word) Word {
	return func(_ types.Elem, a []Word) Word { return uint64(f(int64(a[0]), int64(a[1]))) }
}

var equal = compare(func(c int) bool { return c == 0 })

// compare makes a comparison of two numbers. It is false for NaNs.
func compare(holds func(order int) bool) func(types.Elem, []Word) Word {
	order := func(less, more bool) int {
		if less {
			return -1
		} else if more {
			return 1
		}
		return 0
	}
	return func(e types.Elem, a []Word) Word {
		if !e.IsFloat() {
			x, y := int64(a[0]), int64(a[1])
			return truth(holds(order(x < y, x > y)))
		}
		x, y := toFloat(e, a[0]), toFloat(e, a[1])
		return truth(x == x && y == y && holds(order(x < y, x > y)))
	}
}

// FMA32 returns a*b + c rounded once to f32. The product is exact in f64; the sum may round twice
// there, so it is rounded to odd first (S. Boldo & G. Melquiond, "Emulation of FMA and correctly
// rounded sums", 2008).
func FMA32(a, b, c float32) float32 {
	p, z := float64(a)*float64(b), float64(c)
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	t := s - p
	rest := (p - (s - t)) + (z - t)
	if rest != 0 && math.Float64bits(s)&1 == 0 {
		if (rest > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

// ldexp returns a * 2^n rounded once. n is integral, NaN or infinite, as the processor's scaling
// instruction defines it.
func ldexp(a, n float64) float64 {
	switch {
	case a != a || n != n:
		return math.NaN()
	case math.IsInf(n, 1) && a == 0, math.IsInf(n, -1) && math.IsInf(a, 0):
		return math.NaN()
	case a == 0 || math.IsInf(a, 0):
		return a
	case n > 1<<12:
		return math.Copysign(math.Inf(1), a)
	case n < -1<<12:
		return math.Copysign(0, a)
	}
	x := new(big.Float).SetFloat64(a)
	y, _ := x.SetMantExp(x, int(n)).Float64()
	return y
}

// opType returns the result type of a scalar operation on operands of these types.
func opType(c Code, in []types.Elem) (types.Elem, error) {
	o := c.Operation()
	if len(in) != o.Args || !slices.Contains(o.On, in[0]) {
		return 0, fmt.Errorf("%s is not defined on %v", o.Name, in)
	}
	if c == Select {
		if in[1] != in[2] {
			return 0, fmt.Errorf("select of a %v and a %v", in[1], in[2])
		}
		return in[1], nil
	}
	for _, e := range in[1:] {
		if e != in[0] {
			return 0, fmt.Errorf("%s of a %v and a %v", o.Name, in[0], e)
		}
	}
	if o.Gives != types.NoElem {
		return o.Gives, nil
	}
	return in[0], nil
}
