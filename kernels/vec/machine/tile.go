package machine

// This file defines what the kernels of matrix tiles (package blas) share: their table, their
// parameters, and the few instructions that differ between element types.

import (
	"fmt"

	"flow/kernels/loop/amd64"
)

// Tiles are the kernels for tiles of one element type. Each takes the words of tileParams and uses
// some of them: elements are at a, b, c, src and dst, distances between rows are in elements. AVX-512
// has tiles of 8 rows, AVX2 of 4 (MR). A vector has the length of the set.
type Tiles struct {
	// Gemm is c = c + a@b, or minus, for a tile of MR rows: by minus, and by vectors of a row less one.
	// It asks for a cache line at next in each round of Round steps, which then moves by step bytes. Edge
	// does the same on a part of each row: width has a word for each row, as mask of FoldLines. It asks
	// for nothing.
	Gemm, Edge [2][vectors]*Kernel
	// Narrow is a Gemm of few rows, by rows less one and vectors less one: see gemm.go.
	Narrow [len(narrowVectors)][]*Kernel
	// Solve is forward substitution of MR rows, by vectors less one: see potf.go.
	Solve [vectors]*Kernel
	// Potf factors a block: see potf.go.
	Potf *Kernel
	// Dot continues DotRows*step chains.
	Dot *Kernel
	// In and Out take rows of a matrix to lanes of a panel and back, and CopyRows copies rows: see pack.go.
	In, Out, CopyRows *Kernel
}

// tileParams are the parameters of all kernels for tiles. Behind them is room for the result of Potf.
const tileParams = "k a rs ks b bs c cs next step width src ss dst"

// vectors is the width of the widest micro-tile in registers. With 8 rows it takes 24 of 32
// registers, with 4 rows 12 of 16: both leave room for the three vectors of b and a broadcast.
const vectors = 3

// Round is the steps of k for each line asked for ahead. To ask in each would cost 3 % of the speed
// on operands in cache with the 12 FMAs of a step of AVX2, and take the buffers of misses from what
// is needed at once with AVX-512.
const Round = 4

const cacheLine = 64

// TilesF64 and TilesF32 are the kernels for each element type.
var TilesF64, TilesF32 = tilesOf(8), tilesOf(4)

func tilesOf(size int) *Tiles {
	kernel := func(name string, write func(e *tiler)) *Kernel {
		return of(fmt.Sprint(name, 8*size), tileParams, func(e *emitter) { write(&tiler{e, size, e.bytes / 8}) })
	}
	t := &Tiles{Potf: kernel("Potf", (*tiler).potf), Dot: kernel("Dot", (*tiler).dot), In: kernel("In", (*tiler).in), Out: kernel("Out", (*tiler).out),
		CopyRows: kernel("CopyRows", (*tiler).copyRows)}
	for minus := range 2 {
		sub := minus > 0
		for nv := 1; nv <= vectors; nv++ {
			t.Gemm[minus][nv-1] = kernel(fmt.Sprint("Gemm", minus, nv), func(e *tiler) { e.gemm(nv, sub) })
			t.Edge[minus][nv-1] = kernel(fmt.Sprint("Edge", minus, nv), func(e *tiler) { e.edge(nv, sub) })
		}
	}
	for nv := 1; nv <= vectors; nv++ {
		t.Solve[nv-1] = kernel(fmt.Sprint("Solve", nv), func(e *tiler) { e.solve(nv) })
	}
	for i, most := range narrowVectors {
		for nv := 1; nv <= most; nv++ {
			t.Narrow[i] = append(t.Narrow[i], kernel(fmt.Sprint("Narrow", i+1, nv), func(e *tiler) { e.rows = i + 1; e.narrow(nv) }))
		}
	}
	return t
}

// tiler writes a kernel for tiles of elements of so many bytes.
type tiler struct {
	*emitter
	size int
	rows int // MR
}

func (e *tiler) double() bool { return e.size == 8 }

// stride loads a parameter that counts elements, as bytes.
func (e *tiler) stride(name string) reg {
	r := e.param(name)
	e.shl(map[int]int{8: 3, 4: 2}[e.size], r)
	return r
}

// by is wide for elements of 8 bytes and narrow for elements of 4.
func (e *tiler) by(wide, narrow amd64.Op) amd64.Op {
	if e.double() {
		return wide
	}
	return narrow
}

// move is an unaligned load or store of a vector, moveOne that of one element.
func (e *tiler) move(from, to any)    { e.v(e.by(amd64.VMOVUPD, amd64.VMOVUPS), from, to) }
func (e *tiler) moveOne(from, to any) { e.v(e.by(amd64.VMOVSD, amd64.VMOVSS), from, to) }

// broadcast fills v with the element at m.
func (e *tiler) broadcast(m mem, v reg) { e.v(e.by(amd64.VBROADCASTSD, amd64.VBROADCASTSS), m, v) }

// fused is acc = acc ± x*y.
func (e *tiler) fused(sub bool, x any, y, acc reg) {
	if sub {
		e.v(e.by(amd64.VFNMADD231PD, amd64.VFNMADD231PS), x, y, acc)
	} else {
		e.v(e.by(amd64.VFMADD231PD, amd64.VFMADD231PS), x, y, acc)
	}
}

// divide is acc = acc / by.
func (e *tiler) divide(by, acc reg) { e.v(e.by(amd64.VDIVPD, amd64.VDIVPS), by, acc, acc) }

// dotAhead is how many bytes of every row are asked for ahead.
const dotAhead = 1 << 10

// DotRows is how many rows Dot takes.
const DotRows = 8

// A product of rows and a vector takes eight rows at a time, each one chain in a scalar register. Eight
// chains are what two FMAs a cycle that each take four keep busy, and 16 or 8 bytes a cycle are more
// than memory gives. Vectors would hold parts of a sum that is one chain, or need rows turned first.

// dot continues the chains c[i], i < DotRows*step, with a[i*rs+p] * b[p] for p < k.
func (e *tiler) dot() {
	first, rs, c, blocks := e.param("a"), e.stride("rs"), e.param("c"), e.param("step")
	k, a, second, x := e.general(), e.general(), e.general(), e.general()
	from := rows{base: []reg{a, second}, rs: rs, rs3: e.three(rs)}
	e.label("rows")
	e.mov(e.place("k"), k)
	e.mov(e.place("b"), x)
	e.mov(first, a)
	e.lea(mem{base: a, index: rs, scale: 4}, second)
	e.lea(mem{base: second, index: rs, scale: 4}, first)
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
	e.add(DotRows*e.size, c)
	e.dec(blocks)
	e.jumpIf(amd64.NotEqual, "rows")
	e.finish()
}
