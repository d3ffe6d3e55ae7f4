// Command gen writes the assembly of package vec: for AVX2 and AVX-512 _amd64.s files, that of the
// forces for AVX-512 alone and that of all else, and the Go declarations beside them; and
// functions_gen.go, the Go of the functions whose assembly is there. Run it with `go generate
// flow/kernels/vec`; a test of that package fails when what is committed is not what it writes.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"flow/kernels/asm"
)

func main() { asm.Main(generate) }

// generate writes all files into dir.
func generate(dir string) error {
	for _, t := range []target{{"AVX2", 32}, {"AVX512", 64}} {
		if err := asm.Write(dir, "vec", t.stem(), t.loops()); err != nil {
			return err
		}
		if t.bytes != 64 {
			continue
		}
		p := t.emitter()
		p.centralForces(false)
		p.centralForces(true)
		p.forceRoots()
		p.numbers()
		if err := asm.Write(dir, "vec", "forces_"+t.stem(), p.Context); err != nil {
			return err
		}
	}
	if err := writeGo(dir, allFunctions); err != nil {
		return err
	}
	return writeLoops(dir, allFunctions)
}

// loops is every function but the forces.
func (t target) loops() *build.Context {
	e := t.emitter()
	e.arithmetic()
	e.cascades()
	e.integers()
	e.reductions()
	e.places()
	if t.bytes == 64 {
		e.uniform()
		e.widens()
		e.extremeRows()
		e.narrow()
		e.extremeRowsF64()
		e.lines()
		e.transpose()
	} else {
		e.chainRows()
	}
	e.numbers()
	return e.Context
}

// target is one instruction set.
type target struct {
	name  string
	bytes int // of a vector register
}

func (t target) stem() string { return map[int]string{32: "avx2", 64: "avx512"}[t.bytes] }

func (t target) emitter() *emitter {
	e := &emitter{Context: build.NewContext(), target: t}
	e.ConstraintExpr("amd64")
	return e
}

// emitter writes the functions of one target.
type emitter struct {
	*build.Context
	target
	konst constants
}

// vector is a fresh vector register.
func (e *emitter) vector() reg.VecVirtual {
	if e.bytes == 64 {
		return e.ZMM()
	}
	return e.YMM()
}

// vectors is n of them.
func (e *emitter) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = e.vector()
	}
	return v
}

// param loads a parameter into a register.
func (e *emitter) param(name string) reg.Register { return e.Load(e.Param(name), e.GP64()) }

// at is byte offset off from base + index.
func at(base, index reg.Register, off int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 1, Disp: off}
}

// finish ends a function; wide registers left dirty would slow scalar code down a hundredfold.
func (e *emitter) finish() {
	e.VZEROUPPER()
	e.RET()
}

// binary is one of the instructions with two sources.
type binary func(e *emitter, src2 operand.Op, src1, dst operand.Op)

// arithmetic writes dst = a op b, over whole vectors: four at a time, then one at a time. The bytes
// to do are a multiple of the vector's.
func (e *emitter) arithmetic() {
	e.loop2("mulF64"+e.name, "float64", func(e *emitter, b, a, d operand.Op) { e.VMULPD(b, a, d) })
	e.loop2("mulF32"+e.name, "float32", func(e *emitter, b, a, d operand.Op) { e.VMULPS(b, a, d) })
	for _, t := range []struct {
		suffix, elem string
		min          func(b, a, d operand.Op)
		bits         uint64 // of the sign shift
	}{
		{"F64", "float64", func(b, a, d operand.Op) { e.VMINPD(b, a, d) }, 63},
		{"F32", "float32", func(b, a, d operand.Op) { e.VMINPS(b, a, d) }, 31},
	} {
		// VMINPD gives its second source when the two compare equal or unordered. So the two orders
		// of operands agree but for zeros, where the or keeps a minus, and NaNs, where it keeps the
		// NaN.
		least := func(b, a, d reg.VecVirtual) {
			other := e.vector()
			t.min(b, a, other)
			t.min(a, b, d)
			e.VORPD(other, d, d)
		}
		e.loopSign("min"+t.suffix+e.name, t.elem, t.bits, func(_, b, a, d reg.VecVirtual) { least(b, a, d) })
		e.loopSign("max"+t.suffix+e.name, t.elem, t.bits, func(sign, b, a, d reg.VecVirtual) { // -min(-a, -b)
			e.VXORPD(sign, a, a)
			e.VXORPD(sign, b, b)
			least(b, a, d)
			e.VXORPD(sign, d, d)
		})
	}
}

func (e *emitter) loop2(name, elem string, f binary) {
	e.Function(name)
	e.SignatureExpr(fmt.Sprintf("func(dst, a, b *%s, bytes int)", elem))
	e.Doc(name + " works on that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, b, n := e.param("dst"), e.param("a"), e.param("b"), e.param("bytes")
	e.over(n, func(i reg.Register, unroll int) {
		v := e.vectors(unroll)
		for k, r := range v {
			e.VMOVUPD(at(a, i, k*e.bytes), r)
		}
		for k, r := range v {
			f(e, at(b, i, k*e.bytes), r, r)
		}
		for k, r := range v {
			e.VMOVUPD(r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}

// loopSign is loop2 for bodies on registers, which may change a and b; sign holds the sign bits.
func (e *emitter) loopSign(name, elem string, shift uint64, f func(sign, b, a, d reg.VecVirtual)) {
	e.Function(name)
	e.SignatureExpr(fmt.Sprintf("func(dst, a, b *%s, bytes int)", elem))
	e.Doc(name + " works on that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, b, n := e.param("dst"), e.param("a"), e.param("b"), e.param("bytes")
	sign := e.vector()
	if e.bytes == 64 {
		e.VPTERNLOGD(operand.Imm(0xff), sign, sign, sign)
	} else {
		e.VPCMPEQD(sign, sign, sign)
	}
	if shift == 63 {
		e.VPSLLQ(operand.Imm(shift), sign, sign)
	} else {
		e.VPSLLD(operand.Imm(shift), sign, sign)
	}
	e.over(n, func(i reg.Register, unroll int) {
		for k := range unroll {
			x, y, d := e.vector(), e.vector(), e.vector()
			e.VMOVUPD(at(a, i, k*e.bytes), x)
			e.VMOVUPD(at(b, i, k*e.bytes), y)
			f(sign, y, x, d)
			e.VMOVUPD(d, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}

// over runs body for offsets 0 .. n in steps of four vectors, then of one. n is left.
func (e *emitter) over(n reg.Register, body func(i reg.Register, unroll int)) {
	i, end := e.GP64(), e.GP64()
	e.XORQ(i, i)
	e.MOVQ(n, end)
	e.ANDQ(operand.I32(-4*e.bytes), end)
	for _, unroll := range []int{4, 1} {
		label := fmt.Sprintf("by%d", unroll)
		e.JMP(operand.LabelRef(label + "test"))
		e.Label(label)
		body(i, unroll)
		e.ADDQ(operand.I32(unroll*e.bytes), i)
		e.Label(label + "test")
		e.CMPQ(i, end)
		e.JLT(operand.LabelRef(label))
		e.MOVQ(n, end)
	}
}
