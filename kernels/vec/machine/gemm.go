package machine

// This file emits the gemm micro-kernels: a tile of MR rows and 1 to 3 vectors of c stays in
// registers while k runs, c = c ± a@b. Rows of a are broadcast, rows of b are vectors. The
// accumulators start from c: k may be cut anywhere without changing a bit.
//
//	a: element (i, p) at a[i*rs + p*ks]: row-major (ks = 1) or transposed (rs = 1) without packing
//	b: row p at b[p*bs], c: row i at c[i*cs]

import "flow/kernels/loop/amd64"

// rows addresses MR rows of a at the current p with few registers: base, base+rs, base+2rs,
// base+3rs from each of one or two bases.
type rows struct {
	base    []reg
	rs, rs3 reg
}

func (e *tiler) rowsOf(a, rs reg) rows {
	r := rows{base: []reg{a}, rs: rs, rs3: e.three(rs)}
	if e.rows > 4 {
		q := e.general()
		e.lea(mem{base: a, index: rs, scale: 4}, q)
		r.base = append(r.base, q)
	}
	return r
}

// at is the operand of row i.
func (r rows) at(i int) mem {
	m := mem{base: r.base[i/4]}
	switch i % 4 {
	case 1:
		m.index, m.scale = r.rs, 1
	case 2:
		m.index, m.scale = r.rs, 2
	case 3:
		m.index, m.scale = r.rs3, 1
	}
	return m
}

// advance moves on to the next p.
func (e *tiler) advance(r rows, ks any) {
	for _, b := range r.base {
		e.add(ks, b)
	}
}

// tile is the accumulators: tile[i][v].
type tile [][]reg

func (e *tiler) newTile(nv int) tile {
	t := make(tile, e.rows)
	for i := range t {
		for range nv {
			t[i] = append(t[i], e.vector())
		}
	}
	return t
}

// eachRow calls f with the address of every row of c in turn.
func (e *tiler) eachRow(c, cs reg, f func(i int, row reg)) {
	row := e.general()
	e.mov(c, row)
	for i := range e.rows {
		f(i, row)
		if i+1 < e.rows {
			e.add(cs, row)
		}
	}
}

// load and store move the tile from and to c.
func (e *tiler) load(t tile, c, cs reg) {
	e.eachRow(c, cs, func(i int, row reg) {
		for v, acc := range t[i] {
			e.move(mem{base: row, disp: v * e.bytes}, acc)
		}
	})
}

func (e *tiler) store(t tile, c, cs reg) {
	e.eachRow(c, cs, func(i int, row reg) {
		for v, acc := range t[i] {
			e.move(acc, mem{base: row, disp: v * e.bytes})
		}
	})
}

// stepOf emits a step of k: rows of a broadcast, a row of b in vectors. ks and bs, which lead to
// the next step, are registers or numbers. The vectors of b are in registers, as several rows of a
// read them, unless there are too few registers for them.
func (e *tiler) stepOf(t tile, sub bool, a rows, ks any, b reg, bs any) func() {
	var bv []reg
	if e.set == AVX512 || (len(t)+1)*len(t[0])+1 <= 16 {
		bv = e.vectors(len(t[0]))
	}
	x := e.vector()
	return func() {
		at := func(v int) mem { return mem{base: b, disp: v * e.bytes} }
		for v, y := range bv {
			e.move(at(v), y)
		}
		for i, row := range t {
			e.broadcast(a.at(i), x)
			for v, acc := range row {
				if bv != nil {
					e.fused(sub, x, bv[v], acc)
				} else {
					e.fused(sub, at(v), x, acc)
				}
			}
		}
		e.advance(a, ks)
		e.add(bs, b)
	}
}

// rounds emits a loop of as many rounds of n steps as there are in k, which keeps what is left. It
// ends before if most, where there is one, has been counted down to zero.
func (e *tiler) rounds(label string, n int, k reg, most *reg, round func()) {
	e.sub(n, k)
	e.jumpIf(amd64.Less, label+"end")
	e.label(label)
	round()
	e.sub(n, k)
	if most != nil {
		e.jumpIf(amd64.Less, label+"end")
		e.dec(*most)
		e.jumpIf(amd64.NotEqual, label)
	} else {
		e.jumpIf(amd64.GreaterEq, label)
	}
	e.label(label + "end")
	e.add(n, k)
}

// steps emits the loop of what is left of k, with each, if any, in every step.
func (e *tiler) steps(k reg, step, each func()) {
	e.test(k)
	e.jumpIf(amd64.Equal, "done")
	e.label("loop")
	if each != nil {
		each()
	}
	step()
	e.dec(k)
	e.jumpIf(amd64.NotEqual, "loop")
	e.label("done")
}

func (e *tiler) gemm(nv int, sub bool) {
	c, cs := e.param("c"), e.stride("cs")
	t := e.newTile(nv)
	e.load(t, c, cs)
	e.contractAsking(t, sub, c, cs)
	e.store(t, e.param("c"), e.stride("cs")) // loaded again: the registers were needed
	e.finish()
}

// edge is gemm that touches only a part of each row of c. It reads all columns of b.
func (e *tiler) edge(nv int, sub bool) {
	c, cs := e.param("c"), e.stride("cs")
	t := e.newTile(nv)
	e.masked(t, c, cs, func(at mem, m, acc reg) {
		if e.set == AVX2 {
			e.v(e.by(amd64.VMASKMOVPD, amd64.VMASKMOVPS), at, m, acc)
		} else {
			e.vz(e.by(amd64.VMOVUPD, amd64.VMOVUPS), at, m, acc)
		}
	})
	e.contractEdge(t, sub, c, cs)
	e.masked(t, c, cs, func(at mem, m, acc reg) {
		if e.set == AVX2 {
			e.v(e.by(amd64.VMASKMOVPDStore, amd64.VMASKMOVPSStore), acc, m, at)
		} else {
			e.v(e.by(amd64.VMOVUPD, amd64.VMOVUPS), acc, m, at)
		}
	})
	e.finish()
}

// contractEdge is the whole loop over k of an edge kernel. It asks for the tile of c below, as tiles on
// the diagonal of a triangle have one.
func (e *tiler) contractEdge(t tile, sub bool, c, cs reg) {
	below := e.general()
	if e.set == AVX512 {
		e.below(c, cs, below)
	}
	k := e.param("k")
	a := e.rowsOf(e.param("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, e.stride("ks"), e.param("b"), e.stride("bs"))
	if e.set == AVX512 {
		e.roundsAsking(len(t[0]), k, cs, below, func(int) { step() })
	}
	e.steps(k, step, nil)
}

// contractAsking is contract that asks memory meanwhile, once a round, for what the driver says, and
// for the tile of c below this one, to which the next round over the panels of b comes. Asking for it
// all at once would take all the buffers of misses of L1, and the rows of b would wait for memory too:
// 6 to 10 % of a tile product.
func (e *tiler) contractAsking(t tile, sub bool, c, cs reg) {
	below := e.general()
	e.below(c, cs, below)
	if e.set == AVX2 {
		e.eachRow(below, cs, func(_ int, row reg) {
			for at := 0; at < len(t[0])*e.bytes; at += cacheLine {
				e.prefetchSecond(mem{base: row, disp: at})
			}
		})
	}
	next, stride := e.param("next"), e.param("step")
	ask := func() {
		e.prefetchSecond(mem{base: next})
		e.add(stride, next)
	}
	k := e.param("k")
	a := e.rowsOf(e.param("a"), e.stride("rs"))
	step := e.stepOf(t, sub, a, e.stride("ks"), e.param("b"), e.stride("bs"))
	if e.set == AVX512 {
		e.roundsAsking(len(t[0]), k, cs, below, func(s int) {
			if s%Round == 2 {
				ask()
			}
			step()
		})
	}
	e.rounds("round", Round, k, nil, func() {
		ask()
		for range Round {
			step()
		}
	})
	e.steps(k, step, nil)
}

// askRound is the steps of k in which a row of c is asked for.
const askRound = 12

// roundsAsking runs rounds of askRound steps. Each asks for a row of the tile of c below, nv vectors of
// 64 bytes wide.
func (e *tiler) roundsAsking(nv int, k, cs, below reg, step func(s int)) {
	left := e.general()
	e.mov(e.rows, left)
	e.rounds("below", askRound, k, &left, func() {
		for s := range askRound {
			e.askBelow(s, nv, below)
			step(s)
		}
		e.add(cs, below)
	})
}

// askBelow asks in step s of a round for a line of a row of c, nv vectors of 64 bytes wide.
func (e *tiler) askBelow(s, nv int, row reg) {
	if s%4 == 0 && s/4 < nv {
		e.prefetchSecond(mem{base: row, disp: s / 4 * e.bytes})
	}
}

// below sets row to the first row of the tile of c below this one.
func (e *tiler) below(c, cs, row reg) {
	e.mov(cs, row)
	e.shl(map[int]int{4: 2, 8: 3}[e.rows], row)
	e.add(c, row)
}

// masked calls move for every vector of the tile with its address and its mask: an opmask register
// or, on AVX2, a vector.
func (e *tiler) masked(t tile, c, cs reg, move func(at mem, m, acc reg)) {
	width, bits := e.param("width"), e.general()
	e.eachRow(c, cs, func(i int, row reg) {
		e.mov(mem{base: width, disp: 8 * i}, bits)
		for v, acc := range t[i] {
			var m reg
			if e.set == AVX2 {
				m = e.vector()
				e.v(amd64.VMOVUPD, mem{base: bits, disp: v * e.bytes}, m)
			} else {
				m = e.mask()
				e.v(amd64.KMOVW, bits, m)
				e.shr(e.bytes/e.size, bits)
			}
			move(mem{base: row, disp: v * e.bytes}, m, acc)
		}
	})
}

// A product of a few rows has the gemm micro-kernel turned round, for the case that most of the MR rows
// of its tile would be missing. Few rows leave registers for more vectors, and it takes that many to
// keep the units of the FMA busy.
//
//	a: element (i, p) at a[i*rs + p*ks], i below 1 to 4
//	b: row p at b[p*bs], c: row i at c[i*cs]; it asks for b step elements ahead

// narrowVectors is the widest tile of 1, 2, 3 and 4 rows. Two FMAs a cycle that each take four are
// eight chains at a time. With four rows of three vectors the 16 registers of AVX2 are in use, with
// one row of eight the vectors of b stay in memory.
var narrowVectors = [...]int{8, 4, 3, 3}

func (e *tiler) narrow(nv int) {
	c, cs := e.param("c"), e.stride("cs")
	t := e.newTile(nv)
	e.load(t, c, cs)
	b, ahead := e.param("b"), e.stride("step")
	step := e.stepOf(t, false, e.rowsOf(e.param("a"), e.stride("rs")), e.stride("ks"), b, e.stride("bs"))
	e.steps(e.param("k"), step, func() {
		for at := 0; at < nv*e.bytes; at += cacheLine {
			e.prefetch(mem{base: b, index: ahead, scale: 1, disp: at})
		}
	})
	e.store(t, c, cs)
	e.finish()
}
