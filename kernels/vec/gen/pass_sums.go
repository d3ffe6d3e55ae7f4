package main

// This file is the sums of the pass machine that are rounded once: of three columns, and of the elements of one.

import (
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// twoSum is the rounded sums of a and b and their exact errors, a and b being lost. Half of the additions are written as
// multiply-adds by one, which other units of the processor execute.
func (p *rowMachine) twoSum(a, b []reg.VecVirtual, one reg.VecVirtual) (sum, err []reg.VecVirtual) {
	n := len(a)
	sum, part, rest := p.vectors(n), p.vectors(n), p.vectors(n)
	for k := range n {
		p.VADDPD(b[k], a[k], sum[k])
	}
	for k := range n {
		p.VSUBPD(a[k], sum[k], part[k]) // what of b arrived
	}
	for k := range n {
		p.VSUBPD(part[k], sum[k], rest[k]) // what of a did
		p.VFMSUB132PD(one, part[k], b[k])
	}
	for k := range n {
		p.VFMSUB132PD(one, rest[k], a[k])
	}
	for k := range n {
		p.VFMADD132PD(one, a[k], b[k])
	}
	return sum, b
}

// sum3 is acc = the sum of three columns, or of their squares, each rounded once: see triples.
func (p *rowMachine) sum3(squares bool) {
	from := [3]reg.Register{p.operand(0), p.operand(1), p.operand(2)}
	one := p.ones(true)
	for at := 0; at < len(p.acc); at += p.abreast() {
		var x [3][]reg.VecVirtual
		for i := range x {
			x[i] = p.vectors(p.abreast())
			for k, v := range x[i] {
				p.VMOVUPD(p.vectorAt(from[i], at+k), v)
				if squares {
					p.VMULPD(v, v, v)
				}
			}
		}
		bc, low := p.twoSum(x[1], x[2], one)
		sum, high := p.twoSum(x[0], bc, one)
		acc := p.acc[at : at+p.abreast()]
		p.odd(high, low, one, acc)
		for k, v := range acc {
			p.VADDPD(v, sum[k], v)
		}
	}
}

// odd is v = b + c rounded to odd; b and c are lost. Of the roundings down and up that one is odd whose last bit is set,
// unless both are the exact sum.
func (p *rowMachine) odd(b, c []reg.VecVirtual, one reg.VecVirtual, v []reg.VecVirtual) {
	if p.bytes == 64 {
		last := p.ones(false)
		down := p.vectors(len(v))
		for k := range v {
			p.VADDPD_RD_SAE(c[k], b[k], down[k])
			p.VADDPD_RU_SAE(c[k], b[k], b[k])
		}
		for k := range v {
			odd := p.K()
			p.VPTESTMQ(last, down[k], odd)
			p.VBLENDMPD(down[k], b[k], odd, v[k])
		}
		return
	}
	b, c = p.twoSum(b, c, one) // c is what b lacks: where b is even, it goes one unit towards it
	for k := range v {
		zero, lacks, even, toward := p.vector(), p.vector(), p.vector(), p.vector()
		p.VXORPD(zero, zero, zero)
		p.VCMPPD(operand.Imm(4), zero, c[k], lacks)
		p.VXORPD(b[k], c[k], toward)
		p.VPCMPGTQ(toward, zero, toward)
		last := p.ones(false)
		p.VPOR(last, toward, toward)
		p.VPAND(last, b[k], even)
		p.VPCMPEQQ(zero, even, even)
		p.VPAND(lacks, even, even)
		p.VPAND(even, toward, toward)
		p.VPADDQ(toward, b[k], v[k])
	}
}

// column adds the first operand, or its product with the second, to the sum whose state is the third operand: see
// ColumnState. What the mask leaves out counts as zero in a tail.
func (p *rowMachine) column(products, tail bool) {
	a, b := p.operand(0), reg.Register(nil)
	if products {
		b = p.operand(1)
	}
	state := p.operand(2)
	if tail {
		p.Load(p.Param("mask"), p.mask)
	}
	const n = chains
	sum, low, out, some := p.vectors(n), p.vectors(n), p.vector(), p.vector()
	for k, v := range slices.Concat(sum, low, []reg.VecVirtual{out, some}) {
		p.VMOVUPD(p.vectorAt(state, k), v)
	}
	bias := operand.Op(p.vectorAt(state, 2*n+2))
	if p.bytes == 64 {
		v := p.vector()
		p.VMOVUPD(bias, v)
		bias = v
	}
	abreast := n // AVX2 has two registers left
	if p.bytes == 32 {
		abreast = 1
	}
	for at := 0; at < len(p.acc); at += abreast {
		v, next := p.vectors(abreast), p.vectors(abreast)
		sum, low := sum[at%n:], low[at%n:]
		for k, v := range v {
			p.VMOVUPD(p.vectorAt(a, at+k), v)
			if products {
				p.VMULPD(p.vectorAt(b, at+k), v, v)
			}
			if tail {
				p.VANDPD(p.vectorAt(p.mask, at+k), v, v)
			}
		}
		for k, v := range v {
			p.VADDPD(v, sum[k], next[k])
		}
		for k := range v {
			p.VSUBPD(sum[k], next[k], sum[k]) // what of v arrived
		}
		for k, v := range v {
			if p.bytes == 64 {
				p.VFMSUB132PD(p.ones(true), sum[k], v) // what of v did not
			} else {
				p.VSUBPD(sum[k], v, v)
			}
		}
		for k, v := range v {
			p.VADDPD(v, low[k], low[k])
			if p.bytes == 64 {
				p.VPTERNLOGQ(operand.Imm(0xf6), bias, next[k], out) // out | (next ^ bias)
			} else {
				p.VXORPD(bias, next[k], sum[k])
				p.VORPD(sum[k], out, out)
			}
			p.VORPD(v, some, some)
			sum[k] = next[k]
		}
	}
	for k, v := range slices.Concat(sum, low, []reg.VecVirtual{out, some}) {
		p.VMOVUPD(v, p.vectorAt(state, k))
	}
}

// chains is how many vectors of sums a column has. Four wait less for one another, but what they load and store costs more.
const chains = 2
