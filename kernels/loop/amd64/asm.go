package amd64

// This file defines a piece of machine code while it is written: its bytes, labels and constants.

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Asm is a piece of code. The zero Asm is empty; Reset keeps its memory.
type Asm struct {
	code   []byte
	labels []int // offset of each label, -1 before it is bound
	jumps  []fixup
	consts []constant
	words  []uint64 // of constants
	uses   []fixup  // of constants
	// vexOnly says that the processor has no AVX-512: Emit panics with a BUG for what needs it.
	vexOnly bool
	// longMasks says that masks have 64 bits. put replaces instructions on masks of 16 bits.
	longMasks bool
	list      *[]listed // nil: the code is not listed
}

// Label is a place to jump to.
type Label int32

// fixup is 4 bytes at a place that hold the distance from place+4+more to a target.
type fixup struct {
	at, more int
	target   int32
}

// constant is words in memory beside the code, broadcast to as many as a vector of 64 bytes holds,
// or a table.
type constant struct {
	words []uint64
	used  bool
	at    int // offset when finished
}

// Reset empties the piece.
func (a *Asm) Reset() {
	a.code, a.labels, a.jumps, a.consts, a.words, a.uses = a.code[:0], a.labels[:0], a.jumps[:0], a.consts[:0], a.words[:0], a.uses[:0]
}

// Len is the number of bytes so far.
func (a *Asm) Len() int { return len(a.code) }

// Emit appends a vector or mask instruction.
func (a *Asm) Emit(i Inst) { a.put(&i) }

// put appends the instruction at i, which it does not copy.
func (a *Asm) put(i *Inst) {
	if to := longMasks[i.Op]; a.longMasks && to != noOp {
		i.Op = to
	}
	from := len(a.code)
	var at int
	a.code, at = encode(a.code, i)
	if a.vexOnly && (a.code[from] == evexByte || forms[i.Op].ofMasks()) {
		panic("BUG: " + forms[i.Op].name + " needs AVX-512")
	}
	if at >= 0 {
		a.uses = append(a.uses, fixup{at, len(a.code) - at - 4, i.Mem.Constant - 1})
	}
	if a.list != nil {
		*a.list = append(*a.list, listed{from, len(a.code), i.text()})
	}
}

// Label makes a label that is not bound yet.
func (a *Asm) Label() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Bind puts a label here.
func (a *Asm) Bind(l Label) {
	if a.labels[l] >= 0 {
		panic("BUG: a label is bound twice")
	}
	a.labels[l] = len(a.code)
}

// Const is the operand that reads these words, which lie beside the code, aligned to 64 bytes.
// Equal constants are one.
func (a *Asm) Const(words ...uint64) Mem {
	for k := range a.consts {
		if slices.Equal(a.consts[k].words, words) {
			return Mem{Index: NoReg, Constant: int32(k) + 1}
		}
	}
	from := len(a.words)
	a.words = append(a.words, words...) // earlier constants keep the old memory if it moves
	a.consts = append(a.consts, constant{words: a.words[from:len(a.words):len(a.words)]})
	return Mem{Index: NoReg, Constant: int32(len(a.consts))}
}

// Finish resolves labels and constants and returns the bytes: code, then constants. They may be
// placed at any address that is a multiple of 64. The bytes belong to the Asm until its next Reset.
func (a *Asm) Finish() ([]byte, error) {
	for _, j := range a.jumps {
		to := a.labels[j.target]
		if to < 0 {
			return nil, fmt.Errorf("BUG: a jump to label %d, which is nowhere", j.target)
		}
		binary.LittleEndian.PutUint32(a.code[j.at:], uint32(int32(to-(j.at+4+j.more))))
	}
	for _, u := range a.uses {
		a.consts[u.target].used = true
	}
	for k := range a.consts {
		c := &a.consts[k]
		if !c.used {
			continue
		}
		align := 64
		switch len(c.words) {
		case 1:
			align = 8
		case 4:
			align = 32
		}
		for len(a.code)%align != 0 {
			a.code = append(a.code, 0xcc) // int3
		}
		c.at = len(a.code)
		for _, w := range c.words {
			a.code = binary.LittleEndian.AppendUint64(a.code, w)
		}
	}
	for _, u := range a.uses {
		binary.LittleEndian.PutUint32(a.code[u.at:], uint32(int32(a.consts[u.target].at-(u.at+4+u.more))))
	}
	return a.code, nil
}

// on is the place with another base.
func (m Mem) on(base Reg) Mem {
	m.Base = base
	return m
}

// offset is a place in memory so many bytes behind another.
func offset(m Mem, by int32) Mem {
	m.Disp += by
	return m
}

// listed is a vector or mask instruction of a listing.
type listed struct {
	from, to int // offsets in the code
	text     string
}

// allMoves is the key of the code that saves or loads all vectors and masks of a target.
type allMoves struct {
	vexOnly, bytewise bool
	length            Len
	load              bool
}
