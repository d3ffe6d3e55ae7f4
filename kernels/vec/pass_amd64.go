package vec

// This file chooses the machine for this CPU.

import "unsafe"

// HavePass reports that this CPU runs passes.
var HavePass = haveAVX2

// PassLanes is the lanes of a vector.
func PassLanes() int {
	if haveAVX512 {
		return 8
	}
	return 4
}

// PassGroup is the rows of a group.
func PassGroup() int { return 8 * PassLanes() }

// Pass runs the steps, of which the last is PassEnd, on so many groups from where s is. The caller sees to it that every
// operand is long enough: a column as long as the groups, a register of a round PassRows, and twice as long where it is
// read by PassLast.
func Pass(code []PassStep, s *PassState, groups int) {
	c := (*uint64)(unsafe.Pointer(&code[0]))
	if haveAVX512 {
		passF64AVX512(c, &s.offsets[0], groups, &s.mask[0])
	} else {
		passF64AVX2(c, &s.offsets[0], groups, &s.mask[0])
	}
}
