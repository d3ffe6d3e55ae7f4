package machine

// This file emits the products of rows and a vector: eight rows at a time, each one chain in a
// scalar register. Eight chains are what two FMAs a cycle that each take four keep busy, and 16 or
// 8 bytes a cycle are more than memory gives. Vectors would hold parts of a sum that is one chain,
// or need rows turned first.

import "flow/kernels/loop/amd64"

// dotAhead is how many bytes of every row are asked for ahead.
const dotAhead = 1 << 10

// DotRows is how many rows Dot takes.
const DotRows = 8

// dot continues the chains c[i], i < DotRows, with a[i*rs+p] * b[p] for p < k.
func (e *tiler) dot() {
	k, a, rs, x, c := e.param("k"), e.param("a"), e.stride("rs"), e.param("b"), e.param("c")
	second := e.general()
	e.lea(mem{base: a, index: rs, scale: 4}, second)
	from := rows{base: []reg{a, second}, rs: rs, rs3: e.three(rs)}
	sums := make([]reg, DotRows)
	for i := range sums {
		sums[i] = e.of(amd64.L128)
		e.moveOne(mem{base: c, disp: i * e.size}, sums[i])
	}
	factor := e.of(amd64.L128)
	steps := func(n int) {
		for p := range n {
			at := p * e.size
			e.moveOne(mem{base: x, disp: at}, factor)
			for i, s := range sums {
				e.v(e.by(amd64.VFMADD231SD, amd64.VFMADD231SS), from.at(i).plus(at), factor, s)
			}
		}
		for _, r := range []reg{a, second, x} {
			e.add(n*e.size, r)
		}
	}
	line := cacheLine / e.size
	e.sub(line, k)
	e.jumpIf(amd64.Less, "rest")
	e.label("block")
	for i := range DotRows {
		e.prefetch(from.at(i).plus(dotAhead))
	}
	steps(line)
	e.sub(line, k)
	e.jumpIf(amd64.GreaterEq, "block")
	e.label("rest")
	e.add(line, k)
	e.jumpIf(amd64.Equal, "end")
	e.label("one")
	steps(1)
	e.dec(k)
	e.jumpIf(amd64.NotEqual, "one")
	e.label("end")
	for i, s := range sums {
		e.moveOne(s, mem{base: c, disp: i * e.size})
	}
	e.finish()
}
