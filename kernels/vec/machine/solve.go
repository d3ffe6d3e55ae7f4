package machine

// This file emits the solve micro-kernels: forward substitution of MR rows of a packed panel whose
// lanes are right-hand sides. After the update by the k rows above, the tile is solved where it
// stands, in registers.
//
//	b: panel, row p at b[p*bs]; rows 0..k-1 are solved, rows k..k+MR-1 are replaced
//	a: rows k.. of the triangle, element (i, p) at a[i*rs + p*ks] for p < k+MR, its diagonal at p = k+i

func (e *tiler) solve(nv int) {
	k, b, bs := e.param("k"), e.param("b"), e.stride("bs")
	c := e.general()
	e.mov(k, c)
	e.imul(bs, c)
	e.add(b, c)
	t := e.newTile(nv)
	e.load(t, c, bs)
	a, ks := e.rowsOf(e.param("a"), e.stride("rs")), e.stride("ks")
	next, stride := e.param("next"), e.param("step")
	step := e.stepOf(t, true, a, ks, b, bs)
	e.rounds("round", Round, k, nil, func() {
		e.prefetchSecond(mem{base: next})
		e.add(stride, next)
		for range Round {
			step()
		}
	})
	e.steps(k, step, nil)
	e.substitute(t, a, ks)
	e.store(t, c, bs)
	e.finish()
}

// substitute solves the triangle at a: a true division, then one FMA in each chain below.
func (e *tiler) substitute(t tile, a rows, ks reg) {
	x := e.vector()
	for j := range t {
		e.broadcast(a.at(j), x)
		for _, acc := range t[j] {
			e.divide(x, acc)
		}
		for i := j + 1; i < len(t); i++ {
			e.broadcast(a.at(i), x)
			for v, acc := range t[i] {
				e.fused(true, x, t[j][v], acc)
			}
		}
		if j+1 < len(t) {
			e.advance(a, ks)
		}
	}
}
