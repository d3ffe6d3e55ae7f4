package schedule

// This file defines VISS, variable increase: each stage of P chunks grows by half of what the one
// before grew by.

// newVISS computes floor(c(2 - 2^-j)) as 2c - ceil(c/2^j), which is exact.
func newVISS(p Params) (Calculator, error) {
	c := p.N / (p.Divisor * p.P)
	return newPrefix(p, func(a at) int { return 2*c - ceilDiv(c, 1<<min(a.batch, 61)) }), nil
}
