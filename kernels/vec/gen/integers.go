package main

// This file writes the loops on integers.

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// integers writes dst = a op b on int64.
func (e *emitter) integers() {
	e.loop2("addI64"+e.name, "int64", func(e *emitter, b, a, d operand.Op) { e.VPADDQ(b, a, d) })
	if e.bytes == 64 {
		e.loop2("mulI64"+e.name, "int64", func(e *emitter, b, a, d operand.Op) { e.VPMULLQ(b, a, d) })
	}
}

// widens writes dst = float64(a) for int64, which AVX2 cannot.
func (e *emitter) widens() {
	e.Function("f64ofI64" + e.name)
	e.SignatureExpr("func(dst *float64, a *int64, bytes int)")
	e.Doc("f64ofI64" + e.name + " works on that many bytes, a multiple of the vector size.")
	e.Pragma("noescape")
	dst, a, n := e.param("dst"), e.param("a"), e.param("bytes")
	e.over(n, func(i reg.Register, unroll int) {
		v := e.vectors(unroll)
		for k, r := range v {
			e.VCVTQQ2PD(at(a, i, k*e.bytes), r)
		}
		for k, r := range v {
			e.VMOVUPD(r, at(dst, i, k*e.bytes))
		}
	})
	e.finish()
}
