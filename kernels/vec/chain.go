package vec

// This file defines the chain machine's programs. The machine itself is assembly (gen/chain.go): it keeps eight
// vectors, the accumulator, in registers from link to link, so that a chain of operators costs one visit of memory.

import (
	"unsafe"
)

// ChainBytes is what a constant or an intermediate result takes, and what the bytes of a chain are a multiple of:
// 64 elements of eight bytes.
const ChainBytes = 512

// The operations of a link: of the accumulator and the operand. Order and number are those of gen/chain.go.
const (
	LinkEnd      = iota // the last link of every chain
	LinkLoad            // acc = operand
	LinkStore           // operand = acc
	LinkStream          // the same past the caches: 64-byte aligned, and Fence after the last
	LinkAdd             // acc + operand
	LinkSub             // acc - operand
	LinkSubFrom         // operand - acc
	LinkMul             // acc * operand
	LinkDiv             // acc / operand
	LinkDivInto         // operand / acc
	LinkSqrt            // correctly rounded
	LinkAbs             // the sign bit cleared
	LinkNeg             // the sign bit turned
	LinkMin             // as MinF64
	LinkMax             // as MaxF64
	LinkRound           // to the nearest integral number, halves to the even one
	LinkFloor           // to the greatest integral number that is not above
	LinkCeil            // to the least one that is not below
	LinkTurn            // acc = operand transposed; of blocks
	LinkTurnBack        // acc transposed; of blocks, which have none of the links from here on

	// Links that spare the machine loads, or the waiting for them.
	LinkAsk     // asks for the operand's lines some rounds ahead
	LinkAddSame // acc + operand, of which the first element is that of all; so the others
	LinkSubSame
	LinkSubFromSame
	LinkMulSame
	LinkDivSame
	LinkDivIntoSame
	LinkMinSame
	LinkMaxSame
	LinkLoadAsk // LinkLoad and LinkAsk of one operand

	// Two operations one after the other. Their operands are the same for all elements, and lie one behind the other,
	// once each.
	LinkMulAddSame
	LinkMulSubSame
	LinkMulSubFromSame
	LinkAddMulSame
	LinkSubMulSame
	LinkSubFromMulSame

	// Truths and what becomes of them. A truth is as many bits of ones or zeros as an element, in ChainBytes of memory
	// too; only LinkLoadTruths and LinkStoreTruths see bytes, one for each element.
	LinkOther // the operand of the selection that follows
	LinkLoadTruths
	LinkStoreTruths
	LinkEqual // acc == operand
	LinkNotEqual
	LinkLess // acc < operand
	LinkLessEqual
	LinkGreater
	LinkGreaterEqual
	LinkAnd
	LinkOr
	LinkNot
	LinkChoose // other where acc holds, operand elsewhere
	LinkThen   // acc where other holds, operand elsewhere
	LinkElse   // operand where other holds, acc elsewhere
	LinkIsNaN
	LinkIsInf
	LinkNonZero // as a truth
	LinkOfTruth // 1 or 0
	LinkSign    // as Sign
	LinkRectify // 0 where acc <= 0

	// Lanes that are no float64. A float32 is one that is kept as float64, so that it may meet
	// what is wider: what is computed of such is rounded by LinkRoundFloats, and only the first two see float32 in
	// memory. Words are int64.
	LinkLoadFloats
	LinkStoreFloats
	LinkRoundFloats
	LinkAddWords
	LinkSubWords
	LinkSubWordsFrom
	LinkMulWords
	LinkNegWords
	LinkAbsWords
	LinkMinWords
	LinkMaxWords
	LinkSignWords
	LinkRectifyWords
	LinkEqualWords
	LinkNotEqualWords
	LinkLessWords
	LinkLessEqualWords
	LinkGreaterWords
	LinkGreaterEqualWords
	LinkNonZeroWords
	LinkWordOfTruth
	LinkNumberOfWord // as float64
	LinkFloatOfWord  // as float32
	// What has no value of some lanes: the results in them say nothing, and the operand of LinkOther before, a Failures, is not
	// zero afterwards. The first is acc without the fraction, of numbers in the range of int64; the Failures has the others of the
	// first group that has some, and zeros beside them. What follows are divisions by the operand, which is not 0.
	LinkWordOfNumber
	LinkFloorDivWords
	LinkModWords
	LinkCeilDivWords

	// The functions of functions_gen.go of acc, in its order.
	LinkExp
	LinkExpm1
	LinkTanh
	LinkSinh
	LinkCosh
	LinkSigmoid
	LinkLog
	LinkLog2
	LinkLog10
	LinkLog1p
	LinkSin
	LinkCos
	LinkTan
	LinkAsin
	LinkAcos
	LinkAtan
	LinkCbrt
	LinkRsqrt

	// The functions of functions_gen.go of acc and the operand.
	LinkPow
	LinkAtan2
	LinkFloorDiv
	LinkMod

	// The functions of functions_gen.go on float32 kept as float64. What they make is yet to be rounded.
	LinkExp32
	LinkExpm132
	LinkTanh32
	LinkSinh32
	LinkCosh32
	LinkSigmoid32
	LinkLog32
	LinkLog232
	LinkLog1032
	LinkLog1p32
	LinkSin32
	LinkCos32
	LinkTan32
	LinkAsin32
	LinkAcos32
	LinkAtan32
	LinkCbrt32
	LinkPow32
	LinkAtan232
)

// AskBytes is how far ahead LinkAsk asks.
const AskBytes = 8 << 10

// sameLinks are the links for operands that are the same for all elements.
var sameLinks = [...]uint64{
	LinkAdd: LinkAddSame, LinkSub: LinkSubSame, LinkSubFrom: LinkSubFromSame, LinkMul: LinkMulSame,
	LinkDiv: LinkDivSame, LinkDivInto: LinkDivIntoSame, LinkMin: LinkMinSame, LinkMax: LinkMaxSame,
}

// Same is the link that does what op does with an operand that is the same for all elements: op itself if there is no
// faster one.
func Same(op uint64) uint64 {
	if op < uint64(len(sameLinks)) && sameLinks[op] != 0 {
		return sameLinks[op]
	}
	return op
}

// pairLinks are the links for two operations of operands that are the same for all elements.
var pairLinks = map[[2]uint64]uint64{
	{LinkMulSame, LinkAddSame}: LinkMulAddSame, {LinkMulSame, LinkSubSame}: LinkMulSubSame, {LinkMulSame, LinkSubFromSame}: LinkMulSubFromSame,
	{LinkAddSame, LinkMulSame}: LinkAddMulSame, {LinkSubSame, LinkMulSame}: LinkSubMulSame, {LinkSubFromSame, LinkMulSame}: LinkSubFromMulSame,
}

// Pair is the link that does what first and then second do, whose operands are the same for all elements, with both
// operands where that of a link is, one behind the other. It is 0 if there is none.
func Pair(first, second uint64) uint64 { return pairLinks[[2]uint64{first, second}] }

// Failures is what links found that have no value of some lanes.
type Failures [ChainBytes / 8]uint64

// Link is one step of a chain.
type Link struct {
	Op   uint64
	Base unsafe.Pointer // the operand of the first element
	// Walk is all ones for an operand that lies in memory like the index space, 0 for one of ChainBytes that serves
	// every group of elements.
	Walk uint64
}

// Block is the edge of a block of a matrix.
const Block = 8

// BlockLink is one step of a chain on blocks of 8 x 8 float64; the sums are not among them.
type BlockLink struct {
	Op   uint64
	Base unsafe.Pointer // the operand's first element in the first block
	// Step is how many bytes it is from there to the next block's, Stride from row to row of a block.
	Step, Stride uintptr
}
