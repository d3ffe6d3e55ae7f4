package loop

// This file defines the reduction classes: their operands, their result, and their meaning on the
// contributions in the order of the points. A free class gives the same bytes in any order, so
// partial results can be merged. The others are ordered.

import (
	"math"
	"math/big"

	"flow/ir/types"
)

// Class is a reduction class.
type Class uint8

// The reduction classes.
const (
	NoClass Class = iota
	Sum           // floats: exact, rounded once; i64: wraps
	// the rounded exact sum over the number of contributions, rounded; of i64 an f64
	Mean
	Norm   // of floats: the root of the exact sum of squares, each rounded once
	Var    // of floats: the exact variance (divisor n), rounded once
	Stddev // of floats: the root of Var in f64
	Least
	Greatest
	Any
	All
	Count // how many contributions are true
	// of (x, index >= 0): the index of the least x, the least index of equals; a nan wins
	ArgLeast
	ArgGreatest
	Chain   // of (a, b): one chain of fused multiply-adds from +0, in order
	Product // of i64, wraps; of a few floats a builder writes the multiplications themselves
	lastClass
)

// ClassInfo is a row of the table of reduction classes.
type ClassInfo struct {
	Name string
	// Args is the number of values of a contribution.
	Args int
	// On lists the element types of the first value.
	On []types.Elem
	// Gives is the element type of the result. NoElem: that of the first value.
	Gives types.Elem
	// Free: the order of the contributions does not matter. Integers are free in every class.
	Free bool
	// fold defines the class: the result of the contributions, one list for each of their
	// values.
	fold func(e types.Elem, in [][]Word) Word
}

var classes = [lastClass]ClassInfo{
	Sum: {Name: "sum", Args: 1, On: numbers, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		if e == types.I64 {
			return chosen(e, in[0], Add, 0)
		}
		return Sum.exact(e, in[0])
	}},
	Mean:   {Name: "mean", Args: 1, On: numbers, Free: true, fold: func(e types.Elem, in [][]Word) Word { return Mean.exact(e, in[0]) }},
	Norm:   {Name: "norm", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word { return Norm.exact(e, in[0]) }},
	Var:    {Name: "var", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word { return Var.exact(e, in[0]) }},
	Stddev: {Name: "stddev", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word { return Stddev.exact(e, in[0]) }},
	Least: {Name: "min", Args: 1, On: all, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return chosen(e, in[0], Min, extreme(e, 1))
	}},
	Greatest: {Name: "max", Args: 1, On: all, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return chosen(e, in[0], Max, extreme(e, -1))
	}},
	Any: {Name: "any", Args: 1, On: []types.Elem{types.Bool}, Free: true, fold: func(_ types.Elem, in [][]Word) Word {
		return chosen(types.Bool, in[0], Or, 0)
	}},
	All: {Name: "all", Args: 1, On: []types.Elem{types.Bool}, Free: true, fold: func(_ types.Elem, in [][]Word) Word {
		return chosen(types.Bool, in[0], And, 1)
	}},
	Count: {Name: "count", Args: 1, On: []types.Elem{types.Bool}, Gives: types.I64, Free: true, fold: func(_ types.Elem, in [][]Word) Word {
		return chosen(types.I64, in[0], Add, 0)
	}},
	ArgLeast: {Name: "argmin", Args: 2, On: numbers, Gives: types.I64, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return place(e, in, Lt)
	}},
	ArgGreatest: {Name: "argmax", Args: 2, On: numbers, Gives: types.I64, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return place(e, in, gt)
	}},
	Chain:   {Name: "chain", Args: 2, On: numbers, fold: func(e types.Elem, in [][]Word) Word { return chain(e, in[0], in[1]) }},
	Product: {Name: "prod", Args: 1, On: ints, fold: func(e types.Elem, in [][]Word) Word { return chosen(e, in[0], Mul, 1) }},
}

// Info returns the row of a class.
func (c Class) Info() *ClassInfo { return &classes[c] }

// Free reports whether contributions of e may come in any order.
func (c Class) Free(e types.Elem) bool { return classes[c].Free || e == types.I64 }

// Gives returns the result type for contributions of e.
func (c Class) Gives(e types.Elem) types.Elem {
	if g := classes[c].Gives; g != types.NoElem {
		return g
	}
	if c == Mean {
		return floatOf(e)
	}
	return e
}

// floatOf returns the float type of a mean of e: e itself, or f64.
func floatOf(e types.Elem) types.Elem {
	if e.IsFloat() {
		return e
	}
	return types.F64
}

// Fold evaluates a class for contributions of e. in[k] holds the k-th value of each, in order.
func (c Class) Fold(e types.Elem, in [][]Word) Word { return classes[c].fold(e, in) }

func classNamed(name string) (Class, bool) {
	for c := Sum; c < lastClass; c++ {
		if classes[c].Name == name {
			return c, true
		}
	}
	return NoClass, false
}

// gt is the order of ArgGreatest: Lt with swapped operands.
const gt = lastOp

// place returns the winning index, -1 without contributions.
func place(e types.Elem, in [][]Word, order Code) Word {
	best := -1
	ahead := func(a, b Word) bool {
		if e.IsFloat() {
			if x, y := toFloat(e, a), toFloat(e, b); x != x || y != y {
				return x != x && y == y
			}
		}
		if order == gt {
			a, b = b, a
		}
		return Lt.Eval(e, a, b) != 0
	}
	for k, x := range in[0] {
		if best < 0 || ahead(x, in[0][best]) || !ahead(in[0][best], x) && int64(in[1][k]) < int64(in[1][best]) {
			best = k
		}
	}
	if best < 0 {
		return ^Word(0)
	}
	return in[1][best]
}

// chosen folds with an operation whose order does not matter. Bools are compared as the integers 0
// and 1.
func chosen(e types.Elem, in []Word, op Code, of Word) Word {
	if e == types.Bool && (op == Min || op == Max) {
		e = types.I64
	}
	for _, w := range in {
		of = op.Eval(e, of, w)
	}
	return of
}

// extreme returns the minimum (sign 1) or maximum (sign -1) of nothing.
func extreme(e types.Elem, sign int) Word {
	switch {
	case e.IsFloat():
		return fromFloat(e, math.Inf(sign))
	case e == types.Bool:
		return truth(sign > 0)
	case sign > 0:
		return math.MaxInt64
	}
	return 1 << 63
}

func chain(e types.Elem, a, b []Word) Word {
	s := Word(0)
	for k := range a {
		if e == types.I64 {
			s += a[k] * b[k]
		} else {
			s = FMA.Eval(e, a[k], b[k], s)
		}
	}
	return s
}

// exactBits suffices for every sum of f64 numbers and of the two parts of their squares.
const exactBits = 4400

// exactSum is a sum without rounding. special is the sum of the terms that are not finite, or 0.
type exactSum struct {
	sum     *big.Float
	special float64
}

// exactly returns the sum of numbers of e, or of their squares. A square is its rounded value and the
// rest, so one that overflows is infinite and what is below the least f64 is rounded off.
func exactly(e types.Elem, in []Word, squares bool) exactSum {
	x := exactSum{sum: new(big.Float).SetPrec(exactBits)}
	for _, w := range in {
		if e == types.I64 {
			x.sum.Add(x.sum, new(big.Float).SetInt64(int64(w)))
			continue
		}
		f := toFloat(e, w)
		if !squares {
			x.Add(f)
			continue
		}
		h := f * f
		x.Add(h)
		if !math.IsInf(h, 0) && h == h {
			x.Add(math.FMA(f, f, -h))
		}
	}
	return x
}

func (x *exactSum) Add(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		x.special += f
		return
	}
	x.sum.Add(x.sum, new(big.Float).SetFloat64(f))
}

// rounded returns the sum rounded once to e, or what is not finite. A sum of 0 is +0.
func (x exactSum) rounded(e types.Elem) Word {
	switch {
	case x.special != 0:
		return fromFloat(e, x.special)
	case x.sum.Sign() == 0:
		return 0
	case e == types.F32:
		f, _ := x.sum.Float32()
		return fromF32(f)
	}
	f, _ := x.sum.Float64()
	return math.Float64bits(f)
}

// exact returns the result of a class of exact sums for numbers of e.
func (c Class) exact(e types.Elem, in []Word) Word {
	return c.ofSums(e, len(in), func(squares bool) exactSum { return exactly(e, in, squares) })
}

// ofSums returns the result of a class of exact sums for n numbers of e. of returns their sum, or that
// of their squares.
func (c Class) ofSums(e types.Elem, n int, of func(squares bool) exactSum) Word {
	switch c {
	case Sum:
		return of(false).rounded(e)
	case Mean:
		return fromFloat(floatOf(e), toF64(of(false).rounded(types.F64))/float64(n))
	case Norm:
		return fromFloat(e, math.Sqrt(toF64(of(true).rounded(types.F64))))
	case Var:
		return fromFloat(e, variance(of(false), of(true), n, e == types.F32))
	}
	return fromFloat(e, math.Sqrt(variance(of(false), of(true), n, false)))
}

// variance returns (squares - sum^2 / n) / n, rounded once to f64, or to f32 if narrow. It is NaN for
// no numbers and for a non-finite number, and infinite if a square is.
func variance(s, q exactSum, count int, narrow bool) float64 {
	if count == 0 || s.special != 0 {
		return math.NaN()
	}
	if q.special != 0 {
		return math.Inf(1)
	}
	n := new(big.Rat).SetInt64(int64(count))
	sum, _ := s.sum.Rat(nil)
	squares, _ := q.sum.Rat(nil)
	sum.Mul(sum, sum)
	sum.Quo(sum, n)
	squares.Sub(squares, sum)
	if squares.Sign() <= 0 {
		return 0
	}
	squares.Quo(squares, n)
	if narrow {
		x, _ := squares.Float32()
		return float64(x)
	}
	x, _ := squares.Float64()
	return x
}
