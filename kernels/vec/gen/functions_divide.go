package main

// This file defines division without a fraction and the remainder, of floats.

var divideFunctions = []*function{
	define2("floorDiv", "is the greatest integral number that is not above x/y, or that rounded once where it has more than 53 bits.",
		func(f *function, x, y *value) *value {
			// Rounded up, x/y may have become an integral number. Then x - n y, which is exact, has
			// not the sign of y.
			n := f.floor(f.div(x, y))
			rest := f.pick(f.equal(f.abs(y), k(inf)), x, f.fnma(n, y, x))
			above := f.pick(f.negative(f.bitsOf(f.xor(rest, y))), k(1), k(0))
			above = f.pick(f.equal(rest, k(0)), k(0), above)
			return f.sub(n, f.pick(f.less(f.abs(n), k(0x1p53+2)), above, k(0)))
		}),
	define2("mod", "is x - y n, n the floor of x/y, rounded once: it has the sign of y.", func(f *function, x, y *value) *value {
		// x - n |y| is a double for every quotient rounded to n (Muller et al., "Handbook of
		// Floating-Point Arithmetic", 2nd ed., 4.4), and 53 bits shorter than x as long as n is not
		// the nearest integer.
		b := f.abs(y)
		n := f.round(f.div(x, b))
		r := f.fnma(n, b, x)
		long := f.less(k(0x1p53), f.abs(n))
		r = f.when(long, r, func() *value {
			return f.repeat(x, func(r *value) (next, again *value) {
				b := f.abs(y)
				// where the quotient might be infinite, that of r 2^-550 by b 2^550
				huge := f.less(f.mul(b, k(0x1p500)), f.mul(f.abs(r), k(0x1p-500)))
				top, bottom := f.pick(huge, f.mul(r, k(0x1p-550)), r), f.pick(huge, f.mul(b, k(0x1p550)), b)
				q := f.div(top, bottom)
				more := f.pick(f.less(k(0x1p53), f.abs(q)), k(1), k(0))
				more = f.pick(huge, k(1), more)
				rest := f.fnma(f.pick(huge, q, f.round(q)), bottom, top)
				return f.pick(huge, f.mul(rest, k(0x1p550)), rest), f.equal(more, k(1))
			})
		})
		r = f.pick(f.equal(f.abs(y), k(inf)), x, r)
		m := f.pick(f.negative(f.bitsOf(f.xor(r, y))), f.add(r, y), r)
		m = f.pick(f.equal(r, k(0)), f.signOf(y), m)
		return f.pick(f.less(f.abs(x), k(inf)), m, nan)
	}),
}
