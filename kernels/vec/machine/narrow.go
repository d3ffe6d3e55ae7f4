package machine

// This file emits the kernels of products of a few rows: the gemm micro-kernel turned round for the
// case that most of the MR rows of its tile would be missing. Few rows leave registers for more
// vectors, and it takes that many to keep the units of the FMA busy.
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
