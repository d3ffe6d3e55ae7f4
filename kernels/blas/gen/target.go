package main

// This file defines the instruction sets and element types, and the few instructions that differ
// between them.

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// target is one instruction set with one element type.
type target struct {
	isa  string // in function and file names
	vec  int    // bytes of a vector register
	rows int    // MR: rows of the micro-tile
	size int    // bytes of an element

	// round is the steps of k for each line asked for ahead. Asking in each would cost 3 % of the
	// speed on operands in cache with the 12 FMAs of a step of AVX2, and take the buffers of misses
	// from what is needed at once with AVX-512.
	round int
}

// cacheLine is in bytes.
const cacheLine = 64

// vectors is the width of the widest micro-tile in registers: NR = vectors * lanes. With MR = 8 of
// 32 registers it takes 24 accumulators, with MR = 4 of 16 it takes 12: both leave room for the
// three vectors of b and a broadcast.
const vectors = 3

var targets = []target{
	{"AVX512", 64, 8, 8, 4},
	{"AVX512", 64, 8, 4, 4},
	{"AVX2", 32, 4, 8, 4},
	{"AVX2", 32, 4, 4, 4},
}

func (t target) elem() string { return fmt.Sprintf("F%d", 8*t.size) }
func (t target) goElem() string {
	return fmt.Sprintf("float%d", 8*t.size)
}
func (t target) stem() string {
	return map[string]string{"AVX512": "avx512", "AVX2": "avx2"}[t.isa] + map[int]string{8: "f64", 4: "f32"}[t.size]
}
func (t target) lanes() int { return t.vec / t.size }

// emitter writes functions for one target.
type emitter struct {
	*build.Context
	target
	iota operand.Mem // 0, 1, 2, ... in integers as wide as the element
}

func newEmitter(t target) *emitter {
	e := &emitter{Context: build.NewContext(), target: t}
	e.ConstraintExpr("amd64")
	return e
}

// begin starts a function. None of them calls Go, allocates or keeps a pointer. The kernels of a driver
// have no doc: their types (gemmKernel and those behind it) say what they do.
func (e *emitter) begin(name, signature string, doc ...string) {
	e.Function(name)
	e.Attributes(attr.NOSPLIT)
	e.SignatureExpr(signature)
	e.Pragma("noescape")
	e.Doc(doc...)
}

// end leaves no dirty upper halves behind: they would slow every scalar instruction after it by two
// orders.
func (e *emitter) end() {
	e.VZEROUPPER()
	e.RET()
}

// arg loads a parameter.
func (e *emitter) arg(name string) reg.GPVirtual {
	r := e.GP64()
	e.Load(e.Param(name), r)
	return r
}

// stride loads a parameter that counts elements, as bytes.
func (e *emitter) stride(name string) reg.GPVirtual {
	r := e.arg(name)
	e.SHLQ(operand.U8(map[int]uint8{8: 3, 4: 2}[e.size]), r)
	return r
}

// result stores r as the function's result.
func (e *emitter) result(r reg.Register) { e.Store(r, e.ReturnIndex(0)) }

func (e *emitter) vector(bytes int) reg.VecVirtual {
	switch bytes {
	case 64:
		return e.ZMM()
	case 32:
		return e.YMM()
	}
	return e.XMM()
}

func (e *emitter) double() bool { return e.size == 8 }

// move is an unaligned load or store of a vector.
func (e *emitter) move(from, to operand.Op) {
	if e.double() {
		e.VMOVUPD(from, to)
	} else {
		e.VMOVUPS(from, to)
	}
}

// broadcast fills v with the element at m.
func (e *emitter) broadcast(m operand.Mem, v reg.VecVirtual) {
	switch {
	case !e.double():
		e.VBROADCASTSS(m, v)
	case v.Size() == 16:
		e.VMOVDDUP(m, v)
	default:
		e.VBROADCASTSD(m, v)
	}
}

// fused is acc = acc ± x*y.
func (e *emitter) fused(sub bool, x, y operand.Op, acc reg.VecVirtual) {
	switch {
	case sub && e.double():
		e.VFNMADD231PD(x, y, acc)
	case sub:
		e.VFNMADD231PS(x, y, acc)
	case e.double():
		e.VFMADD231PD(x, y, acc)
	default:
		e.VFMADD231PS(x, y, acc)
	}
}

// divide is acc = acc / by.
func (e *emitter) divide(by operand.Op, acc reg.VecVirtual) {
	if e.double() {
		e.VDIVPD(by, acc, acc)
	} else {
		e.VDIVPS(by, acc, acc)
	}
}
