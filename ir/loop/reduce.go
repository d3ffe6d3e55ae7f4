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
			s := Word(0)
			for _, w := range in[0] {
				s += w
			}
			return s
		}
		return rounded(e, e, in[0], false)
	}},
	Mean: {Name: "mean", Args: 1, On: numbers, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return fromFloat(floatOf(e), toF64(rounded(e, types.F64, in[0], false))/float64(len(in[0])))
	}},
	Norm: {Name: "norm", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return fromFloat(e, math.Sqrt(toF64(rounded(e, types.F64, in[0], true))))
	}},
	Var: {Name: "var", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return fromFloat(e, variance(e, in[0], e == types.F32))
	}},
	Stddev: {Name: "stddev", Args: 1, On: floats, Free: true, fold: func(e types.Elem, in [][]Word) Word {
		return fromFloat(e, math.Sqrt(variance(e, in[0], false)))
	}},
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
		n := Word(0)
		for _, w := range in[0] {
			n += w
		}
		return n
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

// exactly returns the sum of numbers of e, or of their squares, without rounding. special is the
// sum of the non-finite ones, or 0. A square is its rounded value and the rest, so one that
// overflows is infinite and what is below the least f64 is rounded off.
func exactly(e types.Elem, in []Word, squares bool) (sum *big.Float, special float64) {
	sum = new(big.Float).SetPrec(exactBits)
	add := func(x float64) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			special += x
			return
		}
		sum.Add(sum, new(big.Float).SetFloat64(x))
	}
	for _, w := range in {
		if e == types.I64 {
			sum.Add(sum, new(big.Float).SetInt64(int64(w)))
			continue
		}
		x := toFloat(e, w)
		if !squares {
			add(x)
			continue
		}
		h := x * x
		add(h)
		if !math.IsInf(h, 0) && h == h {
			add(math.FMA(x, x, -h))
		}
	}
	return sum, special
}

// rounded returns the sum of numbers of e, or of their squares, rounded once to type to. A sum of 0
// is +0.
func rounded(e, to types.Elem, in []Word, squares bool) Word {
	sum, special := exactly(e, in, squares)
	return nearest(to, sum, special)
}

// nearest returns the exact sum rounded once to e, or the non-finite part.
func nearest(e types.Elem, sum *big.Float, special float64) Word {
	switch {
	case special != 0:
		return fromFloat(e, special)
	case sum.Sign() == 0:
		return 0
	case e == types.F32:
		x, _ := sum.Float32()
		return fromF32(x)
	}
	x, _ := sum.Float64()
	return math.Float64bits(x)
}

// variance returns (squares - sum^2 / n) / n of the exact sums, rounded once to f64, or to f32 if
// narrow. It is NaN for no numbers and for a non-finite number, and infinite if a square is.
func variance(e types.Elem, in []Word, narrow bool) float64 {
	s, special := exactly(e, in, false)
	q, specialSquare := exactly(e, in, true)
	return varianceOf(s, special, q, specialSquare, len(in), narrow)
}

// varianceOf returns the variance of n numbers from their exact sum and sum of squares.
func varianceOf(s *big.Float, special float64, q *big.Float, specialSquare float64, count int, narrow bool) float64 {
	if count == 0 || special != 0 {
		return math.NaN()
	}
	if specialSquare != 0 {
		return math.Inf(1)
	}
	n := new(big.Rat).SetInt64(int64(count))
	sum, _ := s.Rat(nil)
	squares, _ := q.Rat(nil)
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
