package machine

// This file writes sums of forces as one loop: lanes are iterations, rows are points of three
// coordinates, and each lane adds up strength d/(r2 sqrt(r2)) over the rows, d being the row's
// point less the lane's and r2 the sum of d's squares and a softening: the force of all bodies on
// one. Each operation rounds as it does by itself, so no bit tells this loop from the steps.
//
// What a row makes of a vector waits some eighty cycles from its first operation to its last, and
// the unit that divides wants another vector every eight. So the loop is a pipeline of software: it
// adds up row i, divides for row i+1, takes the roots of row i+2 and squares the differences of row
// i+3, with the operations of these four mixed (M. Lam, "Software pipelining: an effective
// scheduling technique for VLIW machines", PLDI 1988). The processor's window alone sees less than
// that: its schedulers are full of what waits. The differences are formed once more where they are
// added up, for four rows of them have no room.

import (
	"math"

	"flow/kernels/loop/amd64"
)

// forceVectors is how many vectors of lanes the loop works on. One root of two is the processor's,
// the other is made of multiply-adds. Two of three made of multiply-adds took 3 % less, but the
// groups of lanes are larger then. Measured on Zen 5, cycles a vector, at 3.7 GHz: 8.8; with all
// roots the processor's 12.1, by multiply-adds 10.2; row after row without the pipeline 9.5.
const forceVectors = 2

// forces is the loop being written.
type forces struct {
	*emitter
	back                   bool // d is the lane's point less the row's
	columns, lanes         [3]reg
	softening              reg
	strength, step         reg // of the row that divides, and the bytes to the next one's
	row                    reg // whose differences are squared
	chains                 [3][]reg
	squares, cubes, weight []reg // r2, r2 sqrt(r2) and strength over that: between two stages of the pipeline
	half, binade, above    reg
}

// Stages of the pipeline, each a bit: which of them an iteration of the loop has, for the first and
// the last have not all.
const (
	forceSquares = 1 << iota
	forceRoots
	forceDivides
	forceAdds
)

// Forces and ForcesBack add up forces over so many rows, three at least. The address args is that of
// words: those of the columns of the rows' coordinates (3), of the lanes' (3), of the softening, 8 of
// it, and of the strength, the bytes from one strength to the next, and the addresses of the chains
// (3). The result is 1, or 0 where some r2 is none that the roots are right for.
var (
	Forces     = of("Forces", "args rows", func(e *emitter) { e.centralForces(false) }, AVX512)
	ForcesBack = of("ForcesBack", "args rows", func(e *emitter) { e.centralForces(true) }, AVX512)
)

// The words at args.
const (
	forceColumns   = 0
	forceLanes     = 3
	forceSoftening = 6
	forceStrength  = 7
	forceStep      = 8
	forceChains    = 9
)

// centralForces writes the loop.
func (e *emitter) centralForces(back bool) {
	f := &forces{emitter: e, back: back, row: e.general(), squares: e.vectors(forceVectors), cubes: e.vectors(forceVectors), weight: e.vectors(forceVectors)}
	args, rows := e.param("args"), e.param("rows")
	word := func(k int) reg {
		r := e.general()
		e.mov(mem{base: args, disp: 8 * k}, r)
		return r
	}
	for c := range 3 {
		f.columns[c], f.lanes[c] = word(forceColumns+c), word(forceLanes+c)
		f.chains[c] = e.vectors(forceVectors)
		for _, v := range f.chains[c] {
			e.v(amd64.VXORPD, v, v, v)
		}
	}
	f.softening, f.strength, f.step = word(forceSoftening), word(forceStrength), word(forceStep)
	f.half, f.binade, f.above = e.vector(), e.vector(), e.vector()
	e.v(amd64.VBROADCASTSD, constant(math.Float64bits(.5)), f.half)
	e.v(amd64.VBROADCASTSD, constant(1<<52), f.binade)
	e.v(amd64.VXORPD, f.above, f.above, f.above)
	e.clear(f.row)
	f.iteration(forceSquares)
	f.iteration(forceSquares | forceRoots)
	f.iteration(forceSquares | forceRoots | forceDivides)
	e.jump("test")
	e.label("next")
	f.iteration(forceSquares | forceRoots | forceDivides | forceAdds)
	e.label("test")
	e.cmp(f.row, rows)
	e.jumpIf(amd64.Less, "next")
	f.iteration(forceRoots | forceDivides | forceAdds)
	f.iteration(forceDivides | forceAdds)
	f.iteration(forceAdds)
	for c, chain := range f.chains {
		to := word(forceChains + c)
		for k, v := range chain {
			e.v(amd64.VMOVUPD, v, mem{base: to, disp: k * e.bytes})
		}
	}
	const notGreater = 2
	inRange, sure, yes := e.mask(), e.general(), e.general()
	e.vcast(amd64.VPCMPUQ, notGreater, constant(rootTo-rootFrom), f.above, inRange)
	e.mov(0, sure)
	e.mov(1, yes)
	e.v(amd64.KORTESTB, inRange, inRange) // carry: all lanes
	e.cmov(amd64.Below, yes, sure)
	e.store(sure, 0)
	e.finish()
}

// iteration is these stages, each of another row, and goes to the next row. A vector's operations
// of all stages are mixed; what a stage leaves to the next one comes last and in their order, when
// that has read what was there.
func (f *forces) iteration(stages int) {
	has := func(stage int, ops []func()) (first, last []func()) {
		if stages&stage == 0 {
			return nil, nil
		}
		return ops[:len(ops)-1], ops[len(ops)-1:]
	}
	var rowSquared, rowAdded [3]reg
	if stages&forceSquares != 0 {
		rowSquared = f.spread(0)
	}
	if stages&forceAdds != 0 {
		rowAdded = f.spread(-3)
	}
	var strength reg
	if stages&forceDivides != 0 {
		strength = f.vector()
		f.v(amd64.VBROADCASTSD, mem{base: f.strength}, strength)
		f.add(f.step, f.strength)
	}
	for k := range forceVectors {
		add, added := has(forceAdds, f.addUp(k, rowAdded))
		_, divide := has(forceDivides, []func(){func() { f.v(amd64.VDIVPD, f.cubes[k], strength, f.weight[k]) }})
		roots, cube := has(forceRoots, f.roots(k))
		differences, square := has(forceSquares, f.square(k, rowSquared))
		for _, op := range append(append(mixed(append(append(add, added...), divide...), roots, differences), cube...), square...) {
			op()
		}
	}
	f.inc(f.row)
}

// mixed is the operations of lists side by side, in proportion to their lengths.
func mixed(lists ...[]func()) (out []func()) {
	done := make([]int, len(lists))
	for {
		least := -1
		for i, l := range lists { // the middle of the next operation's part of its list is compared
			if done[i] < len(l) && (least < 0 || (2*done[i]+1)*len(lists[least]) < (2*done[least]+1)*len(l)) {
				least = i
			}
		}
		if least < 0 {
			return out
		}
		out = append(out, lists[least][done[least]])
		done[least]++
	}
}

// spread is the coordinates of the row that many rows on, in all lanes.
func (f *forces) spread(on int) (point [3]reg) {
	for c := range point {
		point[c] = f.vector()
		f.v(amd64.VBROADCASTSD, mem{base: f.columns[c], index: f.row, scale: 8, disp: 8 * on}, point[c])
	}
	return point
}

func (f *forces) lane(c, k int) mem { return mem{base: f.lanes[c], disp: k * f.bytes} }

// square is r2 of vector k.
func (f *forces) square(k int, row [3]reg) []func() {
	d := f.vectors(3)
	var ops []func()
	for c := range d { // the sign of a difference does not show
		ops = append(ops, func() { f.v(amd64.VSUBPD, f.lane(c, k), row[c], d[c]) })
	}
	for c := range d {
		ops = append(ops, func() { f.v(amd64.VMULPD, d[c], d[c], d[c]) })
	}
	return append(ops,
		func() { f.v(amd64.VADDPD, d[1], d[0], d[0]) },
		func() { f.v(amd64.VADDPD, d[2], d[0], d[0]) },
		func() { f.v(amd64.VADDPD, mem{base: f.softening}, d[0], f.squares[k]) })
}

// roots is r2 sqrt(r2) of vector k. Whether all numbers were fit for multiply-adds, the end of the
// pass asks.
func (f *forces) roots(k int) []func() {
	x, y := f.squares[k], f.cubes[k]
	if k%2 == 0 {
		root := f.vector()
		return []func(){func() { f.v(amd64.VSQRTPD, x, root) }, func() { f.v(amd64.VMULPD, root, x, y) }}
	}
	from := f.vector()
	ask := func() {
		f.vcast(amd64.VPSUBQ, constant(rootFrom), x, from)
		f.v(amd64.VPMAXUQ, from, f.above, f.above)
	}
	return append([]func(){ask}, f.multipliedRoot(x, f.half, f.binade, func(root reg) { f.v(amd64.VMULPD, root, x, y) })...)
}

// addUp adds to the chains of vector k.
func (f *forces) addUp(k int, row [3]reg) (ops []func()) {
	for c := range 3 {
		d := f.vector()
		if f.back {
			ops = append(ops, func() { f.v(amd64.VMOVUPD, f.lane(c, k), d) }, func() { f.v(amd64.VSUBPD, row[c], d, d) })
		} else {
			ops = append(ops, func() { f.v(amd64.VSUBPD, f.lane(c, k), row[c], d) })
		}
		ops = append(ops, func() { f.v(amd64.VFMADD231PD, d, f.weight[k], f.chains[c][k]) })
	}
	return ops
}
