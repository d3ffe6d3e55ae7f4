package amd64

import (
	"flow/ir/loop"
	"flow/ir/types"
)

// facts has properties that few operands have. Operands are copied often, so they hold only its
// address.
type facts struct {
	form   *loop.Lin // of i64: the linear form that it is known to be, or nil
	negate virt      // of f64: the value whose negation it is
	less   [2]virt   // of a comparison of floats: those of which the first is less; 0: it is another
	bound  [2]virt   // of a comparison of a float: it, if it is at least -2^63; it, if it is below 2^63
	differ [4]virt   // of i64: the values of which it is a^b | c^d; the last two may be 0
	twice  virt      // of i64: the value that was shifted left by 1; of bool: the same, that it is 0
	climbs bool      // of i64: it probably goes up by one from lane to lane, see subscripts.go
	span   *span     // of i64: see spanOf
	tells  *telling  // of bool: what it tells of integers
	bytes  virt      // of bool, in lanes of bytes: the same as bytes, 0 or 1
}

// operand is a value of the body while it is lowered: a constant, or a virtual register.
type operand struct {
	traits
	v     virt
	word  loop.Word
	facts *facts // nil: nothing is known. See known
}

// traits and floating are structs of their own because the Go compiler keeps structs of up to four
// fields in registers. It copies others by wide loads, which wait for the narrow stores before
// them.
type traits struct {
	elem  types.Elem
	konst bool
	floating
	rounds bool // it is carried from round to round, or from point to point
}

// floating is what is known of the sign and the bits of a float.
type floating struct {
	plus   bool // it is not -0
	summed bool // a sum, a difference or a product, so it is not a signalling nan
}

// knownWord is a constant, and the register with it in all lanes.
type knownWord struct {
	bits   loop.Word
	single bool // of f32
	v      virt
	before int32 // 1 + the place of the constant before it with the same bits of byWord; 0: none
}

// span is the least and the greatest number that an integer may be.
type span struct{ least, most int64 }

// telling is what a bool tells of integers of a frame: their spans where it is false, and where it is
// true.
type telling struct {
	frame *frame
	where [2][]bound
}

// bound is the span of a value, which may have a narrower one.
type bound struct {
	v    loop.Val
	span span
}
