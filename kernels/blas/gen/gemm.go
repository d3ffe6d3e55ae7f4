package main

// This file emits the gemm micro-kernels: a tile of MR rows and 1 to 3 vectors of c stays in
// registers while k runs, c = c ± a@b. Rows of a are broadcast, rows of b are vectors. The
// accumulators start from c: k may be cut anywhere without changing a bit.
//
//	a: element (i, p) at a[i*rs + p*ks]: row-major (ks = 1) or transposed (rs = 1) without packing
//	b: row p at b[p*bs], c: row i at c[i*cs]

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rows addresses MR rows of a at the current p with few registers: base, base+rs, base+2rs,
// base+3rs from each of one or two bases.
type rows struct {
	base    []reg.GPVirtual
	rs, rs3 reg.GPVirtual
}

func (e *emitter) rowsOf(a, rs reg.GPVirtual) rows {
	r := rows{base: []reg.GPVirtual{a}, rs: rs, rs3: e.GP64()}
	e.LEAQ(operand.Mem{Base: rs, Index: rs, Scale: 2}, r.rs3)
	if e.rows > 4 {
		q := e.GP64()
		e.LEAQ(operand.Mem{Base: a, Index: rs, Scale: 4}, q)
		r.base = append(r.base, q)
	}
	return r
}

// at is the operand of row i.
func (r rows) at(i int) operand.Mem {
	m := operand.Mem{Base: r.base[i/4]}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.rs, 1
	case 2:
		m.Index, m.Scale = r.rs, 2
	case 3:
		m.Index, m.Scale = r.rs3, 1
	}
	return m
}

// advance moves on to the next p.
func (e *emitter) advance(r rows, ks operand.Op) {
	for _, b := range r.base {
		e.ADDQ(ks, b)
	}
}

// tile is the accumulators: tile[i][v].
type tile [][]reg.VecVirtual

func (e *emitter) newTile(nv int) tile {
	t := make(tile, e.rows)
	for i := range t {
		for range nv {
			t[i] = append(t[i], e.vector(e.vec))
		}
	}
	return t
}

// eachRow calls f with the address of every row of c in turn.
func (e *emitter) eachRow(c, cs reg.GPVirtual, f func(i int, row reg.GPVirtual)) {
	row := e.GP64()
	e.MOVQ(c, row)
	for i := range e.rows {
		f(i, row)
		if i+1 < e.rows {
			e.ADDQ(cs, row)
		}
	}
}

// load and store move the tile from and to c.
func (e *emitter) load(t tile, c, cs reg.GPVirtual) {
	e.eachRow(c, cs, func(i int, row reg.GPVirtual) {
		for v, acc := range t[i] {
			e.move(operand.Mem{Base: row, Disp: v * e.vec}, acc)
		}
	})
}

func (e *emitter) store(t tile, c, cs reg.GPVirtual) {
	e.eachRow(c, cs, func(i int, row reg.GPVirtual) {
		for v, acc := range t[i] {
			e.move(acc, operand.Mem{Base: row, Disp: v * e.vec})
		}
	})
}

// stepOf emits a step of k: rows of a broadcast, a row of b in vectors. ks and bs, which lead to
// the next step, are registers or numbers. The vectors of b are in registers, as several rows of a
// read them, unless there are too few registers for them.
func (e *emitter) stepOf(t tile, sub bool, a rows, ks operand.Op, b reg.GPVirtual, bs operand.Op) func() {
	bv := make([]reg.VecVirtual, len(t[0]))
	if e.vec == 64 || (len(t)+1)*len(bv)+1 <= 16 {
		for v := range bv {
			bv[v] = e.vector(e.vec)
		}
	}
	x := e.vector(e.vec)
	return func() {
		at := func(v int) operand.Mem { return operand.Mem{Base: b, Disp: v * e.vec} }
		for v, y := range bv {
			if y != nil {
				e.move(at(v), y)
			}
		}
		for i := range t {
			e.broadcast(a.at(i), x)
			for v, y := range bv {
				if y != nil {
					e.fused(sub, x, y, t[i][v])
				} else {
					e.fused(sub, at(v), x, t[i][v])
				}
			}
		}
		e.advance(a, ks)
		e.ADDQ(bs, b)
	}
}

// rounds emits a loop of as many rounds of n steps as there are in k, which keeps what is left. It
// ends before if most, where there is one, has been counted down to zero.
func (e *emitter) rounds(label string, n int, k reg.GPVirtual, most *reg.GPVirtual, round func()) {
	e.SUBQ(operand.U8(n), k)
	e.JLT(operand.LabelRef(label + "end"))
	e.Label(label)
	round()
	e.SUBQ(operand.U8(n), k)
	if most != nil {
		e.JLT(operand.LabelRef(label + "end"))
		e.DECQ(*most)
		e.JNZ(operand.LabelRef(label))
	} else {
		e.JGE(operand.LabelRef(label))
	}
	e.Label(label + "end")
	e.ADDQ(operand.U8(n), k)
}

// steps emits the loop of what is left of k, with each, if any, in every step.
func (e *emitter) steps(k reg.GPVirtual, step, each func()) {
	e.TESTQ(k, k)
	e.JZ(operand.LabelRef("done"))
	e.Label("loop")
	if each != nil {
		each()
	}
	step()
	e.DECQ(k)
	e.JNZ(operand.LabelRef("loop"))
	e.Label("done")
}

// gemmKernels emits gemm<ISA><Elem><Add|Sub><vectors>, and the same with Edge, which touches only
// the first width[i] elements of row i of c (all columns of b are read nevertheless).
func (e *emitter) gemmKernels() {
	e.iota = e.StaticGlobal("lane" + e.elem())
	e.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range vectors * e.lanes() {
		if e.double() {
			e.AddDatum(i*8, operand.U64(i))
		} else {
			e.AddDatum(i*4, operand.U32(i))
		}
	}
	for nv := 1; nv <= vectors; nv++ {
		for _, sub := range []bool{false, true} {
			for _, edge := range []bool{false, true} {
				e.gemm(nv, sub, edge)
			}
		}
	}
}

func (e *emitter) gemm(nv int, sub, edge bool) {
	name := fmt.Sprintf("gemm%s%s%s%d", e.isa, e.elem(), map[bool]string{false: "Add", true: "Sub"}[sub], nv)
	sig := fmt.Sprintf("k int, a *%[1]s, rs, ks int, b *%[1]s, bs int, c *%[1]s, cs int", e.goElem())
	if edge {
		name, sig = name+"Edge", sig+", width *int64"
	} else {
		sig += ", next uintptr, step int"
	}
	e.begin(name, "func("+sig+")")
	c, cs := e.arg("c"), e.stride("cs")
	t := e.newTile(nv)
	if edge {
		width := e.arg("width")
		e.loadEdge(t, c, cs, width)
		e.contractEdge(t, sub, c, cs)
		e.storeEdge(t, c, cs, width)
	} else {
		e.load(t, c, cs)
		e.contractAsking(t, sub, c, cs)
		e.store(t, e.arg("c"), e.stride("cs")) // loaded again: the registers were needed
	}
	e.end()
}

// contractEdge is the whole loop over k of an edge kernel. Of a triangle, the tiles at whose
// diagonal are such, it asks for the tile of c below.
func (e *emitter) contractEdge(t tile, sub bool, c, cs reg.GPVirtual) {
	below := e.GP64()
	if e.vec == 64 {
		e.below(c, cs, below)
	}
	k := e.arg("k")
	a := e.rowsOf(e.arg("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, e.stride("ks"), e.arg("b"), e.stride("bs"))
	if e.vec == 64 {
		left := e.GP64()
		e.MOVQ(operand.U32(e.rows), left)
		e.rounds("below", askRound, k, &left, func() {
			for s := range askRound {
				e.askBelow(s, len(t[0]), below)
				step()
			}
			e.ADDQ(cs, below)
		})
	}
	e.steps(k, step, nil)
}

// contractAsking is contract that asks memory meanwhile, once a round, for what the driver says,
// and for the tile of c below this one, to which the next round over the panels of b comes. The
// tile is not in cache when the matrix is one of many.
//
// Asking for it all at once would take all the buffers of misses of L1, and the rows of b, which
// come from L2, would wait for memory too: 6 to 10 % of a tile product. With vectors of 64 bytes it
// is a row of c in each of the first rounds; the tiles of AVX2 have a third as many lines.
func (e *emitter) contractAsking(t tile, sub bool, c, cs reg.GPVirtual) {
	below := e.GP64()
	e.below(c, cs, below)
	if e.vec == 32 {
		e.eachRow(below, cs, func(_ int, row reg.GPVirtual) {
			for at := 0; at < len(t[0])*e.vec; at += cacheLine {
				e.PREFETCHT1(operand.Mem{Base: row, Disp: at})
			}
		})
	}
	next, stride := e.arg("next"), e.arg("step")
	ask := func() {
		e.PREFETCHT1(operand.Mem{Base: next})
		e.ADDQ(stride, next)
	}
	k := e.arg("k")
	a := e.rowsOf(e.arg("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, e.stride("ks"), e.arg("b"), e.stride("bs"))
	if e.vec == 64 {
		left := e.GP64()
		e.MOVQ(operand.U32(e.rows), left)
		e.rounds("below", askRound, k, &left, func() {
			for s := range askRound {
				if s%e.round == 2 {
					ask()
				}
				e.askBelow(s, len(t[0]), below)
				step()
			}
			e.ADDQ(cs, below)
		})
	}
	e.rounds("round", e.round, k, nil, func() {
		ask()
		for range e.round {
			step()
		}
	})
	e.steps(k, step, nil)
}

// askRound is the steps of k in which a row of c is asked for.
const askRound = 12

// askBelow asks in step s of a round for a line of a row of c, nv vectors of 64 bytes wide.
func (e *emitter) askBelow(s, nv int, row reg.GPVirtual) {
	if s%4 == 0 && s/4 < nv {
		e.PREFETCHT1(operand.Mem{Base: row, Disp: s / 4 * e.vec})
	}
}

// below sets row to the first row of the tile of c below this one.
func (e *emitter) below(c, cs, row reg.GPVirtual) {
	e.MOVQ(cs, row)
	e.SHLQ(operand.U8(map[int]uint8{4: 2, 8: 3}[e.rows]), row)
	e.ADDQ(c, row)
}

// mask compares width[i] with the lane numbers of vector v; w holds width[i] in every lane.
func (e *emitter) mask(v int, w, m operand.Op) {
	lane := e.iota.Offset(v * e.vec)
	if e.double() {
		e.VPCMPGTQ(lane, w, m)
	} else {
		e.VPCMPGTD(lane, w, m)
	}
}

// width broadcasts width[i], of which only the low half is read for f32.
func (e *emitter) width(width reg.GPVirtual, i int, w operand.Op) {
	m := operand.Mem{Base: width, Disp: 8 * i}
	if e.double() {
		e.VPBROADCASTQ(m, w)
	} else {
		e.VPBROADCASTD(m, w)
	}
}

// masked calls move for every vector of the tile with its address and its mask: an opmask register
// or, on AVX2, a vector.
func (e *emitter) masked(t tile, c, cs, width reg.GPVirtual, move func(at operand.Mem, m operand.Op, acc reg.VecVirtual)) {
	w := e.vector(e.vec)
	var m operand.Op
	if e.vec == 64 {
		m = e.K()
	} else {
		m = e.vector(e.vec)
	}
	e.eachRow(c, cs, func(i int, row reg.GPVirtual) {
		e.width(width, i, w)
		for v, acc := range t[i] {
			e.mask(v, w, m)
			move(operand.Mem{Base: row, Disp: v * e.vec}, m, acc)
		}
	})
}

func (e *emitter) loadEdge(t tile, c, cs, width reg.GPVirtual) {
	e.masked(t, c, cs, width, func(at operand.Mem, m operand.Op, acc reg.VecVirtual) {
		switch {
		case e.vec == 64 && e.double():
			e.VMOVUPD_Z(at, m, acc)
		case e.vec == 64:
			e.VMOVUPS_Z(at, m, acc)
		case e.double():
			e.VMASKMOVPD(at, m, acc)
		default:
			e.VMASKMOVPS(at, m, acc)
		}
	})
}

func (e *emitter) storeEdge(t tile, c, cs, width reg.GPVirtual) {
	e.masked(t, c, cs, width, func(at operand.Mem, m operand.Op, acc reg.VecVirtual) {
		switch {
		case e.vec == 64 && e.double():
			e.VMOVUPD(acc, m, at)
		case e.vec == 64:
			e.VMOVUPS(acc, m, at)
		case e.double():
			e.VMASKMOVPD(acc, m, at)
		default:
			e.VMASKMOVPS(acc, m, at)
		}
	})
}
