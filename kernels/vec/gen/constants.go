package main

// This file writes the constants that code reads from memory: by AVX-512 as one word that the
// instruction spreads, by AVX2 as a whole vector.

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
)

// constants are those of one file of assembly, by their bits.
type constants struct {
	at   map[uint64]int
	list []uint64
}

// place is where constant c lies.
func (e *emitter) place(c uint64) operand.Mem {
	if e.konst.at == nil {
		e.konst.at = map[uint64]int{}
	}
	i, ok := e.konst.at[c]
	if !ok {
		i = len(e.konst.list)
		e.konst.at[c] = i
		e.konst.list = append(e.konst.list, c)
	}
	return operand.NewDataAddr(operand.NewStaticSymbol("numbers"+e.name), i*e.constBytes())
}

func (e *emitter) constBytes() int {
	if e.bytes == 64 {
		return 8
	}
	return 32
}

// numbers writes the constants that have been asked for.
func (e *emitter) numbers() {
	e.StaticGlobal("numbers" + e.name)
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i, c := range e.konst.list {
		for off := 0; off < e.constBytes(); off += 8 {
			e.AddDatum(i*e.constBytes()+off, operand.U64(c))
		}
	}
}
