package machine

// This file writes the error-free sums: package exact says what they are for.

import "flow/kernels/loop/amd64"

// The kernels sum elements, or their squares. Each runs several chains side by side. A chain is a vector s
// of sums and a vector t of the rounding errors of s. For squares, whose low halves are as long as their
// high ones, it also has a vector u of the rounding errors of t. A round takes a vector at x for each chain,
// and moves x by step bytes. acc receives the vectors s, t (and u) of every chain, and then a vector that is
// not zero (but for signs) where an error of the last level was lost.
var (
	SumF64     = cascade("SumF64", false)
	SquaresF64 = cascade("SquaresF64", true)
)

func cascade(name string, squares bool) *Kernel {
	return of(name, "x rounds step acc", func(e *emitter) { e.cascade(squares) })
}

func (e *emitter) cascade(squares bool) {
	chains, levels := 4, 2
	if squares {
		chains, levels = 2, 3
	}
	x, n, step, acc := e.param("x"), e.param("rounds"), e.param("step"), e.param("acc")
	sums := make([][]reg, levels)
	all := []reg{}
	for l := range sums {
		sums[l] = e.vectors(chains)
		all = append(all, sums[l]...)
	}
	bad := e.vector()
	all = append(all, bad)
	for _, r := range all {
		e.v(amd64.VXORPD, r, r, r)
	}
	e.jump("test")
	e.label("loop")
	for k := range chains {
		v := e.vector()
		e.v(amd64.VMOVUPD, mem{base: x, disp: k * e.bytes}, v)
		down := func(v reg, level int) { // v into that level, errors into those below
			for l := level; l < levels; l++ {
				v = e.twoSum(sums[l][k], v)
			}
			e.v(amd64.VORPD, v, bad, bad)
		}
		if !squares {
			down(v, 0)
			continue
		}
		h := e.vector()
		e.v(amd64.VMULPD, v, v, h)
		low := e.vector()
		e.v(amd64.VMOVAPD, h, low)
		e.v(amd64.VFMSUB231PD, v, v, low)
		down(h, 0)
		down(low, 1)
	}
	e.add(step, x)
	e.dec(n)
	e.label("test")
	e.cmp(n, 0)
	e.jumpIf(amd64.Greater, "loop")
	for k, r := range all {
		e.v(amd64.VMOVUPD, r, mem{base: acc, disp: k * e.bytes})
	}
	e.finish()
}

// twoSum adds v to s and returns the exact rounding error (D. Knuth, TAOCP 2, 4.2.2).
func (e *emitter) twoSum(s, v reg) reg {
	sum, part, err := e.vector(), e.vector(), e.vector()
	e.v(amd64.VADDPD, v, s, sum)
	e.v(amd64.VSUBPD, s, sum, part) // what of v arrived
	e.v(amd64.VSUBPD, part, sum, err)
	e.v(amd64.VSUBPD, err, s, err) // what of s did not
	e.v(amd64.VSUBPD, part, v, part)
	e.v(amd64.VADDPD, part, err, err)
	e.v(amd64.VMOVAPD, sum, s)
	return err
}
