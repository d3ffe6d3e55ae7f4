package kernels

// This file says which links of the chain machine an instruction is.

import (
	"flow/ir/types"
	"flow/kernels/dense"
	"flow/kernels/vec"
)

// linking is how an instruction runs on the machine, whose lanes are 64 bits: float64, int64, and
// float32 kept as float64.
type linking struct {
	// first is the link with the accumulator as first argument, second that with it as second one;
	// 0: there is none. Those of a selection are the one with the accumulator as condition.
	first, second uint64
	runs          bool
	rounds        bool // its result is yet to be rounded to float32
}

// linkNames are the links of rows on float64 and float32, with the accumulator as first argument
// and as second one; wordNames those on integers.
var (
	linkNames = map[string][2]uint64{
		"add": {vec.LinkAdd, vec.LinkAdd}, "sub": {vec.LinkSub, vec.LinkSubFrom},
		"mul": {vec.LinkMul, vec.LinkMul}, "div": {vec.LinkDiv, vec.LinkDivInto}, "sqrt": {vec.LinkSqrt},
	}
	exactNames = map[string][2]uint64{ // whose results need no rounding
		"ew.min": {vec.LinkMin, vec.LinkMin}, "ew.max": {vec.LinkMax, vec.LinkMax},
		"abs": {vec.LinkAbs}, "neg": {vec.LinkNeg}, "sign": {vec.LinkSign}, "relu": {vec.LinkRectify},
		"round": {vec.LinkRound}, "floor": {vec.LinkFloor}, "ceil": {vec.LinkCeil},
	}
	wordNames = map[string][2]uint64{
		"add": {vec.LinkAddWords, vec.LinkAddWords}, "sub": {vec.LinkSubWords, vec.LinkSubWordsFrom}, "mul": {vec.LinkMulWords, vec.LinkMulWords},
		"ew.min": {vec.LinkMinWords, vec.LinkMinWords}, "ew.max": {vec.LinkMaxWords, vec.LinkMaxWords},
		"abs": {vec.LinkAbsWords}, "neg": {vec.LinkNegWords}, "sign": {vec.LinkSignWords}, "relu": {vec.LinkRectifyWords},
		"idiv": {vec.LinkFloorDivWords}, "mod": {vec.LinkModWords}, "ceildiv": {vec.LinkCeilDivWords},
		"round": {vec.LinkLoad}, "floor": {vec.LinkLoad}, "ceil": {vec.LinkLoad},
	}
)

// predicateNames are the links that compare floats, wordPredicateNames those that compare integers,
// truthNames those on truths.
var (
	predicateNames = map[string][2]uint64{
		"eq": {vec.LinkEqual, vec.LinkEqual}, "ne": {vec.LinkNotEqual, vec.LinkNotEqual},
		"lt": {vec.LinkLess, vec.LinkGreater}, "gt": {vec.LinkGreater, vec.LinkLess},
		"le": {vec.LinkLessEqual, vec.LinkGreaterEqual}, "ge": {vec.LinkGreaterEqual, vec.LinkLessEqual},
		"isnan": {vec.LinkIsNaN}, "isinf": {vec.LinkIsInf},
	}
	wordPredicateNames = map[string][2]uint64{
		"eq": {vec.LinkEqualWords, vec.LinkEqualWords}, "ne": {vec.LinkNotEqualWords, vec.LinkNotEqualWords},
		"lt": {vec.LinkLessWords, vec.LinkGreaterWords}, "gt": {vec.LinkGreaterWords, vec.LinkLessWords},
		"le": {vec.LinkLessEqualWords, vec.LinkGreaterEqualWords}, "ge": {vec.LinkGreaterEqualWords, vec.LinkLessEqualWords},
	}
	truthNames = map[string]uint64{"and": vec.LinkAnd, "or": vec.LinkOr, "ew.min": vec.LinkAnd, "ew.max": vec.LinkOr, "not": vec.LinkNot}
)

// linksOf is how i runs.
func linksOf(i *instr) linking {
	named := func(names map[string][2]uint64) linking {
		if l, ok := names[i.def.Name]; ok {
			return linking{first: l[0], second: l[1], runs: true}
		}
		return linking{}
	}
	switch i.code {
	case opConvert:
		return conversion(dense.Storage(i.elem), dense.Storage(i.out))
	case opSelF64, opSelI64, opSelF32:
		if i.def.Name == "ifelse" {
			return linking{vec.LinkChoose, vec.LinkChoose, true, false}
		}
	case opCmpF64:
		return named(predicateNames)
	case opCmpF32:
		return named(predicateNames)
	case opCmpI64:
		return named(wordPredicateNames)
	case opBoolx1, opBoolx2:
		if l, ok := truthNames[i.def.Name]; ok {
			return linking{l, l, true, false}
		}
	case opI64x1, opI64x2:
		return named(wordNames)
	case opF64x1, opF64x2, opF32x1, opF32x2:
		if l := named(exactNames); l.runs {
			return l
		}
		l := named(linkNames)
		if f, ok := vec.FunctionNamed(i.def.Name); ok && i.n == 1 {
			l = linking{first: ofType(i.out, f.Link, f.Link32), second: ofType(i.out, f.Link, f.Link32), runs: true}
		} else if f, ok := vec.Function2Named(i.def.Name); ok && i.n == 2 {
			l = linking{first: ofType(i.out, f.Link, f.Link32), runs: true}
		}
		l.rounds = i.out == types.F32
		return l
	}
	return linking{}
}

// ofType is the link of a function on elements of e.
func ofType(e types.Elem, f64, f32 uint64) uint64 {
	if e == types.F32 {
		return f32
	}
	return f64
}

// conversion is the link from elements of one type to those of another.
func conversion(from, to types.Elem) linking {
	one := func(l uint64) linking { return linking{l, l, true, false} }
	switch {
	case from == to && to != types.Bool:
		return one(vec.LinkLoad) // a copy
	case from == types.F32 && to == types.F64:
		return one(vec.LinkLoad)
	case from == types.F64 && to == types.F32:
		return one(vec.LinkRoundFloats)
	case from == types.Bool && to.IsFloat():
		return one(vec.LinkOfTruth)
	case from == types.Bool && to == types.I64:
		return one(vec.LinkWordOfTruth)
	case from.IsFloat() && to == types.Bool:
		return one(vec.LinkNonZero)
	case from == types.I64 && to == types.Bool:
		return one(vec.LinkNonZeroWords)
	case from == types.I64 && to == types.F64:
		return one(vec.LinkNumberOfWord)
	case from == types.I64 && to == types.F32:
		return one(vec.LinkFloatOfWord)
	case from.IsFloat() && to == types.I64:
		return one(vec.LinkWordOfNumber)
	}
	return linking{}
}
